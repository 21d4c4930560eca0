"""The documents of a report as a table, the most telling of them where there are many."""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.display.sheet import Column, Point, Row, Table
from ctxopt_core.documents.ranking import as_float
from ctxopt_core.reports.rows import DocumentReport
from ctxopt_core.text.display_text import preview

_MOST_ROWS = 40
_MOST_POINTS = 1_000
_LONGEST_ID = 60
_LARGEST_DRAWN = 1e300  # an axis goes beyond its largest point, and must not go beyond the largest float
_COLUMNS = {
    "document": Column(name="document", foreign=True),
    "score": Column(name="score", numeric=True),
    "tokens": Column(name="tokens", numeric=True),
    "density": Column(name="density", numeric=True),
    "outcome": Column(name="outcome"),
}
_WITHOUT_SCORES = ("document", "tokens", "outcome")


def document_table(documents: Sequence[DocumentReport], tokens: Sequence[int]) -> Table:
    """Return a table of documents in the order in which they came; of many, of some that stay and some that do not."""
    shown = shown_indices(documents, _MOST_ROWS)
    scored = have_scores(documents)
    names = tuple(_COLUMNS) if scored else _WITHOUT_SCORES
    return Table(
        caption=f"Documents: {by_state(documents)}" + (" (density: score for 1,000 tokens)" if scored else ""),
        columns=tuple(_COLUMNS[name] for name in names),
        rows=tuple(_row(documents[index], tokens[index], names) for index in shown),
        more=more_rows(len(documents), len(shown)),
    )


def have_scores(documents: Sequence[DocumentReport]) -> bool:
    """Tell whether any document came with a score."""
    return any(row.score is not None for row in documents)


def more_rows(given: int, shown: int) -> str:
    """Return a sentence that says how many rows are not shown."""
    return f"... and {given - shown:,} more" if given > shown else ""


def by_state(documents: Sequence[DocumentReport]) -> str:
    """Return how many documents are kept, kept in part and dropped."""
    states = [row.state for row in documents]
    return ", ".join(f"{states.count(state):,} {state}" for state in ("kept", "partial", "dropped"))


def most_telling(documents: Sequence[DocumentReport]) -> list[int]:
    """Return all documents by index: first those too big rather than too bad, then partial, dropped and kept ones."""
    order = ("partial", "dropped", "kept")
    return sorted(
        range(len(documents)), key=lambda index: (not documents[index].outranked, order.index(documents[index].state))
    )


def shown_indices(documents: Sequence[DocumentReport], most: int) -> list[int]:
    """Return at most `most` documents in the order in which they came: the most telling that stay, and that went."""
    telling = most_telling(documents)
    stay = [index for index in telling if documents[index].state != "dropped"]
    return half_and_half(stay, [index for index in telling if documents[index].state == "dropped"], most)


def half_and_half(first: Sequence[int], second: Sequence[int], most: int) -> list[int]:
    """Return at most `most` indices in ascending order, half of each where both have so many."""
    of_second = min(len(second), max(most // 2, most - len(first)))
    return sorted((*first[: most - of_second], *second[:of_second]))


def what_became(row: DocumentReport) -> str:
    """Return what became of a document, with the reason."""
    return row.state + (f" ({row.reason}{', outranks a kept one' if row.outranked else ''})" if row.reason else "")


def score_text(score: float | None) -> str:
    """Return a score with three digits; it may be any number, even one that is too large for a float."""
    number = as_float(score)
    return "" if number is None else f"{number:.3g}"


def document_points(documents: Sequence[DocumentReport], tokens: Sequence[int]) -> tuple[Point, ...]:
    """Return the documents with a score that can be drawn as points, the most telling of them where there are many."""
    found: list[Point] = []
    for index in most_telling(documents)[:_MOST_POINTS]:
        score = as_float(documents[index].score)
        if score is not None and abs(score) <= _LARGEST_DRAWN:
            found.append(Point(tokens=tokens[index], score=score, kind=documents[index].state))
    return tuple(found)


def _row(row: DocumentReport, tokens: int, names: Sequence[str]) -> Row:
    score = as_float(row.score)
    cells = {
        "document": preview(row.id, _LONGEST_ID),
        "score": score_text(row.score),
        "tokens": f"{tokens:,}",
        "density": "" if score is None or not tokens else f"{score * 1_000 / tokens:.3g}",
        "outcome": what_became(row),
    }
    return Row(cells=tuple(cells[name] for name in names), kind=row.state)
