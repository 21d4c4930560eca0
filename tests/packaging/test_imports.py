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
