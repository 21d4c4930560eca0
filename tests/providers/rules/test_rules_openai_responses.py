"""The rules of OpenAI's Responses API, by requests that break exactly one of them."""

from __future__ import annotations

from typing import Any

import pytest
from broken_rule import Request
from rule_cases import case, check_case, names_of, rules_in
from rules_openai_responses import RULES, SEALED_RULES, broken_rules

Item = dict[str, Any]
ASKED: Item = {"role": "user", "content": [{"type": "input_text", "text": "Q?"}]}
SAID: Item = {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "A."}]}
SHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,"}


def called(identity: str = "a", kind: str = "function_call", **more: Any) -> Item:
    return {"type": kind, "call_id": identity, "name": "look", "arguments": "{}", **more}


def output(identity: str = "a", kind: str = "function_call_output", given: Any = "lit") -> Item:
    return {"type": kind, "call_id": identity, "output": given}


def reasoned(number: int = 1, sealed: str = "sealed") -> Item:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": sealed}


def request(*items: Item, **more: Any) -> Request:
    return {"model": "gpt-5", "input": list(items), **more}


CLICKED = (called("c", "computer_call"), output("c", "computer_call_output", SHOT))
GOOD = request(ASKED, called(), output())
WHOLE = request(ASKED, reasoned(), called(id="fc_1"), output(), reasoned(2, "other"), SAID)
CASES = [
    case("calls_have_outputs", request(ASKED, called()), GOOD),
    case("calls_have_outputs", request(ASKED, CLICKED[0]), request(ASKED, *CLICKED), name="computer"),
    case(
        "calls_have_outputs",
        request(called(kind="custom_tool_call"), ASKED),
        request(called(kind="custom_tool_call"), output(kind="custom_tool_call_output")),
        name="custom",
    ),
    case(
        "calls_have_outputs",
        request(called(kind="apply_patch_call"), ASKED),
        request(called(kind="apply_patch_call"), output(kind="apply_patch_call_output")),
        name="patch",
    ),
    case("outputs_have_calls", request(ASKED, output()), GOOD),
    case("outputs_have_calls", request(ASKED, CLICKED[1]), request(ASKED, *CLICKED), name="computer"),
    case("call_ids_stand_once", request(ASKED, called(), output(), output()), GOOD),
    case("call_ids_stand_once", request(SAID, SAID), request(SAID), name="item"),
    case(
        "call_ids_have_1_to_64_characters",
        request(called("x" * 65), output("x" * 65)),
        request(called("x" * 64), output("x" * 64)),
    ),
    case("reasoning_is_followed", request(ASKED, reasoned()), request(ASKED, reasoned(), SAID), name="at the end"),
    case(
        "reasoning_is_followed",
        request(reasoned(), ASKED),
        request(reasoned(), reasoned(2), called(), output()),
        name="by a question",
    ),
    case(
        "reasoning_is_followed",
        request(called(), reasoned(), output()),
        request(reasoned(), called(), output()),
        name="by an output",
    ),
    case("item_ids_have_their_prefix", request({**SAID, "id": "lc_1"}), request(SAID)),
    case(
        "item_ids_have_their_prefix",
        request(called(id="call_1"), output()),
        request(called(id="fc_1"), output()),
        name="call",
    ),
    case(
        "parts_go_with_their_role",
        request({"role": "user", "content": [{"type": "output_text", "text": "Q?"}]}),
        request(ASKED, SAID),
        name="user",
    ),
    case(
        "parts_go_with_their_role",
        request({"role": "assistant", "content": [{"type": "input_text", "text": "A."}]}),
        request({"role": "assistant", "content": "A."}),
        name="assistant",
    ),
    case("arguments_are_strings", request(called(arguments={}), output()), GOOD),
    case("arrays_are_not_empty", request(), GOOD),
    case(
        "arrays_are_not_empty",
        request({"role": "user", "content": []}),
        request({"role": "user", "content": ""}),
        name="content",
    ),
    case(
        "computer_outputs_are_screenshots",
        request(CLICKED[0], output("c", "computer_call_output", "cut [...] off")),
        request(*CLICKED),
    ),
    case(
        "approvals_have_requests",
        request({"type": "mcp_approval_response", "approval_request_id": "m", "approve": True}),
        request(
            {"type": "mcp_approval_request", "id": "m"},
            {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
        ),
    ),
    case("required_reasoning_is_there", request(ASKED, called(id="fc_1"), output()), WHOLE, WHOLE),
    case(
        "required_reasoning_is_there",
        request(ASKED, SAID),
        request(ASKED, reasoned(2, "other"), SAID),
        WHOLE,
        name="message",
    ),
    case(
        "encrypted_reasoning_is_unmodified",
        request(ASKED, reasoned(1, "sea"), called(id="fc_1"), output()),
        request(ASKED, reasoned(), called(id="fc_1"), output()),
        WHOLE,
    ),
    case(
        "references_are_known",
        request(ASKED, {"type": "item_reference", "id": "msg_9"}),
        request(ASKED, {"type": "item_reference", "id": "msg_1"}),
        WHOLE,
    ),
    case("references_are_known", request(ASKED, previous_response_id="resp_9"), request(ASKED), WHOLE, name="response"),
]


@pytest.mark.parametrize(("rule", "bad", "good", "issued"), CASES)
def test_l24_a_rule_refuses_what_breaks_it_and_nothing_else(
    rule: str, bad: Request, good: Request, issued: Request | None
) -> None:
    check_case(broken_rules, rule, bad, good, issued)


def test_l24_every_rule_has_a_row() -> None:
    assert rules_in(CASES) == names_of(RULES, SEALED_RULES)
