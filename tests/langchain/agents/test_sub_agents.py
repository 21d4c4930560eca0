"""Sub-agents, of deepagents and of agents that are tools of another: each of their requests fits, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from ctxopt_core import FitReport
from langchain_ctxopt import ContextOptimizerMiddleware, with_optimizer
from scripted_model import TOOLS, ScriptedModel, calling

WINDOW = 18_000  # tokens: deepagents' prompt and tools have about 2,300 of them
PAGES = 12  # pages of about 1,700 tokens, which do not fit together
ASKED = {"messages": [HumanMessage("How many lanterns are there?")]}
READER: Any = {
    "name": "reader",
    "description": "Reads the log book.",
    "system_prompt": "You read the log book.",
    "tools": TOOLS,
}
Build = Callable[[ScriptedModel, list[FitReport]], Any]


def model_for(sub_agent: str, *, claimed: int = 400_000) -> ScriptedModel:
    """Return a model whose first answer calls a sub-agent, which reads page after page."""
    task = {"description": "Read the log book and count the lanterns.", "subagent_type": sub_agent}
    reading = [calling(("read", {"page": page, "times": 100}), start=page) for page in range(PAGES)]
    answers = [calling(("task", task), start=100), *reading, AIMessage("Forty, says the log."), AIMessage("Forty.")]
    return ScriptedModel(window=WINDOW, claimed=claimed, answers=answers)


def settings(reports: list[FitReport]) -> Any:
    return {"max_input_tokens": WINDOW - 100, "on_report": reports.append}


def fitting(reports: list[FitReport]) -> ContextOptimizerMiddleware:
    return ContextOptimizerMiddleware(**settings(reports))


def by_model(model: ScriptedModel, reports: list[FitReport]) -> Any:
    return create_deep_agent(with_optimizer(model, **settings(reports)), TOOLS, subagents=[READER])


def by_model_and_middleware(model: ScriptedModel, reports: list[FitReport]) -> Any:
    optimized = with_optimizer(model, **settings(reports))
    return create_deep_agent(optimized, TOOLS, middleware=[fitting([])], subagents=[READER])


def by_spec(model: ScriptedModel, reports: list[FitReport]) -> Any:
    reader = {**READER, "middleware": [fitting(reports)]}
    return create_deep_agent(model, TOOLS, middleware=[fitting(reports)], subagents=[reader])


def by_general_purpose_spec(model: ScriptedModel, reports: list[FitReport]) -> Any:
    general: Any = {**READER, "name": "general-purpose", "middleware": [fitting(reports)]}
    return create_deep_agent(model, TOOLS, middleware=[fitting(reports)], subagents=[general])


def by_compiled_agent(model: ScriptedModel, reports: list[FitReport]) -> Any:
    reader = create_agent(model, TOOLS, middleware=[fitting(reports)])
    compiled: Any = {"name": "reader", "description": "Reads the log book.", "runnable": reader}
    return create_deep_agent(model, TOOLS, middleware=[fitting(reports)], subagents=[compiled])


FITTED = [
    pytest.param(by_model, "reader", id="model"),
    pytest.param(by_model, "general-purpose", id="model, general-purpose"),
    pytest.param(by_model_and_middleware, "reader", id="model and middleware"),
    pytest.param(by_spec, "reader", id="middleware in the spec"),
    pytest.param(by_general_purpose_spec, "general-purpose", id="middleware of general-purpose"),
    pytest.param(by_compiled_agent, "reader", id="compiled agent"),
]


def check(model: ScriptedModel, answer: Any, reports: list[FitReport]) -> None:
    assert answer["messages"][-1].text == "Forty."
    assert model.refused == []
    assert len(model.heard) == len(reports) == PAGES + 3
    assert sum(not report.unchanged for report in reports) >= 2
    assert max(model.counted) <= WINDOW - 100


@pytest.mark.parametrize(("build", "sub_agent"), FITTED)
def test_l21_each_request_of_a_sub_agent_fits(build: Build, sub_agent: str) -> None:
    reports: list[FitReport] = []
    model = model_for(sub_agent)
    check(model, build(model, reports).invoke(ASKED), reports)


@pytest.mark.parametrize(("build", "sub_agent"), FITTED)
async def test_l21_each_awaited_request_of_a_sub_agent_fits(build: Build, sub_agent: str) -> None:
    reports: list[FitReport] = []
    model = model_for(sub_agent)
    check(model, await build(model, reports).ainvoke(ASKED), reports)


@pytest.mark.parametrize("sub_agent", ["reader", "general-purpose"])
def test_l21_middleware_of_the_main_agent_does_not_reach_its_sub_agents(sub_agent: str) -> None:
    """The reason for the guide: the sub-agent's request is refused, and deepagents' own recovery is not enough."""
    reports: list[FitReport] = []
    model = model_for(sub_agent)
    agent = create_deep_agent(model, TOOLS, middleware=[fitting(reports)], subagents=[READER])
    with pytest.raises(ContextOverflowError):
        agent.invoke(ASKED)
    assert model.refused
    assert len(reports) == 1


def test_l21_the_summaries_of_deepagents_go_with_ours() -> None:
    """Its middleware summarizes before ours fits, and each request is within the window."""
    reports: list[FitReport] = []
    model = model_for("reader", claimed=WINDOW)
    agent = by_spec(model, reports)
    answer = agent.invoke(ASKED)
    assert answer["messages"][-1].text in ("Forty.", "Forty, says the log.")
    assert model.refused == []
    assert max(model.counted) <= WINDOW - 100


@pytest.mark.parametrize("guarded", ["model", "middleware", "nothing"])
def test_l21_an_agent_that_is_a_tool_of_a_supervisor(guarded: str) -> None:
    reports: list[FitReport] = []
    reading = [calling(("read", {"page": page}), start=page) for page in range(PAGES)]
    answers = [
        calling(("ask_reader", {"task": "Count."}), start=100),
        *reading,
        AIMessage("Forty."),
        AIMessage("Done."),
    ]
    model = ScriptedModel(window=2_000, claimed=400_000, answers=answers)
    limits: Any = {"max_input_tokens": 1_900, "on_report": reports.append}
    middleware = [ContextOptimizerMiddleware(**limits)] if guarded == "middleware" else []
    used = with_optimizer(model, **limits) if guarded == "model" else model
    reader = create_agent(used, TOOLS, middleware=middleware)

    @tool
    def ask_reader(task: str) -> str:
        """Ask the reader of the log book."""
        return str(reader.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    supervisor = create_agent(used, [ask_reader], middleware=middleware)
    if guarded == "nothing":
        with pytest.raises(ContextOverflowError):
            supervisor.invoke(ASKED)
        return
    assert supervisor.invoke(ASKED)["messages"][-1].text == "Done."
    assert model.refused == []
    assert len(reports) == PAGES + 3
