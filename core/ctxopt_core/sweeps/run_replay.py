"""Replay: a conversation sent again, request by request, with several settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from time import perf_counter
from typing import TypeAlias, TypedDict

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.fit_request import fitted_with
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.prices import ModelPrice, Prices, TablePrice, price_of, read_prices
from ctxopt_core.models.resolve_window import resolve_window
from ctxopt_core.providers.prompt_caches import CACHED_SHARE, WRITTEN_SHARE, PromptCacheRules, cache_rules_for
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.conversations import read_conversation, requests_of
from ctxopt_core.sweeps.evidence import Evidence, Measure, evidence_measure
from ctxopt_core.sweeps.replay_rows import EVIDENCE_MARGIN, ReplayRow
from ctxopt_core.sweeps.replay_settings import ReplayStrategies, ReplayStrategy, read_strategies
from ctxopt_core.sweeps.replay_table import Replay
from ctxopt_core.sweeps.run_sweep import LONGEST_REASON, Progress, with_progress
from ctxopt_core.sweeps.sent_parts import SentPart, common_tokens, sent_parts
from ctxopt_core.sweeps.settings import BudgetSetting, budget_for, read_budgets
from ctxopt_core.text.display_text import preview
from ctxopt_core.validation import check_whole, exact_number

ReplayEvidence: TypeAlias = Evidence | Mapping[int, Evidence]
"""What must survive in each request that has it, or by the number of the request."""

_RENDERER = ChatRenderer()


class ReplayArguments(TypedDict, total=False):
    """What `replay` takes by name, beside the conversation, the strategies and the model; it says what each is.

    Example:
        >>> from ctxopt_core import CallableCounter, Message, ReplayArguments, replay
        >>> common: ReplayArguments = {"budget": 100, "counter": CallableCounter(len)}
        >>> len(replay([Message(role="user", content="Is it lit?")], "turns", **common).rows)
        1
    """

    budget: BudgetSetting | None
    evidence: ReplayEvidence | None
    counter: TokenCounter | Callable[[str], int] | None
    prices: Prices | None
    margin: float
    last_requests: int | None
    progress: Progress | bool | None


def replay(
    conversation: object,
    strategies: ReplayStrategies,
    model: str | ModelWindow | None = None,
    *,
    budget: BudgetSetting | None = None,
    evidence: ReplayEvidence | None = None,
    counter: TokenCounter | Callable[[str], int] | None = None,
    prices: Prices | None = None,
    margin: float = EVIDENCE_MARGIN,
    last_requests: int | None = None,
    progress: Progress | bool | None = None,
) -> Replay:
    """Send a conversation again, request by request, with several settings, and return what each of them costs.

    Nothing is sent to a provider. Each request is fitted that a model was sent as the conversation grew: one before
    each answer of the assistant, so one for each user message, and in the run of an agent one for each round of tool
    results. Its tokens, what the provider's prompt cache has of them, the price and the evidence are in a row. A
    strategy with a `summarizer` or a `scorer` calls it.

    The cache has what repeats the start of the request before, byte for byte, in the order tools, system prompt,
    messages, as far as the provider's rules for the model allow; see `ctxopt_core.providers.prompt_caches`. Documents
    of a request are the same in each request.

    Example:
        >>> from ctxopt_core import CallableCounter, Message, replay
        >>> chat = []
        >>> for n in range(30):
        ...     chat += [Message(role="user", content=f"Is lamp {n} lit?"), Message(role="assistant", content="Yes.")]
        >>> settings = {"newest": "turns", "in steps": {"strategy": "turns", "stable_prefix": True}}
        >>> found = replay(chat, settings, budget=400, counter=CallableCounter(len))
        >>> [total.cached_share > 0.5 for total in found.totals], found.recommended.strategy
        ([False, True], 'in steps')

    Args:
        conversation: The whole conversation: a ContextRequest, Messages, message mappings of OpenAI (Chat Completions
            or Responses) or Anthropic, or an object with `messages` or `input` and what goes with them. For the
            messages of LangChain and LlamaIndex there is `replay` in `langchain_ctxopt` and `llamaindex_ctxopt`.
        strategies: History settings as `sweep` takes them: names, functions, HistoryPolicies or mappings of their
            fields; several in a list, or by name in a mapping. A mapping with `history` may also have limits of
            ContextBudget (`target_tokens`, `trigger`, `shares` and others), `protect`, `ranking_query`, `overflow`.
        model: The model, whose window, tokenizer, price and cache rules are used.
        budget: The input budget of each request in tokens, as a part of the whole conversation, or as ContextBudget;
            by default what the model's window leaves.
        evidence: What must survive: strings, or a function, as for `sweep`; or a mapping from the number of a request
            (from 0) to what must survive in that one.
        counter: Counts tokens in place of the model's tokenizer.
        prices: Custom prices, by model id; see ContextBudget.
        margin: How much less evidence than the best the recommended settings may show.
        last_requests: How many of the last requests are replayed, for a long conversation; by default all. The first of
            them finds an empty cache.
        progress: True for a bar of tqdm, with the extra `notebook`; a function of (done, total); None for no progress.

    Raises:
        ValueError: A setting is out of its range, neither `model` nor `budget` is given, the conversation has no user
            message, or evidence is in no request.
        TypeError: An argument has a type that it cannot have.
        ImportError: A progress bar is asked for and tqdm is not installed.
    """
    whole = read_conversation(conversation)
    settings, rate = read_strategies(strategies), _margin(margin)
    if last_requests is not None:
        check_whole("last_requests", last_requests, minimum=1, unit="requests")
    window = resolve_window(model) if isinstance(model, str) else model
    if window is not None and not isinstance(window, ModelWindow):
        message = f"`model` must be a model id, a ModelWindow or None, got {type(window).__name__}"
        raise TypeError(message)
    given_counter = None if counter is None else counter_for(counter)
    shared = _budget(budget, window, read_prices(prices or {}), whole, given_counter)
    known = None if shared.window is None else shared.window.model
    counted = counter_of(shared, given_counter)
    requests = requests_of(whole, counted)
    costs = _Costs(whole, counted)
    prices_known = price_of(known, shared.prices)
    rules = cache_rules_for(known)
    measure = _measure(evidence, requests)
    ways = [_Way(one, one.budget(shared), counted, rules, prices_known) for one in settings]
    replayed = list(enumerate(requests))[-(last_requests or len(requests)) :]
    rows = (_row(way, n, request, costs, measure) for way in ways for n, request in replayed)
    found = tuple(with_progress(rows, len(replayed) * len(ways), progress=progress))
    return Replay(
        rows=found,
        strategies=settings,
        model=known,
        cache=rules,
        price_source=None if prices_known is None else prices_known.source,
        margin=rate,
    )


@dataclass(slots=True)
class _Way:
    """A setting on its way through the conversation; `sent` is what the request before was sent as."""

    setting: ReplayStrategy
    budget: ContextBudget
    counter: TokenCounter
    rules: PromptCacheRules
    price: ModelPrice | TablePrice | None
    sent: Sequence[SentPart] = ()

    def cached(self, fitted: FittedContext, cost: Callable[[int], int]) -> int:
        """Return the tokens of a request that the cache has, and remember the request for the next one."""
        now = sent_parts(fitted, cost, self.counter)
        common = common_tokens(self.sent, now, self.counter, whole_messages=self.rules.whole_messages)
        self.sent = now
        return self.rules.cached_tokens(common)


class _Costs:
    """The tokens of each message, and of the whole request with the first so many of them, each counted once."""

    def __init__(self, whole: ContextRequest, counter: TokenCounter) -> None:
        conversation = CountedConversation(whole.history, counter)
        self.cost = conversation.cost
        each = [conversation.cost(index) for index in range(len(conversation))]
        # The first message may be the system prompt, on which the tokens of tool schemas depend.
        first = replace(whole, history=list(whole.history)[:1])  # type: ignore[arg-type]  # it was read whole
        self._sums = list(accumulate(each, initial=count_request(first, counter, _RENDERER) - each[0]))

    def whole(self, messages: int) -> int:
        """Return the tokens of the request with the first so many messages."""
        return self._sums[messages]


def _row(way: _Way, number: int, request: ContextRequest, costs: _Costs, measure: Measure) -> ReplayRow:
    whole = costs.whole(len(request.history))
    begun = perf_counter()
    try:
        fitted = fitted_with(request, way.budget, way.counter, _RENDERER, way.setting.fit_options)
    except ContextBudgetError as error:
        row = _blank(way, number, request, whole)
        return replace(row, seconds=perf_counter() - begun, error=preview(str(error), LONGEST_REASON))
    seconds = perf_counter() - begun
    tokens = whole if fitted.report.counted_after is None else fitted.report.counted_after
    cached = min(tokens, way.cached(fitted, costs.cost))
    written, price = way.rules.written_tokens(tokens, cached), way.price
    full = tokens - cached * (1 - CACHED_SHARE) + written * (WRITTEN_SHARE - 1)
    cost = with_cache = None
    if price is not None:
        cost, with_cache = price.usd(tokens), price.usd(tokens, cached=cached, written=written)
        full = tokens * with_cache / cost if cost else 0.0
    return replace(
        _blank(way, number, request, whole),
        tokens_after=tokens,
        cached_tokens=cached,
        full_price_tokens=full,
        cost=cost,
        cost_with_cache=with_cache,
        messages_kept=len(fitted.history.kept),
        evidence=measure(number, fitted),
        seconds=seconds,
    )


def _blank(way: _Way, number: int, request: ContextRequest, whole: int) -> ReplayRow:
    return ReplayRow(
        request=number,
        messages=len(request.history),
        strategy=way.setting.name,
        budget=way.budget.input_budget,
        tokens_before=whole,
    )


def _budget(
    asked: BudgetSetting | None,
    window: ModelWindow | None,
    prices: Prices,
    whole: ContextRequest,
    counter: TokenCounter | None,
) -> ContextBudget:
    if asked is None:
        if window is None:
            message = "give `model` or `budget`: neither says how many tokens a request may have"
            raise ValueError(message)
        return ContextBudget.for_model(window, prices=prices)
    (checked,) = read_budgets(asked)
    of_model = budget_for(1, window, prices, int)
    uncut = partial(count_request, whole, counter_of(of_model, counter), _RENDERER)
    budget = budget_for(checked, window, prices, uncut)
    return replace(budget, window=window) if budget.window is None and window is not None else budget


def _measure(evidence: ReplayEvidence | None, requests: Sequence[ContextRequest]) -> Measure:
    """Return the function that measures the evidence of a request by its number."""
    if not isinstance(evidence, Mapping):
        return evidence_measure(evidence, requests)
    if unknown := [number for number in evidence if number not in range(len(requests))]:
        message = f"`evidence` must be by request, from 0 to {len(requests) - 1}, got it for {unknown[0]!r}"
        raise ValueError(message)
    by_number = {number: evidence_measure(one, [requests[number]]) for number, one in evidence.items()}

    def measured(number: int, fitted: FittedContext) -> float | None:
        return by_number[number](0, fitted) if number in by_number else None

    return measured


def _margin(margin: object) -> float:
    share = exact_number(margin)
    if share is None or not 0 <= share <= 1:
        message = f"`margin` must be a part of the evidence, from 0 to 1, got {margin!r}"
        raise ValueError(message)
    return float(share)
