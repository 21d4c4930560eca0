"""The rules of Anthropic's Messages API, by requests that break exactly one of them."""

from __future__ import annotations

from typing import Any

import pytest
from broken_rule import Request
from rule_cases import case, check_case, names_of, rules_in
from rules_anthropic import RULES, SEALED_RULES, broken_rules

Block = dict[str, Any]
MARK = {"type": "ephemeral"}
SEARCHED: Block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND: Block = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": "sealed"}]}
HIDDEN: Block = {"type": "redacted_thinking", "data": "data"}


def text(words: str = "Q?", **more: Any) -> Block:
    return {"type": "text", "text": words, **more}


def called(identity: str = "a", **more: Any) -> Block:
    return {"type": "tool_use", "id": identity, "name": "look", "input": {}, **more}


def result(identity: str = "a", content: Any = "lit") -> Block:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def thought(words: str = "So.", signature: str = "sig", **more: Any) -> Block:
    return {"type": "thinking", "thinking": words, "signature": signature, **more}


def user(*blocks: Block) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) or "Q?"}


def claude(*blocks: Block) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks) or "A."}


def request(*messages: dict[str, Any], **more: Any) -> Request:
    tools = [{"name": "look", "input_schema": {}}]
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": list(messages), "tools": tools, **more}


THINKING = {"thinking": {"type": "enabled", "budget_tokens": 4}}
GOOD = request(user(), claude(called("a"), called("b")), user(result("b"), result("a"), text()))
WHOLE = request(user(), claude(thought(), HIDDEN, called()), user(result()), claude(SEARCHED, FOUND), user())
CASES = [
    case("roles_are_known", request({"role": "tool", "content": "x"}, user()), request(user())),
    case("first_is_user", request(claude(), user()), request(user(), claude(), user())),
    case("first_is_user", request(), request(user()), name="none"),
    case("calls_are_answered", request(user(), claude(called("a"), called("b")), user(result("a"))), GOOD),
    case("calls_are_answered", request(user(), claude(called("a"))), GOOD, name="at the end"),
    case("calls_are_answered", request(user(), claude(called("a")), user()), GOOD, name="by a question"),
    case("results_have_calls", request(user(result("z"))), GOOD),
    case("results_have_calls", request(user(), claude(), user(result("a"))), GOOD, name="later"),
    case("results_come_first", request(user(), claude(called()), user(text(), result())), GOOD),
    case("results_come_first", request(user(), claude(called()), user(), user(result())), GOOD, name="joined"),
    case("one_result_each", request(user(), claude(called()), user(result(), result())), GOOD),
    case(
        "call_ids_are_unique",
        request(user(), claude(called()), user(result()), claude(called()), user(result())),
        request(user(), claude(called()), user(result()), claude(called("b")), user(result("b"))),
    ),
    case("tools_are_defined", request(user(), claude(called()), user(result()), tools=[]), GOOD),
    case(
        "final_text_has_no_trailing_space", request(user(), claude(text("So. "))), request(user(), claude(text("So.")))
    ),
    case(
        "no_prefill_where_there_is_none",
        request(user(), claude(text("So.")), model="claude-opus-4-6"),
        request(user(), claude(text("So."))),
    ),
    case(
        "thinking_begins_a_turn_with_calls",
        request(user(), claude(text(), called()), user(result()), **THINKING),
        request(user(), claude(thought(), text(), called()), user(result()), **THINKING),
    ),
    case(
        "thinking_begins_a_turn_with_calls",
        request(user(), claude(called()), user(result()), **THINKING),
        request(user(), claude(HIDDEN, called()), user(result()), **THINKING),
        name="redacted",
    ),
    case(
        "server_calls_are_answered",
        request(user(), claude(SEARCHED), user()),
        request(user(), claude(SEARCHED, FOUND), user()),
    ),
    case(
        "server_calls_are_answered",
        request(user(), claude(SEARCHED, called()), user(result()), claude(), user()),
        request(user(), claude(SEARCHED, called()), user(result()), claude(FOUND), user()),
        name="across messages",
    ),
    case(
        "server_calls_are_answered",
        request(user(), claude(SEARCHED), user()),
        request(user(), claude(SEARCHED)),
        name="paused",
    ),
    case(
        "server_results_have_calls",
        request(user(), claude(FOUND), user()),
        request(user(), claude(SEARCHED, FOUND), user()),
    ),
    case(
        "at_most_4_cache_controls",
        request(*[user(text(cache_control=MARK))] * 5),
        request(*[user(text(cache_control=MARK))] * 4),
    ),
    case(
        "content_is_not_empty",
        request(user(), {"role": "assistant", "content": []}, user()),
        request(user(), {"role": "assistant", "content": []}),
    ),
    case("texts_are_not_empty", request(user(text(""))), request(user(text("?")))),
    case(
        "texts_are_not_empty",
        request(user(), system=[text("")]),
        request(user(), system=[text("Be brief.")]),
        name="system",
    ),
    case(
        "texts_are_not_empty",
        request(user(), claude(called()), user(result(content=[text("")]))),
        request(user(), claude(called()), user(result(content=""))),
        name="result",
    ),
    case("texts_are_not_blank", request(user(text(" \n"))), request(user(text(" Q? ")))),
    case(
        "cache_control_is_on_no_thinking",
        request(user(), claude(thought(cache_control=MARK))),
        request(user(), claude(thought())),
    ),
    case("call_ids_match", request(user(), claude(called("a b")), user(result("a b"))), GOOD),
    case(
        "tool_names_match", request(user(), tools=[{"name": "look up"}]), request(user(), tools=[{"name": "look-up"}])
    ),
    case("tool_names_match", request(user(), claude(called(name="")), user(result())), GOOD, name="call"),
    case("inputs_are_objects", request(user(), claude(called(input="{}")), user(result())), GOOD),
    case(
        "sealed_content_is_unmodified",
        request(user(), claude(thought(signature="si"))),
        request(user(), claude(thought())),
        WHOLE,
    ),
    case(
        "sealed_content_is_unmodified",
        request(user(), claude({**HIDDEN, "data": "da"})),
        request(user(), claude(HIDDEN)),
        WHOLE,
        name="redacted",
    ),
    case(
        "sealed_content_is_unmodified",
        request(user(), claude(SEARCHED, {**FOUND, "content": [{"encrypted_content": "sea"}]})),
        request(user(), claude(SEARCHED, FOUND)),
        WHOLE,
        name="search",
    ),
    case("thinking_is_unmodified", request(user(), claude(thought("S"))), request(user(), claude(thought())), WHOLE),
]
TWO_AT_ONCE = {"cache_control_is_on_no_empty_text"}


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_a_rule_refuses_what_breaks_it_and_nothing_else(
    rule: str, bad: Request, good: Request, issued: Request | None
) -> None:
    check_case(broken_rules, rule, bad, good, issued)


def test_l24_a_mark_on_empty_text_is_refused_beside_the_text_itself() -> None:
    broken = broken_rules(request(user(text("", cache_control=MARK))))
    assert {found.rule for found in broken} == TWO_AT_ONCE | {"texts_are_not_empty"}
    assert broken_rules(request(user(text("Q?", cache_control=MARK)))) == []


def test_l24_every_rule_has_a_row() -> None:
    assert rules_in(CASES) | TWO_AT_ONCE == names_of(RULES, SEALED_RULES)
