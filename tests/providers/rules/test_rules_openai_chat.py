"""The rules of OpenAI's Chat Completions, by requests that break exactly one of them."""

from __future__ import annotations

from typing import Any

import pytest
from broken_rule import Request
from rule_cases import case, check_case, names_of, rules_in
from rules_openai_chat import RULES, broken_rules

ASKED = {"role": "user", "content": "Q?"}
LOOK = {"type": "function", "function": {"name": "look", "parameters": {}}}


def called(*ids: str, name: str = "look", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    calls = [{"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(identity: str, content: Any = "lit") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def request(*messages: dict[str, Any], **more: Any) -> Request:
    return {"model": "gpt-4o", "messages": list(messages), **more}


GOOD = request(ASKED, called("a", "b"), result("b"), result("a"))
CASES = [
    case("calls_are_answered", request(ASKED, called("a", "b"), result("a")), GOOD),
    case(
        "calls_are_answered",
        request(ASKED, called("a"), ASKED),
        request(ASKED, called("a"), result("a"), ASKED),
        name="none",
    ),
    case("calls_are_answered", request(ASKED, called("a")), GOOD, name="at the end"),
    case("results_have_calls", request(result("a"), ASKED), request(ASKED), name="first"),
    case("results_have_calls", request(ASKED, called("a"), result("a"), result("z")), GOOD, name="another id"),
    case("results_have_calls", request(ASKED, called("a"), result("a"), ASKED, result("a")), GOOD, name="later"),
    case("ids_stand_once", request(ASKED, called("a"), result("a"), result("a")), GOOD, name="results"),
    case(
        "ids_stand_once",
        request(ASKED, called("a", "a"), result("a")),
        request(ASKED, called("a"), result("a"), ASKED, called("a"), result("a")),
        name="calls",
    ),
    case(
        "ids_have_1_to_40_characters",
        request(ASKED, called("x" * 41), result("x" * 41)),
        request(ASKED, called("x" * 40), result("x" * 40)),
    ),
    case("ids_have_1_to_40_characters", request(ASKED, called(""), result("")), GOOD, name="empty"),
    case("arguments_are_strings", request(ASKED, called("a", arguments={}), result("a")), GOOD),
    case(
        "function_names_match",
        request(ASKED, called("a", name="look up"), result("a")),
        request(ASKED, called("a", name="look-up_2"), result("a")),
    ),
    case("function_names_match", request(ASKED, called("a", name="n" * 65), result("a")), GOOD, name="long"),
    case(
        "function_names_match",
        request(ASKED, tools=[{"type": "function", "function": {"name": "a.b"}}]),
        request(ASKED, tools=[LOOK]),
        name="tool",
    ),
    case("arrays_are_not_empty", request(ASKED, tools=[]), request(ASKED, tools=[LOOK]), name="tools"),
    case("arrays_are_not_empty", request(), request(ASKED), name="messages"),
    case(
        "arrays_are_not_empty",
        request(ASKED, {"role": "assistant", "content": "A.", "tool_calls": []}),
        request(ASKED, {"role": "assistant", "content": "A."}),
        name="calls",
    ),
    case(
        "arrays_are_not_empty",
        request({"role": "user", "content": []}),
        request({"role": "user", "content": ""}),
        name="content",
    ),
    case(
        "tool_choice_needs_tools", request(ASKED, tool_choice="auto"), request(ASKED, tools=[LOOK], tool_choice="auto")
    ),
    case(
        "tool_choice_needs_tools",
        request(ASKED, parallel_tool_calls=False),
        request(ASKED, tools=[LOOK], parallel_tool_calls=False),
        name="parallel",
    ),
    case("content_is_null_only_beside_calls", request(ASKED, {"role": "assistant", "content": None}), GOOD),
    case("content_is_null_only_beside_calls", request({"role": "user", "content": None}), GOOD, name="user"),
    case(
        "parts_go_with_their_role",
        request({"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, ASKED),
        request({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}),
        name="system",
    ),
    case(
        "parts_go_with_their_role",
        request(ASKED, {"role": "assistant", "content": [{"type": "thinking", "thinking": "T"}]}, ASKED),
        request(ASKED, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, ASKED),
        name="assistant",
    ),
    case(
        "parts_go_with_their_role",
        request(ASKED, called("a"), result("a", [{"type": "image_url", "image_url": {"url": "u"}}])),
        request(ASKED, called("a"), result("a", [{"type": "text", "text": "lit"}])),
        name="tool",
    ),
    case("parts_go_with_their_role", request({"role": "human", "content": "Q?"}), request(ASKED), name="role"),
    case("message_names_match", request({**ASKED, "name": "tom cat"}), request({**ASKED, "name": "tom-cat"})),
]


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_a_rule_refuses_what_breaks_it_and_nothing_else(
    rule: str, bad: Request, good: Request, issued: Request | None
) -> None:
    check_case(broken_rules, rule, bad, good, issued)


def test_l24_every_rule_has_a_row() -> None:
    assert rules_in(CASES) == names_of(RULES)
