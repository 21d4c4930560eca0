"""The table of memories: what one `get` costs, in time and in calls of the tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import support_path  # noqa: F401  # the next imports need it
import tiktoken
from cpu_time import Candidate, milliseconds
from llama_index.core.async_utils import asyncio_run
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from result_table import Row, Target, faster_than
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from chat_engine_runs import OUTPUT, WINDOW, preset_history
from ctxopt_core.runtime.text_cache import shared_cache
from made_up_texts import text_of
from request_tokens import load_encoding
from scripted_llms import ScriptedLLM

LIMIT = 3_000
NO_LIMIT = 10**9
ENCODING = "cl100k_base"
BUFFER, MEMORY, COLD, WARM = "ChatMemoryBuffer.get", "Memory.get", "ours, cold", "ours, after one more `put`"
BUFFER_LONGEST = 1_000
"""Longer histories take it minutes."""

TOKENIZED, PER_NEW = "tokenizer calls", "of a message's text, for each new message"


def memory_rows(counts: Sequence[int], rounds: int) -> list[Row]:
    """Measure histories of each length in the memories of LlamaIndex, and in a view over one of them."""
    return [row for count in counts for row in _rows_of(preset_history(count), rounds)]


def _rows_of(history: list[ChatMessage], rounds: int) -> list[Row]:
    store = create_async_engine("sqlite+aiosqlite:///:memory:")
    try:
        return _measured_rows(history, list(_candidates(history, store)), rounds)
    finally:
        asyncio_run(store.dispose())


def _measured_rows(history: list[ChatMessage], candidates: list[_Measured], rounds: int) -> list[Row]:
    times = milliseconds([each.timed for each in candidates], rounds)
    return [
        Row(
            section=f"One `get` of a history of messages of about 100 tokens, {LIMIT:,} tokens of which are wanted",
            case=f"{len(history):,} messages",
            candidate=each.timed.name,
            milliseconds=times[each.timed.name],
            ratios=faster_than([name for name in (BUFFER, MEMORY) if name in times], times, each.timed.name),
            figures=_figures(each),
            targets=_targets(each.timed.name, len(history)),
        )
        for each in candidates
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    memory: BaseMemory
    timed: Candidate
    new: int


def _candidates(history: list[ChatMessage], store: AsyncEngine) -> Iterator[_Measured]:
    default = Memory.from_defaults(token_limit=LIMIT, tokenizer_fn=_encode, async_engine=store)
    stock: dict[str, BaseMemory] = {MEMORY: default}
    if len(history) <= BUFFER_LONGEST:
        stock[BUFFER] = ChatMemoryBuffer.from_defaults(token_limit=LIMIT, tokenizer_fn=_encode)
    for name, memory in stock.items():
        memory.set(list(history))
        rounds = 3 if name == BUFFER and len(history) == BUFFER_LONGEST else None
        timed = Candidate(name=name, run=memory.get, most_rounds=rounds)
        yield _Measured(memory=memory, timed=timed, new=len(history))
    still, growing = _view_of(history), _view_of(history)
    following = _NextMessage(growing)
    cold = Candidate(name=COLD, run=still.get, prepare=shared_cache(ENCODING).clear)
    warm = Candidate(name=WARM, run=following.put_and_get, prepare=following.prepare)
    yield _Measured(memory=still, timed=cold, new=len(history))
    yield _Measured(memory=growing, timed=warm, new=1)


def _view_of(history: list[ChatMessage]) -> BaseMemory:
    from llamaindex_ctxopt import EngineOptimizer

    inner = ChatMemoryBuffer.from_defaults(token_limit=NO_LIMIT, tokenizer_fn=_encode)
    view = EngineOptimizer(llm=ScriptedLLM(context_window=WINDOW, num_output=OUTPUT)).memory(inner)
    view.set(list(history))
    return view


class _NextMessage:
    """Puts one message more into a memory each time; the others are counted before the clock runs."""

    def __init__(self, memory: BaseMemory) -> None:
        self._memory = memory
        self._count = 0
        self.prepare()

    def prepare(self) -> None:
        self._memory.get()
        self._count += 1
        role = "user" if self._count % 2 else "assistant"
        self._message = ChatMessage(role=role, content=text_of(f"New {self._count}:", 100))

    def put_and_get(self) -> list[ChatMessage]:
        self._memory.put(self._message)
        return self._memory.get()


def _encode(text: str) -> list[int]:
    return tiktoken.Encoding.encode(load_encoding(ENCODING), text, allowed_special="all")


def _figures(each: _Measured) -> dict[str, float]:
    each.timed.prepare()
    read: list[str] = []

    def listening(method: Any) -> Any:
        def encode(encoding: Any, text: str, **options: Any) -> Any:
            read.append(text)
            return method(encoding, text, **options)

        return encode

    methods = {name: listening(getattr(tiktoken.Encoding, name)) for name in ("encode", "encode_ordinary")}
    with patch.multiple(tiktoken.Encoding, **methods):
        each.timed.run()
    said = {message.content for message in each.memory.get_all()}
    return {TOKENIZED: len(read), PER_NEW: sum(text in said for text in read) / each.new}


def _targets(name: str, count: int) -> tuple[Target, ...]:
    if not name.startswith("ours"):
        return ()
    once = Target(of=PER_NEW, relation="<=", figure=1)
    return (once, Target(of=BUFFER, relation=">=", figure=100)) if count == BUFFER_LONGEST else (once,)
