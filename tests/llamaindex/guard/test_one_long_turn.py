"""One question and many calls behind LlamaIndex's parts: a summary; and an overflow that is raised once."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool

from ctxopt_core import ContextBudgetError, summarizer
from llamaindex_ctxopt import ContextOptimizerMemory, ContextOptimizerPostprocessor, with_optimizer
from scripted_llms import ScriptedLLM, calling

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step"),
]

QUESTION = ChatMessage(role="user", content="Which pages name the lamplighter?")
SUMMARY = "Every page names him."


class Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, transcript: str) -> str:
        self.asked.append(transcript)
        return SUMMARY


def settings(function: Counting, strategy: str) -> Any:
    return {"max_input_tokens": 1_500, "history": {"strategy": strategy, "summarizer": summarizer(function)}}


def run(pages: int) -> list[ChatMessage]:
    found = [QUESTION]
    for page in range(pages):
        result = f"Page {page}. " + "The lamplighter. " * 10
        found.append(calling(("page", {"number": page}), start=page))
        found.append(ChatMessage(role="tool", content=result, additional_kwargs={"tool_call_id": f"call-{page}"}))
    return found


def check(sent: Any) -> None:
    assert [message.role.value for message in sent[:4]] == ["user", "user", "assistant", "tool"]
    assert sent[0].content == QUESTION.content
    assert SUMMARY in sent[1].content


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
@pytest.mark.parametrize("method", ["chat", "achat", "stream_chat"])
async def test_l15_the_guard_sends_a_summary_of_the_dropped_calls(strategy: str, method: str) -> None:
    function, inner = Counting(), ScriptedLLM(context_window=2_000)
    guarded = with_optimizer(inner, **settings(function, strategy))
    if method == "achat":
        await guarded.achat(run(100))
    elif method == "chat":
        guarded.chat(run(100))
    else:
        list(guarded.stream_chat(run(100)))

    assert len(function.asked) == 1
    assert not inner.over
    check(inner.calls[-1].given)


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
def test_l15_a_memory_gives_a_summary_of_the_dropped_calls(strategy: str) -> None:
    function = Counting()
    memory = ContextOptimizerMemory.from_defaults(chat_history=run(100), **settings(function, strategy))

    check(memory.get())
    assert len(function.asked) == 1
    assert len(memory.get_all()) == 201


def test_l15_a_stored_summary_is_not_taken_for_the_question() -> None:
    function, inner = Counting(), ScriptedLLM(context_window=2_000)
    guarded = with_optimizer(inner, **settings(function, "summarize"))
    guarded.chat(run(100))
    guarded.chat([*inner.calls[-1].given, *run(100)[1:]])

    check(inner.calls[-1].given)
    assert sum(SUMMARY in str(message.content) for message in inner.calls[-1].given) == 1


@pytest.mark.parametrize("method", ["chat", "achat"])
async def test_l22_an_overflow_is_raised_at_once_and_nothing_is_sent(method: str) -> None:
    inner = ScriptedLLM(context_window=400)
    guarded = with_optimizer(inner)
    asked = [ChatMessage(role="user", content="How many lanterns are there? " * 200)]
    with pytest.raises(ContextBudgetError):
        await guarded.achat(asked) if method == "achat" else guarded.chat(asked)
    assert inner.calls == []


async def test_l22_an_agent_does_not_try_an_overflow_again() -> None:
    reports: list[Any] = []
    inner = ScriptedLLM(context_window=500)
    guarded = with_optimizer(inner, on_report=reports.append)
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(lambda number: number, name="page")], llm=guarded)
    with pytest.raises(ContextBudgetError):
        await agent.run("How many lanterns are there? " * 200)
    assert inner.calls == []
    assert reports == []


async def awaited(text: str) -> int:
    return len(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: with_optimizer(ScriptedLLM(), **given),
        lambda **given: ContextOptimizerMemory.from_defaults(max_input_tokens=500, **given),
        lambda **given: ContextOptimizerPostprocessor(max_tokens=500, **given),
    ],
    ids=["guard", "memory", "postprocessor"],
)
def test_l22_a_counter_that_is_awaited_is_named_at_construction(make: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"`token_counter` must be a plain function .*'approximate'"):
        make(token_counter=awaited)
    assert make(token_counter="approximate")
