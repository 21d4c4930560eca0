"""The use of a context window as a sheet, and as a meter for a terminal."""

from __future__ import annotations

from ctxopt_core.display.palette import LOOKS
from ctxopt_core.display.sheet import Bar, Row, Segment, Sheet, Table
from ctxopt_core.display.text import aligned
from ctxopt_core.reports.usage import ContextUsage, UsagePart

_COLUMNS = 60  # characters of the bar: with its frame it fits in a terminal of 80
_LABELS = {
    "system": "system prompt",
    "free": "free",
    "answer": "kept free for the answer",
    "margin": "kept free for safety",
    "outside": "outside the budget",
}
# Which color and pattern each part has, where that is not its own name.
_KINDS = {"framing": "fixed", "answer": "reserve"}


def sheet_of_usage(usage: ContextUsage) -> Sheet:
    """Return what a notebook shows of the use of a window."""
    numeric = ("tokens", "share")
    rows = (
        Row(cells=(_label(part), f"{part.tokens:,}", f"{part.percent:.1f}%"), kind=_kind(part))
        for part in _shown(usage)
    )
    table = Table(caption="Tokens by part of the window", columns=("part", *numeric), numeric=numeric, rows=tuple(rows))
    return Sheet(title=_title(usage), bars=(_bar(usage),), tables=(table,))


def meter_text(usage: ContextUsage) -> str:
    """Return a line that says how much is used, a bar of characters, and a line for each part of the window.

    A part that is there has at least one character of the bar as long as there is space, so that none is overlooked.
    """
    shown = _shown(usage)
    bar = "".join(LOOKS[_kind(part)].fill * width for part, width in zip(shown, _widths(shown), strict=True))
    cells = [(LOOKS[_kind(part)].fill, _label(part), f"{part.tokens:,}", f"{part.percent:.1f}%") for part in shown]
    return "\n".join([_title(usage), f"[{bar}]", *aligned(cells, (False, False, True, True))])


def _title(usage: ContextUsage) -> str:
    model = f"{usage.model}: " if usage.model else ""
    estimate = "" if usage.exact else " (estimate)"
    return (
        f"{model}{usage.used:,} of {usage.window:,} tokens used ({usage.percent_used:.0f}%), {usage.free:,} free"
        f"{estimate}"
    )


def _shown(usage: ContextUsage) -> list[UsagePart]:
    return [part for part in usage.parts if part.tokens]


def _bar(usage: ContextUsage) -> Bar:
    segments = (Segment(name=_label(part), amount=part.tokens, kind=_kind(part)) for part in _shown(usage))
    return Bar(label="The context window", segments=tuple(segments))


def _widths(parts: list[UsagePart]) -> list[int]:
    """Return how many characters each part has; they add up to the whole bar."""
    total = sum(part.tokens for part in parts)
    widths = [max(1, _COLUMNS * part.tokens // total) for part in parts]
    while sum(widths) != _COLUMNS:
        step = 1 if sum(widths) < _COLUMNS else -1
        missing = [_COLUMNS * part.tokens / total - width for part, width in zip(parts, widths, strict=True)]
        place = max(range(len(parts)), key=lambda n: step * missing[n] if step > 0 or widths[n] > 1 else -_COLUMNS)
        widths[place] += step
    return widths


def _kind(part: UsagePart) -> str:
    return _KINDS.get(part.name, part.name)


def _label(part: UsagePart) -> str:
    return _LABELS.get(part.name, part.name)
