"""Reported failures of LlamaIndex applications whose LLM is now guarded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

from ctxopt_core import ContextBudgetError
from drawn_examples import examples
from llamaindex_chats import faults
from llamaindex_ctxopt.guard.llm import with_optimizer
from made_up_texts import text_of
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM, calling, legacy_calling

WINDOW = 2_000
LIMIT = WINDOW - 256


def harbour_chat(exchanges: int = 6) -> list[ChatMessage]:
    """Return a conversation whose answers call tools, in the newer and in the older form, in parallel and alone."""
    chat = [ChatMessage(role="system", content="Be brief.")]
    for turn in range(exchanges):
        calls = [("page", {"number": number}) for number in range(1 + turn % 3)]
        chat.append(ChatMessage(role="user", content=text_of(f"Question {turn}?", 30)))
        chat.append((legacy_calling if turn % 2 else calling)(*calls, start=10 * turn))
        chat += [
            ChatMessage(
                role="tool",
                content=text_of(f"Page {turn} {number}", 120),
                additional_kwargs={"tool_call_id": f"call-{10 * turn + number}"},
            )
            for number in range(len(calls))
        ]
        chat.append(ChatMessage(role="assistant", content=text_of(f"Answer {turn}.", 30)))
    return [*chat, ChatMessage(role="user", content="How many lanterns are there?")]


CHAT = harbour_chat()


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(min_value=1, max_value=2_200))
def test_issue_13715_issue_10493_no_result_is_sent_without_its_call_at_any_budget(target: int) -> None:
    double = ScriptedLLM(context_window=100_000)
    llm = with_optimizer(double, target_tokens=target)
    try:
        llm.chat(CHAT)
    except ContextBudgetError as error:
        assert target < 100
        assert error.available == target
        assert double.calls == []
    else:
        assert faults(CHAT, double.calls[0], target) == []


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(min_value=60, max_value=2_200))
async def test_i10_every_method_sends_the_same(target: int) -> None:
    double = ScriptedLLM(context_window=100_000)
    llm = with_optimizer(double, target_tokens=target, protect=())
    llm.chat(CHAT)
    await llm.achat(CHAT)
    list(llm.stream_chat(CHAT))
    _ = [chunk async for chunk in await llm.astream_chat(CHAT)]
    assert [call.rows for call in double.calls] == [double.calls[0].rows] * 4


@pytest.mark.parametrize("issue", ["#7765", "#10368", "#8046"])
@pytest.mark.parametrize("kind", [ScriptedLLM, ScriptedCompletionLLM])
async def test_issues_a_chat_with_a_long_system_prompt_never_exceeds_the_window(kind: Any, issue: str) -> None:
    double, system = kind(context_window=WINDOW), text_of(f"You keep the log ({issue}).", 600)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    engine = SimpleChatEngine.from_defaults(llm=with_optimizer(double), memory=memory, system_prompt=system)
    for turn in range(10):
        question = text_of(f"Question {turn}?", 100)
        await engine.achat(question) if turn % 2 else engine.chat(question)
        assert not double.over
        assert system in double.calls[-1].text
        assert question in double.calls[-1].text
    assert len(double.calls) == 10
    assert len(memory.get_all()) == 20


def test_without_the_guard_such_a_chat_fails_after_a_few_turns() -> None:
    double = ScriptedLLM(context_window=WINDOW)
    engine = SimpleChatEngine.from_defaults(
        llm=double,
        memory=ChatMemoryBuffer.from_defaults(token_limit=100_000),
        system_prompt=text_of("You keep the log.", 600),
    )
    for turn in range(5):
        engine.chat(text_of(f"Question {turn}?", 100))
    with pytest.raises(ValueError, match="maximum context length"):
        engine.chat(text_of("Question 5?", 100))


class OtherTokenizer(ScriptedLLM):
    """A model whose own tokenizer cuts finer than any that can be had here."""

    @property
    def encoding(self) -> str:
        return "cl100k_base"


@pytest.mark.parametrize(
    ("name", "counted", "finer"),
    [
        pytest.param("claude-3-5-sonnet-20241022", {}, 1.3, id="a claude"),
        pytest.param("a model that nobody knows", {}, 1.15, id="an unknown one"),
        pytest.param("gpt-4", {"token_counter": lambda text: len(text) // 2}, 1.8, id="a counter that is given"),
    ],
)
def test_issue_12119_a_model_without_a_published_tokenizer_is_counted_with_room_to_spare(
    name: str, counted: Any, finer: float
) -> None:
    double = OtherTokenizer(context_window=WINDOW, model_name=name)
    llm = with_optimizer(double, **counted)
    llm.chat(CHAT)
    assert llm.last_report is not None
    assert not llm.last_report.unchanged
    assert double.calls[0].tokens * finer <= LIMIT
