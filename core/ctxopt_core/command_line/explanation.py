"""Why each document and each message was kept or dropped, without content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ctxopt_core.command_line.turn_reasons import turn_reasons
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.packing import Packing
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.request_renderer import RequestRenderer
from ctxopt_core.reports.rows import DocumentReport

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
    "score": "its score says that it is not relevant",
    "count": "as many documents as may be kept are kept",
}
Kind = Literal["system", "query", "document", "turn"]
Outcome = Literal["kept", "partial", "dropped", "summarized"]


def document_reasons(fitted: FittedContext) -> list[str]:
    """Return a clause for each document: why it is kept, kept in part or dropped."""
    report, packing = fitted.report, fitted.documents
    if report.unchanged:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What became of one part of a request, and why.

    Args:
        kind: What it is. A turn is a user message and everything up to the next one.
        name: What it is called: the id of a document, the number of a turn.
        outcome: Kept whole, in part, dropped, or a summary stands for it.
        before: Tokens that it had, rendered.
        after: Tokens that it has.
        why: The reason, as a clause.
        start: The first of its messages or texts, by index.
        stop: The index behind the last of them.
    """

    kind: Kind
    name: str
    outcome: Outcome
    before: int
    after: int
    why: str
    start: int
    stop: int


def explain(fitted: FittedContext, counter: TokenCounter, renderer: RequestRenderer) -> tuple[Explained, ...]:
    """Return what became of each system text, query, document, system message and turn, in their order.

    Args:
        fitted: What is left of a request.
        counter: Counts its texts.
        renderer: How the request is rendered.
    """
    conversation = CountedConversation(fitted.request.history, counter)
    return (
        *_texts("system", fitted.request.system_texts, fitted.system, counter),
        *_documents(fitted, counter, renderer),
        *_turns(fitted, conversation),
        *_texts("query", fitted.request.query_texts, fitted.query, counter),
    )


def _texts(
    kind: Literal["system", "query"], given: tuple[str, ...], left: tuple[str, ...], counter: TokenCounter
) -> Iterator[Explained]:
    for index, text in enumerate(given):
        kept = left[index] if index < len(left) else ""
        outcome: Outcome = "kept" if kept == text else "partial" if kept else "dropped"
        yield Explained(
            kind=kind,
            name=str(index),
            outcome=outcome,
            before=counter.count(text),
            after=counter.count(kept),
            why="it fits" if outcome == "kept" else "cut at the end of a sentence" if kept else "nothing of it fits",
            start=index,
            stop=index + 1,
        )


def _documents(fitted: FittedContext, counter: TokenCounter, renderer: RequestRenderer) -> Iterator[Explained]:
    rendering = renderer.documents
    reasons = document_reasons(fitted)
    rows = zip(fitted.report.documents, fitted.report.document_tokens, reasons, strict=True)
    for index, (row, tokens, why) in enumerate(rows):
        text = fitted.documents.texts.get(index, "")
        part = counter.count(rendering.render(index, text) + rendering.separator) if row.state == "partial" else 0
        after = tokens if row.state == "kept" else part
        yield Explained(
            kind="document",
            name=row.id,
            outcome=row.state,
            before=tokens,
            after=after,
            why=why,
            start=index,
            stop=index + 1,
        )


def _turns(fitted: FittedContext, conversation: CountedConversation) -> Iterator[Explained]:
    number = 0
    for stretch in turn_reasons(fitted, conversation):
        kind: Kind = "system" if stretch.is_system else "turn"
        number += not stretch.is_system
        yield Explained(
            kind=kind,
            name=f"message {stretch.indices[0]}" if stretch.is_system else str(number),
            outcome=stretch.outcome,
            before=sum(map(conversation.cost, stretch.indices)),
            after=stretch.after,
            why=stretch.why,
            start=stretch.indices[0],
            stop=stretch.indices[-1] + 1,
        )
