"""What Anthropic's Messages API refuses, in the order in which a turn is read.

Sources: the API reference of `POST /v1/messages`, the guides of tool use, extended thinking, prompt caching and server
tools, and the messages that people report, named at each rule. Neighbors of one role are joined before the checks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from broken_rule import Broken, Request, blocks_of, broken_by, sealed_values, walk
from rules_anthropic_blocks import BLOCK_RULES

NO_PREFILL = re.compile(r"claude-(opus|sonnet|haiku)-4-[6-9]")
"""Models that take no assistant message at the end: the migration guide of Claude 4.6."""
SEALED = ("signature", "data", "encrypted_content", "encrypted_index")
THINKING = {"thinking", "redacted_thinking"}


def broken_rules(request: Request, issued: Request | None = None) -> list[Broken]:
    """Return every rule that the body of a request breaks."""
    joined = {**request, "messages": joined_turns(request)}
    whole = None if issued is None else {**issued, "messages": joined_turns(issued)}
    return broken_by(joined, whole, RULES, SEALED_RULES)


def joined_turns(request: Request) -> list[dict[str, Any]]:
    """Return the messages with neighbors of one role joined, as the API reads them, and content as blocks."""
    turns: list[dict[str, Any]] = []
    for message in request.get("messages") or ():
        content = blocks_of(message.get("content"))
        if turns and turns[-1]["role"] == message.get("role"):
            turns[-1]["content"] += content
        else:
            turns.append({"role": message.get("role"), "content": list(content)})
    return turns


def _of_kind(turn: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in turn["content"] if block.get("type") == kind]


def roles_are_known(request: Request) -> Iterator[str]:
    """The API reference."""
    for turn in request["messages"]:
        if turn["role"] not in {"user", "assistant"}:
            yield f'messages: Unexpected role "{turn["role"]}". Allowed roles are "user" or "assistant"'


def first_is_user(request: Request) -> Iterator[str]:
    """The API reference."""
    turns = request["messages"]
    if not turns:
        yield "messages: at least one message is required"
    elif turns[0]["role"] == "assistant":
        yield 'messages: first message must use the "user" role'


def calls_are_answered(request: Request) -> Iterator[str]:
    """https://github.com/anthropics/claude-code/issues/8210."""
    turns = request["messages"]
    for at, turn in enumerate(turns):
        later = turns[at + 1] if at + 1 < len(turns) else {"content": []}
        answered = {block.get("tool_use_id") for block in _of_kind(later, "tool_result")}
        missing = [block["id"] for block in _of_kind(turn, "tool_use") if block["id"] not in answered]
        if missing:
            yield (
                f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )


def results_have_calls(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues/33245."""
    called: set[str] = set()
    for at, turn in enumerate(request["messages"]):
        for number, block in enumerate(turn["content"]):
            if block.get("type") == "tool_result" and block.get("tool_use_id") not in called:
                yield (
                    f"messages.{at}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block.get('tool_use_id')}. Each `tool_result` block must have a corresponding `tool_use` block "
                    "in the previous message."
                )
        called = {block["id"] for block in _of_kind(turn, "tool_use")}


def results_come_first(request: Request) -> Iterator[str]:
    """The guide of tool use: text before a result is refused as a missing result."""
    for at, turn in enumerate(request["messages"]):
        kinds = [block.get("type") == "tool_result" for block in turn["content"]]
        if kinds != sorted(kinds, reverse=True):
            yield (
                f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after. In a user "
                "turn the results come before anything else."
            )


def one_result_each(request: Request) -> Iterator[str]:
    """https://github.com/anthropics/claude-code/issues with 'must have a single result'."""
    for at, turn in enumerate(request["messages"]):
        counted = Counter(block.get("tool_use_id") for block in _of_kind(turn, "tool_result"))
        for identity in (found for found, times in counted.items() if times > 1):
            yield (
                f"messages.{at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                f"{identity}"
            )


def call_ids_are_unique(request: Request) -> Iterator[str]:
    """Over the whole request: https://github.com/anthropics/claude-code/issues with '`tool_use` ids must be unique'."""
    counted = Counter(
        block.get("id")
        for turn in request["messages"]
        for block in turn["content"]
        if block.get("type") in {"tool_use", "server_tool_use"}
    )
    if any(times > 1 for times in counted.values()):
        yield "messages: `tool_use` ids must be unique"


def tools_are_defined(request: Request) -> Iterator[str]:
    """https://github.com/BerriAI/litellm/issues: 'Requests which include `tool_use` or ...'."""
    used = any(_of_kind(turn, kind) for turn in request["messages"] for kind in ("tool_use", "tool_result"))
    if used and not request.get("tools"):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"


def final_text_has_no_trailing_space(request: Request) -> Iterator[str]:
    """https://github.com/aliasrobotics/cai/issues/182 has its neighbors."""
    last = request["messages"][-1:]
    if last and last[0]["role"] == "assistant":
        texts = [block["text"] for block in last[0]["content"][-1:] if block.get("type") == "text"]
        if texts and texts[0] != texts[0].rstrip():
            yield "messages: final assistant content cannot end with trailing whitespace"


def no_prefill_where_there_is_none(request: Request) -> Iterator[str]:
    """The migration guide of Claude 4.6."""
    last = request["messages"][-1:]
    if last and last[0]["role"] == "assistant" and NO_PREFILL.match(str(request.get("model"))):
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def thinking_begins_a_turn_with_calls(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues/34794."""
    if (request.get("thinking") or {}).get("type") not in {"enabled", "adaptive"}:
        return
    for at, turn in enumerate(request["messages"]):
        calls = _of_kind(turn, "tool_use")
        if turn["role"] == "assistant" and calls and turn["content"][0].get("type") not in THINKING:
            yield (
                f"messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{turn['content'][0].get('type')}`. When `thinking` is enabled, a final `assistant` message must "
                "start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
            )


def _server_results(request: Request) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for at, turn in enumerate(request["messages"]):
        for number, block in enumerate(turn["content"]):
            kind = str(block.get("type"))
            if kind.endswith("_tool_result") and "tool_use_id" in block:
                yield at, number, block


def server_calls_are_answered(request: Request) -> Iterator[str]:
    """https://github.com/anthropics/anthropic-sdk-python/issues/961; a paused turn at the end goes on by itself."""
    answered = {block["tool_use_id"] for _, _, block in _server_results(request)}
    for turn in request["messages"][:-1]:
        for block in _of_kind(turn, "server_tool_use"):
            if block["id"] not in answered:
                yield (
                    f"`{block.get('name')}` tool use with id `{block['id']}` was found without a corresponding "
                    f"`{block.get('name')}_tool_result` block"
                )


def server_results_have_calls(request: Request) -> Iterator[str]:
    """https://github.com/anthropics/claude-code/issues/64383."""
    called = {block["id"] for turn in request["messages"] for block in _of_kind(turn, "server_tool_use")}
    for at, number, block in _server_results(request):
        if block["tool_use_id"] not in called:
            kind = block["type"]
            yield (
                f"messages.{at}.content.{number}: unexpected `tool_use_id` found in `{kind}` blocks: "
                f"{block['tool_use_id']}. Each `{kind}` block must have a corresponding `server_tool_use` block before "
                "it."
            )


def at_most_4_cache_controls(request: Request) -> Iterator[str]:
    """The guide of prompt caching."""
    found = sum(1 for value in walk(request) if value.get("cache_control"))
    if found > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {found}."


def sealed_content_is_unmodified(request: Request, issued: Request) -> Iterator[str]:
    """The guide of extended thinking: blocks go back as they came."""
    known = sealed_values(issued, SEALED)
    for at, turn in enumerate(request["messages"]):
        for number, block in enumerate(turn["content"]):
            own = {key: block[key] for key in SEALED if isinstance(block.get(key), str)}
            if block.get("type") in THINKING and any(value not in known for value in own.values()):
                yield f"messages.{at}.content.{number}: Invalid `signature` in `thinking` block"
            elif block.get("type") not in THINKING | {"image", "document"}:
                inner = sealed_values(block, ("encrypted_content", "encrypted_index"))
                if not inner <= known:
                    yield f"messages.{at}.content.{number}: Invalid encrypted content in `{block.get('type')}` block"


def thinking_is_unmodified(request: Request, issued: Request) -> Iterator[str]:
    """The guide of extended thinking: the signature stands for the words."""
    whole = [block for turn in issued["messages"] for block in turn["content"] if block.get("type") == "thinking"]
    known = {(block.get("signature"), block.get("thinking")) for block in whole}
    for at, turn in enumerate(request["messages"]):
        for block in _of_kind(turn, "thinking"):
            signed = any(block.get("signature") == signature for signature, _ in known)
            if signed and (block.get("signature"), block.get("thinking")) not in known:
                yield (
                    f"messages.{at}.content: `thinking` or `redacted_thinking` blocks in the latest assistant message "
                    "cannot be modified. These blocks must remain as they were in the original response."
                )


RULES = (
    roles_are_known,
    first_is_user,
    calls_are_answered,
    results_have_calls,
    results_come_first,
    one_result_each,
    call_ids_are_unique,
    tools_are_defined,
    final_text_has_no_trailing_space,
    no_prefill_where_there_is_none,
    thinking_begins_a_turn_with_calls,
    server_calls_are_answered,
    server_results_have_calls,
    at_most_4_cache_controls,
    *BLOCK_RULES,
)
SEALED_RULES = (sealed_content_is_unmodified, thinking_is_unmodified)
