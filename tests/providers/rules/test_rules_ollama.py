"""The rules of Ollama, by requests that break exactly one of them."""

from __future__ import annotations

from typing import Any

import pytest
from broken_rule import Request
from rule_cases import case, check_case, names_of, rules_in
from rules_ollama import RULES, broken_rules

ASKED = {"role": "user", "content": "Q?"}


def called(arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": arguments}}]}


def request(*messages: dict[str, Any]) -> Request:
    return {"model": "llama3.1", "messages": list(messages)}


CASES = [
    case("content_is_a_string", request({"role": "user", "content": [{"type": "text", "text": "Q?"}]}), request(ASKED)),
    case("arguments_are_objects", request(ASKED, called("{}")), request(ASKED, called({}))),
    case(
        "images_are_base64",
        request({**ASKED, "images": ["data:image/png;base64,eA=="]}),
        request({**ASKED, "images": ["eA=="]}),
    ),
    case(
        "roles_are_known", request({"role": "developer", "content": "x"}), request({"role": "system", "content": "x"})
    ),
]


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_a_rule_refuses_what_breaks_it_and_nothing_else(
    rule: str, bad: Request, good: Request, issued: Request | None
) -> None:
    check_case(broken_rules, rule, bad, good, issued)


def test_l24_every_rule_has_a_row() -> None:
    assert rules_in(CASES) == names_of(RULES)
