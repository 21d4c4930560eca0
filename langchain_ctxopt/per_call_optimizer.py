"""Settings that are validated once and make an optimizer for each call, with the model that is really called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ctxopt_core import HistoryPolicy
from ctxopt_core.adapters import LIMITS, RequestSettings, reject_unknown_settings
from langchain_ctxopt.errors import typed_errors
from langchain_ctxopt.optimizer import ContextOptimizer

_DEFAULTS: Mapping[str, Any] = {"protect": ("query",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCallOptimizer:
    """Makes the optimizer for one call.

    Args:
        settings: The settings, validated.
    """

    settings: Mapping[str, Any]

    @classmethod
    def of(cls, settings: Mapping[str, Any], owner: str) -> PerCallOptimizer:
        """Validate settings before there is a model.

        Args:
            settings: What the caller gave; see `RequestSettings`.
            owner: The class or function that they were given to, for error messages.

        Raises:
            TypeError: There is no such setting.
            ValueError: A setting is out of its range.
        """
        reject_unknown_settings(settings, RequestSettings.__annotations__, owner)
        given = {**_DEFAULTS, **settings}
        # Some limit is needed to be validated with; the model that is called brings its own.
        limit = {} if any(given.get(name) is not None for name in LIMITS) else {"target_tokens": 1}
        checked = ContextOptimizer(**{**given, **limit})
        return cls(settings={name: getattr(checked, name) for name in given if name not in limit})

    @property
    def has_custom_strategy(self) -> bool:
        """Whether a custom history strategy chooses what is kept."""
        history = self.settings.get("history")
        return isinstance(history, HistoryPolicy) and not isinstance(history.strategy, str)

    def optimizer_for(
        self,
        model: object,
        tools: Iterable[object] = (),
        *,
        target_tokens: int | None = None,
        run: Mapping[str, Any] | None = None,
    ) -> ContextOptimizer:
        """Return the optimizer of one call.

        Args:
            model: The model that is called, with all that is bound to it.
            tools: Tool schemas that go with the call and are not bound to the model yet.
            target_tokens: A limit for this call alone, in tokens.
            run: The settings of the run; see `run_settings`.

        Raises:
            RequestOverflowError: Nothing of the window is left for the input.
            ServerStateError: The model is called with what its server holds.
            ValueError: A setting of the run is out of its range.
        """
        limit = {} if target_tokens is None else {"target_tokens": target_tokens}
        schemas: Any = tuple(tools)  # they are converted when the settings are checked
        with typed_errors():
            return ContextOptimizer(model=model, tools=schemas, **{**self.settings, **(run or {}), **limit})
