"""Requests of every shape with all that may be in them, and copies of them in which something is wrong."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from responses_items_made import IMAGE, call, clicked, output, reasoning, reference, said, searched, written
from shape_rows import SENTENCE

FUNCTION = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"at": {}}}}
SHAPES: dict[str, dict[str, Any]] = {
    "openai": {
        "model": "gpt-4o",
        "max_tokens": 100,
        "messages": [
            {"role": "system", "content": "Be brief. " + SENTENCE},
            {"role": "user", "name": "ann", "content": SENTENCE * 9},
            {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "reasoning_content": SENTENCE,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": SENTENCE * 30},
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"at": 1}'}},
            {"role": "function", "name": "look", "content": SENTENCE},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": SENTENCE * 5},
                    {"type": "image_url", "image_url": {"url": "https://lamps.example/a.png", "detail": "low"}},
                    {"type": "file", "file": {"file_id": "f"}},
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                ],
            },
        ],
        "tools": [{"type": "function", "function": FUNCTION}],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    },
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Be brief. " + SENTENCE, "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": SENTENCE * 9},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": SENTENCE, "signature": "c2ln"},
                    {"type": "text", "text": SENTENCE},
                    {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [
                            {"type": "text", "text": SENTENCE * 30},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
                        ],
                    },
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": SENTENCE}},
                    {"type": "text", "text": SENTENCE},
                ],
            },
        ],
        "tools": [FUNCTION],
    },
    "responses": {
        "model": "gpt-4o",
        "max_output_tokens": 100,
        "instructions": "Be brief. " + SENTENCE,
        "input": [
            said("user", SENTENCE * 9),
            reasoning(SENTENCE),
            written(SENTENCE),
            call("a", '{"at": 1}'),
            call("b"),
            output("a", SENTENCE * 30),
            output("b", [{"type": "input_text", "text": SENTENCE * 9}, IMAGE]),
            *clicked("c"),
            searched(),
            reference("msg_1"),
            {"type": "custom_tool_call", "call_id": "d", "name": "shout", "input": SENTENCE},
            {"type": "custom_tool_call_output", "call_id": "d", "output": SENTENCE},
            written(SENTENCE),
            said("user", [{"type": "input_text", "text": SENTENCE * 5}, IMAGE]),
        ],
        "tools": [{"type": "function", **FUNCTION}],
        "text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}},
    },
    "documents": {
        "model": "gpt-4o",
        "documents": [SENTENCE * 9, {"id": "b", "text": SENTENCE * 9, "score": 0.5, "source": "x"}],
        "query": ["How long?", SENTENCE],
    },
}
WRONG: tuple[Any, ...] = (
    None,
    True,
    5,
    -1.5,
    "",
    "x",
    [],
    [[]],
    [5],
    [None],
    {},
    {"type": []},
    {"text": {"text": 5}},
    {"id": 5},
)


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*path, key)
        yield from places_in(inner, (*path, key))


def spoiled(content: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    """Return a copy with something else at a path."""
    found = copy.deepcopy(content)
    holder = found
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = copy.deepcopy(wrong)
    return found
