"""The boxes for a pasted or uploaded chat history and documents."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from ipywidgets import HTML, FileUpload, HBox, Textarea, VBox

from ctxopt_core.documents.document import Document
from ctxopt_core.errors import CtxoptError
from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates
from ctxopt_playground.markup import Tone, status_line
from ctxopt_playground.readers.documents import read_documents
from ctxopt_playground.readers.history import PastedHistory, read_history
from ctxopt_playground.readers.json import UnreadablePasteError

_ENDINGS = ".json,.jsonl,.txt,.md,.log"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Value = TypeVar("Value")
_STAYS = "What was read before stays in use."


def history_box(changed: Callable[[], None]) -> HistoryBox:
    """Return the box for the chat history."""
    return PastedBox(
        label="Chat history",
        hint='User: ...\nAssistant: ...\n\nor [{"role": "user", "content": "..."}]\nor LangChain messages as JSON',
        accept=_ENDINGS,
        read=read_history,
        describe=history_read,
        nothing="Nothing pasted.",
        changed=changed,
    )


def documents_box(changed: Callable[[], None]) -> DocumentsBox:
    """Return the box for the documents."""
    return PastedBox(
        label="Documents",
        hint='Plain text with a blank line or --- between documents\n\nor [{"id": "...", "score": 0.8, "text": "..."}]',
        accept=_ENDINGS,
        read=read_documents,
        describe=documents_read,
        nothing="No documents pasted.",
        changed=changed,
    )


def history_read(history: PastedHistory) -> str:
    """Return the format of a history and what is in it, as counts without content."""
    request = history.request
    parts = [_count(len(request.history), "message")]
    parts += [_count(len(request.documents), "document")] if request.documents else []
    parts += [_count(len(request.tools), "tool schema")] if request.tools else []
    parts += ["a system prompt"] if request.system else []
    return "; ".join((f"Read as {history.format}: {', '.join(parts)}", *history.notes)).rstrip(".") + "."


def documents_read(documents: Sequence[Document]) -> str:
    """Return how many documents were read, and how many of them have a score."""
    scored = sum(document.score is not None for document in documents)
    with_score = "all" if scored == len(documents) else f"{scored:,}" if scored else "none"
    return f"{_count(len(documents), 'document')}, {with_score} with a score."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def text_of_file(content: bytes) -> str:
    """Return the content of a file in UTF-8, or in UTF-16 where it begins with its byte order mark.

    Raises:
        UnreadablePasteError: It is neither.
    """
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"the file is not in UTF-8: byte {error.start:,} cannot be read; store it as UTF-8"
        raise UnreadablePasteError(message) from error


class PastedBox(Generic[Value]):
    """A box for text, with a button for files. A loaded file is put into the box, which always shows the content.

    Args:
        label: The label of the box.
        hint: The placeholder of the empty box.
        accept: The endings of files that may be loaded, as HTML lists them.
        read: Reads the content; the message of a CtxoptError that it raises is shown.
        describe: Returns what was read, in words.
        nothing: The status of the empty box.
        changed: Is called when the value has changed, and when a problem with it has appeared or gone.
    """

    def __init__(
        self,
        *,
        label: str,
        hint: str,
        accept: str,
        read: Callable[[str], Value],
        describe: Callable[[Value], str],
        nothing: str,
        changed: Callable[[], None],
    ) -> None:
        self._loading = False
        self._read, self._describe, self._nothing, self._changed = read, describe, nothing, changed
        self.value: Value | None = None
        """What was read last; None while the box is empty."""
        self.problem = ""
        """Why the content of the box cannot be read; empty where it can."""
        self.textarea = Textarea(description=label, placeholder=hint, rows=9)
        self.upload = FileUpload(description="Load a file", accept=accept, multiple=False)
        self.status = HTML()
        self.widget = VBox([self.textarea, HBox([self.upload, self.status]).add_class("ctxopt-beneath")])
        self.widget.add_class("ctxopt-pasted")
        self.textarea.observe(self._on_text, "value")
        self.upload.observe(self._on_file, "value")
        self._show_status(nothing)

    @property
    def text(self) -> str:
        """The content of the box."""
        written: str = self.textarea.value
        return written

    @text.setter
    def text(self, text: str) -> None:
        # A lone surrogate cannot be sent to the browser as UTF-8.
        self.textarea.value = joined_surrogates(text) if has_surrogates(text) else text

    def _on_text(self, _: object) -> None:
        if not self._loading:
            self.upload.value = ()  # the content is no longer that of the file
        try:
            value = self._read(self.text) if self.text.strip() else None
        except CtxoptError as error:
            self._refuse(str(error))
        else:
            self._take(value)

    def _on_file(self, change: dict[str, Any]) -> None:
        if not change["new"]:
            return
        try:
            text = text_of_file(bytes(change["new"][0]["content"]))
        except CtxoptError as error:
            self._refuse(str(error))
            return
        self._loading = True
        try:
            if text == self.text:
                self._on_text(None)
            else:
                self.text = text
        finally:
            self._loading = False

    def _take(self, value: Value | None) -> None:
        self.value, self.problem = value, ""
        self._show_status(self._nothing if value is None else self._describe(value))
        self._changed()

    def _refuse(self, problem: str) -> None:
        self.problem = problem
        self._show_status(f"{problem}. {_STAYS}", Tone.PROBLEM)
        self._changed()

    def _show_status(self, sentence: str, tone: Tone = Tone.PLAIN) -> None:
        self.status.value = status_line(sentence, tone)


HistoryBox: TypeAlias = PastedBox[PastedHistory]
DocumentsBox: TypeAlias = PastedBox[tuple[Document, ...]]
