"""Reported failures of LlamaIndex applications with what they remember: what was reported, the stock parts, ours.

A number is an issue or pull request of run-llama/llama_index, unless another repository is named.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.async_utils import asyncio_run
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from sqlalchemy.ext.asyncio import create_async_engine

from chat_engine_runs import FIVE, NODES, ScriptedRetriever, conversation, nodes_of, preset_history
from drawn_examples import examples
from engine_parts import Kind
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer
from made_up_texts import text_of
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

INITIAL = "Initial token count exceeds token limit"
LONG_PROMPT = text_of("You keep the log of the harbour.", 600)
ours = pytest.mark.parametrize("kind", ["ours", "ours, attached"])
models = pytest.mark.parametrize("model", [ScriptedLLM, ScriptedCompletionLLM])


@pytest.fixture
def small_memory() -> Iterator[BaseMemory]:
    """Yield LlamaIndex's own memory with a limit of 1,000 tokens; its database is closed."""
    store = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield Memory.from_defaults(
        token_limit=1_000, chat_history_token_ratio=0.5, token_flush_size=200, async_engine=store
    )
    asyncio_run(store.dispose())


def simple(llm: Any, memory: BaseMemory, prompt: str = LONG_PROMPT) -> SimpleChatEngine:
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt=prompt)


@pytest.mark.parametrize("issue", ["11637", "9371", "15320", "zylon-ai/private-gpt 1701", "9714"])
def test_issues_a_system_prompt_longer_than_the_limit_of_the_memory(issue: str) -> None:
    """The limit is the memory's, not the window's: 9714 lost the question for it, the others the whole request."""
    question = f"What of issue {issue}?"
    with pytest.raises(ValueError, match=INITIAL):
        simple(ScriptedLLM(), ChatMemoryBuffer.from_defaults(token_limit=100)).chat(question)
    llm = ScriptedLLM()
    memory = EngineOptimizer(llm=llm).memory(ChatMemoryBuffer.from_defaults(token_limit=100))
    for _ in range(3):
        simple(llm, memory).chat(question)
        assert LONG_PROMPT in llm.calls[-1].text
        assert llm.calls[-1].rows[-1]["content"] == question
    assert len(memory.get_all()) == 6
    assert llm.over == []


@ours
@pytest.mark.parametrize("size", [800, 2_000])
def test_issue_10176_large_nodes_do_not_make_the_assistant_forget(kind: Kind, size: int) -> None:
    talk = conversation(kind, retriever=ScriptedRetriever(nodes_of(*[size] * 5)))
    turns = talk.hold(12)
    assert [(len(turn.calls), turn.over, turn.error) for turn in turns] == [(1, 0, None)] * 12
    assert min(turn.turns_visible for turn in turns[4:]) >= 3
    assert all(turn.calls[0].tokens > 2_900 for turn in turns)


@pytest.mark.parametrize("issue", ["7765", "10368", "8046"])
@pytest.mark.parametrize("attach", [False, True], ids=["alone", "attached"])
@models
async def test_issues_a_long_chat_with_a_long_system_prompt(model: Any, attach: bool, issue: str) -> None:
    llm = model(context_window=2_000)
    optimizer = EngineOptimizer(llm=llm)
    engine = simple(llm, optimizer.memory(ChatMemoryBuffer.from_defaults(token_limit=100_000)))
    if attach:
        optimizer.attach(engine)
    for turn in range(12):
        question = text_of(f"Question {turn} of {issue}?", 100)
        await engine.achat(question) if turn % 2 else engine.chat(question)
        assert question in llm.calls[-1].text
        assert LONG_PROMPT in llm.calls[-1].text
    assert (len(llm.calls), llm.over, len(engine.chat_history)) == (12, [], 24)


class FinerTokenizer(ScriptedLLM):
    """A model whose tokenizer makes a fifth more tokens than cl100k, by which LlamaIndex counts."""

    @property
    def encoding(self) -> str:
        return "cl100k_base"

    @property
    def limit(self) -> int:
        return int(super().limit / 1.2)


@pytest.mark.parametrize("engine", ["context", "condense_plus_context"])
@ours
def test_issue_12119_a_model_that_is_not_counted_by_a_tokenizer_of_openai(kind: Kind, engine: Any) -> None:
    llm = FinerTokenizer(model_name="claude-3-haiku-20240307")
    talk = conversation(kind, engine, preset_history(60), llm=llm)
    assert [(turn.over, turn.error) for turn in talk.hold(4)] == [(0, None)] * 4


def test_issue_12264_a_get_counts_what_is_new_and_nothing_twice() -> None:
    counted: list[str] = []

    def counter(text: str) -> int:
        counted.append(text)
        return len(text) // 4 + 1

    buffer = ChatMemoryBuffer.from_defaults(
        token_limit=2_000, tokenizer_fn=lambda text: counted.append(text) or [0] * 9
    )
    buffer.set(preset_history(200))
    memory = ContextOptimizerMemory.from_defaults(
        chat_history=preset_history(200), context_window=2_000, token_counter=counter
    )
    memory.get()
    first = len(counted)
    counted.clear()
    for _ in range(5):
        memory.get()
    again = len(counted)
    memory.put(ChatMessage(role="user", content="Something new."))
    counted.clear()
    memory.get()
    assert first <= 200 + 20
    assert again == 0
    assert counted.count("Something new.") == 1
    assert len(counted) <= 20


@pytest.mark.parametrize("text", ["{context_str}", "{query_str}", '{"context_str": {context_str}}'])
@pytest.mark.parametrize("engine", ["context", "condense_plus_context"])
@ours
def test_issue_14310_braces_in_what_is_remembered_are_not_filled_in(kind: Kind, engine: Any, text: str) -> None:
    """The report was a KeyError; today names of the template are filled in, and documents are sent twice."""
    preset = [ChatMessage(role="user", content=f"I wrote {text}."), ChatMessage(role="assistant", content="{unknown}")]
    stock = conversation("ChatMemoryBuffer", engine, preset, **({"skip_condense": True} if engine != "context" else {}))
    filled = stock.ask("What of it?").calls[-1].text
    assert f"I wrote {text}." not in filled
    talk = conversation(kind, engine, preset)
    turn = talk.ask("What of it?")
    sent = turn.calls[-1].text
    assert (turn.error, turn.over, turn.nodes_whole) == (None, 0, NODES)
    assert sent.count("Document 0:") == 1
    assert (
        f"I wrote {text}.".replace("{context_str}", "{ context_str }").replace("{query_str}", "{ query_str }") in sent
    )
    assert "{unknown}" in sent
    assert talk.engine.chat_history[0].content == f"I wrote {text}."


def test_issue_23144_the_system_message_of_a_stored_conversation_is_shown(small_memory: BaseMemory) -> None:
    system = ChatMessage(role="system", content="Answer in one word.")
    for message in (system, *preset_history(20)):
        small_memory.put(message)
    assert system.content not in [message.content for message in small_memory.get()]
    memory = ContextOptimizerMemory.from_defaults(context_window=1_500, output_reserve=256)
    for message in (system, *preset_history(20)):
        memory.put(message)
    shown = memory.get()
    assert shown[0] == system
    assert 4 <= len(shown) < 21


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(min_value=620, max_value=4_200), st.integers(min_value=2, max_value=40))
def test_issue_20256_what_is_shown_begins_with_the_user(window: int, messages: int) -> None:
    """Bedrock refuses a conversation that begins with the assistant. PR 20310."""
    memory = ContextOptimizerMemory.from_defaults(
        chat_history=preset_history(2 * (messages // 2)), context_window=window, output_reserve=100
    )
    shown = memory.get()
    assert not shown or shown[0].role == "user"
    assert [message.role.value for message in shown[-1:]] in ([], ["assistant"])


def test_issue_20256_so_does_what_the_engine_sends() -> None:
    llm = ScriptedLLM(context_window=2_200)
    optimizer = EngineOptimizer(llm=llm)
    memory = optimizer.memory()
    memory.set(preset_history(60))
    engine = ContextChatEngine.from_defaults(
        retriever=ScriptedRetriever(FIVE), llm=llm, memory=memory, node_postprocessors=[optimizer.postprocessor()]
    )
    for number in range(4):
        engine.chat(f"What of the ferry, {number}?")
        assert [row["role"] for row in llm.calls[-1].rows][:2] == ["system", "user"]


OFFLINE = """
import socket

def refuse(*_, **__):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = refuse

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode
from llamaindex_ctxopt import EngineOptimizer

for model in ("gpt-4", "gpt-4o", "claude-3-haiku-20240307"):
    optimizer = EngineOptimizer(model, context_window=3_000)
    memory = optimizer.memory()
    memory.set([ChatMessage(role=("user", "assistant")[i % 2], content="The log. " * 90) for i in range(40)])
    nodes = [NodeWithScore(node=TextNode(text=f"Page {i}. " + "The ferry. " * 90)) for i in range(20)]
    kept = optimizer.postprocessor().postprocess_nodes(nodes, query_str="Which page?")
    characters = [sum(len(item.get_content()) for item in items) for items in (kept, nodes)]
    print(characters[0] < characters[1], len(memory.get(input="Which page?")) < 40)
"""


def test_issue_8452_without_a_network_and_without_a_vocabulary_everything_is_counted(tmp_path: Path) -> None:
    """Of a directory for vocabularies that is empty, LlamaIndex and tiktoken fill one by downloading."""
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout.split(), done.stderr) == (["True"] * 6, "")
    assert list(tmp_path.iterdir()) == []
