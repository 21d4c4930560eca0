"""The table of a file of requests: what fitting it costs beside tokenising it, with and without the extra `fast`."""

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
from ctxopt_core.count_cache import shared_cache
from ctxopt_core.fast_counting import fast_count_of
from ctxopt_core.vocabulary import load_encoding

ENCODING = "o200k_base"
MODEL = "gpt-4o"
TOKENISED, RAW = "tokenising its texts", "tokenising its bytes"
FASTEST_SHARE = 0.7
_TURNS, _WORDS_ASKED = 7, 20
_WORDS_PER_TOKEN = 0.74
_LINES_IN_TURN = 50
_FITTED: Mapping[str, tuple[float | None, str]] = {
    "the model's window": (None, "auto"),
    "counted and fitting": (1.5, "auto"),
    "cut to three quarters by turns": (0.75, "turns"),
    "cut to three quarters by relevance": (0.75, "auto"),
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


def throughput_rows(path: Path, count: int, tokens: int) -> list[Row]:
    """Measure fitting and tokenising a file, a stretch of lines each in turn."""
    encode = load_encoding(ENCODING).encode_ordinary
    runs = {
        f"{ours}, {name}": (fast, _fitter(part, strategy, tokens))
        for ours, fast in _ours().items()
        for name, (part, strategy) in _FITTED.items()
    }
    for fast, fitter in runs.values():  # what is loaded once is part of no time
        with _counting(fast=fast):
            _cut(next(_stretches(path))[:1], fitter)
    times = dict.fromkeys((TOKENISED, RAW, *runs), 0.0)
    cut, total = dict.fromkeys(runs, 0), 0
    for stretch in _stretches(path):
        with _added_to(times, TOKENISED):
            total += sum(len(encode(text)) for line in stretch for text in _texts(line))
        with _added_to(times, RAW):
            for line in stretch:
                encode(line.content.decode())
        for name, (fast, fitter) in runs.items():
            shared_cache(ENCODING).clear()
            with _counting(fast=fast), _added_to(times, name):
                cut[name] += _cut(stretch, fitter)
    case = f"{count:,} requests of {total // count:,} tokens"
    return [_throughput_row(case, name, times, cut, count) for name in times]


def _stretches(path: Path) -> Iterator[list[Line]]:
    with path.open("rb") as stream:
        lines = lines_of(stream)
        while stretch := list(islice(lines, _LINES_IN_TURN)):
            yield stretch


def _ours() -> Mapping[str, bool]:
    """With and without the extra `fast`, where that is installed."""
    return {"ours": False} | ({"ours with `fast`": True} if fast_count_of(ENCODING) else {})


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
    return RequestFitter(choices_of(target=None if part is None else round(tokens * part), strategy=strategy))


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


def _throughput_row(case: str, name: str, times: Mapping[str, float], cut: Mapping[str, int], count: int) -> Row:
    return Row(
        section="Fitting the lines of a file; `x NAME` is the throughput over that of NAME",
        case=case,
        candidate=name,
        milliseconds=times[name] * 1_000,
        ratios={peer: times[peer] / times[name] for peer in (TOKENISED, RAW) if peer != name},
        figures={"cut": cut[name] / count} if name in cut else {},
        targets=(Target(of=TOKENISED, relation=">=", figure=FASTEST_SHARE),) if name in cut else (),
    )
