"""From a model and explicit numbers to a budget, a token counter and the tool schemas that go with every request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ctxopt_core.budget import ContextBudget, Shares
from ctxopt_core.fitting import counter_of
from ctxopt_core.tokens import TokenCounter, counter_for
from langchain_ctxopt.model_settings import ModelSettings, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeting:
    """What is the same for every request of one optimizer.

    Args:
        budget: Window, reserve and shares.
        counter: Counts tokens.
        schemas: Tool schemas and response format that the model is bound to.
    """

    budget: ContextBudget
    counter: TokenCounter
    schemas: tuple[Mapping[str, Any] | str, ...] = ()


def budgeting_of(
    model: object,
    *,
    token_counter: str | TokenCounter | Callable[[str], int] | None,
    context_window: int | None,
    max_input_tokens: int | None,
    output_reserve: int | None,
    safety_margin: int,
    target: int | None,
    trigger: float,
    shares: Shares,
) -> Budgeting:
    """Return budget, counter and schemas for a model name, a model object, or explicit numbers alone.

    A profile's `max_input_tokens` is the whole window for some models and the input alone for others; it is taken as
    the whole window, so that the answer always has room.

    Raises:
        ValueError: Neither a model nor a limit is given, or the model tells neither name nor window.
        TypeError: `model` is no model.
    """
    rest: dict[str, Any] = {"safety_margin": safety_margin, "target": target, "trigger": trigger, "shares": shares}
    settings = ModelSettings(name=model) if isinstance(model, str) else None
    if settings is None and model is not None:
        settings = settings_of(model)
    if settings is None:
        if context_window is None and max_input_tokens is None and target is None:
            message = "give one of `model`, `context_window`, `max_input_tokens` and `target`: none says how much fits"
            raise ValueError(message)
        budget = ContextBudget(
            context_window=context_window,
            max_input_tokens=max_input_tokens,
            output_reserve=output_reserve or 0,
            **rest,
        )
    else:
        budget = ContextBudget.for_model(
            _name_of(settings, model, context_window or max_input_tokens),
            context_window=context_window,
            max_input_tokens=max_input_tokens,
            live=_live(settings),
            output_reserve=settings.answer_tokens if output_reserve is None else output_reserve,
            **rest,
        )
    counter = counter_of(budget) if token_counter is None else counter_for(token_counter)
    return Budgeting(budget=budget, counter=counter, schemas=settings.schemas if settings else ())


def _live(settings: ModelSettings) -> Mapping[str, object] | None:
    if settings.max_input_tokens is None:
        return None
    return {"context_window": settings.max_input_tokens, "max_output_tokens": settings.max_output_tokens}


def _name_of(settings: ModelSettings, model: object, limit: int | None) -> str:
    if settings.name is not None:
        return settings.name
    if settings.max_input_tokens is None and limit is None:
        message = (
            f"{type(model).__name__} tells neither a model name nor a window; give `context_window` or "
            "`max_input_tokens`"
        )
        raise ValueError(message)
    return type(model).__name__
