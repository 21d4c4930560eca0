"""Fits requests from files, each into the window of the model that it names."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ctxopt_core.budget.model_budget import ModelBudget
from ctxopt_core.command_line.errors import DoesNotFitError, one_line
from ctxopt_core.command_line.explanation import Explained, explain
from ctxopt_core.command_line.fitting_options import FittingChoices
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.fit_request import fit_with
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.request_files import RequestFile
from ctxopt_core.models.model_settings import ModelInfo

_MOST_BUDGETS = 128  # pairs of model and answer limit: a file has a few; more of them are worked out again
_NO_SETTINGS = ModelInfo()
_NO_LIMIT = (
    "nothing says how much fits: give --model, --context-window, --max-input-tokens or --target-tokens, "
    "or put a `model` into the request"
)


class RequestFitter:
    """Fits requests. Budgets are worked out once for each model and answer limit.

    Args:
        choices: The options of the command.

    Raises:
        ValueError: The options contradict one another, or leave nothing for the input.
        UnknownModelError: The model is not known, and that is to be an error.
    """

    def __init__(self, choices: FittingChoices) -> None:
        self._choices = choices
        self._known = lru_cache(maxsize=_MOST_BUDGETS)(self._model_budget)
        self._renderer = ChatRenderer()
        if choices.sets_limit:
            self._known(choices.model, None)

    def model_budget(self, stored: RequestFile | None) -> ModelBudget:
        """Return the budget and the counter for a request; for None, those for plain text without a model.

        Raises:
            ValueError: Neither the options nor the request say how much fits, or nothing is left for the input.
            UnknownModelError: The model is not known, and that is to be an error.
        """
        settings = _NO_SETTINGS if stored is None else stored.settings
        return self._known(self._choices.model or settings.name, settings.answer_tokens)

    def fit(self, stored: RequestFile) -> FittedContext:
        """Return the fitted request.

        Raises:
            DoesNotFitError: What may not be cut is larger than the input budget.
            ValueError: As `model_budget`.
        """
        known = self.model_budget(stored)
        try:
            return fit_with(stored.request, known.budget, known.counter, self._renderer, self._choices.fit)
        except ContextBudgetError as error:
            raise DoesNotFitError(one_line(error)) from error

    def explain(self, stored: RequestFile, fitted: FittedContext) -> tuple[Explained, ...]:
        """Return the outcome of each part of a fitted request, and why."""
        return explain(fitted, self.model_budget(stored).counter, self._renderer)

    def _model_budget(self, model: str | None, answer_tokens: int | None) -> ModelBudget:
        choices = self._choices
        if model is None and not choices.sets_limit:
            raise ValueError(_NO_LIMIT)
        limits = replace(choices.limits, output_reserve=self._reserve(model, answer_tokens))
        return limits.model_budget(None if model is None else ModelInfo(name=model, answer_tokens=answer_tokens))

    def _reserve(self, model: str | None, answer_tokens: int | None) -> int | None:
        """Return the tokens that are kept free for the answer; None leaves it to the model."""
        given, window = self._choices.limits.output_reserve, self._choices.limits.context_window
        if given is not None or model is not None or window is None or answer_tokens is None:
            return given
        return answer_tokens
