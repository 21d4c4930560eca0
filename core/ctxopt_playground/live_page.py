"""The page of the playground: its widgets together, and the comparison after each change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ipywidgets import HTML, Box, Button, Tab, VBox

from ctxopt_core.display.html import as_markup, style_element
from ctxopt_core.errors import CtxoptError
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.request import ContextRequest
from ctxopt_playground.comparison import Comparison, compare
from ctxopt_playground.input_boxes import documents_box, history_box
from ctxopt_playground.inputs import CombinedRequest, combined
from ctxopt_playground.markup import STYLE
from ctxopt_playground.model_text import without_model_warnings
from ctxopt_playground.next_turns_panel import NextTurnsPanel
from ctxopt_playground.outcome_view import OutcomeView
from ctxopt_playground.readers.json import UnreadablePasteError
from ctxopt_playground.settings import PlaygroundSettings
from ctxopt_playground.settings_panel import SettingsPanel

TARGET, OUTPUT_RESERVE = 1_536, 512
"""Tokens of the request and of the answer: a window of 2,048, into which the example does not fit as it is."""

_START = 80  # characters: a history that starts with as many of the example is the example, which somebody edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The contents of both boxes, as JSON."""

    history: str
    documents: str

    def left_behind(self, history: str, documents: str) -> bool:
        """Return whether the documents are still those of the example, beside a history that is another one."""
        return documents == self.documents and history[:_START] != self.history[:_START]


@cache
def example() -> Example:
    """Return the example."""
    content = json.loads(Path(__file__).with_name("example.json").read_text(encoding="utf-8"))
    return Example(
        history=as_json(content["messages"], indent=1).decode(),
        documents=as_json(content["documents"], indent=1).decode(),
    )


class LivePage:
    """The page. Each change of a widget leads to a new comparison, before the next change is handled.

    A front end sends the next value of a widget when the kernel is done with the one before, so that dragging a slider
    faster than requests are compared fills no queue.

    Args:
        settings: The first settings.
    """

    def __init__(self, settings: PlaygroundSettings) -> None:
        self.comparison: Comparison | None = None
        self.combined = CombinedRequest(request=ContextRequest())
        self.problem = ""
        self._given: ContextRequest | None = None
        self._held = False
        self.history, self.documents = history_box(self._on_history), documents_box(self.compare)
        self.panel = SettingsPanel(settings, self.compare)
        self.outcomes = OutcomeView()
        self.next_turns = NextTurnsPanel()
        self.example = Button(description="Load the example")
        self.example.on_click(lambda _: self.show_example(narrow=True))
        self.widget = self._layout()

    @property
    def settings(self) -> PlaygroundSettings:
        """The settings that the widgets show."""
        return self.panel.settings

    def show_settings(self, settings: PlaygroundSettings) -> None:
        """Set the settings, and compare."""
        self.panel.show(settings)
        self.compare()

    def start(self, given: ContextRequest | None, history: str, documents: str) -> None:
        """Show what was given in code.

        Raises:
            UnreadablePasteError: A string cannot be read.
        """
        with self._at_once():
            self._given, self.history.text, self.documents.text = given, history, documents
        if problem := self.history.problem or self.documents.problem:
            raise UnreadablePasteError(problem)

    def show_example(self, *, narrow: bool) -> None:
        """Show the example, with `narrow` in a window in which it has to be cut."""
        with self._at_once():
            self.history.text, self.documents.text = example().history, example().documents
            if narrow:
                window = self.panel.window
                window.show(window.model_id, TARGET, OUTPUT_RESERVE)

    def compare(self) -> None:
        """Compare with what the page shows now; where that is not possible, show why and keep the results."""
        if self._held:
            return
        self.problem = self.history.problem or self.documents.problem
        try:
            with without_model_warnings():
                settings = self.settings
                found = combined(self.history.value, self.documents.value, self._given)
                comparison = compare(found.request, settings)
        except (CtxoptError, TypeError, ValueError) as error:
            self.problem = self.problem or str(error)
        else:
            self.combined, self.comparison = found, comparison
            self.outcomes.show(found, comparison)
            self.next_turns.show(found.request, settings)
        if self.problem:
            self.outcomes.mark(self.problem)

    def _on_history(self) -> None:
        if not self._held and example().left_behind(self.history.text, self.documents.text):
            with self._at_once():
                self.documents.text = ""
        else:
            self.compare()

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Handle several changes as one."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.compare()

    def _layout(self) -> VBox:
        tabs = Tab([self.history.widget, self.documents.widget], titles=["Chat history", "Documents"])
        pasted = VBox([tabs, self.example])
        left = VBox([pasted, self.panel.widget]).add_class("ctxopt-left")
        right = VBox([self.outcomes.widget, self.next_turns.widget]).add_class("ctxopt-right")
        columns = Box([left, right]).add_class("ctxopt-columns")
        style = HTML(as_markup(style_element(STYLE))).add_class("ctxopt-style")
        return VBox([style, columns, self.outcomes.summary]).add_class("ctxopt-playground")
