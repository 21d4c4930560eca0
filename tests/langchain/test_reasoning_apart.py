"""Reasoning in a message of its own and the model's next message are kept or dropped together."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxopt import ContextOptimizer
from shape_rows import SENTENCE

SHOT = "data:image/png;base64,iVBORw0KGgo="
STRATEGIES: dict[str, Any] = {
    **{name: name for name in ("auto", "turns", "sliding_window", "relevance")},
    "a function": lambda view: [i for turn in view.turns for i in turn if i % 7],
}


def fitted(messages: list[BaseMessage], most: int, strategy: Any = "auto") -> list[BaseMessage]:
    optimizer = ContextOptimizer(model="gpt-4o", max_input_tokens=most, history={"strategy": strategy})
    left: list[BaseMessage] = optimizer.invoke(messages)
    assert optimizer.count_tokens(left) <= most
    return left


def tool(text: str = SENTENCE * 8, **more: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id="c", **more)


SAID = {"type": "text", "text": SENTENCE * 3}
CALL = AIMessage(
    [{"type": "tool_use", "id": "c", "name": "look", "input": {"at": 1}}],
    tool_calls=[{"name": "look", "args": {"at": 1}, "id": "c"}],
)
REASONED: dict[str, Any] = {
    "a message": [AIMessage([SAID])],
    "a function": [CALL, tool(), AIMessage([SAID])],
    "a click": [
        AIMessage([{"type": "computer_call", "id": "cu", "call_id": "c", "action": {"type": "click"}}]),
        tool(SHOT, additional_kwargs={"type": "computer_call_output"}),
        AIMessage([SAID]),
    ],
    "a search": [AIMessage([{"type": "web_search_call", "id": "ws"}]), AIMessage([SAID])],
    "more reasoning": [AIMessage([{"type": "reasoning", "id": "rs_more", "summary": []}]), AIMessage([SAID])],
}
REASONING: dict[str, Any] = {
    "an id alone": {"type": "reasoning", "summary": []},
    "sealed": {"type": "reasoning", "summary": [], "encrypted_content": "gAAAAA" * 40},
    "a summary": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look at it."}]},
    "thinking": {"type": "thinking", "thinking": "I look at it.", "signature": "c2VhbGVk"},
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("before", [[], [{"type": "text", "text": "I see."}]], ids=["alone", "after a text"])
@pytest.mark.parametrize("thought", REASONING)
@pytest.mark.parametrize("kind", REASONED)
def test_l10_reasoning_in_a_message_of_its_own_goes_with_the_next(
    kind: str, thought: str, before: list[Any], strategy: str
) -> None:
    messages: list[BaseMessage] = []
    for n in range(14):
        answer = [copy.deepcopy(message) for message in REASONED[kind]]
        answer[0].id = f"item of {n}"
        reasoning = AIMessage([*before, {**REASONING[thought], "id": f"rs_{n}"}], id=f"reasoning of {n}")
        messages += [HumanMessage(f"{n}? {SENTENCE}"), reasoning, *answer]
    messages.append(HumanMessage("And now?"))
    whole = ContextOptimizer(model="gpt-4o", max_input_tokens=100_000).count_tokens(messages)
    for most in (whole // 4, whole * 2 // 5, whole // 2):
        left = fitted(messages, most, STRATEGIES[strategy])
        ids = [message.id for message in left]
        assert any(str(name).startswith("reasoning") for name in ids)
        for n in range(14):
            assert (f"reasoning of {n}" in ids) == (f"item of {n}" in ids)
            assert f"item of {n}" not in ids or ids[ids.index(f"item of {n}") - 1] == f"reasoning of {n}"


def test_l10_the_arguments_of_a_call_stay_with_the_reasoning_in_the_message_before_it() -> None:
    given = {"at": SENTENCE * 40}
    call = AIMessage("", tool_calls=[{"name": "look", "args": given, "id": "c"}])
    messages = [HumanMessage("Look."), call, tool("Seen."), AIMessage("I looked."), HumanMessage("And now?")]
    thought = AIMessage([{"type": "reasoning", "id": "rs", "summary": []}])
    for most in (80, 150, 300):
        for message in fitted([*messages[:1], thought, AIMessage(""), *messages[1:]], most):
            assert not isinstance(message, AIMessage) or all(made["args"] == given for made in message.tool_calls)


def test_l10_reasoning_that_leads_to_nothing_is_no_part_of_what_the_user_says_next() -> None:
    thought = AIMessage([{"type": "reasoning", "id": "rs", "summary": []}])
    left = fitted([HumanMessage(SENTENCE * 20), thought, HumanMessage("And now?")], 60)
    assert left[-1].content == "And now?"
    assert thought not in left
