"""No import loads more than it needs, and an adapter without its framework says what to install."""

import json

import pytest

FRAMEWORKS = ("langchain", "langchain_core", "langchain_classic", "langgraph", "llama_index", "pydantic")
TOKENIZERS = ("tiktoken", "sentencex", "tokenizers", "toktok")


@pytest.fixture
def loaded_by(run_isolated):
    """Import one module in a fresh interpreter and return which of the watched modules that loaded."""

    def loaded(module: str, watched: tuple[str, ...]) -> list[str]:
        code = f"import json, {module}; print(json.dumps([name for name in {watched!r} if name in sys.modules]))"
        return json.loads(run_isolated(code))

    return loaded


def test_the_core_loads_neither_framework_nor_tokenizer(loaded_by):
    assert loaded_by("ctxopt_core", FRAMEWORKS + TOKENIZERS) == []


def test_the_core_imports_with_the_standard_library_alone(run_isolated):
    blocked = FRAMEWORKS + TOKENIZERS

    assert run_isolated("import ctxopt_core; print('imported')", blocked=blocked) == "imported"


def test_the_langchain_adapter_loads_no_tokenizer_and_no_other_framework(loaded_by):
    watched = (*TOKENIZERS, "langchain", "langchain_classic", "langgraph", "llama_index")

    assert loaded_by("langchain_ctxopt", watched) == []


def test_the_llamaindex_package_loads_no_tokenizer_and_no_other_framework(loaded_by):
    watched = (*TOKENIZERS, "langchain", "langchain_core", "langgraph")

    assert loaded_by("llamaindex_ctxopt", watched) == []


@pytest.mark.parametrize(
    ("package", "framework", "command"),
    [
        pytest.param(
            "langchain_ctxopt",
            "langchain_core",
            "pip install 'ctxopt-core[langchain]'",
            id="without-langchain-core",
        ),
        pytest.param(
            "llamaindex_ctxopt",
            "llama_index",
            "pip install 'ctxopt-core[llamaindex]'",
            id="without-llama-index-core",
        ),
    ],
)
def test_an_adapter_without_its_framework_names_the_extra(package, framework, command, run_isolated):
    code = f"""
try:
    import {package}
except ImportError as error:
    print(error)
"""

    assert command in run_isolated(code, blocked=(framework,))


def test_a_fit_and_its_report_as_text_load_nothing_that_draws(run_isolated):
    code = (
        "import json; from ctxopt_core import ContextBudget, ContextRequest, Message, fit\n"
        "history = [Message(role='user', content='word ' * 20)] * 20\n"
        "str(fit(ContextRequest(history=history), ContextBudget(max_input_tokens=100)).report)\n"
        "print(json.dumps([name for name in ('matplotlib', 'rich', 'xml.etree', 'numpy') if name in sys.modules]))"
    )

    assert json.loads(run_isolated(code)) == []


def test_a_figure_without_matplotlib_names_the_extra(run_isolated):
    code = (
        "from ctxopt_core import Shares, allocate\n"
        "try:\n    allocate(10, {'query': 5}, Shares()).plot()\n"
        "except ImportError as error:\n    print(error)"
    )

    assert "pip install 'ctxopt-core[notebook]'" in run_isolated(code, blocked=("matplotlib",))


def test_html_and_text_need_nothing_beside_the_standard_library(run_isolated):
    code = "from ctxopt_core import Shares, allocate\nprint(allocate(10, {'query': 5}, Shares()).to_html())"

    assert "query" in run_isolated(code, blocked=FRAMEWORKS + TOKENIZERS + ("matplotlib", "rich", "regex"))
