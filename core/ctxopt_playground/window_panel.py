"""The model, how much of its window is used, and the reserve for the answer, as widgets."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

from ipywidgets import HTML, Checkbox, Combobox, FloatLogSlider, IntSlider, VBox

from ctxopt_core.budget.context_budget import default_output_reserve, usual_output_reserve
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.text.surrogates import joined_surrogates
from ctxopt_playground.markup import Tone, status_line
from ctxopt_playground.model_text import described, model_ids, window_of

_SMALLEST_EXPONENT = 7  # a power of 2: 128 tokens are the smallest window of the slider
_WITHOUT_A_MODEL = 32_768  # tokens: the largest window of the slider where no model limits it
_STEPS = 256  # steps of the reserve's slider, about as many as it has pixels


class WindowPanel:
    """Model, window and reserve.

    Args:
        changed: Is called when one of them has changed.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._silent = changed, True
        self._window: ModelWindow | None = None
        self.model = Combobox(
            description="Model", options=model_ids(), ensure_option=False, continuous_update=False, placeholder="any id"
        )
        self.status = HTML()
        self.whole = Checkbox(description="the whole window of the model", indent=False)
        self.window = FloatLogSlider(
            description="Window",
            tooltip="How many tokens of the window are used",
            base=2,
            min=_SMALLEST_EXPONENT,
            max=log2(_WITHOUT_A_MODEL),
            step=1 / 16,
            readout_format=",.0f",
        )
        self.reserve = IntSlider(
            description="For the answer",
            tooltip="How many of them are kept free for the answer",
            min=0,
            max=_WITHOUT_A_MODEL,
            readout_format=",d",
        )
        self.widget = VBox([self.model, self.status, self.window, self.whole, self.reserve])
        self.model.observe(self._on_model, "value")
        for widget in (self.whole, self.window, self.reserve):
            widget.observe(self._on_amount, "value")

    @property
    def model_id(self) -> str | None:
        """The id in the box of the model; None where it is empty."""
        return self.model.value.strip() or None

    @property
    def output_reserve(self) -> int:
        """Tokens that are kept for the answer."""
        tokens: int = self.reserve.value
        return tokens

    @property
    def target_tokens(self) -> int | None:
        """The most tokens that the request may have; None where the whole window is used."""
        return None if self.whole.value and self._window else self._in_use - self.output_reserve

    @property
    def _limit(self) -> int:
        if self._window is None:
            return _WITHOUT_A_MODEL
        return self._window.context_window or self._window.input_limit

    @property
    def _in_use(self) -> int:
        return self._limit if self.whole.value and self._window else round(self.window.value)

    def show(self, model: str | None, target_tokens: int | None, output_reserve: int | None) -> None:
        """Set the widgets, without calling `changed`; a reserve of None is the usual one of the model."""
        self._silent = True
        self.model.value = joined_surrogates(model or "")
        self._look_up()
        reserve = self._usual_reserve() if output_reserve is None else output_reserve
        self.whole.value = target_tokens is None
        if target_tokens is not None:
            self.window.min = min(_SMALLEST_EXPONENT, log2(target_tokens + reserve))
            self.window.max = max(self.window.max, log2(target_tokens + reserve))
            self.window.value = target_tokens + reserve
        self._set_reserve(reserve, largest=reserve)
        self._silent = False

    def _usual_reserve(self) -> int:
        return usual_output_reserve(self._in_use) if self._window is None else default_output_reserve(self._window)

    def _look_up(self) -> None:
        self._window = None if self.model_id is None else window_of(self.model_id)
        self.window.max = max(_SMALLEST_EXPONENT + 1, log2(self._limit))
        if self._window is None:
            self.status.value = status_line("No model: counted with o200k_base, and no price is known.")
        else:
            known = self._window.source != "fallback"
            self.status.value = status_line(described(self._window), Tone.PLAIN if known else Tone.CAUTION)

    def _on_model(self, _: object) -> None:
        if self._silent:
            return
        usual = self.output_reserve == self._usual_reserve()
        self._silent = True
        self._look_up()
        self._set_reserve(self._usual_reserve() if usual else self.output_reserve)
        self._silent = False
        self._changed()

    def _on_amount(self, _: object) -> None:
        if self._silent:
            return
        self._silent = True
        self._set_reserve(self.output_reserve)
        self._silent = False
        self._changed()

    def _set_reserve(self, reserve: int, *, largest: int = 0) -> None:
        """Set the reserve, at most three quarters of the window in use, or `largest` if that is more."""
        self.whole.disabled = self._window is None
        self.window.disabled = self.whole.value and self._window is not None
        top = max(1, self._in_use * 3 // 4, largest)
        self.reserve.max = top
        self.reserve.step = max(1, 2 ** int(log2(max(1, top / _STEPS))))
        self.reserve.value = reserve
