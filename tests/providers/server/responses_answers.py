"""An answer of OpenAI's Responses API, whole and as its events."""

from __future__ import annotations

import json
from collections.abc import Iterator

from provider_answers import Answer, Json, identity, sse


def _response(answer: Answer, model: str) -> Json:
    output: list[Json] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        output.append(
            {
                "type": "message",
                "id": identity("msg_"),
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for name, arguments in answer.calls:
        output.append(
            {
                "type": "function_call",
                "id": identity("fc_"),
                "call_id": identity("call_"),
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
        "id": identity("resp_"),
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
    return sse(numbered, named=True)
