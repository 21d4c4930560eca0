"""The boxes that take a pasted or uploaded conversation and documents."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from ipywidgets import HTML, FileUpload, HBox, Textarea, VBox

from ctxopt_core.documents.document import Document
from ctxopt_core.errors import CtxoptError
from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates
from ctxopt_playground.markup import Tone, told
from ctxopt_playground.readers.documents import read_documents
from ctxopt_playground.readers.history import PastedHistory, read_history
from ctxopt_playground.readers.json import UnreadablePasteError

_ENDINGS = ".json,.jsonl,.txt,.md,.log"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Value = TypeVar("Value")
STAYS = "What was read before stays in use."


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
        hint='Texts with a blank line or --- between them\n\nor [{"id": "...", "score": 0.8, "text": "..."}]',
        accept=_ENDINGS,
        read=read_documents,
        describe=documents_read,
        nothing="No documents pasted.",
        changed=changed,
    )


def history_read(history: PastedHistory) -> str:
    """Return what a history was recognized as, and what is in it: counts and no content."""
    request = history.request
    parts = [_count(len(request.history), "message")]
    parts += [_count(len(request.documents), "document")] if request.documents else []
    parts += [_count(len(request.tools), "tool schema")] if request.tools else []
    parts += ["a system prompt"] if request.system else []
    return "; ".join((f"Read as {history.format}: {', '.join(parts)}", *history.notes)).rstrip(".") + "."


def documents_read(documents: Sequence[Document]) -> str:
    """Return how many documents were read, and how many of them have a score."""
    scored = sum(document.score is not None for document in documents)
    told = "all" if scored == len(documents) else f"{scored:,}" if scored else "none"
    return f"{_count(len(documents), 'document')}, {told} with a score."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def text_of_file(content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 where it begins with the mark of that.

    Raises:
        UnreadablePasteError: It is neither.
    """
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"the file is no text in UTF-8: byte {error.start:,} cannot be read; store it as UTF-8"
        raise UnreadablePasteError(message) from error


class PastedBox(Generic[Value]):
    """A text box with a button for files.

    The box is the one place where the content lies: a loaded file is put into it, and what is used is what it says.

    Args:
        label: What the box is called.
        hint: What it says while it is empty.
        accept: The endings of files that may be loaded, as a browser takes them.
        read: Returns the value of a text; what it raises as a CtxoptError is shown.
        describe: Says what was read.
        nothing: What is said while the box is empty.
        changed: Is called when the value has changed, and when there is a problem with it or none any more.
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
        """Why the text that stands in the box now cannot be read; empty where it can."""
        self.textarea = Textarea(description=label, placeholder=hint, rows=9)
        self.upload = FileUpload(description="Load a file", accept=accept, multiple=False)
        self.status = HTML()
        self.widget = VBox([self.textarea, HBox([self.upload, self.status]).add_class("ctxopt-beneath")])
        self.widget.add_class("ctxopt-pasted")
        self.textarea.observe(self._on_text, "value")
        self.upload.observe(self._on_file, "value")
        self._tell(nothing)

    @property
    def text(self) -> str:
        """What stands in the box."""
        written: str = self.textarea.value
        return written

    @text.setter
    def text(self, text: str) -> None:
        # What is no UTF-8 would not reach the browser.
        self.textarea.value = joined_surrogates(text) if has_surrogates(text) else text

    def _on_text(self, _: object) -> None:
        if not self._loading:
            self.upload.value = ()  # what stands here is no longer the file
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
        self._tell(self._nothing if value is None else self._describe(value))
        self._changed()

    def _refuse(self, problem: str) -> None:
        self.problem = problem
        self._tell(f"{problem}. {STAYS}", Tone.PROBLEM)
        self._changed()

    def _tell(self, sentence: str, tone: Tone = Tone.PLAIN) -> None:
        self.status.value = told(sentence, tone)


HistoryBox: TypeAlias = PastedBox[PastedHistory]
DocumentsBox: TypeAlias = PastedBox[tuple[Document, ...]]
