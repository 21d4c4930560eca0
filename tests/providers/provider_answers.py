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


def _identity(prefix: str) -> str:
    return f"{prefix}{next(_NUMBERS):08d}"


def _sse(events: Iterator[Json], *, named: bool = False, done: bool = False) -> Iterator[str]:
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        yield f"{name}data: {json.dumps(event)}\n\n"
    if done:
        yield "data: [DONE]\n\n"


# OpenAI's chat completions, and Mistral's, which have the same form and other ids


def _chat(answer: Answer, prefix: str) -> tuple[Json, Json, str]:
    calls = [
        {
            "id": _identity(prefix),
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

    return _sse(chunks(), done=True)


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


# OpenAI's Responses


def _response(answer: Answer, model: str) -> Json:
    output: list[Json] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        output.append(
            {
                "type": "message",
                "id": _identity("msg_"),
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for name, arguments in answer.calls:
        output.append(
            {
                "type": "function_call",
                "id": _identity("fc_"),
                "call_id": _identity("call_"),
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
        )
    usage = {
        "input_tokens": answer.prompt_tokens,
        "output_tokens": 5,
        "total_tokens": answer.prompt_tokens + 5,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": _identity("resp_"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": usage,
    }


def openai_responses_whole(answer: Answer, model: str) -> Json:
    return _response(answer, model)


def openai_responses_stream(answer: Answer, model: str) -> Iterator[str]:
    response = _response(answer, model)
    empty = {**response, "output": [], "usage": None, "status": "in_progress"}

    def events() -> Iterator[Json]:
        yield {"type": "response.created", "response": empty}
        for at, item in enumerate(response["output"]):
            place = {"output_index": at, "item_id": item["id"]}
            yield {"type": "response.output_item.added", **place, "item": {**item, "content": [], "arguments": ""}}
            if item["type"] == "message":
                inside = {**place, "content_index": 0, "logprobs": []}
                blank = {"type": "output_text", "text": "", "annotations": []}
                yield {"type": "response.content_part.added", **inside, "part": blank}
                yield {"type": "response.output_text.delta", **inside, "delta": answer.text}
                yield {"type": "response.output_text.done", **inside, "text": answer.text}
                yield {"type": "response.content_part.done", **inside, "part": item["content"][0]}
            else:
                yield {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}
                yield {
                    "type": "response.function_call_arguments.done",
                    **place,
                    "arguments": item["arguments"],
                    "name": item["name"],
                }
            yield {"type": "response.output_item.done", **place, "item": item}
        yield {"type": "response.completed", "response": response}

    numbered = ({**event, "sequence_number": number} for number, event in enumerate(events()))
    return _sse(numbered, named=True)


# Anthropic


def _claude_blocks(answer: Answer) -> list[Json]:
    blocks: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    return blocks + [
        {"type": "tool_use", "id": _identity("toolu_"), "name": name, "input": arguments}
        for name, arguments in answer.calls
    ]


def anthropic_whole(answer: Answer, model: str) -> Json:
    return {
        "id": _identity("msg_"),
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

    return _sse(events(), named=True)


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
    return _sse(iter([google_whole(answer, model)]))


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
