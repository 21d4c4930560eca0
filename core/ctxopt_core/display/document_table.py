"""The documents of a report as a table and as points; of many, the most informative ones."""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.display.sheet import Point, Row, Table, in_words, more_rows
from ctxopt_core.documents.ranking import as_float
from ctxopt_core.reports.rows import DocumentReport
from ctxopt_core.text.display_text import preview

_MOST_ROWS = 40  # rows: about a screen; `to_dict` has them all
_MOST_POINTS = 1_000  # points of a figure: more of them cover each other, and each takes time to draw
_LONGEST_ID = 60  # characters: a URL is still recognized, and the other columns stay in sight
_LARGEST_DRAWN = 1e300  # a score: an axis goes beyond its largest point, and must not go beyond the largest float
_SCORED = ("document", "score", "tokens", "density", "outcome")
_WITHOUT_SCORES = ("document", "tokens", "outcome")


def document_table(documents: Sequence[DocumentReport], tokens: Sequence[int]) -> Table:
    """Return a table of documents in the order they came in; of many, half that are kept and half that are not."""
    shown = shown_indices(documents, _MOST_ROWS)
    scored = have_scores(documents)
    names = _SCORED if scored else _WITHOUT_SCORES
    states = [row.state for row in documents]
    counts = {state: states.count(state) for state in ("kept", "partial", "dropped")}
    return Table(
        caption=f"Documents: {in_words(counts)}" + (" (density: score for 1,000 tokens)" if scored else ""),
        columns=names,
        numeric=("score", "tokens", "density"),
        foreign=("document",),
        rows=tuple(_row(documents[index], tokens[index], names) for index in shown),
        more=more_rows(len(documents), len(shown)),
    )


def _row(row: DocumentReport, tokens: int, names: Sequence[str]) -> Row:
    score = as_float(row.score)  # it may be any number, even one that is too large for a float
    cells = {
        "document": preview(row.id, _LONGEST_ID),
        "score": "" if score is None else f"{score:.3g}",
        "tokens": f"{tokens:,}",
        "density": "" if score is None or not tokens else f"{score * 1_000 / tokens:.3g}",
        "outcome": outcome_in_words(row),
    }
    return Row(cells=tuple(cells[name] for name in names), kind=row.state)


def have_scores(documents: Sequence[DocumentReport]) -> bool:
    """Return whether any document came with a score."""
    return any(row.score is not None for row in documents)


def outcome_in_words(row: DocumentReport) -> str:
    """Return the state of a document, with the reason."""
    return row.state + (f" ({row.reason}{', outranks a kept one' if row.outranked else ''})" if row.reason else "")


def document_points(documents: Sequence[DocumentReport], tokens: Sequence[int]) -> tuple[Point, ...]:
    """Return the documents with a score that can be drawn as points, the most informative of them if there are many."""
    found: list[Point] = []
    for index in _most_informative(documents)[:_MOST_POINTS]:
        score = as_float(documents[index].score)
        if score is not None and abs(score) <= _LARGEST_DRAWN:
            found.append(Point(tokens=tokens[index], score=score, kind=documents[index].state))
    return tuple(found)


def shown_indices(documents: Sequence[DocumentReport], most: int) -> list[int]:
    """Return at most `most` documents in the order in which they came: half of them kept, half dropped."""
    first = _most_informative(documents)
    kept = [index for index in first if documents[index].state != "dropped"]
    return half_and_half(kept, [index for index in first if documents[index].state == "dropped"], most)


def half_and_half(first: Sequence[int], second: Sequence[int], most: int) -> list[int]:
    """Return at most `most` indices in ascending order, half of each where both have so many."""
    of_second = min(len(second), max(most // 2, most - len(first)))
    return sorted((*first[: most - of_second], *second[:of_second]))


def _most_informative(documents: Sequence[DocumentReport]) -> list[int]:
    """Return all documents by index: first those too big rather than too bad, then partial, dropped and kept ones."""
    order = ("partial", "dropped", "kept")
    return sorted(
        range(len(documents)), key=lambda index: (not documents[index].outranked, order.index(documents[index].state))
    )
