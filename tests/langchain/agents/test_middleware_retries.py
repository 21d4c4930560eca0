"""What the middleware does when the provider refuses a request although it should fit."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core import exceptions
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxopt import ContextOptimizerMiddleware, RequestOverflowError, with_optimizer
from langchain_requests import sent_tokens
from scripted_model import PAGE, TOOLS, ScriptedModel

CHAT: list[Any] = [
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]


def model_with(window: int, claimed: int) -> ScriptedModel:
    return ScriptedModel(window=window, claimed=claimed)


def ask(model: Any, **settings: Any) -> Any:
    agent = create_agent(model, TOOLS, middleware=[ContextOptimizerMiddleware(**settings)])
    return agent.invoke({"messages": CHAT})


async def ask_async(model: Any, **settings: Any) -> Any:
    agent = create_agent(model, TOOLS, middleware=[ContextOptimizerMiddleware(**settings)])
    return await agent.ainvoke({"messages": CHAT})


def test_i3_a_refused_request_is_sent_once_more_and_smaller() -> None:
    reports: list[Any] = []
    model = model_with(window=820, claimed=1_000)
    answer = ask(model, on_report=reports.append)
    assert answer["messages"][-1].text == "Done."
    assert answer["messages"][:-1] == CHAT
    first, second = reports
    assert 820 - 100 < first.tokens_after <= 900
    assert second.input_budget == int(first.tokens_after * 0.75)
    assert model.counted[0] <= second.input_budget
    assert len(model.refused) == len(model.heard) == 1
    assert model.heard[0][-1].text == "How many lanterns are there?"


def test_i3_a_request_that_was_not_cut_is_made_smaller_than_it_was() -> None:
    reports: list[Any] = []
    model = model_with(window=1_000, claimed=100_000)
    whole = sent_tokens(CHAT)
    model.window = whole - 50 + model.max_tokens
    ask(model, on_report=reports.append)
    assert [report.unchanged for report in reports] == [True, False]
    assert reports[1].input_budget == int(reports[0].tokens_before * 0.75) < whole
    assert len(model.refused) == len(model.heard) == 1


async def test_i3_asynchronous_calls_are_sent_once_more_too() -> None:
    model = model_with(window=820, claimed=1_000)
    answer = await ask_async(model)
    assert answer["messages"][-1].text == "Done."
    assert len(model.refused) == len(model.heard) == 1


def test_i3_a_second_refusal_is_the_error() -> None:
    model = model_with(window=450, claimed=1_000)
    with pytest.raises(ContextOverflowError, match="are more than 450"):
        ask(model)
    assert len(model.refused) == 2


@pytest.mark.parametrize(("factor", "refusals"), [(None, 1), (0.5, 1), (0.99, 2)])
def test_i3_the_factor_decides_how_much_smaller(factor: float | None, refusals: int) -> None:
    model = model_with(window=620, claimed=1_000)
    if factor == 0.5:
        ask(model, retry_factor=factor)
        assert len(model.heard) == 1
    else:
        with pytest.raises(ContextOverflowError, match="are more than 620"):
            ask(model, retry_factor=factor)
    assert len(model.refused) == refusals


@pytest.mark.parametrize("factor", [0, 1, 1.5, -0.5, True, "0.5", float("nan")])
def test_i3_a_factor_that_makes_nothing_smaller_is_refused(factor: Any) -> None:
    with pytest.raises(ValueError, match="`retry_factor` must be above 0 and below 1"):
        ContextOptimizerMiddleware(retry_factor=factor)


def test_i3_where_nothing_can_be_left_out_the_providers_error_is_raised() -> None:
    model = model_with(window=300, claimed=10_000)
    agent = create_agent(model, middleware=[ContextOptimizerMiddleware()])
    with pytest.raises(ContextOverflowError, match="are more than 300") as raised:
        agent.invoke({"messages": [HumanMessage(PAGE * 20)]})
    assert isinstance(raised.value.__cause__, RequestOverflowError)
    assert len(model.refused) == 1


def test_i3_a_question_larger_than_the_window_is_an_error_that_fallbacks_know() -> None:
    model = model_with(window=1_000, claimed=1_000)
    agent = create_agent(model, middleware=[ContextOptimizerMiddleware()])
    with pytest.raises(RequestOverflowError) as raised:
        agent.invoke({"messages": [HumanMessage(PAGE * 90)]})
    assert isinstance(raised.value, ContextOverflowError)
    assert raised.value.available == 900
    assert model.refused == []


def test_i3_a_request_that_the_model_itself_cannot_fit_is_not_sent_again() -> None:
    reports: list[Any] = []
    model = with_optimizer(model_with(window=10_000, claimed=10_000), target_tokens=100)
    agent = create_agent(model, middleware=[ContextOptimizerMiddleware(on_report=reports.append)])
    with pytest.raises(RequestOverflowError):
        agent.invoke({"messages": [HumanMessage(PAGE * 20)]})
    assert len(reports) == 1


class Failing(ScriptedModel):
    """Refuses the first request with an error of one's own."""

    error: Any = None

    def _answer(self, messages: Any, options: Any) -> Any:
        if not self.refused:
            self.refused.append(len(messages))
            raise self.error
        return super()._answer(messages, options)


def invalid(code: str) -> Exception:
    """Return an invalid request as LangChain's integrations raise it: the provider's code is an attribute."""
    error = exceptions.ModelInvalidRequestError("400")
    error.code = code  # type: ignore[attr-defined]
    return error


NO_SUCH_ERROR = pytest.mark.skipif(
    not hasattr(exceptions, "ModelInvalidRequestError"), reason="this langchain-core has no ModelInvalidRequestError"
)


@NO_SUCH_ERROR
async def test_i3_an_overflow_that_is_known_by_its_code_alone_is_sent_once_more() -> None:
    model = Failing(window=1_000, error=invalid("context_length_exceeded"))
    assert ask(model)["messages"][-1].text == "Done."
    model.refused.clear()
    assert (await ask_async(model))["messages"][-1].text == "Done."
    assert len(model.heard) == 2


@NO_SUCH_ERROR
async def test_i3_other_invalid_requests_are_not_sent_again() -> None:
    model = Failing(window=1_000, error=invalid("invalid_schema"))
    with pytest.raises(exceptions.ModelInvalidRequestError):
        ask(model)
    model.refused.clear()
    with pytest.raises(exceptions.ModelInvalidRequestError):
        await ask_async(model)
    assert model.heard == []


def test_i3_other_errors_are_left_alone() -> None:
    model = Failing(window=1_000, error=ConnectionError("the provider is down"))
    with pytest.raises(ConnectionError, match="down"):
        ask(model)
    assert model.heard == []
