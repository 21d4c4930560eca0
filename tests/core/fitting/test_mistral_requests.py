"""A request to one of Mistral's models counts no less than its own template makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mistral_common.protocol.instruct.request import ChatCompletionRequest

from ctxopt_core import ContextBudget
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.conversation.message_tokens import TOKENS_PER_REQUEST, message_tokens
from ctxopt_core.messages.message import Message, ToolCall
from ctxopt_core.models import model_ids
from ctxopt_core.providers.rules import rules_of
from kinds_of_text import KINDS, mistral_tokenizer

TOOL = {
    "type": "function",
    "function": {
        "name": "get_prices",
        "description": "Prices of lamps.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Where."}, "n": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
ARGUMENTS = json.dumps({"city": "Rome", "n": 3, "sizes": [1, 2, 3]}, separators=(",", ":"))
# Tokens: what a count may be too high by for each message and each call, since roles cost nothing in the template.
PER_MESSAGE, PER_CALL = 5, 6


def conversation(result: str = "ok", *, calls: int = 1, arguments: str = ARGUMENTS) -> list[dict[str, Any]]:
    ids = [f"call{number:05}" for number in range(calls)]
    function = {"name": "get_prices", "arguments": arguments}
    return [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "What does a lamp cost?"},
        {"role": "assistant", "tool_calls": [{"id": i, "type": "function", "function": function} for i in ids]},
        *({"role": "tool", "tool_call_id": i, "name": "get_prices", "content": result} for i in ids),
        {"role": "assistant", "content": "It costs 3.12."},
        {"role": "user", "content": "And two?"},
    ]


def true_tokens(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> int:
    request = ChatCompletionRequest.from_openai(messages=messages, tools=tools)
    return len(mistral_tokenizer().encode_chat_completion(request).tokens)


def counted(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, model: str) -> int:
    counter = counter_of(ContextBudget.for_model(model))
    schemas = rules_of(counter).schema_tokens(tools or [], counter.count, None)
    return TOKENS_PER_REQUEST + schemas + sum(message_tokens(_message(row), counter) for row in messages)


def _message(row: dict[str, Any]) -> Message:
    calls = [
        ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in row.get("tool_calls", ())
    ]
    return Message(
        role=row["role"],
        content=row.get("content") or "",
        name=row.get("name"),
        tool_call_id=row.get("tool_call_id"),
        tool_calls=tuple(calls),
    )


CHAT = [{"role": role, "content": "Lit?"} for _ in range(10) for role in ("user", "assistant")]
REQUESTS = {
    "one_message": ([{"role": "user", "content": "Hello"}], None),
    "chat": ([*CHAT, {"role": "user", "content": "Bye"}], None),
    "one_tool": ([{"role": "user", "content": "Hello"}], [TOOL]),
    "ten_tools": (
        [{"role": "user", "content": "Hello"}],
        [{**TOOL, "function": {**TOOL["function"], "name": f"get_{number}"}} for number in range(10)],
    ),
    "eight_calls_at_once": (conversation(calls=8), [TOOL]),
    "many_arguments": (conversation(arguments=KINDS["json_compact"]), [TOOL]),
    "python_as_argument": (conversation(arguments=json.dumps({"code": KINDS["python"]})), [TOOL]),
    **{f"result_{kind}": (conversation(text), [TOOL]) for kind, text in KINDS.items()},
    **{
        f"question_{kind}": ([{"role": "user", "content": KINDS[kind]}], None)
        for kind in ("prices", "english", "chinese")
    },
}


@pytest.mark.parametrize(("messages", "tools"), REQUESTS.values(), ids=REQUESTS)
def test_l27_a_request_counts_no_less_than_mistrals_template(messages, tools):
    assert true_tokens(messages, tools) <= counted(messages, tools, "mistral-large-latest")


@pytest.mark.parametrize(
    "name", [name for name in REQUESTS if name.removeprefix("result_") not in {"json_indented", "json_with_tabs"}]
)
def test_l27_a_request_counts_a_few_tokens_more_at_most(name):
    messages, tools = REQUESTS[name]
    calls = sum(len(row.get("tool_calls", ())) for row in messages)
    # A vocabulary may have a token for a line break and none for its escaped form, and the other way round.
    slack = TOKENS_PER_REQUEST + PER_MESSAGE * len(messages) + PER_CALL * calls + true_tokens(messages, tools) // 50

    is_blank = any(word in name for word in ("blank", "line_breaks", "returns", "tabs", "lines_of_signs", "sign"))
    assert is_blank or counted(messages, tools, "mistral-large-latest") <= true_tokens(messages, tools) + slack


@pytest.mark.parametrize(("messages", "tools"), REQUESTS.values(), ids=REQUESTS)
def test_l27_without_mistral_common_it_counts_no_less_either(messages, tools, monkeypatch):
    monkeypatch.setattr(model_ids, "tekken_file", lambda: None)

    assert true_tokens(messages, tools) <= counted(messages, tools, "mistral-large-latest")
