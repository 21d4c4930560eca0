"""The rules of Google's `generateContent`, by requests that break exactly one of them."""

from __future__ import annotations

from typing import Any

import pytest
from broken_rule import Request
from rule_cases import case, check_case, names_of, rules_in
from rules_google import RULES, SEALED_RULES, broken_rules

Part = dict[str, Any]


def text(words: str = "Q?") -> Part:
    return {"text": words}


def called(name: str = "look", signature: str | None = None) -> Part:
    return {"functionCall": {"name": name, "args": {}}, **({"thoughtSignature": signature} if signature else {})}


def response(name: str = "look") -> Part:
    return {"functionResponse": {"name": name, "response": {"output": "lit"}}}


def user(*parts: Part) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts) or [text()]}


def model(*parts: Part) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts) or [text("A.")]}


def request(*contents: dict[str, Any], **more: Any) -> Request:
    return {"contents": list(contents), **more}


GOOD = request(user(), model(called(), called("see")), user(response(), response("see")))
AGAIN = request(user(), model(called()), user(response()), model(called()), user(response()))
WHOLE = request(user(), model(called("look", "sig")), user(response()))
CASES = [
    case("contents_are_not_empty", request(), request(user())),
    case("parts_are_not_empty", request({"role": "user", "parts": []}), request(user())),
    case("roles_are_known", request({"role": "system", "parts": [text()]}, user()), request(user())),
    case("parts_hold_data", request(user(text(""))), request(user())),
    case(
        "parts_hold_data",
        request(user(), systemInstruction={"parts": [text("")]}),
        request(user(), systemInstruction={"parts": [text()]}),
        name="system",
    ),
    case("calls_follow_a_user_turn_or_responses", request(model(called()), user(response())), GOOD, name="first"),
    case("calls_follow_a_user_turn_or_responses", request(user(), model(), model(called()), user(response())), AGAIN),
    case("responses_follow_calls", request(user(response())), GOOD, name="first"),
    case("responses_follow_calls", request(user(), model(), user(response())), GOOD),
    case(
        "calls_are_answered_in_the_next_turn",
        request(user(), model(called(), called("see")), user(response())),
        GOOD,
        name="one of two",
    ),
    case("calls_are_answered_in_the_next_turn", request(user(), model(called()), user()), AGAIN, name="none"),
    case(
        "calls_are_answered_in_the_next_turn",
        request(user(), model(called()), user(response(), response())),
        GOOD,
        name="too many",
    ),
    case(
        "names_of_responses_are_those_of_calls",
        request(user(), model(called(), called("see")), user(response("see"), response())),
        GOOD,
    ),
    case("ends_with_a_user_turn_or_responses", request(user(), model()), request(user(), model(), user())),
    case("names_are_not_empty", request(user(), model(called("")), user(response(""))), AGAIN),
    case(
        "system_is_no_turn",
        request(user(), systemInstruction={"parts": [{"inlineData": {"data": "eA=="}}]}),
        request(user()),
    ),
    case("signatures_are_unmodified", request(user(), model(called("look", "si")), user(response())), WHOLE, WHOLE),
    case("signatures_of_calls_go_back", request(user(), model(called()), user(response())), WHOLE, WHOLE),
]


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_a_rule_refuses_what_breaks_it_and_nothing_else(
    rule: str, bad: Request, good: Request, issued: Request | None
) -> None:
    check_case(broken_rules, rule, bad, good, issued)


def test_l24_every_rule_has_a_row() -> None:
    assert rules_in(CASES) == names_of(RULES, SEALED_RULES)
