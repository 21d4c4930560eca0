"""What OpenAI's Chat Completions refuses.

Sources: the API reference of `POST /chat/completions` (schema, patterns, lengths) and the messages that people report,
named at each rule. The length rule is in `request_lengths.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from broken_rule import Broken, Request, broken_by

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MESSAGE_NAME = re.compile(r"[^\s<|\\/>]+")
LONGEST_ID = 40  # characters, by the API's own message
PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "tool": ("text",),
    "assistant": ("text", "refusal"),
    "user": ("text", "image_url", "input_audio", "file"),
}


def broken_rules(request: Request, issued: Request | None = None) -> list[Broken]:
    """Return every rule that the body of a request breaks."""
    return broken_by(request, issued, RULES)


def _messages(request: Request) -> list[tuple[int, dict[str, Any]]]:
    return list(enumerate(request.get("messages") or ()))


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message.get("tool_calls") or []


def _results_behind(request: Request, at: int) -> list[dict[str, Any]]:
    found = []
    for message in request["messages"][at + 1 :]:
        if message.get("role") != "tool":
            break
        found.append(message)
    return found


def calls_are_answered(request: Request) -> Iterator[str]:
    """https://github.com/BerriAI/litellm/issues/10083."""
    for at, message in _messages(request):
        answered = {result.get("tool_call_id") for result in _results_behind(request, at)}
        missing = [call["id"] for call in _calls(message) if call.get("id") not in answered]
        if missing:
            yield (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}"
            )


def results_have_calls(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues/33245."""
    waiting: set[str] | None = None
    for at, message in _messages(request):
        if message.get("role") != "tool":
            waiting = {call.get("id") for call in _calls(message)} or None
        elif waiting is None:
            yield (
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                "'tool_calls'."
            )
        elif message.get("tool_call_id") not in waiting:
            found = message.get("tool_call_id")
            yield (
                f"Invalid parameter: 'tool_call_id' of '{found}' not found in 'tool_calls' of previous message "
                f"(messages[{at}])."
            )


def ids_stand_once(request: Request) -> Iterator[str]:
    """In one assistant message and its answers; reported at https://community.openai.com with the chat endpoint."""
    for at, message in _messages(request):
        calls = Counter(call.get("id") for call in _calls(message))
        results = Counter(result.get("tool_call_id") for result in _results_behind(request, at)) if calls else Counter()
        for counted, where in ((calls, "tool_calls"), (results, "tool_call_id")):
            for identity in (found for found, times in counted.items() if times > 1):
                yield f"Duplicate value for '{where}' of '{identity}' in message[{at}]."


def ids_have_1_to_40_characters(request: Request) -> Iterator[str]:
    """The API reference; https://github.com/anomalyco/opencode/issues/1680 shows how providers differ here."""
    for at, message in _messages(request):
        ids = [(f"tool_calls[{number}].id", call.get("id")) for number, call in enumerate(_calls(message))]
        if message.get("role") == "tool":
            ids.append(("tool_call_id", message.get("tool_call_id")))
        for where, identity in ids:
            if not isinstance(identity, str) or not identity:
                yield f"Invalid 'messages[{at}].{where}': empty string. Expected a string with minimum length 1."
            elif len(identity) > LONGEST_ID:
                yield (
                    f"Invalid 'messages[{at}].{where}': string too long. Expected a string with maximum length "
                    f"{LONGEST_ID}, but got a string with length {len(identity)} instead."
                )


def arguments_are_strings(request: Request) -> Iterator[str]:
    """The API reference: `function.arguments` is a string; it need not be valid JSON."""
    for at, message in _messages(request):
        for number, call in enumerate(_calls(message)):
            if not isinstance((call.get("function") or {}).get("arguments"), str):
                where = f"messages[{at}].tool_calls[{number}].function.arguments"
                yield f"Invalid type for '{where}': expected a string, but got an object instead."


def function_names_match(request: Request) -> Iterator[str]:
    """https://github.com/mcp-use/mcp-use/issues/90."""
    named = [
        (f"messages[{at}].tool_calls[{number}].function.name", (call.get("function") or {}).get("name"))
        for at, message in _messages(request)
        for number, call in enumerate(_calls(message))
    ]
    named += [
        (f"tools[{number}].function.name", tool["function"].get("name"))
        for number, tool in enumerate(request.get("tools") or ())
        if "function" in tool
    ]
    for where, name in named:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            yield (
                f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern "
                "'^[a-zA-Z0-9_-]+$'."
            )


def arrays_are_not_empty(request: Request) -> Iterator[str]:
    """https://github.com/openai/openai-node/pull/1341."""
    arrays = [(key, request.get(key)) for key in ("messages", "tools")]
    for at, message in _messages(request):
        arrays += [(f"messages[{at}].{key}", message.get(key)) for key in ("tool_calls", "content")]
    for where, found in arrays:
        if found == []:
            yield (
                f"Invalid '{where}': empty array. Expected an array with minimum length 1, but got an empty array "
                "instead."
            )


def tool_choice_needs_tools(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues with 'is only allowed when'."""
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in request and "tools" not in request:
            yield f"Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified."


def content_is_null_only_beside_calls(request: Request) -> Iterator[str]:
    """The API reference: required unless `tool_calls` or `function_call` is specified."""
    for at, message in _messages(request):
        alone = message.get("role") != "assistant" or not (message.get("tool_calls") or message.get("function_call"))
        if message.get("content") is None and alone:
            yield f"Invalid value for 'content': expected a string, got null. (messages[{at}].content)"


def parts_go_with_their_role(request: Request) -> Iterator[str]:
    """The API reference: the types of content parts of each role."""
    for at, message in _messages(request):
        role, content = message.get("role"), message.get("content")
        if role not in PARTS:
            yield f"Invalid value: '{role}'. Supported values are: {', '.join(map(repr, PARTS))}."
        elif isinstance(content, list):
            for part in content:
                kind = part.get("type") if isinstance(part, dict) else type(part).__name__
                if kind not in PARTS[role]:
                    wanted = " and ".join(map(repr, PARTS[role]))
                    yield f"Invalid value: '{kind}'. Supported values are: {wanted}. (messages[{at}].content)"


def message_names_match(request: Request) -> Iterator[str]:
    """https://github.com/jekalmin/extended_openai_conversation/issues/251."""
    for at, message in _messages(request):
        name = message.get("name")
        if name is not None and not (isinstance(name, str) and MESSAGE_NAME.fullmatch(name)):
            yield (
                f"Invalid 'messages[{at}].name': string does not match pattern. Expected a string that matches the "
                r"pattern '^[^\s<|\\/>]+$'."
            )


RULES = (
    calls_are_answered,
    results_have_calls,
    ids_stand_once,
    ids_have_1_to_40_characters,
    arguments_are_strings,
    function_names_match,
    arrays_are_not_empty,
    tool_choice_needs_tools,
    content_is_null_only_beside_calls,
    parts_go_with_their_role,
    message_names_match,
)
