"""The same conversations cut by LangChain's own means: `trim_messages` and `SummarizationMiddleware`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from broken_rule import Request
from client_run import ANSWER
from conversations import Conversation
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_clients import look_up
from langchain_conversations import langchain_messages
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage, trim_messages
from langchain_runs import LangChainRun
from outcomes import Outcome

from request_tokens import count_text

SUMMARY = "They talked about lamps, oil and the harbour."
KEPT_BY_SUMMARIZATION = 0.5  # of the tokens, so that a summary and the schemas fit beside it


def counted(messages: Sequence[BaseMessage]) -> int:
    """Return the tokens of messages, each with its calls, by the rule that the servers count with."""
    total = 3
    for message in messages:
        content = message.content if isinstance(message.content, str) else json.dumps(message.content)
        calls = getattr(message, "tool_calls", None) or []
        total += 4 + count_text(content) + (count_text(json.dumps(calls)) if calls else 0)
    return total


def message_room(run: LangChainRun, messages: Sequence[BaseMessage], issued: Request, room: int) -> int:
    """Return the tokens for the messages alone, in the units of `counted`: the schemas are not the peers' to cut."""
    whole = run.endpoint.provider.tokens(issued)
    schemas = whole - run.endpoint.provider.tokens({**issued, "tools": []})
    return max(1, round((room - schemas) * counted(messages) / max(1, whole - schemas)))


def trimmed(run: LangChainRun, conversation: Conversation, issued: Request, share: float) -> Outcome:
    """Send what `trim_messages` leaves, with the settings that its documentation recommends for chats."""
    messages = langchain_messages(conversation)
    room = run.room(issued, share)
    kept = trim_messages(
        messages,
        max_tokens=message_room(run, messages, issued, room),
        token_counter=counted,
        strategy="last",
        start_on="human",
        include_system=True,
        allow_partial=False,
    )
    return run.sent(conversation, issued, room, lambda: run.plain(conversation, kept))


def summarized(run: LangChainRun, conversation: Conversation, issued: Request, share: float) -> Outcome:
    """Send what an agent with `SummarizationMiddleware` sends."""
    messages = langchain_messages(conversation)
    room = run.room(issued, share)
    limit = message_room(run, messages, issued, room)
    middleware = SummarizationMiddleware(
        model=FakeListChatModel(responses=[SUMMARY]),
        trigger=("tokens", limit),
        keep=("tokens", max(1, round(limit * KEPT_BY_SUMMARIZATION))),
        token_counter=counted,
    )
    model: Any = run.model
    if run.provider == "anthropic" and conversation.thinking:
        model = model.model_copy(update={"thinking": {"type": "enabled", "budget_tokens": ANSWER // 2}})
    agent: Any = create_agent(model, [look_up], middleware=[middleware])
    return run.sent(conversation, issued, room, lambda: agent.invoke({"messages": messages}))
