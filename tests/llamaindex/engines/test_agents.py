"""Agents with an LLM that fits its requests: every step is within the window, what is stored stays whole."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.workflow import AgentInput, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from llamaindex_chats import faults
from llamaindex_ctxopt.guard.llm import with_optimizer
from made_up_texts import text_of
from scripted_llms import ScriptedLLM, calling, legacy_calling

# LlamaIndex looks at all attributes of an agent, old names of pydantic too, and asks a step whether it runs.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step"),
]

WINDOW = 2_000
LIMIT = WINDOW - 256
SYSTEM = "You read the log of the harbour."
QUESTION = "What do the six pages say about lanterns?"
DONE = ChatMessage(role="assistant", content="Forty lanterns.")


class Count(BaseModel):
    """How many lanterns there are."""

    lanterns: int


def page(number: int) -> str:
    """Return one page of the log of the harbour."""
    return text_of(f"Page {number}", 500)


TOOL = FunctionTool.from_defaults(page)
PAGES = [page(number) for number in range(6)]


def thinking(number: int) -> ChatMessage:
    text = f"Thought: I need page {number}.\nAction: page\nAction Input: {json.dumps({'number': number})}"
    return ChatMessage(role="assistant", content=text)


ANSWERED = ChatMessage(role="assistant", content="Thought: I know enough.\nAnswer: Forty lanterns.")
ONE_BY_ONE = [*(calling(("page", {"number": n}), start=n) for n in range(6)), DONE]
LEGACY = [*(legacy_calling(("page", {"number": n}), start=n) for n in range(6)), DONE]
PARALLEL = [calling(*(("page", {"number": n}) for n in range(6))), DONE]
REASONED = [*map(thinking, range(6)), ANSWERED]


async def run(agent: Any, context: Any, question: str = QUESTION, **options: Any) -> list[list[ChatMessage]]:
    """Run an agent to its answer; return what it was about to send at each step."""
    handler = agent.run(question, ctx=context, **options)
    inputs = [event.input async for event in handler.stream_events() if isinstance(event, AgentInput)]
    assert str(await handler) == "Forty lanterns."
    return inputs


async def stored(context: Any) -> list[ChatMessage]:
    return (await context.store.get("memory")).get_all()


def agent_of(kind: Any, double: ScriptedLLM, *, tools: Sequence[Any] = (TOOL,), **fields: Any) -> Any:
    return kind(tools=list(tools), llm=with_optimizer(double), system_prompt=SYSTEM, **fields)


def check(double: ScriptedLLM, inputs: Sequence[Sequence[ChatMessage]]) -> None:
    """Each call was within the window, held the question and its exchanges whole, and was cut no sooner than needed."""
    assert len(double.calls) == len(inputs)
    for before, call in zip(inputs, double.calls, strict=True):
        assert faults(before, call, LIMIT) == []
        assert len(call.rows) == len(before) or call.tokens > LIMIT - 150
    assert double.calls[-1].tokens > LIMIT - 150


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("answers", [ONE_BY_ONE, LEGACY, PARALLEL], ids=["one by one", "older calls", "parallel"])
async def test_h20_issue_14660_issue_18516_a_function_agent_is_within_the_window_at_every_step(
    answers: list[ChatMessage], streaming: bool
) -> None:
    double = ScriptedLLM(context_window=WINDOW, answers=answers)
    agent = agent_of(FunctionAgent, double, streaming=streaming)
    check(double, await run(agent, Context(agent)))
    assert all(call.schemas for call in double.calls)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("role", ["user", "tool"])
async def test_h20_issue_14660_a_react_agent_is_within_the_window_at_every_step(role: str, streaming: bool) -> None:
    double = ScriptedLLM(context_window=WINDOW, answers=REASONED)
    agent = agent_of(ReActAgent, double, streaming=streaming, formatter=ReActChatFormatter(observation_role=role))
    inputs = await run(agent, Context(agent))
    assert [len(before) for before in inputs] == [2, 4, 6, 8, 10, 12, 14]
    for before, call in zip(inputs, double.calls, strict=True):
        assert not call.over
        assert [row["role"] for row in call.rows[:2]] == ["system", "user"]
        assert call.rows[0]["content"] == before[0].content
        assert call.rows[1]["content"] == QUESTION
        assert call.rows[-1]["content"][:20] == (before[-1].content or "")[:20]
        pairs = zip(call.rows[2::2], call.rows[3::2], strict=True)
        assert [(a["content"][:8], b["content"][:12]) for a, b in pairs] == [("Thought:", "Observation:")] * (
            len(call.rows) // 2 - 1
        )
    assert double.calls[-1].tokens > LIMIT - 150


@pytest.mark.parametrize(("kind", "answers"), [(FunctionAgent, ONE_BY_ONE), (ReActAgent, REASONED)])
async def test_without_the_guard_the_same_run_is_over_the_window(kind: Any, answers: list[ChatMessage]) -> None:
    double = ScriptedLLM(context_window=WINDOW, answers=answers)
    agent = kind(tools=[TOOL], llm=double, system_prompt=SYSTEM)
    with pytest.raises(ValueError, match="maximum context length"):
        await agent.run(QUESTION)


@pytest.mark.parametrize(("kind", "answers"), [(FunctionAgent, ONE_BY_ONE), (ReActAgent, REASONED)])
async def test_h22_scratchpad_and_memory_hold_every_result_whole(kind: Any, answers: list[ChatMessage]) -> None:
    seen: list[str] = []
    key, contexts = ("scratchpad" if kind is FunctionAgent else "current_reasoning"), []

    async def read(number: int) -> str:
        """Return one page."""
        steps = await contexts[0].store.get(key, default=[])
        seen.append("\n".join((step.content or "") if kind is FunctionAgent else step.get_content() for step in steps))
        return page(number)

    double = ScriptedLLM(context_window=WINDOW, answers=answers)
    agent = agent_of(kind, double, tools=[FunctionTool.from_defaults(async_fn=read, name="page")])
    context: Any = Context(agent)
    contexts.append(context)
    await run(agent, context)
    assert [sum(text in held for text in PAGES) for held in seen] == [0, 1, 2, 3, 4, 5]
    memory = "\n".join(message.content or "" for message in await stored(context))
    assert [text in memory for text in PAGES] == [True] * 6
    assert "characters left out" not in memory


async def test_h22_what_is_stored_is_what_an_unguarded_agent_with_a_large_window_stores() -> None:
    small, large = ScriptedLLM(context_window=WINDOW, answers=ONE_BY_ONE), ScriptedLLM(answers=ONE_BY_ONE * 2)
    agent, plain = agent_of(FunctionAgent, small), FunctionAgent(tools=[TOOL], llm=large, system_prompt=SYSTEM)
    contexts: list[Any] = [Context(agent), Context(plain)]
    await run(agent, contexts[0])
    await run(plain, contexts[1])
    assert await stored(contexts[0]) == await stored(contexts[1])


@pytest.mark.parametrize("issue", ["#21950", "#23146"])
async def test_issues_a_conversation_over_many_runs_stays_within_the_window(issue: str) -> None:
    answers = [*ONE_BY_ONE[:2], DONE] * 5 if issue == "#21950" else [*LEGACY[:2], DONE] * 5
    double = ScriptedLLM(context_window=WINDOW, answers=answers)
    agent = agent_of(FunctionAgent, double)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    inputs = [step for _ in range(5) for step in await run(agent, Context(agent), memory=memory)]
    check(double, inputs)
    assert len(memory.get_all()) == 5 * 6


async def test_a_tool_that_answers_by_itself_ends_the_run_and_the_next_run_works() -> None:
    double = ScriptedLLM(
        context_window=WINDOW, answers=[*ONE_BY_ONE[:4], calling(("final", {"number": 9}), start=9), DONE]
    )
    final = FunctionTool.from_defaults(page, name="final", return_direct=True)
    agent, memory = (
        agent_of(FunctionAgent, double, tools=[TOOL, final]),
        ChatMemoryBuffer.from_defaults(token_limit=9_000),
    )
    assert str(await agent.run(QUESTION, memory=memory)) == page(9)
    assert memory.get_all()[-1].content == page(9)
    [before] = await run(agent, Context(agent), "And how many lanterns?", memory=memory)
    assert faults(before, double.calls[-1], LIMIT) == []
    assert double.calls[-1].rows[-1]["content"].startswith("And how many lanterns?")


@pytest.mark.parametrize("streaming", [False, True])
async def test_an_agent_that_hands_over_to_another_stays_within_both_windows(streaming: bool) -> None:
    handoff = calling(("handoff", {"to_agent": "writer", "reason": "The pages are read."}), start=9)
    reader = ScriptedLLM(context_window=WINDOW, answers=[*ONE_BY_ONE[:6], handoff])
    writer = ScriptedLLM(context_window=1_500, answers=[*LEGACY[:3], DONE])
    agents: list[Any] = [
        agent_of(FunctionAgent, double, name=name, description=name, streaming=streaming)
        for name, double in (("reader", reader), ("writer", writer))
    ]
    workflow = AgentWorkflow(agents=agents, root_agent="reader")
    inputs = await run(workflow, Context(workflow), memory=ChatMemoryBuffer.from_defaults(token_limit=100_000))
    assert [len(double.calls) for double in (reader, writer)] == [7, 4]
    assert not reader.over
    assert not writer.over
    for double, steps in ((reader, inputs[:7]), (writer, inputs[7:])):
        for before, call in zip(steps, double.calls, strict=True):
            assert faults(before, call, double.limit) == []
            assert {"handoff", "page"} == {schema["function"]["name"] for schema in call.schemas}


async def test_a_run_that_is_stopped_early_answers_within_the_window() -> None:
    double = ScriptedLLM(context_window=WINDOW, answers=[*ONE_BY_ONE[:4], DONE])
    agent = agent_of(FunctionAgent, double)
    await run(agent, Context(agent), max_iterations=4, early_stopping_method="generate")
    assert not double.over
    assert "maximum number of iterations" in double.calls[-1].text


async def test_a_structured_answer_is_asked_for_with_the_whole_conversation_as_the_query() -> None:
    double = ScriptedLLM(context_window=WINDOW, answers=[*ONE_BY_ONE, calling(("Count", {"lanterns": 40}))])
    agent = agent_of(FunctionAgent, double, output_cls=Count)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        output = await agent.run(QUESTION, memory=ChatMemoryBuffer.from_defaults(token_limit=9_000))
    assert output.structured_response is None
    assert "`protect=()` cuts it" in str(told[-1].message)
    agent.llm = agent.llm.with_changes(protect=())
    double.calls.clear()
    output = await agent.run(QUESTION, memory=ChatMemoryBuffer.from_defaults(token_limit=9_000))
    assert output.structured_response == {"lanterns": 40}
    assert double.calls[-1].schemas[0]["function"]["name"] == "Count"
    assert not double.over
