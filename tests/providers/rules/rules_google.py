"""What Google's `generateContent` refuses.

Sources: the API reference (`Content`, `Part`, `FunctionCall`), the guide of thought signatures, and the messages that
people report, named at each rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from broken_rule import Broken, Request, broken_by

TURN_OF_CALLS = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
TURN_OF_RESPONSES = "Please ensure that function response turn comes immediately after a function call turn."


def broken_rules(request: Request, issued: Request | None = None) -> list[Broken]:
    """Return every rule that the body of a request breaks."""
    return broken_by(request, issued, RULES, SEALED_RULES)


def contents_of(request: Request) -> list[dict[str, Any]]:
    """Return the turns."""
    return list(request.get("contents") or ())


def parts_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a turn."""
    return list(content.get("parts") or ())


def calls_in(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the function calls of a turn."""
    return [part["functionCall"] for part in parts_of(content) if "functionCall" in part]


def responses_in(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the function responses of a turn."""
    return [part["functionResponse"] for part in parts_of(content) if "functionResponse" in part]


def contents_are_not_empty(request: Request) -> Iterator[str]:
    """The API reference."""
    if not contents_of(request):
        yield "* GenerateContentRequest.contents: contents is not specified"


def parts_are_not_empty(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain-google/issues with 'contents.parts must not be empty'."""
    for at, content in enumerate(contents_of(request)):
        if not parts_of(content):
            yield f"* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty."


def roles_are_known(request: Request) -> Iterator[str]:
    """The API reference."""
    for content in contents_of(request):
        if content.get("role", "user") not in {"user", "model", "function"}:
            yield "Please use a valid role: user, model."


def parts_hold_data(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain-google/issues: a part with an empty text holds nothing."""
    turns = [(f"contents[{at}]", content) for at, content in enumerate(contents_of(request))]
    turns += [
        ("system_instruction", request[key]) for key in ("systemInstruction", "system_instruction") if key in request
    ]
    for where, content in turns:
        for number, part in enumerate(parts_of(content)):
            if not any(part.get(key) for key in part if key not in {"thought", "thoughtSignature"}):
                yield (
                    f"* GenerateContentRequest.{where}.parts[{number}].data: required oneof field 'data' must have one "
                    "initialized field"
                )


def calls_follow_a_user_turn_or_responses(request: Request) -> Iterator[str]:
    """https://github.com/google-gemini/gemini-cli/issues/11814."""
    turns = contents_of(request)
    for at, content in enumerate(turns):
        if calls_in(content) and (at == 0 or turns[at - 1].get("role") == "model"):
            yield TURN_OF_CALLS


def responses_follow_calls(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues/27799."""
    turns = contents_of(request)
    for at, content in enumerate(turns):
        if responses_in(content) and not (at and calls_in(turns[at - 1])):
            yield TURN_OF_RESPONSES


def calls_are_answered_in_the_next_turn(request: Request) -> Iterator[str]:
    """https://github.com/google/adk-python/issues with 'the number of function response parts'."""
    turns = contents_of(request)
    for at, content in enumerate(turns):
        answers = responses_in(turns[at + 1]) if at + 1 < len(turns) else []
        if len(calls_in(content)) > len(answers) or (answers and len(answers) > len(calls_in(content)) > 0):
            yield (
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )


def names_of_responses_are_those_of_calls(request: Request) -> Iterator[str]:
    """The guide of function calling: each response has the name of its call, in the order of the calls."""
    turns = contents_of(request)
    for content, later in pairwise(turns):
        called = [call.get("name") for call in calls_in(content)]
        answered = [response.get("name") for response in responses_in(later)]
        if len(called) == len(answered) and called != answered:
            yield TURN_OF_RESPONSES


def ends_with_a_user_turn_or_responses(request: Request) -> Iterator[str]:
    """https://github.com/crewAIInc/crewAI/pull/6973."""
    turns = contents_of(request)
    if turns and turns[-1].get("role", "user") == "model":
        yield "Please ensure that multiturn requests end with a user role or a function response."


def names_are_not_empty(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain-google/issues with 'Name cannot be empty'."""
    for at, content in enumerate(contents_of(request)):
        for kind, found in (("function_call", calls_in(content)), ("function_response", responses_in(content))):
            if any(not item.get("name") for item in found):
                yield f"* GenerateContentRequest.contents[{at}].parts[0].{kind}.name: Name cannot be empty."


def system_is_no_turn(request: Request) -> Iterator[str]:
    """The API reference: the system instruction stands beside the turns and holds text."""
    given = request.get("systemInstruction") or request.get("system_instruction")
    if given is not None and any("text" not in part for part in parts_of(given)):
        yield "* GenerateContentRequest.system_instruction: only text is supported"


def signatures_are_unmodified(request: Request, issued: Request) -> Iterator[str]:
    """The guide of thought signatures."""
    known = {_signature(part) for content in contents_of(issued) for part in parts_of(content)}
    for content in contents_of(request):
        if any(_signature(part) not in known | {None} for part in parts_of(content)):
            yield "Corrupted thought signature."


def signatures_of_calls_go_back(request: Request, issued: Request) -> Iterator[str]:
    """The guide of thought signatures: a call that came with one goes back with it."""
    calls = [part for content in contents_of(issued) for part in parts_of(content) if "functionCall" in part]
    signed = {_call_key(part["functionCall"]) for part in calls if _signature(part)}
    # Equal calls are not told apart where no ids are sent.
    signed -= {_call_key(part["functionCall"]) for part in calls if not _signature(part)}
    for content in contents_of(request):
        for part in parts_of(content):
            if "functionCall" in part and not _signature(part) and _call_key(part["functionCall"]) in signed:
                name = part["functionCall"].get("name")
                yield f"Function call is missing a thought_signature in functionCall parts: `{name}`."


def _signature(part: dict[str, Any]) -> str | None:
    return part.get("thoughtSignature") or part.get("thought_signature")


def _call_key(call: dict[str, Any]) -> str:
    return str(call.get("id") or (call.get("name"), call.get("args")))


RULES = (
    contents_are_not_empty,
    parts_are_not_empty,
    roles_are_known,
    parts_hold_data,
    calls_follow_a_user_turn_or_responses,
    responses_follow_calls,
    calls_are_answered_in_the_next_turn,
    names_of_responses_are_those_of_calls,
    ends_with_a_user_turn_or_responses,
    names_are_not_empty,
    system_is_no_turn,
)
SEALED_RULES = (signatures_are_unmodified, signatures_of_calls_go_back)
