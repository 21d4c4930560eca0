"""The settings that a replay compares, each under its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias, cast

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import Shares
from ctxopt_core.fitting.options import FitOptions, as_value
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.sweeps.settings import StrategySetting, policy_labels

ReplayStrategies: TypeAlias = (
    StrategySetting | Iterable[StrategySetting | Mapping[str, Any]] | Mapping[str, StrategySetting | Mapping[str, Any]]
)
"""One setting, several, or several by the names that the table calls them by."""

_POLICY_FIELDS = frozenset(setting.name for setting in fields(HistoryPolicy))
_OPTIONS = frozenset({"protect", "ranking_query", "overflow"})
_LIMITS = frozenset(
    {"context_window", "max_input_tokens", "output_reserve", "safety_margin", "target_tokens", "shares", "trigger"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStrategy:
    """One way to fit each request of a conversation.

    Args:
        name: What the table calls it.
        history: How the conversation is trimmed.
        limits: What differs from the budget of the other strategies, by the fields of `ContextBudget`.
        options: What else is set of a fit, by the names that `fit` has for it.
    """

    name: str
    history: HistoryPolicy
    limits: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def budget(self, common: ContextBudget) -> ContextBudget:
        """Return its budget, given the one that all strategies have in common."""
        return replace(common, **self.limits) if self.limits else common

    @property
    def fit_options(self) -> FitOptions:
        """What a fit takes."""
        given = dict(self.options)
        protect = given.pop("protect", ())
        protected = frozenset((protect,) if isinstance(protect, str) else protect)
        return FitOptions(history=self.history, protect=protected, **given)


def read_strategies(given: ReplayStrategies) -> tuple[ReplayStrategy, ...]:
    """Return the settings, each checked, under names of which no two are the same.

    Raises:
        ValueError: There is none, or one is out of its range.
        TypeError: One has a type that it cannot have.
    """
    named = _named(given)
    if not named:
        message = "`strategies` must hold at least one setting, for example 'auto', got none"
        raise ValueError(message)
    read = [_read(setting) for _, setting in named]
    labels = policy_labels([one.history for one in read])
    found = tuple(replace(one, name=name or label) for (name, _), one, label in zip(named, read, labels, strict=True))
    for one in found:
        _ = one.fit_options  # it checks them
    return found


def _named(given: object) -> list[tuple[str, object]]:
    if isinstance(given, Mapping):
        if "history" in given or any(_is_field(name, value) for name, value in given.items()):
            return [("", given)]
        if blank := [name for name in given if not isinstance(name, str) or not name.strip()]:
            message = f"`strategies` must have names that are strings and not blank, got {blank[0]!r}"
            raise ValueError(message)
        return list(given.items())
    if isinstance(given, (str, HistoryPolicy)) or callable(given):
        return [("", given)]
    if not isinstance(given, Iterable):
        message = (
            "`strategies` must be history strategies: names, HistoryPolicies, mappings of their fields or functions, "
            f"or a mapping of names to such settings, got {type(given).__name__}"
        )
        raise TypeError(message)
    return [("", one) for one in given]


def _is_field(name: object, value: object) -> bool:
    """Return whether this is a field of a policy and its value, and not a setting under the name of a field."""
    return name in _POLICY_FIELDS and not isinstance(value, (HistoryPolicy, Mapping))


def _read(setting: object) -> ReplayStrategy:
    if not isinstance(setting, Mapping) or "history" not in setting:
        return ReplayStrategy(name="", history=_policy(setting))
    if unknown := sorted(map(str, setting.keys() - _LIMITS - _OPTIONS - {"history"})):
        known = ", ".join(sorted(_LIMITS | _OPTIONS | {"history"}))
        message = f"`strategies`: a setting with `history` has no {', '.join(unknown)}; it may have {known}"
        raise ValueError(message)
    limits = {name: value for name, value in setting.items() if name in _LIMITS}
    if "shares" in limits:
        limits["shares"] = as_value(Shares, limits["shares"], name="shares")
    options = {name: value for name, value in setting.items() if name in _OPTIONS}
    return ReplayStrategy(name="", history=_policy(setting["history"]), limits=limits, options=options)


def _policy(setting: object) -> HistoryPolicy:
    if isinstance(setting, str) or callable(setting):
        return HistoryPolicy(strategy=cast("Any", setting))  # it checks the name
    return as_value(HistoryPolicy, setting, name="strategies")
