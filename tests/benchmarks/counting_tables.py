"""What the first count of a process costs, and what counting costs after that, beside tiktoken's own."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import support_path  # noqa: F401
from cpu_time import Candidate, milliseconds
from result_table import Row, Target
from synthetic_chat import Writer

from ctxopt_core import EstimateCounter
from ctxopt_core.counting.encodings import fast_count_of, load_encoding
from shape_rows import SCRIPTS

ENCODINGS = ("cl100k_base", "o200k_base")
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
_PROGRAM = "import sys, time\n{before}\nstart = time.process_time()\n{count}\nprint(time.process_time() - start)"
_OURS = "from ctxopt_core import counter_for; counter_for({name!r}).count('lantern')"
_TIKTOKEN = "import tiktoken; len(tiktoken.get_encoding({name!r}).encode('lantern', disallowed_special=()))"
# (candidate, what goes before, what is timed, the most that it may take of tiktoken's time)
_FIRST_COUNTS: tuple[tuple[str, str, str, float | None], ...] = (
    ("tiktoken", "", _TIKTOKEN, None),
    ("ours", "sys.modules['toktok'] = None", _OURS, 1.15),
)
_WITH_TOKTOK = ("ours, with toktok-rs", "", _OURS, None)
_TEXTS = 40


def first_count_rows(processes: int) -> list[Row]:
    """Return what import, loading and one count take, over `processes` fresh processes each."""
    with TemporaryDirectory() as folder:
        _fill_cache_of_tiktoken(Path(folder))
        return [row for name in ENCODINGS for row in _first_counts(name, processes, folder)]


def count_rows(rounds: int, name: str = "o200k_base") -> list[Row]:
    """Return what it takes to count texts that were not seen before."""
    encoding = load_encoding(name)
    counting: dict[str, Callable[[str], object]] = {
        "tiktoken": lambda text: len(encoding.encode_ordinary(text)),
        "estimate": EstimateCounter().count,
    }
    fast = fast_count_of(name)
    if fast is not None:
        counting["toktok-rs, as the extra uses it"] = fast
    return [row for kind, draw in _kinds().items() for row in _counts(kind, draw, counting, rounds)]


def _first_counts(name: str, processes: int, cache: str) -> list[Row]:
    candidates = [*_FIRST_COUNTS, *([_WITH_TOKTOK] if fast_count_of(name) else [])]
    times: dict[str, list[float]] = {candidate: [] for candidate, *_ in candidates}
    for _ in range(processes):
        for candidate, before, count, _ in candidates:
            program = _PROGRAM.format(before=before, count=count.format(name=name))
            times[candidate].append(_seconds(program, cache))
    return [
        Row(
            section="Import, load and count once in a fresh process",
            case=name,
            candidate=candidate,
            milliseconds=median(times[candidate]) * 1000,
            figures={"of tiktoken's time": median(times[candidate]) / median(times["tiktoken"])},
            targets=() if most is None else (Target(of="of tiktoken's time", relation="<=", figure=most),),
        )
        for candidate, _, _, most in candidates
    ]


def _seconds(program: str, cache: str) -> float:
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": cache}
    # -P keeps the current folder off the path, where a checkout could hide what is installed.
    command = [sys.executable, "-P", "-c", program]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def _fill_cache_of_tiktoken(folder: Path) -> None:
    """Put the vocabularies where tiktoken looks for what it has downloaded before."""
    for name in ENCODINGS:
        cached = hashlib.sha1(_ADDRESS.format(name=name).encode(), usedforsecurity=False).hexdigest()
        shutil.copy(str(files("ctxopt_core") / "counting" / "vocabularies" / f"{name}.tiktoken"), folder / cached)


def _counts(
    kind: str, draw: Callable[[], list[str]], counting: dict[str, Callable[[str], object]], rounds: int
) -> list[Row]:
    texts: list[str] = []

    def draw_anew() -> None:
        texts[:] = draw()

    def counted_by(count: Callable[[str], object]) -> Callable[[], object]:
        return lambda: [count(text) for text in texts]

    found = [Candidate(name=name, run=counted_by(count), prepare=draw_anew) for name, count in counting.items()]
    times = milliseconds(found, rounds)
    return [
        Row(
            section=f"Counting {_TEXTS} texts that were not seen before, o200k_base",
            case=kind,
            candidate=name,
            milliseconds=taken,
            ratios={"tiktoken": times["tiktoken"] / taken},
        )
        for name, taken in times.items()
    ]


def _kinds() -> dict[str, Callable[[], list[str]]]:
    writer, dice = Writer(), random.Random(20_261_129)

    def of_words(words: int) -> Callable[[], list[str]]:
        return lambda: [writer.text(words) for _ in range(_TEXTS)]

    def of_characters(characters: Sequence[str]) -> Callable[[], list[str]]:
        return lambda: ["".join(dice.choices(characters, k=500)) for _ in range(_TEXTS)]

    return {
        "English, 10 words": of_words(10),
        "English, 500 words": of_words(500),
        "Chinese, 500 characters": of_characters(SCRIPTS["chinese"]),
        "keys, 500 characters": of_characters("0123456789abcdef-"),
    }
