"""The conversation of a report as a bar and a table."""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.display.sheet import Bar, Column, Row, Segment, Table
from ctxopt_core.reports.rows import HistoryReport, Stretch

_STATES = ("kept", "shortened", "summarized", "dropped")


def history_bar(strip: Sequence[Stretch], unit: str) -> Bar:
    """Return the conversation from its oldest turn (or message) to its newest."""
    segments = tuple(Segment(name=_name(part), amount=part.size, kind=part.state) for part in strip)
    return Bar(label=f"Conversation, oldest {unit} first: {_summary(strip)}", segments=segments, unit=unit)


def history_table(history: HistoryReport, strip: Sequence[Stretch]) -> Table:
    """Return how many turns and messages were kept, shortened, summarized and dropped, and why."""
    turns = _counts(strip)
    messages = {
        "kept": history.kept - history.shortened,
        "shortened": history.shortened,
        "summarized": history.summarized,
        "dropped": history.dropped,
    }
    rows = [
        Row(cells=(state, f"{turns[state]:,}", f"{messages[state]:,}"), kind=state)
        for state in _STATES
        if turns[state] or messages[state]
    ]
    rows += [Row(cells=(f"dropped: {reason}", "", f"{count:,}")) for reason, count in history.reasons.items()]
    return Table(
        caption=f"Conversation: {_counted(sum(turns.values()), 'turn')}, {_counted(history.messages, 'message')}",
        columns=(Column(name="outcome"), *(Column(name=n, numeric=True) for n in ("turns", "messages"))),
        rows=tuple(rows),
        more="A message says what was left out." if history.placeholder else "",
    )


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def _counts(strip: Sequence[Stretch]) -> dict[str, int]:
    return {state: sum(part.counts[state] for part in strip) for state in _STATES}


def _summary(strip: Sequence[Stretch]) -> str:
    return ", ".join(f"{count:,} {state}" for state, count in _counts(strip).items() if count) or "none"


def _name(part: Stretch) -> str:
    return part.state if part.state != "mixed" else f"mixed ({_summary((part,))})"
