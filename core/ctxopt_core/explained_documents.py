"""Why each document was kept or dropped, in words and figures."""

from __future__ import annotations

from ctxopt_core.documents import Packing
from ctxopt_core.fitted import FittedContext
from ctxopt_core.report_rows import DocumentReport

SELECTIONS = {
    "score": "whole documents are taken best first",
    "passages": "the sentences that say most about the query are taken",
    "density": "whole documents are taken by score per token",
    "optimal": "the whole documents of the highest sum of scores are taken",
}
"""How documents are chosen, in words."""

_DROPPED = {
    "duplicate": "what it says is said by one that is kept",
    "empty": "it holds no text",
    "score": "its score says that it is worth nothing here",
    "count": "as many documents as may be kept are kept",
}


def document_reasons(fitted: FittedContext) -> list[str]:
    """Return a clause for each document: why it is kept, kept in part or dropped."""
    report, packing = fitted.report, fitted.documents
    if report.untouched:
        return ["the whole request fits" for _ in report.documents]
    room = 0 if report.budgets is None else report.budgets["documents"]
    ranks = {index: rank for rank, index in enumerate(packing.ranking, start=1)}
    return [
        _reason(row, tokens, packing, room, ranks.get(index))
        for index, (row, tokens) in enumerate(zip(report.documents, report.document_tokens, strict=True))
    ]


def _reason(row: DocumentReport, tokens: int, packing: Packing, room: int, rank: int | None) -> str:
    ranked = "" if rank is None else f"rank {rank:,} of {len(packing.ranking):,}: "
    if row.state == "kept" and packing.selection is None:
        return f"{ranked}all that say something new fit in the {room:,} tokens for documents"
    if row.state == "kept":
        return f"{ranked}it fits in the {room:,} tokens for documents"
    if row.state == "partial":
        return f"{ranked}all of it does not fit in {room:,} tokens, or repeats others; its best part stays"
    if row.reason in _DROPPED:
        return ranked + _DROPPED[row.reason]
    if not room:
        return f"{ranked}documents may take no tokens"
    if row.outranked:
        below = "one that ranks below it is kept, whole or in part"
        return f"{ranked}its {tokens:,} tokens do not fit in what better ones leave of {room:,}; {below}"
    return f"{ranked}better ones take the {room:,} tokens for documents"
