"""The beginnings of what was kept, cut and dropped, for those who ask to see content."""

from __future__ import annotations

from dataclasses import replace
from heapq import nlargest

from ctxopt_core.display.report_sheet import outcome_in_words, shown_indices
from ctxopt_core.display.sheet import Row, Sheet, Table, more_rows
from ctxopt_core.fitting.fitted_context import FittedContext, shortened_message
from ctxopt_core.messages.message import Message
from ctxopt_core.text.display_text import preview

_LONGEST_PREVIEW = 160  # characters: two lines of a page
_LONGEST_ID = 40  # characters of an id: it has less width here than in the table without texts
_MOST_ROWS = 30  # rows of a table: fewer than without texts, since each takes two lines
_MOST_TEXTS = 8  # texts of a prompt or a message: one with thousands of parts is read no further


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
        columns=("part", "text"),
        foreign=("part", "text"),
        rows=tuple(Row(cells=(name, _preview(text))) for name, text in shown),
        more=more_rows(len(texts), len(shown)),
    )


def _document_table(fitted: FittedContext) -> Table:
    given, shown = fitted.request.documents, shown_indices(fitted.report.documents, _MOST_ROWS)
    rows = []
    for index in shown:
        row, text = fitted.report.documents[index], fitted.documents.texts.get(index) or given[index].text or ""
        cells = (preview(row.id, _LONGEST_ID), outcome_in_words(row), _preview(text))
        rows.append(Row(cells=cells, kind=row.state))
    return Table(
        caption="Beginnings of documents",
        columns=("document", "outcome", "text"),
        foreign=("document", "text"),
        rows=tuple(rows),
        more=more_rows(len(given), len(shown)),
    )


def _message_table(fitted: FittedContext) -> Table:
    shown = sorted(_chosen_messages(fitted))
    return Table(
        caption="Beginnings of messages, oldest first",
        columns=("message", "role", "outcome", "text"),
        numeric=("message",),
        foreign=("role", "text"),
        rows=tuple(_message_row(fitted, index) for index in shown),
        more=more_rows(len(fitted.request.history), len(shown)),
    )


def _chosen_messages(fitted: FittedContext) -> set[int]:
    """Return the newest kept messages, the first of them, and the newest dropped ones."""
    trimming, half = fitted.history, _MOST_ROWS // 2
    kept = frozenset(trimming.kept)
    dropped = (index for index in reversed(range(trimming.length)) if index not in kept)
    chosen = {index for index, _ in zip(dropped, range(half), strict=False)}
    chosen.update(nlargest(_MOST_ROWS - len(chosen) - 1, kept))
    return chosen | {min(kept)} if kept else chosen


def _message_row(fitted: FittedContext, index: int) -> Row:
    message, trimming = fitted.request.history[index], fitted.history
    if index in trimming.shortened:
        state, message = "shortened", shortened_message(message, trimming.shortened[index])
    elif index in trimming.kept:
        state = "kept"
    else:
        state = "summarized" if index in trimming.summarized else "dropped"
    outcome = f"dropped ({trimming.reason(index)})" if state == "dropped" else state
    return Row(cells=(f"{index}", message.role, outcome, _preview(_beginnings(message))), kind=state)


def _beginnings(message: Message) -> str:
    parts = [text[: 4 * _LONGEST_PREVIEW] for text in message.texts[:_MOST_TEXTS]]
    parts += [f"{call.name}({call.arguments[:_LONGEST_PREVIEW]})" for call in message.tool_calls[:_MOST_TEXTS]]
    parts += [f"[{attachment.kind}]" for attachment in message.attachments[:_MOST_TEXTS]]
    return " ".join(parts)


def _preview(text: str) -> str:
    return preview(text, _LONGEST_PREVIEW) if text and not text[: 4 * _LONGEST_PREVIEW].isspace() else "(blank)"
