"""The middleware in agents that run for real: a checkpointer, tools, and a model that enforces its window."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxopt import ContextOptimizerMiddleware
from langchain_requests import sent_tokens
from scripted_model import PAGE, TOOLS, ScriptedModel, calling, faults

THREAD: Any = {"configurable": {"thread_id": "1"}}
PROMPT = "You keep the log book of the harbour. Be brief."
PARALLEL = [
    calling(("read", {"page": 1}), ("read", {"page": 2}), ("look_up", {"word": "bollard"})),
    calling(("read", {"page": 3}), start=10),
    AIMessage("Forty lanterns."),
]


def agent_with(model: Any, *middleware: Any, **options: Any) -> Any:
    return create_agent(
        model, TOOLS, system_prompt=PROMPT, middleware=list(middleware), checkpointer=InMemorySaver(), **options
    )


def stored(agent: Any) -> list[BaseMessage]:
    return agent.get_state(THREAD).values["messages"]


def question(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def results(messages: Iterable[BaseMessage]) -> list[str]:
    return [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]


def check_calls(model: ScriptedModel, conversation: list[BaseMessage]) -> None:
    """Each call was within the window, whole in its pairs and held the question, judged by what the model heard."""
    assert not model.refused
    for answers, (heard, bound) in enumerate(zip(model.heard, model.bound, strict=True)):
        assert heard[0].text == PROMPT
        before = [heard[0], *_conversation_before(conversation, answers)]
        assert faults(before, heard, model.limit, bound["tools"]) == []


def _conversation_before(conversation: list[BaseMessage], answers: int) -> list[BaseMessage]:
    """What the state held after so many answers, when the model was asked for the next one."""
    given = [index for index, message in enumerate(conversation) if isinstance(message, AIMessage)]
    return conversation[: given[answers]]


def run(agent: Any, asked: str) -> None:
    agent.invoke(question(asked), THREAD)


def run_streaming(agent: Any, asked: str) -> None:
    chunks = list(agent.stream(question(asked), THREAD, stream_mode="messages"))
    assert any(chunk.text for chunk, _ in chunks if chunk.type == "AIMessageChunk")


async def test_i3_asynchronous_calls_are_fitted_and_the_state_keeps_everything() -> None:
    model = ScriptedModel(window=1_200, answers=PARALLEL)
    agent = agent_with(model, ContextOptimizerMiddleware())
    await agent.ainvoke(question("How many lanterns are there?"), THREAD)
    check_calls(model, stored(agent))
    assert len(stored(agent)) == 8


@pytest.mark.parametrize("play", [run, run_streaming])
def test_i3_each_call_is_within_the_window_and_the_checkpoint_keeps_every_message(play: Any) -> None:
    model = ScriptedModel(window=1_200, answers=[*PARALLEL, *PARALLEL, *PARALLEL])
    agent = agent_with(model, ContextOptimizerMiddleware())
    for turn in range(3):
        play(agent, f"Question {turn}: how many lanterns are there?")
    messages = stored(agent)
    check_calls(model, messages)
    assert [message.type for message in messages] == ["human", "ai", "tool", "tool", "tool", "ai", "tool", "ai"] * 3
    pages = [message for message in messages if isinstance(message, ToolMessage) and message.name == "read"]
    assert {message.text.count(PAGE.strip()) for message in pages} == {40}
    assert sent_tokens(messages) > 5 * model.limit
    assert all("Question" in str([message.text for message in heard]) for heard in model.heard)


def test_i3_without_the_middleware_the_same_agent_overflows() -> None:
    model = ScriptedModel(window=1_200, answers=PARALLEL)
    with pytest.raises(ContextOverflowError):
        run(agent_with(model), "How many lanterns are there?")


def test_i3_parallel_calls_keep_all_their_results() -> None:
    model = ScriptedModel(window=1_200, answers=PARALLEL)
    run(agent_with(model, ContextOptimizerMiddleware()), "How many lanterns are there?")
    assert results(model.heard[1]) == ["call-0", "call-1", "call-2"]
    assert "word of sailors" in model.heard[1][-1].text


def test_i3_what_fits_is_handed_on_as_the_identical_request() -> None:
    seen: list[Any] = []

    class Inner(ContextOptimizerMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            seen.append(request)
            return super().wrap_model_call(request, lambda inner: seen.append(inner) or handler(inner))

    model = ScriptedModel(window=100_000, answers=PARALLEL)
    run(agent_with(model, Inner()), "How many lanterns are there?")
    assert len(seen) == 6
    assert all(outer is inner for outer, inner in zip(seen[::2], seen[1::2], strict=True))


def test_i3_messages_that_stay_whole_are_the_identical_objects_and_none_is_changed() -> None:
    model = ScriptedModel(window=1_200, answers=PARALLEL)
    agent = agent_with(model, ContextOptimizerMiddleware())
    given = [message for i in range(40) for message in (HumanMessage(f"Q{i}? {PAGE}"), AIMessage(PAGE))]
    before = copy.deepcopy(given)
    agent.invoke({"messages": [*given, HumanMessage("How many lanterns are there?")]}, THREAD)
    assert [message.content for message in given] == [message.content for message in before]
    assert stored(agent)[:80] == given
    assert "How many lanterns are there?" in [message.text for message in model.heard[0]]


@pytest.mark.parametrize(
    ("window", "max_tokens"), [pytest.param(1_000, 100, id="small"), pytest.param(2_500, 900, id="long answers")]
)
def test_i3_the_window_is_that_of_the_model_that_is_called(window: int, max_tokens: int) -> None:
    large = ScriptedModel(window=100_000, answers=PARALLEL)
    small = ScriptedModel(window=window, max_tokens=max_tokens, answers=PARALLEL)

    class Router(ContextOptimizerMiddleware):
        """Stands for any middleware that chooses the model, outside of ours."""

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(model=small))

    agent = agent_with(large, Router(), ContextOptimizerMiddleware())
    run(agent, "How many lanterns are there?")
    assert large.heard == []
    check_calls(small, stored(agent))
    assert max(small.counted) > small.limit // 2


def test_i3_behind_a_fallback_it_sees_the_model_that_is_fallen_back_to() -> None:
    down = GenericFakeChatModel(messages=iter(()), profile={"max_input_tokens": 100_000})
    small = ScriptedModel(window=700)
    middleware = [ModelFallbackMiddleware(small), ContextOptimizerMiddleware()]
    chat = [message for i in range(40) for message in (HumanMessage(f"Q{i}?"), AIMessage(PAGE))]
    create_agent(down, middleware=middleware).invoke({"messages": [*chat, HumanMessage("How many?")]})
    assert (small.refused, len(small.heard)) == ([], 1)
    assert small.counted[0] > 500


def test_i3_settings_of_the_call_decide_reserve_and_model() -> None:
    reports: list[Any] = []

    class Settings(ContextOptimizerMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(model_settings={"max_tokens": 700}))

    model = ScriptedModel(window=2_000, answers=PARALLEL)
    run(agent_with(model, Settings(), ContextOptimizerMiddleware(on_report=reports.append)), "How many lanterns?")
    assert {(report.input_budget, report.reserve) for report in reports} == {(1_300, 700)}
    assert max(model.counted) <= 1_300


@pytest.mark.parametrize("prompt", [None, PROMPT, SystemMessage(PROMPT + " " + PAGE * 10)])
def test_i3_system_prompt_and_tools_are_counted_with_the_messages(prompt: Any) -> None:
    model = ScriptedModel(window=1_500, answers=PARALLEL)
    agent = create_agent(model, TOOLS, system_prompt=prompt, middleware=[ContextOptimizerMiddleware()])
    agent.invoke(question("How many lanterns are there?"))
    assert not model.refused
    assert len(model.heard) == 3
    if prompt is not None:
        assert all(heard[0].text.startswith(PROMPT) for heard in model.heard)
        assert [sum(isinstance(message, SystemMessage) for message in heard) for heard in model.heard] == [1, 1, 1]


def test_i3_a_system_prompt_that_is_over_its_share_is_cut_for_the_call_alone() -> None:
    model = ScriptedModel(window=1_000)
    agent = create_agent(model, system_prompt=PROMPT + " " + PAGE * 90, middleware=[ContextOptimizerMiddleware()])
    agent.invoke(question("How many lanterns are there?"))
    [heard] = model.heard
    assert [message.type for message in heard] == ["system", "human"]
    assert heard[0].text.startswith(PROMPT)
    assert heard[1].text == "How many lanterns are there?"
