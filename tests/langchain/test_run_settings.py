"""Settings that one run brings: in its configuration, or in the context of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate

from ctxopt_core import HistoryPolicy
from langchain_ctxopt import (
    ContextOptimizer,
    ContextOptimizerCompressor,
    ContextOptimizerMiddleware,
    pre_model_hook,
    with_optimizer,
)
from langchain_ctxopt.run_settings import RUN_SETTINGS, run_settings
from scripted_model import PAGE, ScriptedModel

CHAT: list[Any] = [
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]
SMALL = {"target_tokens": 200}


def config(**settings: Any) -> Any:
    return {"configurable": {"ctxopt": settings, "thread_id": "one"}}


@dataclass
class Context:
    """The context of a run."""

    ctxopt: Any = None


def front_of(front: str, limits: Any) -> Any:
    """Return what is called; its way of being called follows the name."""
    double = ScriptedModel(window=10_000)
    if front.startswith("optimizer"):
        return ContextOptimizer(**limits)
    if front.startswith("model"):
        return with_optimizer(double, **limits)
    if front == "chain":
        return ChatPromptTemplate([("placeholder", "{messages}")]) | ContextOptimizer(**limits)
    if front.startswith("hook"):
        return pre_model_hook(**limits)
    return create_agent(double, middleware=[ContextOptimizerMiddleware(**limits)], context_schema=Context)


async def budgets_of(front: str, run: Any) -> list[int]:
    """Return the input budgets of three runs: without settings, with those of `run`, without again."""
    reports: list[Any] = []
    call = front_of(front, {"max_input_tokens": 500, "output_reserve": 0, "on_report": reports.append})
    given = CHAT if front.startswith(("optimizer", "model")) else {"messages": CHAT}
    plain: Any = {}
    for settings in (plain, run, plain):
        if front.endswith("async"):
            await call.ainvoke(given, **settings)
        elif front.endswith("stream"):
            list(call.stream(given, **settings))
        elif front.endswith("batch"):
            call.batch([given], **settings)
        elif front.endswith("v3"):
            assert call.stream_events(given, version="v3", **settings).output.text
        else:
            call.invoke(given, **settings)
    return [report.input_budget for report in reports]


FRONTS = [
    "optimizer",
    "optimizer async",
    "optimizer batch",
    "optimizer stream",
    "chain",
    "model",
    "model async",
    "model batch",
    "model stream",
    "hook",
    "hook async",
    "agent",
    "agent async",
    "agent stream",
]
if hasattr(BaseChatModel, "stream_events"):
    FRONTS.append("model v3")


@pytest.mark.parametrize("front", FRONTS)
async def test_l20_the_configuration_of_a_run_is_for_that_run_alone(front: str) -> None:
    assert await budgets_of(front, {"config": config(**SMALL)}) == [500, 200, 500]


@pytest.mark.parametrize("front", ["agent", "agent async", "agent stream"])
@pytest.mark.parametrize("context", [Context(SMALL), {"ctxopt": SMALL}], ids=["an object", "a mapping"])
async def test_l20_so_is_the_context_of_an_agents_run(front: str, context: Any) -> None:
    assert await budgets_of(front, {"context": context}) == [500, 200, 500]


def test_l20_the_context_wins_over_the_configuration() -> None:
    found = run_settings(config(target_tokens=1, trigger=0.5), context=Context({"target_tokens": 2}))
    assert found == {"target_tokens": 2, "trigger": 0.5}


@pytest.mark.parametrize("context", [None, {}, Context(), object(), 7])
def test_l20_a_run_without_settings_changes_nothing(context: Any) -> None:
    assert run_settings({"configurable": {"thread_id": "one"}}, context=context) == {}
    assert run_settings(None, context=context) == {}
    optimizer = ContextOptimizer(max_input_tokens=500)
    assert optimizer._of_run({"configurable": {"thread_id": "one"}}) is optimizer


def test_l20_the_strategy_and_the_ranking_query_come_from_the_run() -> None:
    reports: list[Any] = []
    optimizer = ContextOptimizer(max_input_tokens=300, on_report=reports.append)
    strategies = [{"strategy": "sliding_window"}, HistoryPolicy(strategy="turns")]
    for history in strategies:
        optimizer.invoke(CHAT, config(history=history))
    assert optimizer.invoke(CHAT, config(ranking_query="Question 7?")) != optimizer.invoke(CHAT)
    assert [report.strategy for report in reports[:2]] == ["sliding_window", "turns"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"window": 7}, TypeError, "has no setting `window`; a run can set context_window"),
        ({"model": "gpt-4"}, TypeError, "has no setting `model`"),
        ({"on_report": print}, TypeError, "has no setting `on_report`"),
        ({"target_tokens": -1}, ValueError, "`target_tokens` must be a whole number"),
        ({"history": {"strategy": "none"}}, ValueError, "strategy"),
        ({"context_window": 100, "output_reserve": 100}, ValueError, "nothing is left for the input"),
    ],
    ids=str,
)
@pytest.mark.parametrize("front", ["optimizer", "model", "agent"])
async def test_l20_settings_of_a_run_are_checked_as_all_are(
    front: str, settings: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        await budgets_of(front, {"config": config(**settings)})


@pytest.mark.parametrize("given", [7, "small", [("target_tokens", 7)]])
def test_l20_settings_that_are_no_mapping_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r'`config\["configurable"\]\["ctxopt"\]` must be a mapping of settings'):
        ContextOptimizer(max_input_tokens=500).invoke(CHAT, {"configurable": {"ctxopt": given}})
    with pytest.raises(TypeError, match="`ctxopt` in the context of the run must be a mapping"):
        run_settings(None, context=Context(given))


async def test_l20_a_compressor_takes_its_settings_from_the_run() -> None:
    compressor = ContextOptimizerCompressor(max_tokens=500, token_counter=len)
    step = compressor.as_runnable()
    given = {"query": "lanterns", "documents": [Document(f"Page {i}. {PAGE}") for i in range(9)]}
    lengths = [
        len(step.invoke(given)),
        len(step.invoke(given, config(max_tokens=200, target_tokens=9))),
        len(await step.ainvoke(given, config(max_tokens=200))),
        len(step.invoke(given)),
    ]
    assert lengths[0] == lengths[3] > lengths[1] == lengths[2] > 0


def test_l20_what_an_optimized_model_is_given_for_a_run_is_not_sent() -> None:
    double = ScriptedModel(window=10_000)
    with_optimizer(double).invoke(CHAT, config(**SMALL))
    assert double.bound == [{}]


def test_l20_every_setting_of_a_run_is_one_of_the_optimizer() -> None:
    assert set(RUN_SETTINGS) <= set(ContextOptimizer.model_fields)
