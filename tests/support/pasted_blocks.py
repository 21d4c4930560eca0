"""The Python blocks of a page as a reader uses them: each is pasted into a fresh interpreter with what the page names.

What a block needs is the nearest `pip install` above it. The interpreter finds the modules of these requirements, of
what they require, and no others, although the tests have every framework; and it opens no connection.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = "ctxopt-core"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INSTALL = re.compile(r"pip install ([^`\n]+)")
_SECONDS = 120  # a block takes 1 to 4; a busy machine several times as long
_RUNNER = Path(__file__).with_name("pasted_block_runner.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedBlock:
    """One block: its page, the line that it begins on, the code, and the requirements that the page names for it."""

    page: Path
    line: int
    code: str
    requirements: tuple[str, ...]


def blocks_of(page: Path) -> list[PastedBlock]:
    """Return the Python blocks of a page in order."""
    text = page.read_text("utf-8")
    return [
        PastedBlock(
            page=page,
            line=text.count("\n", 0, found.start(1)) + 1,
            code=found[1],
            requirements=_requirements(text[: found.start()]),
        )
        for found in _BLOCK.finditer(text)
    ]


def run_alone(block: PastedBlock, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in an interpreter of its own, in a folder; the traceback of an error has the lines of the page."""
    script = folder / f"{block.page.stem}.py"
    script.write_text("\n" * (block.line - 1) + block.code, "utf-8")
    hidden = sorted(set(_modules()) - _modules_with(block.requirements))
    command = [sys.executable, str(_RUNNER), str(script)]
    return subprocess.run(
        command, input=json.dumps(hidden), text=True, capture_output=True, check=False, timeout=_SECONDS, cwd=folder
    )


def not_installed(requirements: Iterable[str]) -> list[str]:
    """Return the distributions among these that are not installed."""
    installed = {name for found in _modules().values() for name in found} | {OURS}
    names = [canonicalize_name(Requirement(text).name) for text in requirements]
    return [name for name in names if name not in installed]


def _requirements(before: str) -> tuple[str, ...]:
    installs = _INSTALL.findall(before)
    return tuple(shlex.split(installs[-1], comments=True)) if installs else ()


@cache
def _modules() -> dict[str, list[str]]:
    """Return the installed modules, each with the distributions that it is from."""
    names = metadata.packages_distributions()
    return {module: [canonicalize_name(name) for name in found] for module, found in names.items()}


def _modules_with(requirements: Iterable[str]) -> set[str]:
    installed = _closure(requirements)
    return {module for module, found in _modules().items() if OURS in found or installed & set(found)}


def _closure(requirements: Iterable[str]) -> set[str]:
    """Return the distributions that pip would install for these, among those that are installed here."""
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in ({"", *wanted.extras}) - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            waiting += _required(name, extra)
    return {name for name, _ in seen}


def _required(name: str, extra: str) -> Iterator[Requirement]:
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:  # for another platform or an older Python
        return
    for line in lines:
        wanted = Requirement(line)
        if wanted.marker is None:
            if not extra:
                yield wanted
        elif wanted.marker.evaluate({"extra": extra}):
            yield wanted
