"""The table of a file of requests: what fitting it costs beside tokenizing it, with and without the extra `fast`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import process_time

from result_table import Row, Target
from synthetic_chat import SYSTEM, Writer

from ctxopt_core.command_line.batch import Tally, fit_lines
from ctxopt_core.command_line.batch_files import BatchFiles, BatchPaths
from ctxopt_core.command_line.fitting_options import choices_of
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.command_line.request_input import Line, lines_of
from ctxopt_core.counting.encodings import fast_count_of, load_encoding
from ctxopt_core.runtime.text_cache import shared_cache

ENCODING = "o200k_base"
MODEL = "gpt-4o"
TOKENIZED, RAW = "tokenizing its texts", "tokenizing its bytes"
FASTEST_SHARE = 0.7
_TURNS, _WORDS_ASKED = 7, 20
_WORDS_PER_TOKEN = 0.74
# So many that nothing of a stretch is remembered from the candidate before when the next one comes to its start.
_LINES_IN_TURN = 200
_FITTED: Mapping[str, tuple[float | None, str]] = {
    "ours, the model's window": (None, "auto"),
    "ours, counted and fitting": (1.5, "auto"),
    "ours, cut to three quarters by turns": (0.75, "turns"),
    "ours, cut to three quarters by relevance": (0.75, "auto"),
}
"""The limit of each candidate, as a multiple of the tokens of a request, and its strategy."""


def write_requests(path: Path, count: int, tokens: int) -> None:
    """Write so many chats of about so many tokens each: short questions, long answers, no two texts alike."""
    writer = Writer(count)
    asked = _WORDS_ASKED * (_TURNS + 1)
    answered = round((tokens * _WORDS_PER_TOKEN - asked) / _TURNS)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            messages = [{"role": "system", "content": SYSTEM.content}]
            for _ in range(_TURNS):
                messages.append({"role": "user", "content": writer.text(_WORDS_ASKED)})
                messages.append({"role": "assistant", "content": writer.text(max(answered, 1))})
            messages.append({"role": "user", "content": writer.text(_WORDS_ASKED)})
            file.write(json.dumps({"model": MODEL, "metadata": {"number": number}, "messages": messages}) + "\n")


def throughput_rows(path: Path, count: int, tokens: int, *, fast: bool) -> list[Row]:
    """Measure fitting and tokenizing a file, a stretch of lines each in turn.

    Args:
        path: The file.
        count: Its requests.
        tokens: About what each counts.
        fast: Whether the extra `fast` counts, which has to be installed then, or tiktoken as if it were not.
    """
    with _counting(fast=fast):
        times, cut, total = _times(path, tokens)
    case = f"{count:,} requests of {total // count:,} tokens"
    beside = ", with the extra `fast`" if fast else ""
    section = f"Fitting the lines of a file{beside}; `x NAME` is the throughput over that of NAME"
    return [_throughput_row(section, case, name, times, cut, count) for name in times]


def _times(path: Path, tokens: int) -> tuple[Mapping[str, float], Mapping[str, int], int]:
    """Return the seconds of each candidate, the requests that each has cut, and the tokens of the file."""
    encode = load_encoding(ENCODING).encode_ordinary
    fitters = {name: _fitter(part, strategy, tokens) for name, (part, strategy) in _FITTED.items()}
    for fitter in fitters.values():  # what is loaded once is part of no time
        _cut(next(_stretches(path))[:1], fitter)
    times = dict.fromkeys((TOKENIZED, RAW, *fitters), 0.0)
    cut, total = dict.fromkeys(fitters, 0), 0
    for stretch in _stretches(path):
        with _added_to(times, TOKENIZED):
            total += sum(len(encode(text)) for line in stretch for text in _texts(line))
        with _added_to(times, RAW):
            for line in stretch:
                encode(line.content.decode())
        for name, fitter in fitters.items():
            shared_cache(ENCODING).clear()
            with _added_to(times, name):
                cut[name] += _cut(stretch, fitter)
    return times, cut, total


def _stretches(path: Path) -> Iterator[list[Line]]:
    with path.open("rb") as stream:
        lines = lines_of(stream)
        while stretch := list(islice(lines, _LINES_IN_TURN)):
            yield stretch


def has_fast() -> bool:
    """Tell whether the extra `fast` is installed."""
    return fast_count_of(ENCODING) is not None


@contextmanager
def _counting(*, fast: bool) -> Iterator[None]:
    """Count with the extra `fast`, or as if it were not installed."""
    if fast:
        yield
        return
    found = sys.modules.get("toktok")
    sys.modules["toktok"] = None  # type: ignore[assignment]
    fast_count_of.cache_clear()
    try:
        fast_count_of(ENCODING)
        yield
    finally:
        del sys.modules["toktok"]
        if found is not None:
            sys.modules["toktok"] = found
        fast_count_of.cache_clear()


@contextmanager
def _added_to(times: dict[str, float], name: str) -> Iterator[None]:
    start = process_time()
    yield
    times[name] += process_time() - start


def _fitter(part: float | None, strategy: str, tokens: int) -> RequestFitter:
    return RequestFitter(choices_of(target_tokens=None if part is None else round(tokens * part), strategy=strategy))


def _texts(line: Line) -> list[str]:
    return [message["content"] for message in json.loads(line.content)["messages"]]


def _cut(lines: list[Line], fitter: RequestFitter) -> int:
    tally = Tally()
    with BatchFiles(BatchPaths(out=Path("/dev/null"))) as files:
        fit_lines(lines, fitter, files, tally, lambda line: None)
    if tally.rejected:
        message = f"{tally.rejected} requests could not be fitted"
        raise RuntimeError(message)
    return tally.cut


def _throughput_row(
    section: str, case: str, name: str, times: Mapping[str, float], cut: Mapping[str, int], count: int
) -> Row:
    return Row(
        section=section,
        case=case,
        candidate=name,
        milliseconds=times[name] * 1_000,
        ratios={peer: times[peer] / times[name] for peer in (TOKENIZED, RAW) if peer != name},
        figures={"cut": cut[name] / count} if name in cut else {},
        targets=(Target(of=TOKENIZED, relation=">=", figure=FASTEST_SHARE),) if name in cut else (),
    )
