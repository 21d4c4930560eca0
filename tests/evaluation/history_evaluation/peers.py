"""Other packages that trim a conversation, as they are released; each is an optional import.

Where a package takes a counter of tokens, it gets the one that measures it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from document_evaluation.peers import bring_vocabularies

from history_evaluation import references
from history_evaluation.requests import Kept, Request, Row, cost, count, total, whole

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_ID = "evaluation_place"
_KEPT_RESULTS = 3
_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def trim_messages(start_on: str | Sequence[str]) -> Callable[[Request, int], Kept]:
    """LangChain's trim_messages with the newest messages and the system message kept."""

    def fit(request: Request, budget: int) -> Kept:
        from langchain_core.messages import trim_messages as trim

        counted = {str(place): cost(row) for place, row in enumerate(request.rows)}
        kept = trim(
            _langchain(request),
            max_tokens=budget,
            token_counter=lambda messages: sum(counted[message.id] for message in messages),
            strategy="last",
            start_on=start_on,
            include_system=True,
        )
        return whole(request, (int(message.id) for message in kept))

    return fit


def clear_tool_uses(request: Request, budget: int) -> Kept:
    """The edit that LangChain's ContextEditingMiddleware makes, as soon as the budget is reached."""
    return _cleared(request, budget, keep=_KEPT_RESULTS)


def clear_then_newest(request: Request, budget: int) -> Kept:
    """The same edit, fewer results kept until it fits, then the newest groups of what it leaves."""
    for keep in range(_KEPT_RESULTS, -1, -1):
        cleared = _cleared(request, budget, keep=keep)
        if cleared.counted <= budget:
            return cleared
    return references.newest_groups_of(request, budget, cleared)


def _cleared(request: Request, budget: int, *, keep: int) -> Kept:
    from langchain.agents.middleware import ClearToolUsesEdit

    messages = list(_langchain(request))
    edit = ClearToolUsesEdit(trigger=budget, keep=keep)
    edit.apply(messages, count_tokens=lambda found: total(_openai_row(request, message) for message in found))
    return Kept(rows=[(int(message.id or 0), _openai_row(request, message)) for message in messages])


def chat_memory_buffer(request: Request, budget: int) -> Kept:
    """LlamaIndex's ChatMemoryBuffer; system messages stand before it, as its chat engines put them there."""
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer

    messages = [
        ChatMessage(role=row["role"], content=row.get("content"), additional_kwargs={_ID: place})
        for place, row in enumerate(request.rows)
        if row["role"] != "system"
    ]
    systems = request.systems
    limit = budget - total(request.rows[place] for place in systems)
    memory = ChatMemoryBuffer.from_defaults(
        chat_history=messages, token_limit=limit, tokenizer_fn=lambda text: range(count(text))
    )
    return whole(request, [*systems, *(message.additional_kwargs[_ID] for message in memory.get())])


def ctx_compact(request: Request, budget: int) -> Kept:
    """ctx-compact with the newest message kept.

    Raises:
        ValueError: It says itself that what it returns does not fit.
    """
    from ctx_compact import compact

    rows = [dict(row) for row in request.rows]
    found = compact(rows, max_tokens=budget, count_tokens=cost, keep_head=len(request.systems), keep_tail=1)
    if not found.fits:
        message = "it does not fit"
        raise ValueError(message)
    places = {id(row): place for place, row in enumerate(rows)}
    return whole(request, (places[id(row)] for row in found.messages))


def llmslim_memory(request: Request, budget: int) -> Kept:
    """llmslim's memory over the conversation as one sitting: what answers the question; turns that it cuts are lost."""
    return _llmslim(request, budget, runs=False)


def llmslim_runs(request: Request, budget: int) -> Kept:
    """The same over the sittings of a conversation, which it calls runs."""
    return _llmslim(request, budget, runs=True)


def _llmslim(request: Request, budget: int, *, runs: bool) -> Kept:
    bring_vocabularies()
    contents = [row.get("content") or "" for row in request.rows]
    names = [f"{row['name']}: " if row.get("name") else "" for row in request.rows]
    texts = tuple(map(str.__add__, names, contents))
    roles = tuple(row["role"] for row in request.rows)
    memory = _llmslim_store(texts, roles, tuple(request.sittings) if runs else ())
    found = memory.search(request.question, user_id="user", budget=budget)
    places = sorted(turn.item.metadata["place"] for turn in found.turns if not turn.partial)
    return Kept(rows=[(place, request.rows[place]) for place in places], tokens=found.tokens)


@functools.lru_cache(maxsize=4)
def _llmslim_store(texts: tuple[str, ...], roles: tuple[str, ...], sittings: tuple[int, ...]) -> Any:
    from llmslim.memory import Memory

    memory = Memory()
    for place, (text, role) in enumerate(zip(texts, roles, strict=True)):
        memory.add(
            {"role": role, "content": text},
            user_id="user",
            run_id=f"sitting {sittings[place]}" if sittings else None,
            timestamp=_FIRST_DAY,
            metadata={"place": place},
        )
    return memory


@functools.lru_cache(maxsize=8)
def _langchain(request: Request) -> tuple[BaseMessage, ...]:
    from langchain_core.messages import convert_to_messages

    rows = [{**row, "content": row.get("content") or "", "id": str(i)} for i, row in enumerate(request.rows)]
    return tuple(convert_to_messages(rows))


def _openai_row(request: Request, message: BaseMessage) -> Row:
    row = request.rows[int(message.id or 0)]
    return row if message.content == (row.get("content") or "") else {**row, "content": message.content}
