"""The budget and the token counter of one model, and the tool schemas that go with every request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import Percent, Shares
from ctxopt_core.counting.counter_wrappers import ModelCounter
from ctxopt_core.counting.counters import counter_for, counter_given, counter_of_encoding
from ctxopt_core.counting.rewritten_counter import RewrittenCounter
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.providers.rules import NO_MODEL, rules_for
from ctxopt_core.validation import exact_percentage

_DEFAULT_SHARES = Shares()
_DEFAULT_ENCODING = "o200k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBudget:
    """What is the same for every request of one optimizer.

    Args:
        budget: Window, reserve and shares.
        counter: Counts tokens. It follows from the settings, so that it need not be compared.
        schemas: Tool schemas and response format that the model is bound to, and those that were named.
    """

    budget: ContextBudget
    counter: TokenCounter = field(compare=False)
    schemas: tuple[Mapping[str, Any] | str, ...] = ()


def checked_share(share: Any) -> Percent | None:
    """Return a share of the window, a percentage above 0, or None, as it is.

    Raises:
        ValueError: It is something else.
    """
    if share is not None and not exact_percentage("share", share):
        message = f"`share` must be a percentage above 0, for example 50, got {share!r}"
        raise ValueError(message)
    return share  # type: ignore[no-any-return]


def tokens_of_share(share: Percent | None, budget: ContextBudget) -> int:
    """Return the tokens that a share of an input budget is; None is the share that documents have by default.

    Raises:
        ContextBudgetError: It is less than one token.
    """
    available = budget.input_budget
    if tokens := int(
        available * exact_percentage("share", _DEFAULT_SHARES.documents if share is None else share) / 100
    ):
        return tokens
    message = f"`share` of {available} input tokens is less than one token, got {share!r}; raise it"
    raise ContextBudgetError(message, needed=1, available=0)


def counter_of(budget: ContextBudget, counter: object = None, *, argument: str = "counter") -> TokenCounter:
    """Return the token counter of the budget's model; `o200k_base` when no model is named.

    Args:
        budget: Its model decides how strings, attachments and tool schemas are counted.
        counter: Counts strings in place of the model's tokenizer: what `counter_for` takes; None for that one.
        argument: The name of `counter` where the user gave it, for errors.
    """
    window = budget.window
    if counter is not None:
        texts = counter_given(counter, argument)
    elif window is None:
        texts = counter_for(_DEFAULT_ENCODING)
    else:
        texts = counter_of_encoding(window.encoding, exact=window.exact, safety_factor=window.safety_factor)
    rules = rules_for(window.model if window else None, budget.attachment_tokens)
    if rules.rewrites_strings:
        texts = RewrittenCounter(texts)
    return texts if rules == NO_MODEL else ModelCounter(texts, rules)
