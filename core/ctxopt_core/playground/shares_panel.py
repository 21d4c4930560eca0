"""The part of the settings with the shares of the four components."""

from __future__ import annotations

from collections.abc import Callable

from ipywidgets import HTML, FloatSlider, VBox

from ctxopt_core.playground.model_words import warnings_told_otherwise
from ctxopt_core.playground.told import Tone, told
from ctxopt_core.shares import COMPONENTS, Shares

_WHOLE = 100
_NAMES = {"system": "System prompt", "query": "Query", "documents": "Documents", "history": "History"}


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
        """The shares as they stand."""
        with warnings_told_otherwise():
            return Shares(**{name: slider.value for name, slider in self.sliders.items()})

    def show(self, shares: Shares) -> None:
        """Move the sliders, without a call of `changed`."""
        self._silent = True
        for name, slider in self.sliders.items():
            slider.value = float(getattr(shares, name))
        self._silent = False
        self._tell()

    def _on_share(self, _: object) -> None:
        if not self._silent:
            self._tell()
            self._changed()

    def _tell(self) -> None:
        total = sum(slider.value for slider in self.sliders.values())
        if total > _WHOLE:
            self.status.value = told(f"Together {total:g} %, so they are scaled to 100 %.", Tone.CAUTION)
        elif total < _WHOLE:
            self.status.value = told(f"Together {total:g} %; the rest goes to the parts that are short.")
        else:
            self.status.value = told("Together 100 %. What a part does not need is handed on to the others.")
