"""The settings of the playground: what is moved, as widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from ipywidgets import HTML, Box, Checkbox, Dropdown, VBox

from ctxopt_core.document_policy import Selection
from ctxopt_core.playground.comparison import ComparedStrategy, PlaygroundSettings
from ctxopt_core.playground.shares_panel import SharesPanel
from ctxopt_core.playground.told import heading
from ctxopt_core.playground.window_panel import WindowPanel


class SettingsPanel:
    """The settings. Strategies that need a summarizer are offered where there is one.

    Args:
        settings: Where the widgets stand at first; its summarizer and its prices stay.
        changed: Is called when a setting has changed.
    """

    def __init__(self, settings: PlaygroundSettings, changed: Callable[[], None]) -> None:
        self._changed, self._silent = changed, False
        self._settings = settings
        self.window = WindowPanel(changed)
        self.shares = SharesPanel(changed)
        self.selection = Dropdown(description="Selection", options=get_args(Selection))
        self.strategies = {name: Checkbox(description=name, indent=False) for name in get_args(ComparedStrategy)}
        self.choices = Box().add_class("ctxopt-choices")
        self.widget = VBox(
            [
                _group("Window", self.window.widget),
                _group("Shares, in percent", self.shares.widget),
                _group("Strategies for the history", self.choices),
                _group("Documents that do not fit", self.selection),
            ]
        )
        self.show(settings)
        for widget in (self.selection, *self.strategies.values()):
            widget.observe(self._on_choice, "value")

    @property
    def settings(self) -> PlaygroundSettings:
        """The settings as they stand.

        Raises:
            ValueError: They are none: no strategy is chosen, or nothing of the window is left.
        """
        in_order = dict.fromkeys((*self._settings.compared, *self.strategies))
        chosen = tuple(name for name in in_order if self.strategies[name].value)
        if not chosen:
            message = "no strategy is chosen; tick at least one"
            raise ValueError(message)
        return replace(
            self._settings,
            model=self.window.model_id,
            target=self.window.target,
            output_reserve=self.window.output_reserve,
            shares=self.shares.shares,
            strategies=chosen,
            selection=self.selection.value,
        )

    def show(self, settings: PlaygroundSettings) -> None:
        """Move the widgets, without a call of `changed`."""
        self._settings, self._silent = settings, True
        self.window.show(settings.model, settings.target, settings.output_reserve)
        self.shares.show(settings.shares)
        self.selection.value = settings.selection
        self.choices.children = [self.strategies[name] for name in settings.offered]
        for name, box in self.strategies.items():
            box.value = name in settings.compared
        self._silent = False

    def _on_choice(self, _: object) -> None:
        if not self._silent:
            self._changed()


def _group(title: str, content: object) -> VBox:
    return VBox([HTML(heading(title)), content]).add_class("ctxopt-group")
