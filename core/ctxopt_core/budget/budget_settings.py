"""How much fits, as a caller gives it: the settings that every front takes, and what they come to with a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ctxopt_core.budget.context_budget import ContextBudget, usual_output_reserve
from ctxopt_core.budget.model_budget import ModelBudget, counter_of
from ctxopt_core.budget.shares import Shares
from ctxopt_core.errors import ContextBudgetError, UnknownModelError
from ctxopt_core.models.catalog import builtin_index
from ctxopt_core.models.model_settings import ModelInfo
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.prices import Prices
from ctxopt_core.models.resolve_window import OnUnknownModel, UnknownModelWarning, UserCatalog, resolve_window
from ctxopt_core.runtime.warn_once import warn_once
from ctxopt_core.validation import optional_token_amount, token_amount

LIMITS = ("context_window", "max_input_tokens", "target_tokens")
"""The settings that say how much fits."""

_DEFAULT_SHARES = Shares()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    """How much fits, as a caller gives it: the settings that every front takes.

    Amounts of tokens are checked here, everything else when the budget of a model is made. What is not given is what
    the model says about itself.

    Args:
        context_window: Input and answer together, in tokens.
        max_input_tokens: The most that a request may have, in tokens.
        output_reserve: Tokens kept free for the answer; by default the answer limit that goes with a request, whatever
            its size, else 4,096 but at most an eighth of the window.
        safety_margin: Further tokens kept free.
        target_tokens: A custom limit, in tokens.
        trigger: The part of the input budget from which on requests are cut; see `ContextBudget`.
        shares: Guaranteed percentages of the components.
        prices: Custom prices by model id: USD for a million input tokens.
        attachment_tokens: What an attachment of unknown size is charged, by its kind.
        on_unknown_model: Whether a model whose window is not known is an error, or has the smallest window known.
        catalog: Custom windows, which are asked before the built-in ones: a mapping or a function of an id.
        token_counter: Counts tokens in place of the model's tokenizer: what `counter_for` takes.

    Raises:
        ValueError: An amount is no whole number of tokens.
    """

    context_window: int | None = None
    max_input_tokens: int | None = None
    output_reserve: int | None = None
    safety_margin: int = 0
    target_tokens: int | None = None
    trigger: float = 1.0
    shares: Shares = _DEFAULT_SHARES
    prices: Prices | None = None
    attachment_tokens: Mapping[str, int] | None = None
    on_unknown_model: OnUnknownModel = "fallback"
    catalog: UserCatalog | None = None
    token_counter: object = None

    def __post_init__(self) -> None:
        for name in LIMITS:
            object.__setattr__(self, name, optional_token_amount(name, getattr(self, name)))
        reserve = optional_token_amount("output_reserve", self.output_reserve, minimum=0)
        object.__setattr__(self, "output_reserve", reserve)
        object.__setattr__(self, "safety_margin", token_amount("safety_margin", self.safety_margin or 0, minimum=0))

    @classmethod
    def of(cls, given: object) -> BudgetSettings:
        """Return the settings among the attributes of an object, which has them by the same names."""
        return cls(**{setting.name: getattr(given, setting.name) for setting in fields(cls)})

    @property
    def gives_limit(self) -> bool:
        """Whether these settings alone say how much fits, whatever the model is."""
        return any(getattr(self, name) is not None for name in LIMITS)

    def model_budget(self, model: ModelInfo | None, tools: Sequence[Mapping[str, Any] | str] = ()) -> ModelBudget:
        """Return budget, counter and schemas for what a model says about itself, or for these settings alone.

        A profile's `max_input_tokens` is the whole window for some models and the input alone for others; it is taken
        as the whole window, so that the answer always has room.

        Args:
            model: What the model says; None where a limit is given.
            tools: Tool schemas that go with every request, beside those that the model is bound to.

        Raises:
            ValueError: Neither a model nor a limit is given, or the model says neither its name nor its window.
            UnknownModelError: No window is known and `on_unknown_model` is `"error"`.
            ContextBudgetError: Nothing is left for the input.
        """
        limits = self._limits(model)
        rest: dict[str, Any] = {
            "safety_margin": self.safety_margin,
            "target_tokens": self.target_tokens,
            "trigger": self.trigger,
            "shares": self.shares,
            "prices": self.prices or {},
            "attachment_tokens": self.attachment_tokens or {},
        }
        if model is not None:
            window = self._window(model, limits)
            reserve = self.output_reserve
            if reserve is None and model.answer_tokens is not None:
                reserve = _answer_reserve(model, model.answer_tokens, window, self.safety_margin)
            budget = ContextBudget.for_model(window, output_reserve=reserve, **rest)
        elif not self.gives_limit:
            message = (
                "give one of `model`, `context_window`, `max_input_tokens` and `target_tokens`: none says how much fits"
            )
            raise ValueError(message)
        else:
            usual = usual_output_reserve(self.context_window)
            reserve = usual if self.output_reserve is None else self.output_reserve
            budget = ContextBudget(output_reserve=reserve, **limits, **rest)
        counter = counter_of(budget, self.token_counter, argument="token_counter")
        bound = model.schemas if model else ()
        return ModelBudget(budget=budget, counter=counter, schemas=(*bound, *tools))

    def _limits(self, model: ModelInfo | None) -> dict[str, Any]:
        """Return the limits of the window. A target is one where nothing else says how large the window is."""
        limits = {"context_window": self.context_window, "max_input_tokens": self.max_input_tokens}
        if model is None or self.context_window is not None:
            return limits
        if self.max_input_tokens is None and self.target_tokens is None:
            return limits
        if self.max_input_tokens is None:
            assumed = model.loaded_by_default or (model.window_tokens is None and not self._knows(model.name))
            return {**limits, "max_input_tokens": self.target_tokens} if assumed else limits
        if model.loaded_by_default:
            return limits
        # A limit of the input leaves the window as it is, which must hold the answer as well.
        live = _live(model)
        most = live.get("max_input_tokens", self.max_input_tokens)
        return {**live, "max_input_tokens": min(most, self.max_input_tokens)}

    def _knows(self, name: str | None) -> bool:
        try:
            return name is not None and bool(resolve_window(name, catalog=self.catalog, on_unknown_model="error"))
        except UnknownModelError:
            return False

    def _window(self, model: ModelInfo, limits: Mapping[str, Any]) -> ModelWindow:
        if model.loaded_by_default and not any(limits.values()):
            message = (
                f"{model.kind} {model.name or ''} is called without `num_ctx`, so that its server loads it with a "
                f"window of its own: {model.loaded_tokens} tokens are used, the least that servers take; set `num_ctx` "
                "on the model, or `context_window` to what the server is configured with"
            )
            warn_once(message, UnknownModelWarning, stacklevel=3)
        asked: dict[str, Any] = {
            "live": {**_live(model), "max_output_tokens": model.max_output_tokens},
            "catalog": self.catalog,
            "on_unknown_model": self.on_unknown_model,
        }
        return resolve_window(_name_of(model, limits), **asked, **limits)


def _answer_reserve(model: ModelInfo, answer: int, window: ModelWindow, margin: int) -> int:
    """Return the tokens of an answer limit; of one that is not sent at most half of the window."""
    total = window.context_window
    if total is None:
        return answer
    if not model.answer_is_sent:
        return min(answer, total // 2)
    if answer + margin >= total:
        message = (
            f"nothing is left for the input: the answer limit of {model.name or model.kind} is {answer} tokens, its "
            f"context window has {total}, and providers check both together; lower the limit of the answer "
            "(`max_tokens`, or what the model calls it), or use a model with a larger window"
        )
        raise ContextBudgetError(message, needed=answer + margin + 1, available=total)
    return answer


def _live(model: ModelInfo) -> dict[str, int]:
    """Return the window that a model object tells, if it tells one.

    What it calls an input limit is the whole window for some models; it is the input alone where the catalog says so.
    """
    tokens = model.window_tokens
    if tokens is None:
        return {}
    row = None if model.name is None else builtin_index().find(model.name)
    if row is not None and tokens == row.max_input_tokens and tokens < row.context_window:
        return {"context_window": row.context_window, "max_input_tokens": tokens}
    if row is not None and tokens == model.loaded_tokens:
        tokens = min(tokens, row.context_window)  # a server does not load more than the model can take
    return {"context_window": tokens}


def _name_of(settings: ModelInfo, limits: Mapping[str, Any]) -> str:
    if settings.name is not None:
        return settings.name
    if settings.window_tokens is None and not any(limits.values()):
        message = f"{settings.kind} says neither its name nor its window; give a limit in tokens instead"
        raise ValueError(message)
    return settings.kind
