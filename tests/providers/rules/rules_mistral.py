"""What Mistral's chat completions refuse.

Sources: the API reference, the validators of `mistral-common` (Apache-2.0), which `test_rules_mistral.py` compares
these rules with, and the messages that people report, named at each rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from broken_rule import Broken, Request, broken_by

CALL_ID = re.compile(r"[a-zA-Z0-9]{9}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MAY_FOLLOW = {
    "system": {"system", "user", "assistant"},
    "user": {"system", "user", "assistant"},
    "assistant": {"assistant", "user", "tool"},
    "tool": {"assistant", "tool"},
}
"""The roles that may follow a role, as mistral-common has them."""
FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "prefix"},
    "tool": {"role", "content", "tool_call_id", "name"},
}
PARTS = {"text", "image_url", "document_url", "input_audio", "file", "reference", "thinking"}


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


def last_is_user_or_tool(request: Request) -> Iterator[str]:
    """https://github.com/0xPlaygrounds/rig/pull/1130."""
    messages = request.get("messages") or [{}]
    last = messages[-1]
    if last.get("role") not in {"user", "tool"} and not last.get("prefix"):
        yield (
            f"Expected last role User or Tool (or Assistant with prefix True) for serving but got {last.get('role')}"
        )


def roles_follow_each_other(request: Request) -> Iterator[str]:
    """https://github.com/datapizza-labs/datapizza-ai/issues/98."""
    messages = _messages(request)
    for (_, before), (_, message) in pairwise(messages):
        if message.get("role") not in MAY_FOLLOW.get(str(before.get("role")), set()):
            yield f"Unexpected role '{message.get('role')}' after role '{before.get('role')}'"


def first_is_system_or_user(request: Request) -> Iterator[str]:
    """https://github.com/mistralai/mistral-inference/issues/135: nothing was called before the first message."""
    for _, message in _messages(request)[:1]:
        if message.get("role") not in {"system", "user"}:
            yield f"Expected first role to be one of 'system', 'user' but got '{message.get('role')}'"


def call_ids_have_9_characters(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/pull/24668."""
    for _, message in _messages(request):
        ids = [call.get("id") for call in _calls(message)]
        if message.get("role") == "tool":
            ids.append(message.get("tool_call_id"))
        for identity in ids:
            if not CALL_ID.fullmatch(str(identity)):
                yield f"Tool call id was {identity} but must be a-z, A-Z, 0-9, with a length of 9."


def as_many_responses_as_calls(request: Request) -> Iterator[str]:
    """https://github.com/mistralai/mistral-common: 'Not the same number of function calls and responses'."""
    for at, message in _messages(request):
        if len(_calls(message)) != len(_results_behind(request, at)) and _calls(message):
            yield "Not the same number of function calls and responses"


def responses_answer_a_call(request: Request) -> Iterator[str]:
    """The API reference: a tool message names the call that it answers."""
    waiting: set[Any] = set()
    for _, message in _messages(request):
        if message.get("role") != "tool":
            waiting = {call.get("id") for call in _calls(message)}
        elif waiting and message.get("tool_call_id") not in waiting:
            yield f"Unexpected tool call id {message.get('tool_call_id')} in tool results"


def assistant_has_content_or_calls(request: Request) -> Iterator[str]:
    """https://github.com/continuedev/continue/issues with 'must have either content or tool_calls'."""
    for _, message in _messages(request):
        if message.get("role") == "assistant" and not message.get("content") and not _calls(message):
            yield "Assistant message must have either content or tool_calls, but not both."


def no_unknown_fields(request: Request) -> Iterator[str]:
    """Status 422: https://github.com/pydantic/pydantic-ai/issues with 'Extra inputs are not permitted'."""
    for at, message in _messages(request):
        for field in sorted(set(message) - FIELDS.get(str(message.get("role")), set(message))):
            yield f"body.messages.{at}.{message.get('role')}.{field}: Extra inputs are not permitted"


def parts_are_known(request: Request) -> Iterator[str]:
    """The API reference: the types of content chunks."""
    for at, message in _messages(request):
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            if kind not in PARTS:
                tags = ", ".join(sorted(PARTS))
                yield f"body.messages.{at}.content: Input tag '{kind}' found does not match any of the expected: {tags}"


def function_names_match(request: Request) -> Iterator[str]:
    """mistral-common: the pattern of function names."""
    for _, message in _messages(request):
        for call in _calls(message):
            name = (call.get("function") or {}).get("name")
            if not NAME.fullmatch(str(name or "")):
                yield (
                    f"Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a "
                    "maximum length of 64."
                )


RULES = (
    last_is_user_or_tool,
    roles_follow_each_other,
    first_is_system_or_user,
    call_ids_have_9_characters,
    as_many_responses_as_calls,
    responses_answer_a_call,
    assistant_has_content_or_calls,
    no_unknown_fields,
    parts_are_known,
    function_names_match,
)
