"""The settings that a sweep tries, and the label of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from itertools import product
from math import ceil
from typing import Any, SupportsIndex, TypeAlias

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import Shares
from ctxopt_core.documents.policy import DocumentPolicy, Selection
from ctxopt_core.fitting.options import as_value
from ctxopt_core.history.policy import HistoryPolicy, StrategyName
from ctxopt_core.history.strategies.custom import HistoryStrategy
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.prices import Prices
from ctxopt_core.summaries.model_summarizer import ModelSummarizer
from ctxopt_core.text.display_text import preview
from ctxopt_core.validation import exact_number, token_amount

_LONGEST_LABEL = 80  # characters: a legend and a cell of a table still show it whole

BudgetSetting: TypeAlias = int | float | ContextBudget
"""A number of tokens; a part of the tokens of the uncut request, as a float above 0 and at most 1; or a budget."""
SharesSetting: TypeAlias = Shares | Mapping[str, Any]
StrategySetting: TypeAlias = StrategyName | HistoryStrategy | HistoryPolicy | Mapping[str, Any]
DocumentsSetting: TypeAlias = Selection | DocumentPolicy | Mapping[str, Any]


def policy_labels(policies: Sequence[HistoryPolicy] | Sequence[DocumentPolicy]) -> list[str]:
    """Return a label for each policy, in their order, no two the same.

    It is the strategy or the selection, with the other settings that differ from the defaults in parentheses, like
    `turns(keep_first_user_message=False)`. A function is shown by its name. Labels that are still equal get a number.
    """
    labels = [_label(policy) for policy in policies]
    return [
        f"{label} #{labels[: index + 1].count(label)}" if labels.count(label) > 1 else label
        for index, label in enumerate(labels)
    ]


def _label(policy: HistoryPolicy | DocumentPolicy) -> str:
    name = _shown(policy.strategy if isinstance(policy, HistoryPolicy) else policy.selection)
    differing = []
    for field in fields(policy):
        value = getattr(policy, field.name)
        if field.name in ("strategy", "selection") or field.default is MISSING or isinstance(value, ModelSummarizer):
            continue  # the strategy says that there is a summarizer, whose class is the same for every model
        if value != field.default:
            differing.append(f"{field.name}={_shown(value)}")
    return preview(f"{name}({', '.join(differing)})" if differing else name, _LONGEST_LABEL)


def _shown(value: object) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    if isinstance(value, tuple):
        return "+".join(map(_shown, value))
    return str(getattr(value, "__name__", type(value).__name__))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One way to share a budget and to cut a request to it.

    Args:
        shares: The components' guarantees; None for those of the budget.
        strategy: The label of the history policy.
        history: How the conversation is trimmed.
        selection: The label of the document policy.
        documents: How documents are chosen.
    """

    shares: Shares | None
    strategy: str
    history: HistoryPolicy
    selection: str
    documents: DocumentPolicy


def read_cuts(
    shares: Iterable[SharesSetting] | SharesSetting | None,
    strategies: Iterable[StrategySetting] | StrategySetting | None,
    documents: Iterable[DocumentsSetting] | DocumentsSetting | None,
) -> tuple[Cut, ...]:
    """Return the combinations of these settings, each checked, the last one varying fastest."""
    # A policy checks the name or the function that it is made of.
    histories = [
        HistoryPolicy(strategy=one)  # pyright: ignore[reportArgumentType]
        if isinstance(one, str) or callable(one)
        else as_value(HistoryPolicy, one, name="strategies")
        for one in _several("strategies", strategies, HistoryPolicy())
    ]
    packings = [
        DocumentPolicy(selection=one) if isinstance(one, str) else as_value(DocumentPolicy, one, name="documents")  # type: ignore[arg-type]
        for one in _several("documents", documents, DocumentPolicy())
    ]
    ways = product(
        [None if one is None else as_value(Shares, one, name="shares") for one in _several("shares", shares)],
        zip(policy_labels(histories), histories, strict=True),
        zip(policy_labels(packings), packings, strict=True),
    )
    return tuple(
        Cut(shares=split, strategy=strategy, history=history, selection=selection, documents=packing)
        for split, (strategy, history), (selection, packing) in ways
    )


def read_budgets(given: Iterable[BudgetSetting] | BudgetSetting) -> tuple[BudgetSetting, ...]:
    """Return the budgets, each checked."""
    return tuple(map(_budget, _several("budgets", given)))


def budget_for(
    asked: BudgetSetting, window: ModelWindow | None, prices: Prices, uncut_tokens: Callable[[], int]
) -> ContextBudget:
    """Return the budget for a checked setting; `uncut_tokens` counts the uncut request, for a budget that is a part."""
    if isinstance(asked, ContextBudget):
        return replace(asked, prices={**asked.prices, **prices}) if prices else asked
    if isinstance(asked, float):
        asked = max(1, ceil((exact_number(asked) or 1) * uncut_tokens()))
    if window is None:
        return ContextBudget(target_tokens=asked, prices=prices)
    return ContextBudget.for_model(window, target_tokens=asked, prices=prices)


def _several(name: str, given: object, default: object = None) -> tuple[Any, ...]:
    """Return what is given as a tuple of settings; a single one need not be put into a list."""
    if given is None:
        return (default,)
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        return (given,)
    if settings := tuple(given):
        return settings
    message = f"`{name}` must hold at least one setting, got none; leave it out for the default"
    raise ValueError(message)


def _budget(given: object) -> BudgetSetting:
    if isinstance(given, ContextBudget):
        return given
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        return token_amount("budgets", given)
    share = exact_number(given)
    if share is not None and 0 < share <= 1:
        return float(share)
    message = (
        "`budgets` must hold tokens such as 4_000, parts of the whole request such as 0.5 (above 0, at most 1.0), or "
        f"ContextBudgets, got {given!r}"
    )
    raise ValueError(message)
