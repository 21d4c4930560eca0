"""The use of a context window as a sheet: a bar, and a row for each part."""

from __future__ import annotations

from ctxopt_core.display.sheet import Bar, Row, Segment, Sheet, Table
from ctxopt_core.reports.usage import ContextUsage, UsagePart

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
    return Sheet(title=_title(usage), bars=(_bar(usage),), tables=(table,), is_meter=True)


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


def _kind(part: UsagePart) -> str:
    return _KINDS.get(part.name, part.name)


def _label(part: UsagePart) -> str:
    return _LABELS.get(part.name, part.name)
