"""From a model and explicit numbers to a budget, a token counter and the tool schemas that go with every request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxopt_core.budget import ContextBudget, Shares, usual_output_reserve
from ctxopt_core.fitting import counter_of
from ctxopt_core.model_settings import ModelSettings
from ctxopt_core.model_window import ModelWindow
from ctxopt_core.prices import Prices
from ctxopt_core.rendering import Framing
from ctxopt_core.request import ContextRequest
from ctxopt_core.subject import Subject, as_given
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.windows import OnUnknown, UserCatalogue, resolve_window

_NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeting:
    """What is the same for every request of one optimizer.

    Args:
        budget: Window, reserve and shares.
        counter: Counts tokens. It follows from the settings, so that it need not be compared.
        schemas: Tool schemas and response format that the model is bound to, and those that were named.
    """

    budget: ContextBudget
    counter: TokenCounter = field(compare=False)
    schemas: tuple[Mapping[str, Any] | str, ...] = ()

    def count(self, request: ContextRequest, framing: Framing) -> int:
        """Return what a request counts as it is, rendered, in tokens."""
        subject = Subject(request=request, limit=_NO_LIMIT, counter=self.counter, framing=framing)
        return subject.whole(as_given(subject))


def budgeting_of(
    settings: ModelSettings | None,
    *,
    token_counter: object,
    context_window: int | None,
    max_input_tokens: int | None,
    output_reserve: int | None,
    safety_margin: int,
    target: int | None,
    trigger: float,
    shares: Shares,
    tools: tuple[Mapping[str, Any] | str, ...] = (),
    prices: Prices | None = None,
    attachment_tokens: Mapping[str, int] | None = None,
    on_unknown: OnUnknown = "fallback",
    catalogue: UserCatalogue | None = None,
) -> Budgeting:
    """Return budget, counter and schemas for what a model says about itself, or for explicit numbers alone.

    A profile's `max_input_tokens` is the whole window for some models and the input alone for others; it is taken as
    the whole window, so that the answer always has room.

    Raises:
        ValueError: Neither a model nor a limit is given, or the model tells neither name nor window.
        UnknownModelError: No window is known and `on_unknown` is `"error"`.
    """
    limits: dict[str, Any] = {"context_window": context_window, "max_input_tokens": max_input_tokens}
    rest: dict[str, Any] = {"safety_margin": safety_margin, "target": target, "trigger": trigger, "shares": shares}
    rest.update(prices=prices or {}, attachment_tokens=attachment_tokens or {})
    if settings is not None:
        asked: dict[str, Any] = {"live": _live(settings), "catalogue": catalogue, "on_unknown": on_unknown}
        window = resolve_window(_name_of(settings, limits), **asked, **limits)
        reserve = _answer_reserve(settings, window) if output_reserve is None else output_reserve
        budget = ContextBudget.for_model(window, output_reserve=reserve, **rest)
    elif target is None and not any(limits.values()):
        message = "give one of `model`, `context_window`, `max_input_tokens` and `target`: none says how much fits"
        raise ValueError(message)
    else:
        kept_free = usual_output_reserve(context_window) if output_reserve is None else output_reserve
        budget = ContextBudget(output_reserve=kept_free, **limits, **rest)
    counter = counter_of(budget, token_counter)
    bound = settings.schemas if settings else ()
    return Budgeting(budget=budget, counter=counter, schemas=(*bound, *tools))


def _answer_reserve(settings: ModelSettings, window: ModelWindow) -> int | None:
    """The model's own answer limit, but at most half of the window: many are set to all that the model could answer."""
    if settings.answer_tokens is None or window.context_window is None:
        return settings.answer_tokens
    return min(settings.answer_tokens, window.context_window // 2)


def _live(settings: ModelSettings) -> Mapping[str, object] | None:
    if settings.max_input_tokens is None:
        return None
    return {"context_window": settings.max_input_tokens, "max_output_tokens": settings.max_output_tokens}


def _name_of(settings: ModelSettings, limits: Mapping[str, Any]) -> str:
    if settings.name is not None:
        return settings.name
    if settings.max_input_tokens is None and not any(limits.values()):
        message = f"{settings.kind} tells neither a model name nor a window; give a limit in tokens instead"
        raise ValueError(message)
    return settings.kind
