"""The cached share that a replay claims is what the bytes of the requests say that the real clients send."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from broken_rule import Request
from langchain_clients import CLIENTS, look_up
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from provider_server import ProviderServer

from ctxopt_core import ContextBudget, FitReport, counter_for
from langchain_ctxopt import replay, with_optimizer
from made_up_texts import text_of
from request_tokens import arguments_text, count_text, load_encoding

ROOM = 3_000  # tokens that the input may have, a fifth of the longest conversation here
SYSTEM = SystemMessage("You guide ships into the harbor, and you answer in one sentence. " * 20)
STRATEGIES = {
    "auto": {"strategy": "auto"},
    "turns": {"strategy": "turns"},
    "sliding window": {"strategy": "sliding_window"},
    "in steps": {"stable_prefix": True},
    "turns in steps": {"strategy": "turns", "stable_prefix": True},
}
MINIMUM, STEP = 1_024, {"openai_chat": 128, "anthropic": 1}  # tokens: what the providers say of gpt-4o and Sonnet 4.5


def chat() -> list[Any]:
    messages: list[Any] = [SYSTEM]
    for n in range(40):
        messages += [HumanMessage(f"What is lamp {n} like?"), AIMessage(text_of(f"Lamp {n}:", 180))]
    return messages


def agent_run() -> list[Any]:
    messages: list[Any] = [SYSTEM]
    for n in range(8):
        messages.append(HumanMessage(f"Look up the words of page {n}, please."))
        for m in range(3):
            call = {"name": "look_up", "args": {"word": f"word {m}", "page": n}, "id": f"call_{n}_{m}"}
            result = text_of(f"Entry {n}.{m}:", 200)
            messages += [AIMessage("", tool_calls=[call]), ToolMessage(result, tool_call_id=f"call_{n}_{m}")]
        messages.append(AIMessage(f"Page {n} is about lamps."))
    return messages


def lengths_of(messages: Sequence[Any]) -> list[int]:
    """Return how many messages each request had: all before an answer."""
    return [n for n, message in enumerate(messages) if isinstance(message, AIMessage)]


class Unit(NamedTuple):
    """What a breakpoint can be set behind: its bytes as they were sent, its tokens, those around its text, its text."""

    sent: bytes
    tokens: int
    frame: int
    text: str


def units_of(body: Request, tool_tokens: int) -> Iterator[Unit]:
    """Yield the tools, the system prompt and the messages of a body, in the order in which providers cache them."""
    if tools := body.get("tools"):
        yield Unit(json.dumps(tools).encode(), tool_tokens, 0, "")
    if system := body.get("system"):
        yield framed("system", system)
    for message in body["messages"]:
        if isinstance(message["content"], str | None) or "tool_calls" in message:
            calls = [
                text
                for call in message.get("tool_calls") or ()
                for text in (call["id"], call["function"]["name"], call["function"]["arguments"])
            ]
            said_here, answers = message["content"] or "", message.get("tool_call_id")
            yield framed(message["role"], said_here, *calls, answers=answers, whole=message)
        elif message["role"] == "user":  # the client joins neighboring messages of a user
            for block in message["content"]:
                if block["type"] == "text":
                    yield framed("user", block["text"], whole=block)
                else:
                    yield framed("tool", said(block["content"]), answers=block["tool_use_id"], whole=block)
        else:
            texts = [block["text"] for block in message["content"] if block["type"] == "text"]
            calls = [block for block in message["content"] if block["type"] == "tool_use"]
            parts = [text for call in calls for text in (call["id"], call["name"], arguments_text(call["input"]))]
            yield framed("assistant", "".join(texts), *parts, whole=message)


def said(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def framed(role: str, text: str, *more: str, answers: str | None = None, whole: object = None) -> Unit:
    frame = 3 + count_text(role) + (count_text(answers) if answers else 0)
    sent = json.dumps([role, text, answers, *more] if whole is None else whole).encode()
    return Unit(sent, frame + count_text(text) + sum(map(count_text, more)), frame, text)


def in_common(before: Sequence[int], now: Sequence[int]) -> int:
    differing = (n for n, (one, other) in enumerate(zip(before, now, strict=False)) if one != other)
    return next(differing, min(len(before), len(now)))


def repeated_tokens(before: Request, now: Request, tool_tokens: int, *, whole_messages: bool) -> int:
    """Return the tokens that the bytes at the start of two bodies have in common."""
    first, second = list(units_of(before, tool_tokens)), list(units_of(now, tool_tokens))
    same = in_common(b"".join(unit.sent for unit in first), b"".join(unit.sent for unit in second))
    tokens = end = 0
    for n, unit in enumerate(second):
        end += len(unit.sent)
        if end > same:
            if not whole_messages and n < len(first) and first[n].frame == unit.frame:
                encode = load_encoding("o200k_base").encode
                one, other = encode(first[n].text), encode(unit.text)
                tokens += unit.frame + in_common(one, other) if one[:1] == other[:1] else 0
            break
        tokens += unit.tokens
    return tokens


@pytest.mark.filterwarnings("ignore:The model 'claude:DeprecationWarning")
@pytest.mark.parametrize("messages", [chat(), agent_run()], ids=["chat", "agent run"])
@pytest.mark.parametrize("provider", ["openai_chat", "anthropic"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_u10_the_cached_share_is_that_of_the_bytes_that_are_sent(
    server: ProviderServer, provider: str, strategy: str, messages: list[Any]
) -> None:
    endpoint = server.endpoint(provider)
    has_tools = any(isinstance(message, ToolMessage) for message in messages)
    client = CLIENTS[provider](endpoint)
    seen: list[FitReport] = []
    optimized = with_optimizer(
        client,
        max_input_tokens=ROOM,
        history=STRATEGIES[strategy],
        token_counter="o200k_base",
        on_report=seen.append,
    )
    model, tooled = (one.bind_tools([look_up]) if has_tools else one for one in (optimized, client))
    for length in lengths_of(messages):
        model.invoke(messages[:length])
    assert endpoint.broken == []
    tool_tokens = seen[0].fixed - 3
    assert seen[0].usage().tokens["tools"] == tool_tokens
    sent = [
        0,
        *(
            repeated_tokens(before, now, tool_tokens, whole_messages=provider == "anthropic")
            for before, now in pairwise(endpoint.requests)
        ),
    ]

    found = replay(
        messages,
        STRATEGIES[strategy],
        tooled,
        budget=ContextBudget(max_input_tokens=ROOM),
        counter=counter_for("o200k_base"),
    )

    step = STEP[provider]
    assert [row.tokens_after for row in found.rows] == [report.tokens_after for report in seen]
    assert [row.cached_tokens for row in found.rows] == [
        tokens - (tokens - MINIMUM) % step if tokens >= MINIMUM else 0 for tokens in sent
    ]
    assert sum(row.cached_tokens or 0 for row in found.rows) > 0
