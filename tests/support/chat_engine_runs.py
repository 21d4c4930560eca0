"""Conversations with the chat engines of LlamaIndex, and what the model was sent in each turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, Self

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from sqlalchemy.ext.asyncio import AsyncEngine

from engine_parts import PARTS, Kind
from made_up_texts import text_of
from scripted_llms import ModelCall, ScriptedLLM

WINDOW, OUTPUT = 4_000, 256
MESSAGE_TOKENS, NODE_TOKENS, NODES = 100, 300, 5
BEGINNING = 20
"""So many characters tell one made-up text from any other."""

Engine = Literal["context", "condense_plus_context"]
ENGINES: dict[Engine, Any] = {
    "context": ContextChatEngine,
    "condense_plus_context": CondensePlusContextChatEngine,
}


class ScriptedRetriever(BaseRetriever):
    """Gives one set of nodes after the other, whatever the question; after the last one the first again."""

    def __init__(self, *sets: Sequence[NodeWithScore]) -> None:
        super().__init__()
        self._sets = sets
        self.asked: list[str] = []

    @property
    def given(self) -> Sequence[NodeWithScore]:
        """The nodes of the last question."""
        return self._sets[(len(self.asked) - 1) % len(self._sets)] if self.asked else ()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        return list(self.given)


def nodes_of(*sizes: int, name: str = "Document") -> list[NodeWithScore]:
    """Return nodes of so many tokens each, the best first."""
    return [
        NodeWithScore(node=TextNode(text=text_of(f"{name} {i}:", size), id_=f"{name}-{i}"), score=1 - i / 100)
        for i, size in enumerate(sizes)
    ]


FIVE = tuple(nodes_of(*[NODE_TOKENS] * NODES))
VARYING = tuple(
    tuple(nodes_of(*sizes, name=f"Set {number}, document"))
    for number, sizes in enumerate(
        ([300] * 5, [100], [600, 500, 400], [150] * 12, [1_200, 50, 50], [40] * 3, [2_000, 900])
    )
)


def preset_history(messages: int = 60, tokens: int = MESSAGE_TOKENS) -> list[ChatMessage]:
    """Return messages of user and assistant in turn, from before the conversation."""
    roles = ("user", "assistant")
    return [
        ChatMessage(role=roles[i % 2], content=text_of(f"Earlier {roles[i % 2]} {i // 2}:", tokens))
        for i in range(messages)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one message of the user led to.

    Args:
        calls: The requests, in order; those that condense the question as well.
        error: What the engine raised, or None.
        nodes_whole: How many of the retrieved nodes the last request holds in full.
        turns_visible: Of how many earlier turns the last request holds the beginning of question and answer.
        turns_whole: Of how many it holds both in full.
    """

    calls: tuple[ModelCall, ...]
    error: ValueError | None
    nodes_whole: int
    turns_visible: int
    turns_whole: int

    @property
    def answering(self) -> tuple[ModelCall, ...]:
        """The requests, but for those that condense the question."""
        return tuple(call for call in self.calls if "complete" not in call.method)

    @property
    def over(self) -> int:
        """How many of the requests were over the window."""
        return sum(call.over for call in self.calls)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """An engine to talk to, and what was said.

    Args:
        engine: Any chat engine.
        llm: The model that it calls.
        retriever: Where its nodes come from.
        past: Question and answer of the turns that went well.
        asked: How many questions there were.
        store: A database that is closed at the end of a `with` block.
    """

    engine: BaseChatEngine
    llm: ScriptedLLM
    retriever: ScriptedRetriever
    past: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0
    store: AsyncEngine | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database of LlamaIndex's own memory, which would complain of being forgotten."""
        if self.store is not None:
            asyncio_run(self.store.dispose())

    def hold(self, turns: int, *, stream: bool = False) -> list[Turn]:
        """Talk for some turns."""
        return [self.ask(stream=stream) for _ in range(turns)]

    async def ahold(self, turns: int, *, stream: bool = False) -> list[Turn]:
        """Talk for some turns with the async methods."""
        return [await self.aask(stream=stream) for _ in range(turns)]

    def ask(self, question: str | None = None, *, stream: bool = False) -> Turn:
        """Ask a question and read the whole answer."""
        said, before = self._question(question), len(self.llm.calls)
        try:
            answer = self._streamed(said) if stream else str(self.engine.chat(said))
        except ValueError as error:
            return self._turn(said, before, error)
        return self._turn(said, before, answer)

    async def aask(self, question: str | None = None, *, stream: bool = False) -> Turn:
        """Do the same with the async methods."""
        said, before = self._question(question), len(self.llm.calls)
        try:
            answer = await self._astreamed(said) if stream else str(await self.engine.achat(said))
        except ValueError as error:
            return self._turn(said, before, error)
        return self._turn(said, before, answer)

    def _question(self, question: str | None) -> str:
        self.asked += 1
        return question or text_of(f"Question {self.asked}:", MESSAGE_TOKENS)

    def _streamed(self, question: str) -> str:
        response = self.engine.stream_chat(question)
        answer = "".join(response.response_gen)
        if response.write_response_to_history_thread is not None:
            response.write_response_to_history_thread.join()
        return answer

    async def _astreamed(self, question: str) -> str:
        response = await self.engine.astream_chat(question)
        answer = "".join([token async for token in response.async_response_gen()])
        if response.awrite_response_to_history_task is not None:
            await response.awrite_response_to_history_task
        return answer

    def _turn(self, question: str, before: int, outcome: str | ValueError) -> Turn:
        calls = tuple(self.llm.calls[before:])
        text = calls[-1].text if calls else ""
        turn = Turn(
            calls=calls,
            error=outcome if isinstance(outcome, ValueError) else None,
            nodes_whole=sum(node.node.get_content() in text for node in self.retriever.given),
            turns_visible=sum(said[:BEGINNING] in text and answer[:BEGINNING] in text for said, answer in self.past),
            turns_whole=sum(said in text and answer in text for said, answer in self.past),
        )
        if isinstance(outcome, str):
            self.past.append((question, outcome))
        return turn


def conversation(
    kind: Kind,
    engine: Engine = "context",
    preset: Sequence[ChatMessage] = (),
    *,
    retriever: ScriptedRetriever | None = None,
    llm: ScriptedLLM | None = None,
    **options: Any,
) -> Conversation:
    """Return a conversation in the set-up that is measured: window 4,000, answer 256, five nodes of 300 tokens."""
    llm = llm or ScriptedLLM(context_window=WINDOW, num_output=OUTPUT)
    retriever = retriever or ScriptedRetriever(FIVE)
    parts = PARTS[kind](llm)
    parts.memory.set(list(preset))
    made = ENGINES[engine].from_defaults(
        retriever=retriever, llm=llm, memory=parts.memory, node_postprocessors=list(parts.postprocessors), **options
    )
    if parts.attach is not None:
        parts.attach(made)
    return Conversation(engine=made, llm=llm, retriever=retriever, past=list(_turns(preset)), store=parts.store)


def _turns(messages: Sequence[ChatMessage]) -> Iterator[tuple[str, str]]:
    for first, second in pairwise(messages):
        if first.role == "user":
            yield first.content or "", second.content or ""
