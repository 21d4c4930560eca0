"""Settings that are made once, for requests to whichever model is really called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ctxopt_core.budget import Shares
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.options import Overflow
from ctxopt_core.report import FitReport
from ctxopt_core.setting_values import reject_unknown_settings
from ctxopt_core.tokens import TokenCounter
from ctxopt_core.windows import OnUnknown
from langchain_ctxopt.optimizer import ContextOptimizer

_DEFAULTS: Mapping[str, Any] = {"protect": ("query",)}
_LIMITS = ("context_window", "max_input_tokens", "target")


class RequestSettings(TypedDict, total=False):
    """How requests to a model are fitted. What is not given is asked of the model that is called.

    Attributes:
        context_window: Input and answer together, in tokens; overrides what the model says.
        max_input_tokens: The most that a request may count, in tokens.
        output_reserve: Tokens kept free for the answer; by default the model's own `max_tokens`, else 4,096 but at
            most an eighth of the window.
        safety_margin: Further tokens kept free.
        target: A limit of one's own, in tokens.
        trigger: The part of the input budget from which on requests are cut; see `ctxopt_core.ContextBudget`.
        shares: Guaranteed percentages of the components, as `Shares` or a mapping.
        history: How the conversation is trimmed, as `HistoryPolicy` or a mapping.
        protect: Components that may not be cut; by default the query. A request in which they do not fit raises.
        overflow: `error` or `empty`; see `ctxopt_core.fit`.
        token_counter: Counts tokens in place of the model's tokenizer: a name, a function or a `TokenCounter`.
        prices: Prices of one's own for the cost in the report, by model id: USD for a million input tokens.
        attachment_tokens: What an attachment of unknown size is charged, by its kind.
        on_unknown: Whether a model whose window is not known is an error, or has the smallest window known.
        on_report: Called with the report of each request that is sent.
    """

    context_window: int | str | None
    max_input_tokens: int | str | None
    output_reserve: int | str | None
    safety_margin: int | str
    target: int | str | None
    trigger: float
    shares: Shares | Mapping[str, Any]
    history: HistoryPolicy | Mapping[str, Any]
    protect: tuple[str, ...]
    overflow: Overflow
    token_counter: str | TokenCounter | Callable[[str], int] | None
    prices: Mapping[str, Any] | None
    attachment_tokens: Mapping[str, int] | None
    on_unknown: OnUnknown
    on_report: Callable[[FitReport], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFitting:
    """Makes the optimizer for one call.

    Args:
        settings: The settings, validated.
    """

    settings: Mapping[str, Any]

    @classmethod
    def of(cls, settings: Mapping[str, Any], owner: str) -> RequestFitting:
        """Validate settings before there is a model.

        Args:
            settings: What the caller gave; see `RequestSettings`.
            owner: Whose settings they are, for error messages.

        Raises:
            TypeError: There is no such setting.
            ValueError: A setting is out of its range.
        """
        reject_unknown_settings(settings, RequestSettings.__annotations__, owner)
        given = {**_DEFAULTS, **settings}
        # Some limit is needed to be validated with; the model that is called brings its own.
        limit = {} if any(given.get(name) is not None for name in _LIMITS) else {"target": 1}
        checked = ContextOptimizer(**{**given, **limit})
        return cls(settings={name: getattr(checked, name) for name in given if name not in limit})

    @property
    def has_own_strategy(self) -> bool:
        """Whether a function of the caller's own chooses what is kept of the history."""
        history = self.settings.get("history")
        return isinstance(history, HistoryPolicy) and not isinstance(history.strategy, str)

    def optimizer_for(
        self, model: object, tools: Iterable[object] = (), *, target: int | None = None
    ) -> ContextOptimizer:
        """Return the optimizer of one call.

        Args:
            model: The model that is called, with all that is bound to it.
            tools: Tool schemas that go with the call and are not bound to the model yet.
            target: A limit for this call alone, in tokens.
        """
        limit = {} if target is None else {"target": target}
        return ContextOptimizer(model=model, tools=tuple(tools), **{**self.settings, **limit})

    def with_changes(self, changes: Mapping[str, Any], owner: str) -> RequestFitting:
        """Return a fitting with other settings, validated as at construction."""
        return RequestFitting.of({**self.settings, **changes}, owner)
