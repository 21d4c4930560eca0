"""What `CONTRIBUTING.md` says of files and words is there, and `make quick` finds the tests of each package."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
CORE = ROOT / "core" / "ctxopt_core"
ROOMS = sorted(path.name for path in CORE.iterdir() if (path / "__init__.py").is_file())
CHANGES = PAGE[PAGE.index("## Where a change goes") : PAGE.index("## House rules")]


def quick_tests():
    spec = importlib.util.spec_from_file_location("quick_tests", ROOT / "scripts" / "quick_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", re.findall(r"`([\w/.]+(?:\.py|\.json|/))`", CHANGES))
def test_a_file_that_a_change_touches_exists(name):
    assert any((folder / name).exists() for folder in (ROOT, CORE))


@pytest.mark.parametrize("word", re.findall(r"^\| `make (\w+)`", PAGE, re.MULTILINE))
def test_a_word_of_make_exists(word):
    assert re.search(rf"^{word}:", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("room", ROOMS)
def test_the_map_names_each_package(room):
    assert re.search(rf"^{room}\b|\b{room}  ", PAGE, re.MULTILINE)


@pytest.mark.parametrize("room", [*ROOMS, "ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt"])
def test_quick_runs_tests_of_each_package(room):
    module = quick_tests()
    found = sorted(set(module._tests_of(module._of_room(room))))

    assert found
    assert all((ROOT / place).exists() for place in found)


def test_quick_runs_the_tests_of_what_has_changed():
    changed = ["core/ctxopt_core/history/trim.py", "README.md", "tests/core/text/test_sentences.py", "LICENSE"]

    assert set(quick_tests()._tests_of(changed)) == {
        "tests/core/history",
        "tests/test_guides.py",
        "tests/test_readme.py",
        "tests/core/text/test_sentences.py",
    }


def test_quick_names_the_packages_that_there_are():
    with pytest.raises(SystemExit, match="there is no package 'hystory'; there are budget, "):
        list(quick_tests()._of_room("hystory"))
