"""The settings of requests to a model that every adapter takes, as a caller gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from ctxopt_core.budget import Shares
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.options import Overflow
from ctxopt_core.report import FitReport
from ctxopt_core.windows import OnUnknown, UserCatalogue


class RequestSettings(TypedDict, total=False):
    """How requests to a model are fitted. What is not given is asked of the model that is called.

    Attributes:
        context_window: Input and answer together, in tokens; overrides what the model says.
        max_input_tokens: The most that a request may count, in tokens.
        output_reserve: Tokens kept free for the answer; by default the model's own limit of answers, else 4,096 but at
            most an eighth of the window.
        safety_margin: Further tokens kept free.
        target: A limit of one's own, in tokens.
        trigger: The part of the input budget from which on requests are cut; see `ctxopt_core.ContextBudget`.
        shares: Guaranteed percentages of the components, as `Shares` or a mapping.
        history: How the conversation is trimmed, as `HistoryPolicy` or a mapping.
        protect: Components that may not be cut; by default the query. A request in which they do not fit raises.
        overflow: `error` or `empty`; see `ctxopt_core.fit`.
        token_counter: Counts tokens in place of the model's tokenizer: what `ctxopt_core.counter_for` takes.
        prices: Prices of one's own for the cost in the report, by model id: USD for a million input tokens.
        attachment_tokens: What an attachment of unknown size is charged, by its kind.
        on_unknown: Whether a model whose window is not known is an error, or has the smallest window known.
        catalogue: Your own table of windows, which is asked before the built-in one: a mapping or a function of an id.
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
    protect: Sequence[str]
    overflow: Overflow
    token_counter: object
    prices: Mapping[str, Any] | None
    attachment_tokens: Mapping[str, int] | None
    on_unknown: OnUnknown
    catalogue: UserCatalogue | None
    on_report: Callable[[FitReport], None] | None
