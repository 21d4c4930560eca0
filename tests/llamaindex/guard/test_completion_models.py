"""Models that are sent one text: what that shows of a history beside its words is counted, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import ChatMessage

from chat_engine_runs import FIVE, ScriptedRetriever
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer
from made_up_texts import text_of
from request_tokens import count_text
from scripted_llms import ScriptedCompletionLLM, legacy_calling

ENGINES = (SimpleChatEngine, ContextChatEngine, CondensePlusContextChatEngine)
QUESTION = "Which lantern is broken?"
ENCODING = "cl100k_base"

engines = pytest.mark.parametrize("kind", ENGINES)
attaching = pytest.mark.parametrize("attach", [False, True], ids=["alone", "attached"])


def exchanges(count: int) -> list[ChatMessage]:
    """Return turns with a call as older integrations hold it, which prompts of one text print."""
    found: list[ChatMessage] = []
    for number in range(count):
        found += [
            ChatMessage(role="user", content=f"Look at lantern {number}."),
            legacy_calling(("look", {"lantern": text_of(f"Lantern {number}", 30)}), start=number, as_dicts=True),
            ChatMessage(role="tool", content="Dark.", additional_kwargs={"tool_call_id": f"call-{number}"}),
            ChatMessage(role="assistant", content=f"Lantern {number} is dark."),
        ]
    return found


def short_turns(count: int) -> list[ChatMessage]:
    roles = ("user", "assistant")
    return [ChatMessage(role=roles[i % 2], content=f"Lantern {i}.") for i in range(2 * count)]


def marked(messages: Sequence[ChatMessage]) -> str:
    """Print messages with marks around each, as the template of a model with its own format does."""
    return "".join(f"<|im_start|>{m.role.value}\n[INST] {m.content} [/INST]<|im_end|>\n" for m in messages)


def engine_of(kind: Any, llm: Any, history: Sequence[ChatMessage], *, attach: bool) -> Any:
    optimizer = EngineOptimizer(llm=llm)
    memory = optimizer.memory()
    memory.set(list(history))
    parts: dict[str, Any] = {"llm": llm, "memory": memory}
    if kind is not SimpleChatEngine:
        parts |= {"retriever": ScriptedRetriever(FIVE[:1]), "node_postprocessors": [optimizer.postprocessor()]}
    engine = kind.from_defaults(**parts)
    return optimizer.attach(engine) if attach else engine


@attaching
@engines
def test_i6_calls_that_a_completion_model_is_shown_are_counted(kind: Any, attach: bool) -> None:
    llm = ScriptedCompletionLLM(context_window=2_000)
    stored = exchanges(60)
    engine = engine_of(kind, llm, stored, attach=attach)
    engine.chat(QUESTION)
    assert llm.over == []
    assert len(llm.calls) == (2 if kind is CondensePlusContextChatEngine else 1)
    assert "Lantern 59 is dark." in llm.calls[-1].text
    assert engine.chat_history[:-2] == stored


@attaching
@engines
def test_i6_marks_that_a_model_has_around_each_message_are_counted(kind: Any, attach: bool) -> None:
    llm = ScriptedCompletionLLM(context_window=2_000, messages_to_prompt=marked)
    engine = engine_of(kind, llm, short_turns(200), attach=attach)
    engine.chat(QUESTION)
    assert llm.over == []
    assert len(llm.calls) == (2 if kind is CondensePlusContextChatEngine else 1)
    assert "Lantern 399." in llm.calls[-1].text


@pytest.mark.parametrize("messages_to_prompt", [None, marked], ids=["usual", "marked"])
def test_i6_a_memory_of_its_own_shows_what_fits_as_printed(messages_to_prompt: Any) -> None:
    llm = ScriptedCompletionLLM(context_window=1_000, messages_to_prompt=messages_to_prompt)
    memory = ContextOptimizerMemory.from_defaults(llm=llm, chat_history=exchanges(60))
    shown = memory.get()
    text = llm.messages_to_prompt(shown)
    assert 400 < count_text(text, ENCODING) <= llm.limit
    assert memory.get_all() == exchanges(60)
