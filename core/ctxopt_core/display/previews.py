"""The beginnings of what was kept, cut and dropped, for those who ask to see content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import nlargest
from typing import TYPE_CHECKING

from ctxopt_core.display.document_table import more_rows, shown_indices, what_became
from ctxopt_core.display.sheet import Column, Row, Sheet, Table
from ctxopt_core.fitting.fitted_context import shortened_message
from ctxopt_core.text.display_text import preview

if TYPE_CHECKING:
    from ctxopt_core.fitting.fitted_context import FittedContext
    from ctxopt_core.messages.message import Message

_LONGEST_PREVIEW = 160
_LONGEST_ID = 40
_MOST_ROWS = 30
_MOST_TEXTS = 8


def with_previews(sheet: Sheet, fitted: FittedContext) -> Sheet:
    """Return the sheet of a report with the beginnings of texts, as they are sent where they are sent."""
    found = (_prompt_table(fitted), _document_table(fitted), _message_table(fitted))
    return replace(sheet, tables=(*sheet.tables, *(table for table in found if table.rows)))


def _prompt_table(fitted: FittedContext) -> Table:
    texts = [("system", text) for text in fitted.system] + [("query", text) for text in fitted.query]
    for section, entries in zip(fitted.request.sections, fitted.sections, strict=True):
        texts += [(section.name, entry) for entry in entries]
    shown = texts[:_MOST_TEXTS]
    return Table(
        caption="Beginnings of system prompt, query and sections",
        columns=(Column(name="part", foreign=True), Column(name="text", foreign=True)),
        rows=tuple(Row(cells=(name, _preview(text))) for name, text in shown),
        more=more_rows(len(texts), len(shown)),
    )


def _document_table(fitted: FittedContext) -> Table:
    given, rows = fitted.request.documents, fitted.report.documents
    shown = shown_indices(rows, _MOST_ROWS)
    return Table(
        caption="Beginnings of documents",
        columns=(
            Column(name="document", foreign=True),
            Column(name="outcome"),
            Column(name="text", foreign=True),
        ),
        rows=tuple(
            Row(
                cells=(
                    preview(rows[index].id, _LONGEST_ID),
                    what_became(rows[index]),
                    _preview(fitted.documents.texts.get(index) or given[index].text or ""),
                ),
                kind=rows[index].state,
            )
            for index in shown
        ),
        more=more_rows(len(given), len(shown)),
    )


def _message_table(fitted: FittedContext) -> Table:
    length = len(fitted.request.history)
    shown = sorted(_chosen_messages(fitted))
    return Table(
        caption="Beginnings of messages, oldest first",
        columns=(
            Column(name="message", numeric=True),
            Column(name="role", foreign=True),
            Column(name="outcome"),
            Column(name="text", foreign=True),
        ),
        rows=tuple(_message_row(fitted, index) for index in shown),
        more=more_rows(length, len(shown)),
    )


def _chosen_messages(fitted: FittedContext) -> set[int]:
    """Return the newest kept messages, the first of them, and the newest that went."""
    trimming, half = fitted.history, _MOST_ROWS // 2
    kept = frozenset(trimming.kept)
    went = (index for index in reversed(range(trimming.length)) if index not in kept)
    first = min(kept, default=None)
    chosen = {index for index, _ in zip(went, range(half), strict=False)}
    chosen.update(nlargest(_MOST_ROWS - len(chosen) - 1, kept))
    return chosen if first is None else chosen | {first}


def _message_row(fitted: FittedContext, index: int) -> Row:
    message, trimming = fitted.request.history[index], fitted.history
    if index in trimming.shortened:
        state, message = "shortened", shortened_message(message, trimming.shortened[index])
    elif index in trimming.kept:
        state = "kept"
    else:
        state = "summarized" if index in trimming.summarized else "dropped"
    told = f"dropped ({trimming.reason(index)})" if state == "dropped" else state
    return Row(cells=(f"{index}", message.role, told, _preview(" ".join(_said(message)))), kind=state)


def _said(message: Message) -> Iterator[str]:
    yield from (text[: 4 * _LONGEST_PREVIEW] for text in message.texts[:_MOST_TEXTS])
    yield from (f"{call.name}({call.arguments[:_LONGEST_PREVIEW]})" for call in message.tool_calls[:_MOST_TEXTS])
    yield from (f"[{attachment.kind}]" for attachment in message.attachments[:_MOST_TEXTS])


def _preview(text: str) -> str:
    return preview(text, _LONGEST_PREVIEW) if text and not text[: 4 * _LONGEST_PREVIEW].isspace() else "(blank)"
