"""Short names by which settings are told apart in tables and legends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.model_summarizer import ModelSummarizer
from ctxopt_core.visible_text import beginning

_LONGEST = 80


def policy_labels(policies: Sequence[HistoryPolicy] | Sequence[DocumentPolicy]) -> list[str]:
    """Return a label for each policy, in their order, no two the same.

    It is the strategy or the selection, and in parentheses what else differs from the defaults, like
    `turns(keep_first=False)`. A function is called by its name. What is then still called the same gets a number.
    """
    labels = [_label(policy) for policy in policies]
    seen: Counter[str] = Counter()
    numbered = []
    for label in labels:
        seen[label] += 1
        numbered.append(f"{label} #{seen[label]}" if labels.count(label) > 1 else label)
    return numbered


def percentages_label(percentages: Iterable[float]) -> str:
    """Return percentages as one text, like `10/15/50/25`."""
    return "/".join(f"{percentage:g}" for percentage in percentages)


def _label(policy: HistoryPolicy | DocumentPolicy) -> str:
    name = _shown(policy.strategy if isinstance(policy, HistoryPolicy) else policy.selection)
    others = [field for field in fields(policy) if field.name not in ("strategy", "selection")]
    differing = [f"{field.name}={_shown(getattr(policy, field.name))}" for field in others if _differs(policy, field)]
    return beginning(f"{name}({', '.join(differing)})" if differing else name, _LONGEST)


def _differs(policy: object, field: Field[Any]) -> bool:
    value = getattr(policy, field.name)
    if isinstance(value, ModelSummarizer):
        return False  # the strategy says that there is one, and the class is the same for every model
    return field.default is not MISSING and value != field.default


def _shown(value: object) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    if isinstance(value, tuple):
        return "+".join(map(_shown, value))
    return str(getattr(value, "__name__", type(value).__name__))
