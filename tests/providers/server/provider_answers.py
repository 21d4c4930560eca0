"""What each provider answers, whole and streamed, and its errors: one scripted answer in six forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from broken_rule import Broken

Json = dict[str, Any]
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says.

    Args:
        text: Its words.
        calls: Names and arguments of the tools that it calls.
        prompt_tokens: What the usage says; filled in by the server.
    """

    text: str = "Done."
    calls: tuple[tuple[str, Json], ...] = ()
    prompt_tokens: int = 0


def identity(prefix: str) -> str:
    """Return an id that no answer has had."""
    return f"{prefix}{next(_NUMBERS):08d}"


def sse(events: Iterator[Json], *, named: bool = False, done: bool = False) -> Iterator[str]:
    """Yield events as a stream of server-sent events."""
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        yield f"{name}data: {json.dumps(event)}\n\n"
    if done:
        yield "data: [DONE]\n\n"


# OpenAI's chat completions, and Mistral's, which have the same form and other ids


def _chat(answer: Answer, prefix: str) -> tuple[Json, Json, str]:
    calls = [
        {
            "id": identity(prefix),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for name, arguments in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text, **({"tool_calls": calls} if calls else {})}
    usage = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": 5, "total_tokens": answer.prompt_tokens + 5}
    return message, usage, "tool_calls" if calls else "stop"


def _chat_whole(answer: Answer, model: str, prefix: str) -> Json:
    message, usage, reason = _chat(answer, prefix)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def _chat_stream(answer: Answer, model: str, prefix: str) -> Iterator[str]:
    message, usage, reason = _chat(answer, prefix)
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunks() -> Iterator[Json]:
        for word in answer.text.split(" "):
            yield {
                **head,
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": word}, "finish_reason": None}],
            }
        for number, call in enumerate(message.get("tool_calls", ())):
            delta = {"role": "assistant", "content": "", "tool_calls": [{**call, "index": number}]}
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        last = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": reason}
        yield {**head, "choices": [last], "usage": usage}

    return sse(chunks(), done=True)


def openai_chat_whole(answer: Answer, model: str) -> Json:
    return _chat_whole(answer, model, "call_")


def openai_chat_stream(answer: Answer, model: str) -> Iterator[str]:
    return _chat_stream(answer, model, "call_")


def mistral_whole(answer: Answer, model: str) -> Json:
    return _chat_whole(answer, model, "m")


def mistral_stream(answer: Answer, model: str) -> Iterator[str]:
    return _chat_stream(answer, model, "m")


def openai_error(broken: Broken) -> Json:
    return {
        "error": {
            "message": broken.message,
            "type": "invalid_request_error",
            "param": None,
            "code": broken.code or "invalid_value",
        }
    }


def mistral_error(broken: Broken) -> Json:
    return {
        "object": "error",
        "message": broken.message,
        "type": "invalid_request_error",
        "param": None,
        "code": broken.code,
    }


# Anthropic


def _claude_blocks(answer: Answer) -> list[Json]:
    blocks: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    return blocks + [
        {"type": "tool_use", "id": identity("toolu_"), "name": name, "input": arguments}
        for name, arguments in answer.calls
    ]


def anthropic_whole(answer: Answer, model: str) -> Json:
    return {
        "id": identity("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _claude_blocks(answer),
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": answer.prompt_tokens, "output_tokens": 5},
    }


def anthropic_stream(answer: Answer, model: str) -> Iterator[str]:
    whole = anthropic_whole(answer, model)

    def events() -> Iterator[Json]:
        yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
        for at, block in enumerate(whole["content"]):
            if block["type"] == "text":
                start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_start", "index": at, "content_block": start}
            yield {"type": "content_block_delta", "index": at, "delta": delta}
            yield {"type": "content_block_stop", "index": at}
        stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": stop, "usage": whole["usage"]}
        yield {"type": "message_stop"}

    return sse(events(), named=True)


def anthropic_error(broken: Broken) -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": broken.message}}


# Google


def google_whole(answer: Answer, model: str) -> Json:
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"name": name, "args": arguments}} for name, arguments in answer.calls]
    usage = {
        "promptTokenCount": answer.prompt_tokens,
        "candidatesTokenCount": 5,
        "totalTokenCount": answer.prompt_tokens + 5,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "r1"}


def google_stream(answer: Answer, model: str) -> Iterator[str]:
    return sse(iter([google_whole(answer, model)]))


def google_error(broken: Broken) -> Json:
    return {"error": {"code": broken.status, "message": broken.message, "status": "INVALID_ARGUMENT"}}


# Ollama


def ollama_whole(answer: Answer, model: str) -> Json:
    calls = [{"function": {"name": name, "arguments": arguments}} for name, arguments in answer.calls]
    message = {"role": "assistant", "content": answer.text, **({"tool_calls": calls} if calls else {})}
    figures = {"prompt_eval_count": answer.prompt_tokens, "eval_count": 5, "total_duration": 1, "eval_duration": 1}
    return {
        "model": model,
        "created_at": "2026-11-30T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": "stop",
        **figures,
    }


def ollama_stream(answer: Answer, model: str) -> Iterator[str]:
    whole = ollama_whole(answer, model)
    head = {"model": model, "created_at": whole["created_at"], "done": False}
    yield json.dumps({**head, "message": whole["message"]}) + "\n"
    yield json.dumps({**whole, "message": {"role": "assistant", "content": ""}}) + "\n"


def ollama_error(broken: Broken) -> Json:
    return {"error": broken.message}


Whole = Callable[[Answer, str], Json]
Stream = Callable[[Answer, str], Iterator[str]]
