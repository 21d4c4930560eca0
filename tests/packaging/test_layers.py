"""Imports go down the layers, folders and files have the size that a reader can take in, and adapters use the seam."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import ctxopt_core
from ctxopt_core import adapters

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "ctxopt_core": ROOT / "core" / "ctxopt_core",
    "ctxopt_playground": ROOT / "core" / "ctxopt_playground",
    "langchain_ctxopt": ROOT / "langchain_ctxopt",
    "llamaindex_ctxopt": ROOT / "llamaindex_ctxopt",
}
MOST_MODULES = 20
FEWEST_LINES = 40  # a smaller file with one importer belongs into it
MOST_LINES = 320
# A room imports itself and what stands above its line or on it.
CORE = """
errors validation runtime displayed
text
models
messages
providers
counting
budget
shortening
relevance
documents
conversation
summaries
history history.strategies
request
reports
fitting
formats formats.responses
display
sweeps
command_line
cli __main__ adapters __init__
"""
LLAMAINDEX = """
errors refusals
messages
models
events settings
nodes guard
engines
storage
memory postprocessor retriever message_replay
attachment
session
optimizer
__init__
"""
LANGCHAIN = """
errors events run_settings sent_schemas provider_calls retries
message_views model_settings shortened_calls documents component_keys
compression
setting_fields message_input
dict_input
prompt_renderer
optimizer compressor
per_call_optimizer chat_model
agents
__init__
"""
PLAYGROUND = """
readers
inputs settings markup model_text
comparison
outcome_cards outcome_view next_turns
input_boxes settings_panel window_panel next_turns_panel
live_page
playground
__init__
"""
# A value knows that it can be shown; the display knows how. Nothing else goes up.
ALLOWED_UP = {("ctxopt_core.displayed", "ctxopt_core.display")}


def modules_of(package: str) -> Iterator[tuple[str, Path]]:
    folder = PACKAGES[package]
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        yield ".".join((package, *parts)), path


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports from ours, also inside functions and for type checkers alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            found = PACKAGES[node.module.split(".")[0]].joinpath(*node.module.split(".")[1:])
            for name in node.names:
                inside = found / f"{name.name}.py"
                yield f"{node.module}.{name.name}" if inside.is_file() else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in PACKAGES)


def layers(plan: str) -> dict[str, int]:
    return {room: number for number, line in enumerate(plan.split("\n")) for room in line.split()}


def room_of(module: str, plan: dict[str, int]) -> str:
    inside = module.split(".")[1:] or ["__init__"]
    for length in range(len(inside), 0, -1):
        if ".".join(inside[:length]) in plan:
            return ".".join(inside[:length])
    message = f"{module} has no place in the layers"
    raise AssertionError(message)


@pytest.mark.parametrize(
    ("package", "plan"),
    [
        pytest.param("ctxopt_core", CORE, id="core"),
        pytest.param("ctxopt_playground", PLAYGROUND, id="playground"),
        pytest.param("langchain_ctxopt", LANGCHAIN, id="langchain"),
        pytest.param("llamaindex_ctxopt", LLAMAINDEX, id="llamaindex"),
    ],
)
def test_no_import_goes_up(package, plan):
    level = layers(plan)
    up = []
    for module, path in modules_of(package):
        room = room_of(module, level)
        for imported in imports_of(path):
            if imported.split(".")[0] != package or imported == package:
                continue
            target = room_of(imported, level)
            allowed = (module, ".".join(imported.split(".")[:2])) in ALLOWED_UP
            if level[target] > level[room] and not allowed:
                up.append(f"{module} imports {imported}")
    assert up == []


@pytest.mark.parametrize(
    ("package", "others"),
    [
        pytest.param("ctxopt_core", set(), id="core"),
        pytest.param("ctxopt_playground", {"ctxopt_core"}, id="playground"),
        pytest.param("langchain_ctxopt", {"ctxopt_core"}, id="langchain"),
        pytest.param("llamaindex_ctxopt", {"ctxopt_core"}, id="llamaindex"),
    ],
)
def test_a_package_imports_none_of_ours_but_the_core(package, others):
    found = {imported.split(".")[0] for _, path in modules_of(package) for imported in imports_of(path)}

    assert found <= {package, *others}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_has_more_modules_than_can_be_taken_in(package):
    counts = defaultdict(int)
    for _, path in modules_of(package):
        counts[path.parent.relative_to(ROOT).as_posix()] += path.name != "__init__.py"

    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_no_small_file_has_a_single_importer():
    importers = defaultdict(set)
    lines = {}
    for package in PACKAGES:
        for module, path in modules_of(package):
            if path.name not in ("__init__.py", "__main__.py"):
                lines[module] = len(path.read_text(encoding="utf-8").splitlines())
            for imported in imports_of(path):
                importers[imported].add(module)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    for script in scripts.values():
        importers[script.partition(":")[0]].add("pyproject.toml")
    alone = [
        f"{module}: {count} lines, imported by {next(iter(importers[module]))} alone"
        for module, count in lines.items()
        if count < FEWEST_LINES and len(importers[module]) == 1
    ]

    assert alone == []


def test_no_file_is_too_long_to_be_read_in_one_sitting():
    long = {module: path for package in PACKAGES for module, path in modules_of(package)}
    counts = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in long.items()}

    assert {module: count for module, count in counts.items() if count > MOST_LINES} == {}


@pytest.mark.parametrize("package", ["langchain_ctxopt", "llamaindex_ctxopt"])
def test_adapters_import_public_names_and_the_seam_for_adapters_only(package):
    others = []
    for module, path in modules_of(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("ctxopt_core"):
                continue
            known = {"ctxopt_core": ctxopt_core.__all__, "ctxopt_core.adapters": adapters.__all__}.get(node.module, ())
            others += [f"{module}: {node.module}.{name.name}" for name in node.names if name.name not in known]
    assert others == []


def test_a_name_of_the_seam_is_not_public_twice():
    assert not set(adapters.__all__) & set(ctxopt_core.__all__)
