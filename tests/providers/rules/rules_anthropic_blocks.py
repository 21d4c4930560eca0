"""What Anthropic's Messages API refuses in single blocks: empty or blank texts, marks of the prompt cache, ids.

Sources: the API reference, the guide of prompt caching, and the messages that people report, named at each rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from broken_rule import Request, blocks_of

CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def _blocks(request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every block with its place: of the system prompt, of the turns, of their tool results."""
    system = request.get("system")
    for number, block in enumerate(blocks_of(system) if system != "" else ()):
        yield f"system.{number}", block
    for at, turn in enumerate(request["messages"]):
        for number, block in enumerate(turn["content"]):
            yield f"messages.{at}.content.{number}", block
            if block.get("type") == "tool_result":
                inner = block.get("content")
                # An empty string is no text block: a result may be empty.
                for deeper, part in enumerate(inner if isinstance(inner, list) else ()):
                    yield f"messages.{at}.content.{number}.content.{deeper}", part


def content_is_not_empty(request: Request) -> Iterator[str]:
    """The API reference."""
    turns = request["messages"]
    for at, turn in enumerate(turns):
        if not turn["content"] and not (at == len(turns) - 1 and turn["role"] == "assistant"):
            told = "all messages must have non-empty content except for the optional final assistant message"
            yield f"messages.{at}: {told}"


def texts_are_not_empty(request: Request) -> Iterator[str]:
    """https://github.com/aliasrobotics/cai/issues/182."""
    for where, block in _blocks(request):
        if block.get("type") == "text" and not block.get("text"):
            yield f"{where.partition('.')[0]}: text content blocks must be non-empty"


def texts_are_not_blank(request: Request) -> Iterator[str]:
    """https://github.com/anthropics/claude-code/issues with 'must contain non-whitespace text'."""
    for where, block in _blocks(request):
        text = block.get("text")
        if block.get("type") == "text" and text and not text.strip():
            yield f"{where.partition('.')[0]}: text content blocks must contain non-whitespace text"


def cache_control_is_on_no_empty_text(request: Request) -> Iterator[str]:
    """The guide of prompt caching; empty text itself is another rule."""
    for where, block in _blocks(request):
        if block.get("cache_control") and block.get("type") == "text" and not block.get("text"):
            yield f"{where}: cache_control cannot be set for empty text blocks"


def cache_control_is_on_no_thinking(request: Request) -> Iterator[str]:
    """https://github.com/UKGovernmentBEIS/inspect_ai/pull/3967."""
    for where, block in _blocks(request):
        if block.get("cache_control") and block.get("type") in {"thinking", "redacted_thinking"}:
            yield f"{where}.{block['type']}.cache_control: Extra inputs are not permitted"


def call_ids_match(request: Request) -> Iterator[str]:
    """The API reference."""
    for where, block in _blocks(request):
        if block.get("type") in {"tool_use", "server_tool_use"} and not CALL_ID.fullmatch(str(block.get("id") or "")):
            yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"


def tool_names_match(request: Request) -> Iterator[str]:
    """The API reference."""
    named = [
        (f"tools.{number}.custom.name", tool.get("name")) for number, tool in enumerate(request.get("tools") or ())
    ]
    named += [
        (f"{where}.tool_use.name", block.get("name"))
        for where, block in _blocks(request)
        if block.get("type") == "tool_use"
    ]
    for where, name in named:
        if not TOOL_NAME.fullmatch(str(name or "")):
            yield f"{where}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"


def inputs_are_objects(request: Request) -> Iterator[str]:
    """The API reference."""
    for where, block in _blocks(request):
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
            yield f"{where}.tool_use.input: Input should be a valid dictionary"


BLOCK_RULES = (
    content_is_not_empty,
    texts_are_not_empty,
    texts_are_not_blank,
    cache_control_is_on_no_empty_text,
    cache_control_is_on_no_thinking,
    call_ids_match,
    tool_names_match,
    inputs_are_objects,
)
