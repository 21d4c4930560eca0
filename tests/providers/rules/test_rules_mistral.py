"""The rules of Mistral's chat completions, by requests that break exactly one, and by Mistral's own validator."""

from __future__ import annotations

from typing import Any

import pytest
from broken_rule import Request
from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV3
from rule_cases import case, check_case, names_of, rules_in
from rules_mistral import RULES, broken_rules

ASKED = {"role": "user", "content": "Q?"}
SAID = {"role": "assistant", "content": "A."}
SYSTEM = {"role": "system", "content": "Be brief."}
A, B = "aaaaaaaa1", "bbbbbbbb2"


def called(*ids: str, name: str = "look") -> dict[str, Any]:
    calls = [{"id": identity, "function": {"name": name, "arguments": "{}"}} for identity in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(identity: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "lit", "name": "look", **more}


def request(*messages: dict[str, Any]) -> Request:
    return {"model": "mistral-large-latest", "messages": list(messages)}


GOOD = request(SYSTEM, ASKED, called(A, B), result(A), result(B))
CASES = [
    case("last_is_user_or_tool", request(ASKED, SAID), request(ASKED, SAID, ASKED)),
    case(
        "roles_follow_each_other",
        request(ASKED, called(A), result(A), ASKED),
        request(ASKED, called(A), result(A), SAID, ASKED),
    ),
    case(
        "roles_follow_each_other",
        request(ASKED, SAID, SYSTEM, ASKED),
        request(ASKED, SAID, ASKED, SYSTEM, ASKED),
        name="system",
    ),
    case("roles_follow_each_other", request(ASKED, result(A)), GOOD, name="result of nothing"),
    case("first_is_system_or_user", request(result(A)), request(ASKED)),
    case("call_ids_have_9_characters", request(ASKED, called("call_1234"), result("call_1234")), GOOD),
    case("call_ids_have_9_characters", request(ASKED, called("aaaa1"), result("aaaa1")), GOOD, name="short"),
    case("as_many_responses_as_calls", request(ASKED, called(A, B), result(A), SAID, ASKED), GOOD),
    case("responses_answer_a_call", request(ASKED, called(A), result(B)), GOOD),
    case(
        "assistant_has_content_or_calls",
        request(ASKED, {"role": "assistant", "content": ""}, ASKED),
        request(ASKED, SAID, ASKED),
    ),
    case("no_unknown_fields", request({**ASKED, "name": "tom"}), request(ASKED)),
    case(
        "no_unknown_fields",
        request(ASKED, {**SAID, "refusal": None}, ASKED),
        request(ASKED, SAID, ASKED),
        name="assistant",
    ),
    case(
        "parts_are_known",
        request({"role": "user", "content": [{"type": "input_text", "text": "Q?"}]}),
        request({"role": "user", "content": [{"type": "text", "text": "Q?"}]}),
    ),
    case("function_names_match", request(ASKED, called(A, name="look up"), result(A)), GOOD),
]
OURS_ALONE = {"no_unknown_fields", "responses_answer_a_call", "parts_are_known", "first_is_system_or_user"}
"""What the API refuses before its validator, and what this version of the validator leaves to the API."""


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_a_rule_refuses_what_breaks_it_and_nothing_else(
    rule: str, bad: Request, good: Request, issued: Request | None
) -> None:
    check_case(broken_rules, rule, bad, good, issued)


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_mistrals_own_validator_agrees(rule: str, bad: Request, good: Request, issued: Request | None) -> None:
    validate_with_mistral(good)
    if rule not in OURS_ALONE:
        with pytest.raises(MistralCommonException):
            validate_with_mistral(bad)


def validate_with_mistral(given: Request) -> None:
    MistralRequestValidatorV3().validate_request(ChatCompletionRequest.from_openai(messages=given["messages"]))


def test_l24_every_rule_has_a_row() -> None:
    assert rules_in(CASES) == names_of(RULES)
