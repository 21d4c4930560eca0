"""A box for a text that is pasted or loaded, and a line that says what it was recognised as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ipywidgets import HTML, FileUpload, HBox, Textarea, VBox

from ctxopt_core.errors import CtxoptError
from ctxopt_core.playground.loaded_files import text_of_file
from ctxopt_core.playground.told import Tone, told
from ctxopt_core.surrogates import has_surrogates, joined_surrogates

Value = TypeVar("Value")

STAYS = "What was read before stays in use."


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
