"""Long LlamaIndex conversations, and what is wrong with a request that was made of one."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.llms import ChatMessage

from llamaindex_requests import rows_of
from made_up_texts import text_of
from scripted_llms import ModelCall
from view_problems import problems

ENCODING = "cl100k_base"


def long_chat(
    turns: int = 30, *, tokens: int = 100, question: str = "How many lanterns are there?"
) -> list[ChatMessage]:
    """Return a system message, turns of two messages of `tokens` tokens each, and a question."""
    chat = [ChatMessage(role="system", content="Be brief.")]
    for turn in range(turns):
        chat.append(ChatMessage(role="user", content=text_of(f"Question {turn}?", tokens)))
        chat.append(ChatMessage(role="assistant", content=text_of(f"Answer {turn}.", tokens)))
    return [*chat, ChatMessage(role="user", content=question)]


def faults(before: Sequence[ChatMessage], call: ModelCall, limit: int) -> list[str]:
    """Name what is wrong with a request that a model got, made of `before` to count at most `limit` tokens."""
    return problems(rows_of(before), call.rows, budget=limit, tools=call.schemas, encoding=ENCODING)
