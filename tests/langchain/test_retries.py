"""An overflow that cannot change is not tried again; a fallback to a larger model is still tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware, ModelRetryMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.retry import RunnableRetry

from ctxopt_core import ContextBudgetError
from langchain_ctxopt import ContextOptimizer, ContextOptimizerMiddleware, RequestOverflowError, with_optimizer

LONG = "How many lanterns are there? " * 40
ASKED: Any = {"messages": [HumanMessage(LONG)]}
LIMITS: Any = {"max_input_tokens": 110, "token_counter": len, "protect": ("query",)}


def larger() -> FakeListChatModel:
    return FakeListChatModel(responses=["From the larger one."])


def optimized() -> Any:
    return with_optimizer(larger(), **LIMITS)


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> list[ContextBudgetError]:
    """Every request that was refused as too long."""
    found: list[ContextBudgetError] = []
    of = RequestOverflowError.of

    def noted(error: ContextBudgetError) -> RequestOverflowError:
        found.append(error)
        return of(error)

    monkeypatch.setattr(RequestOverflowError, "of", noted)
    return found


def agent(*middleware: Any, model: Any = None) -> Any:
    return create_agent(model or larger(), middleware=list(middleware))


def retrying() -> ModelRetryMiddleware:
    return ModelRetryMiddleware(initial_delay=0.0, max_retries=2)


def with_retry(runnable: Any) -> Any:
    return runnable.with_retry(wait_exponential_jitter=False)


ONCE = [
    pytest.param(lambda: with_retry(optimized()), LONG, id="model"),
    pytest.param(lambda: with_retry(optimized().bind(stop=["."])), LONG, id="bound model"),
    pytest.param(lambda: with_retry(ContextOptimizer(**LIMITS)), LONG, id="optimizer"),
    pytest.param(lambda: with_retry(ContextOptimizer(**LIMITS)) | larger(), LONG, id="optimizer in a chain"),
    pytest.param(lambda: agent(retrying(), ContextOptimizerMiddleware(**LIMITS)), ASKED, id="outer middleware"),
    pytest.param(lambda: agent(ContextOptimizerMiddleware(**LIMITS), retrying()), ASKED, id="inner middleware"),
    pytest.param(lambda: agent(retrying(), model=optimized()), ASKED, id="model in an agent"),
    pytest.param(
        lambda: (ContextOptimizer(**LIMITS) | larger()).with_retry(
            wait_exponential_jitter=False,
            retry_if_exception_type=lambda error: getattr(error, "is_retryable", True),
        ),
        LONG,
        id="chain with the documented function",
    ),
]


@pytest.mark.parametrize(("build", "asked"), ONCE)
def test_l22_an_overflow_is_not_tried_again(
    build: Callable[[], Any], asked: Any, refusals: list[ContextBudgetError]
) -> None:
    with pytest.raises(RequestOverflowError):
        build().invoke(asked)
    assert len(refusals) == 1


@pytest.mark.parametrize(("build", "asked"), ONCE)
async def test_l22_an_awaited_overflow_is_not_tried_again(
    build: Callable[[], Any], asked: Any, refusals: list[ContextBudgetError]
) -> None:
    with pytest.raises(RequestOverflowError):
        await build().ainvoke(asked)
    assert len(refusals) == 1


FALLBACKS = [
    pytest.param(lambda: optimized().with_fallbacks([larger()]), LONG, id="model"),
    pytest.param(lambda: with_retry(optimized()).with_fallbacks([larger()]), LONG, id="model with retries"),
    pytest.param(lambda: agent(ModelFallbackMiddleware(larger()), model=optimized()), ASKED, id="middleware"),
    pytest.param(
        lambda: agent(ModelFallbackMiddleware(larger()), retrying(), model=optimized()), ASKED, id="both middleware"
    ),
]


@pytest.mark.parametrize(("build", "asked"), FALLBACKS)
def test_l22_a_larger_model_is_asked_after_one_refusal(
    build: Callable[[], Any], asked: Any, refusals: list[ContextBudgetError]
) -> None:
    found = build().invoke(asked)
    answer = found["messages"][-1] if isinstance(found, dict) else found
    assert answer.text == "From the larger one."
    assert len(refusals) == 1


def test_l22_other_errors_are_tried_again() -> None:
    calls: list[Any] = []

    def fails_once(messages: Any) -> Any:
        calls.append(messages)
        if len(calls) < 3:
            raise OSError
        return 1.0

    optimizer = ContextOptimizer(max_input_tokens=110, token_counter=lambda text: len(text) if fails_once(text) else 0)
    assert with_retry(optimizer).invoke("Hello. ") == "Hello. "
    assert len(calls) >= 3


BATCHES = [
    pytest.param(optimized, id="model"),
    pytest.param(lambda: optimized().bind(stop=["."]), id="bound model"),
    pytest.param(lambda: ContextOptimizer(**LIMITS), id="optimizer"),
]


@pytest.mark.parametrize("build", BATCHES)
async def test_l22_a_request_of_a_batch_that_overflows_leaves_the_others(
    build: Callable[[], Any], refusals: list[ContextBudgetError]
) -> None:
    retrying, requests = with_retry(build()), ["Hello.", LONG, "And now?", LONG]
    for found in (
        retrying.batch(requests, return_exceptions=True),
        await retrying.abatch(requests, return_exceptions=True),
    ):
        assert [isinstance(answer, RequestOverflowError) for answer in found] == [False, True, False, True]
    assert len(refusals) == 4
    with pytest.raises(RequestOverflowError):
        retrying.batch(requests)


def test_l22_retries_are_stored_as_langchains_own() -> None:
    assert with_retry(ContextOptimizer(**LIMITS)).lc_id() == RunnableRetry.lc_id()


def test_l22_what_is_tried_again_can_be_chosen(refusals: list[ContextBudgetError]) -> None:
    chosen = ContextOptimizer(**LIMITS).with_retry(
        retry_if_exception_type=(RequestOverflowError,), wait_exponential_jitter=False, stop_after_attempt=2
    )
    with pytest.raises(RequestOverflowError):
        chosen.invoke(LONG)
    assert len(refusals) == 2


async def counting(text: str) -> int:
    return len(text)


@pytest.mark.parametrize(
    "make",
    [ContextOptimizer, ContextOptimizerMiddleware, lambda **settings: with_optimizer(larger(), **settings)],
    ids=["optimizer", "middleware", "model"],
)
def test_l22_a_counter_that_is_awaited_or_counts_messages_is_named_at_construction(make: Any) -> None:
    for counter in (counting, FakeListChatModel.get_num_tokens_from_messages):
        with pytest.raises((TypeError, ValueError), match=r"`token_counter` must be a .*'approximate'"):
            make(max_input_tokens=110, token_counter=counter)
    assert make(max_input_tokens=110, token_counter="approximate")


def test_l22_a_counter_that_counts_messages_is_named_when_it_is_used() -> None:
    optimizer = ContextOptimizer(
        max_input_tokens=110, token_counter=lambda messages: sum(len(message.content) for message in messages)
    )
    with pytest.raises(TypeError, match="counts messages is no token counter"):
        RunnableLambda(optimizer.invoke).invoke(LONG)
