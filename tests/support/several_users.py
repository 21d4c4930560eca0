"""Several users of one optimizer, whose words are told apart, and a model that notes whose it was sent."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import FunctionTool

from chat_engine_runs import nodes_of
from scripted_llms import ScriptedLLM, calling

Way = Literal["chat", "stream", "achat", "astream"]
NODES = tuple(nodes_of(120, 120, 120))
WORDS = re.compile(r"word-of-user-\d+")


def word_of(user: int) -> str:
    """Return the word that each message of a user has, and of no other."""
    return f"word-of-user-{user}"


def users_in(text: str) -> set[str]:
    """Return the words of users in a text."""
    return set(WORDS.findall(text))


class EchoingLLM(ScriptedLLM):
    """Answers with the words of the users that it was sent; asked by an agent, it calls the tool once."""

    reacts: bool = False

    def _answered(self, method: str, given: Any, rows: Any, tokens: int, options: dict[str, Any]) -> ChatMessage:
        super()._answered(method, given, rows, tokens, options)
        # The last call may be that of another thread.
        own = next(call for call in reversed(self.calls) if call.given is given)
        words = " and ".join(sorted(users_in(own.text)))
        if options.get("tools") and rows[-1]["role"] == "user":
            return calling(("look", {"shelf": 1}))
        text = f"Noted for {words}, answer {len(self.calls)}."
        return ChatMessage(role="assistant", content=f"Thought: I know.\nAnswer: {text}" if self.reacts else text)


class SlowRetriever(BaseRetriever):
    """Finds the same nodes for everybody, and lets others go first."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        time.sleep(0.0005)
        return list(NODES)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return list(NODES)


def look(shelf: int) -> str:
    """Look into a shelf."""
    return f"Shelf {shelf} is empty."


def agent_of(kind: str, llm: EchoingLLM) -> Any:
    """Return an agent that many users share."""
    options: Any = {"tools": [FunctionTool.from_defaults(look)], "llm": llm, "system_prompt": "Be kind."}
    if kind == "react":
        return ReActAgent(**options)
    if kind == "workflow":
        agents = [FunctionAgent(name=name, description=f"The {name}.", **options) for name in ("clerk", "porter")]
        return AgentWorkflow(agents=agents, root_agent="clerk")
    return FunctionAgent(**options)


def engine_of(kind: str, parts: Any, llm: EchoingLLM, *, streaming: bool) -> Any:
    """Return the engine of one user, made with the parts of a session or an optimizer."""
    memory = parts.memory() if callable(parts.memory) else parts.memory
    retriever, postprocessors = SlowRetriever(), [parts.postprocessor()]
    if kind == "context":
        return ContextChatEngine.from_defaults(retriever, llm=llm, memory=memory, node_postprocessors=postprocessors)
    if kind == "condense plus context":
        return CondensePlusContextChatEngine.from_defaults(
            retriever, llm=llm, memory=memory, node_postprocessors=postprocessors
        )
    if kind == "retriever":
        return ContextChatEngine.from_defaults(parts.retriever(retriever), llm=llm, memory=memory)
    if kind == "condense question":
        inner = RetrieverQueryEngine.from_args(
            retriever, llm=llm, streaming=streaming, node_postprocessors=postprocessors
        )
        return CondenseQuestionChatEngine.from_defaults(query_engine=inner, llm=llm, memory=memory)
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory)


ENGINES = ("context", "condense plus context", "retriever", "condense question", "simple")


@dataclass(slots=True, kw_only=True)
class User:
    """One user, who asks one question after the other.

    Args:
        number: Which one.
        asked: How many questions there were.
        texts: What was said so far, by both.
    """

    number: int
    asked: int = 0
    texts: list[str] = field(default_factory=list)

    def question(self, *, same: bool) -> str:
        """Return the next question; the same for every turn and every user, but for the word, where `same` is set."""
        self.asked += 1
        return f"Where is the lantern of {word_of(self.number)}?" + ("" if same else f" Turn {self.asked}.")


def ask(engine: Any, question: str, *, stream: bool) -> str:
    """Ask a chat engine and read the whole answer, until it is stored."""
    if not stream:
        return str(engine.chat(question))
    response = engine.stream_chat(question)
    text = "".join(response.response_gen)
    if response.write_response_to_history_thread is not None:
        response.write_response_to_history_thread.join()
    return text


async def aask(engine: Any, question: str, *, stream: bool) -> str:
    """Do the same with the async methods."""
    if not stream:
        return str(await engine.achat(question))
    response = await engine.astream_chat(question)
    text = "".join([part async for part in response.async_response_gen()])
    if response.awrite_response_to_history_task is not None:
        await response.awrite_response_to_history_task
    return text
