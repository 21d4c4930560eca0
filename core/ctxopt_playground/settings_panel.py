"""The settings of the playground as widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from ipywidgets import HTML, Box, Checkbox, Dropdown, FloatSlider, VBox

from ctxopt_core.budget.shares import COMPONENTS, Shares
from ctxopt_core.documents.policy import Selection
from ctxopt_playground.markup import Tone, heading, status_line
from ctxopt_playground.model_text import without_model_warnings
from ctxopt_playground.settings import ComparedStrategy, PlaygroundSettings
from ctxopt_playground.window_panel import WindowPanel

_WHOLE = 100  # percent: the sum of shares that are neither scaled nor leave a rest
_NAMES = {"system": "System prompt", "query": "Query", "documents": "Documents", "history": "History"}


class SettingsPanel:
    """The settings. Strategies that need a summarizer are offered where there is one.

    Args:
        settings: The first values of the widgets; its summarizer and its prices are kept.
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
        """The settings that the widgets show.

        Raises:
            ValueError: No strategy is chosen, or nothing of the window is left for the input.
        """
        in_order = dict.fromkeys((*self._settings.compared, *self.strategies))
        chosen = tuple(name for name in in_order if self.strategies[name].value)
        if not chosen:
            message = "no strategy is chosen; tick at least one"
            raise ValueError(message)
        return replace(
            self._settings,
            model=self.window.model_id,
            target_tokens=self.window.target_tokens,
            output_reserve=self.window.output_reserve,
            shares=self.shares.shares,
            strategies=chosen,
            selection=self.selection.value,
        )

    def show(self, settings: PlaygroundSettings) -> None:
        """Set the widgets, without calling `changed`."""
        self._settings, self._silent = settings, True
        self.window.show(settings.model, settings.target_tokens, settings.output_reserve)
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


class SharesPanel:
    """A slider for each share, and their sum.

    Args:
        changed: Is called when a share has changed.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._silent = changed, False
        self.sliders = {
            name: FloatSlider(description=_NAMES[name], min=0, max=_WHOLE, step=1, readout_format=".4")
            for name in COMPONENTS
        }
        self.status = HTML()
        self.widget = VBox([*self.sliders.values(), self.status])
        for slider in self.sliders.values():
            slider.observe(self._on_share, "value")

    @property
    def shares(self) -> Shares:
        """The shares that the sliders show."""
        with without_model_warnings():
            return Shares(**{name: slider.value for name, slider in self.sliders.items()})

    def show(self, shares: Shares) -> None:
        """Set the sliders, without calling `changed`."""
        self._silent = True
        for name, slider in self.sliders.items():
            slider.value = float(getattr(shares, name))
        self._silent = False
        self._show_status()

    def _on_share(self, _: object) -> None:
        if not self._silent:
            self._show_status()
            self._changed()

    def _show_status(self) -> None:
        total = sum(slider.value for slider in self.sliders.values())
        if total > _WHOLE:
            self.status.value = status_line(f"Together {total:g} %, so they are scaled to 100 %.", Tone.CAUTION)
        elif total < _WHOLE:
            self.status.value = status_line(f"Together {total:g} %; the rest goes to the parts that need more.")
        else:
            self.status.value = status_line("Together 100 %. What a part does not need goes to the others.")
