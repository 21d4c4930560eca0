"""Run the tests that a change needs, with few examples of each property: what `make quick` does.

    make quick                    # the packages in which git sees a change
    make quick ROOM=history       # one package, by its folder: history, documents, langchain_ctxopt, ...

The whole suite is `make test`; many more examples are `make fuzz`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = "0.2"  # of the usual number: a property that breaks mostly breaks in the first few
HOUSE = tuple(f"tests/packaging/test_{name}.py" for name in ("layers", "constants", "words", "public_surface"))
ADAPTERS = {
    "core/ctxopt_playground": "tests/playground",
    "langchain_ctxopt": "tests/langchain",
    "llamaindex_ctxopt": "tests/llamaindex",
}
BESIDE = {"runtime": ("tests/core/counting", "tests/core/relevance"), "messages": ("tests/core/formats",)}
"""Packages that are tested through those that use them."""

PAGES = ("tests/test_guides.py", "tests/test_readme.py")


def main(room: str = "") -> int:
    """Run the tests of a package, or of all in which something has changed; return the exit code of pytest."""
    paths = list(_of_room(room)) if room else _changed()
    tests = sorted(set(_tests_of(paths)))
    if not tests:
        print("nothing has changed; name a package, for example: make quick ROOM=history")
        return 0
    print("tests:", *tests)
    command = [sys.executable, "-m", "pytest", "--quiet", "--numprocesses=auto", "--no-header", *HOUSE, *tests]
    # Without -P the checkout would be importable, and a file missing from the wheel would not show.
    command.insert(1, "-P")
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "CTXOPT_EXAMPLES": EXAMPLES}, check=False).returncode


def _of_room(room: str) -> Iterator[str]:
    places = [f"core/ctxopt_core/{room}", f"core/{room}", room]
    found = next((place for place in places if (ROOT / place).is_dir()), None)
    if found is None:
        rooms = sorted(path.parent.name for path in (ROOT / "core" / "ctxopt_core").glob("*/__init__.py"))
        others = [folder.rpartition("/")[2] for folder in ADAPTERS]
        sys.exit(f"there is no package {room!r}; there are {', '.join((*rooms, *others))}")
    yield f"{found}/"


def _changed() -> list[str]:
    """Return the paths of files that differ from the last commit, and of new ones."""
    listed = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line[3:].split(" -> ")[-1].strip('"') for line in listed.stdout.splitlines()]


def _tests_of(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        place = next((folder for folder in ADAPTERS if path.startswith(f"{folder}/")), None)
        parts = path.split("/")
        if place:
            yield ADAPTERS[place]
        elif path.startswith("core/ctxopt_core/"):
            room = f"tests/core/{parts[2]}"
            yield from BESIDE.get(parts[2], ())
            yield room if len(parts) > 3 and (ROOT / room).is_dir() else "tests/core/fitting"
        elif path.endswith(".md"):
            yield from PAGES
        elif parts[0] == "tests" and (ROOT / path).is_file() and parts[-1].startswith("test_"):
            yield path


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
