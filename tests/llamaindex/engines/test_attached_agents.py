"""Attached agents: the memory leaves room for their prompts and tools, and every step is within the window."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool

from chat_engine_runs import preset_history
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer, EnginePartsError, with_optimizer
from llamaindex_ctxopt.models.call_schemas import as_sent
from made_up_texts import text_of
from scripted_llms import ScriptedLLM, calling

# LlamaIndex looks at all attributes of an agent, old names of pydantic too, and asks a step whether it runs.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step"),
]

WINDOW, OUTPUT = 4_000, 256
LIMIT = WINDOW - OUTPUT
SYSTEM = text_of("You keep the log of the harbour.", 500)
QUESTION = "What do the six pages say about lanterns?"
DONE = ChatMessage(role="assistant", content="Thought: I know enough.\nAnswer: Forty lanterns.")
KINDS = ("function", "react", "code", "workflow", "two agents")
kinds = pytest.mark.parametrize("kind", KINDS)
streams = pytest.mark.parametrize("streaming", [False, True])


def page(number: int) -> str:
    """Return one page of the log of the harbour."""
    return text_of(f"Page {number}", 500)


def tools() -> list[FunctionTool]:
    return [
        FunctionTool.from_defaults(page, name=f"page_{n}", description=text_of(f"Page {n} of the log:", 150))
        for n in range(6)
    ]


def execute(code: str) -> str:
    """Run code."""
    return text_of(f"Output of {len(code)} characters:", 500)


STEPS: dict[str, list[ChatMessage]] = {
    "function": [calling((f"page_{n}", {"number": n}), start=n) for n in range(6)],
    "react": [
        ChatMessage(role="assistant", content=f'Thought: Next.\nAction: page_{n}\nAction Input: {{"number": {n}}}')
        for n in range(6)
    ],
    "code": [ChatMessage(role="assistant", content=f"<execute>\nprint({n})\n</execute>") for n in range(6)],
}
STEPS["workflow"] = STEPS["function"]
STEPS["two agents"] = [
    *STEPS["function"][:3],
    calling(("handoff", {"to_agent": "porter", "reason": "The pages are read."}), start=9),
    *STEPS["function"][3:],
]


def agent_of(kind: str, llm: Any, *, streaming: bool = False) -> Any:
    options: Any = {"tools": tools(), "llm": llm, "system_prompt": SYSTEM, "streaming": streaming}
    if kind == "react":
        return ReActAgent(**options)
    if kind == "code":
        return CodeActAgent(code_execute_fn=execute, **options)
    if kind == "function":
        return FunctionAgent(**options)
    names = ("clerk",) if kind == "workflow" else ("clerk", "porter")
    agents = [FunctionAgent(name=name, description=f"The {name}.", **options) for name in names]
    return AgentWorkflow(agents=agents, root_agent="clerk")


def scripted(kind: str, **options: Any) -> ScriptedLLM:
    return ScriptedLLM(context_window=WINDOW, num_output=OUTPUT, answers=[*STEPS[kind], DONE], **options)


@kinds
@streams
async def test_l5_every_step_of_an_attached_agent_is_within_the_window(kind: str, streaming: bool) -> None:
    llm = scripted(kind)
    optimizer = EngineOptimizer(llm=llm)
    agent = agent_of(kind, llm, streaming=streaming)
    assert optimizer.attach(agent) is agent
    session = optimizer.session()
    session.memory.set(preset_history(60))
    assert "Forty lanterns." in str(await agent.run(QUESTION, memory=session.memory))
    assert len(llm.calls) == len(STEPS[kind]) + 1
    assert llm.over == []
    assert all(QUESTION in call.text for call in llm.calls)
    assert all(SYSTEM in call.text for call in llm.calls)
    assert llm.calls[0].tokens > 0.85 * LIMIT  # the room is used
    assert llm.calls[-1].tokens > 0.6 * LIMIT
    assert len(session.memory.get_all()) > 60


@kinds
async def test_l5_the_memory_of_an_attached_agent_leaves_its_prompt_and_its_tools_room(kind: str) -> None:
    """The guard has nothing to cut before a tool has answered: what the memory returns fits as it is."""
    llm = scripted(kind)
    optimizer = EngineOptimizer(llm=llm)
    optimizer.attach(agent_of(kind, llm))
    unguarded = ScriptedLLM(context_window=WINDOW, num_output=OUTPUT, answers=[DONE])
    memory = optimizer.session().memory
    memory.set(preset_history(60))
    await agent_of(kind, unguarded).run(QUESTION, memory=memory)
    assert [call.over for call in unguarded.calls] == [False]
    assert unguarded.calls[0].tokens > 0.85 * LIMIT


@kinds
async def test_l5_without_attach_the_memory_alone_is_not_enough(kind: str) -> None:
    llm = scripted(kind)
    memory = ContextOptimizerMemory.from_defaults(llm=llm, chat_history=preset_history(60))
    with pytest.raises(ValueError, match="maximum context length"):
        await agent_of(kind, llm).run(QUESTION, memory=memory)


async def test_l5_prompt_and_tools_that_the_optimizer_is_told_are_enough_until_a_tool_answers() -> None:
    llm = scripted("function")
    optimizer = EngineOptimizer(llm=llm, system_prompt=SYSTEM, tools=tools())
    memory = optimizer.memory()
    memory.set(preset_history(60))
    with pytest.raises(ValueError, match="maximum context length"):
        await agent_of("function", llm).run(QUESTION, memory=memory)
    assert [call.over for call in llm.calls] == [False, True]


@kinds
@streams
async def test_l5_a_guarded_model_is_enough_with_any_memory(kind: str, streaming: bool) -> None:
    for ours in (True, False):
        llm = scripted(kind)
        history = preset_history(60)
        memory: Any = (
            ContextOptimizerMemory.from_defaults(llm=llm, chat_history=history)
            if ours
            else ChatMemoryBuffer.from_defaults(token_limit=100_000, chat_history=history)
        )
        await agent_of(kind, with_optimizer(llm), streaming=streaming).run(QUESTION, memory=memory)
        assert llm.over == []
        assert len(llm.calls) == len(STEPS[kind]) + 1


@kinds
def test_l6_an_agent_is_attached_once(kind: str) -> None:
    llm = scripted(kind)
    optimizer, agent = EngineOptimizer(llm=llm), agent_of(kind, llm)
    optimizer.attach(agent)
    for again in (optimizer, EngineOptimizer(llm=llm), optimizer.session()):
        with pytest.raises(EnginePartsError, match="`engine` is attached already"):
            again.attach(agent)
    with pytest.raises(EnginePartsError, match="has an engine already"):
        optimizer.attach(agent_of(kind, llm))


async def test_l6_each_agent_of_a_workflow_is_held_in_the_smaller_of_its_window_and_the_optimizers() -> None:
    clerk = ScriptedLLM(context_window=16_000, answers=[*STEPS["two agents"][:4]])
    porter = ScriptedLLM(context_window=3_500, answers=[*STEPS["two agents"][4:], DONE])
    options: Any = {"tools": tools(), "system_prompt": SYSTEM, "streaming": False}
    workflow = AgentWorkflow(
        agents=[
            FunctionAgent(name=name, description=f"The {name}.", llm=llm, **options)
            for name, llm in (("clerk", clerk), ("porter", porter))
        ],
        root_agent="clerk",
    )
    optimizer = EngineOptimizer(context_window=6_000, output_reserve=256)
    optimizer.attach(workflow)
    memory = optimizer.session().memory
    memory.set(preset_history(60))
    await workflow.run(QUESTION, memory=memory)
    assert max(call.tokens for call in clerk.calls) <= 6_000 - 256
    assert porter.over == []
    assert len(porter.calls) == 4


async def test_l5_an_agent_that_is_attached_serves_many_sessions_at_once() -> None:
    llm = ScriptedLLM(context_window=WINDOW, answers=[DONE] * 6)
    optimizer, agent = EngineOptimizer(llm=llm), agent_of("react", llm)
    optimizer.attach(agent)
    memories = [optimizer.session().memory for _ in range(6)]
    for number, memory in enumerate(memories):
        memory.set([*preset_history(40), ChatMessage(content=f"I am {number}."), ChatMessage(role="assistant")])
    await asyncio.gather(*(agent.run(f"I am {number}.", memory=memory) for number, memory in enumerate(memories)))
    assert llm.over == []
    named = [[n for n in range(6) if f"I am {n}." in call.text] for call in llm.calls]
    assert sorted(named) == [[n] for n in range(6)]


def test_l5_tools_that_the_optimizer_was_told_of_are_not_counted_twice() -> None:
    llm = scripted("function")
    told = EngineOptimizer(llm=llm, system_prompt=SYSTEM, tools=tools())
    budgets = []
    for optimizer in (told, EngineOptimizer(llm=llm)):
        optimizer.attach(agent_of("function", llm))
        budgets.append(optimizer._planner.plan.model_budget.schemas)
    assert budgets[0] == budgets[1] == tuple(map(as_sent, tools()))
