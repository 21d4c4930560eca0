"""`fit_messages`: the dicts of three APIs in, the same shape out, and what wrong first arguments of `fit` are told."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    afit,
    fit,
    fit_messages,
    plan,
)

LONG = "word " * 200
RESULT = "data " * 400
WHY = {"role": "user", "content": "Why?"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra": 1}
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
IMAGE = {"type": "image_url", "image_url": {"url": PIXEL}}
CACHED = {"type": "ephemeral"}
OPENAI = [
    {"role": "developer", "content": "Be short.", "name": "boss"},
    {"role": "user", "content": LONG, "name": "ann"},
    {"role": "assistant", "content": "Yes.", "annotations": []},
    {"role": "user", "content": LONG},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": RESULT},
    {"role": "user", "content": [{"type": "text", "text": "Why?"}, IMAGE], "name": "ann"},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": LONG}]},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "sealed"},
    {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"},
    {"type": "function_call_output", "call_id": "c", "output": RESULT},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}], "id": "m"},
    WHY,
]
ANTHROPIC = [
    {"role": "user", "content": [{"type": "text", "text": LONG, "cache_control": CACHED}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": RESULT}]},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": [{"type": "text", "text": "Why?", "cache_control": CACHED}]},
]
SYSTEM = [{"type": "text", "text": "Be short.", "cache_control": CACHED}]
SHAPES = [
    pytest.param(OPENAI, "gpt-5", None, id="openai"),
    pytest.param(RESPONSES, "gpt-5", "Be short.", id="responses"),
    pytest.param(ANTHROPIC, "claude-sonnet-4-5", SYSTEM, id="anthropic"),
]


def calls(value: Any) -> list[tuple[str, str]]:
    """Return the ids of calls and of results in messages of any of the shapes."""
    if isinstance(value, list):
        return [found for item in value for found in calls(item)]
    if not isinstance(value, dict):
        return []
    kind = value.get("type")
    if kind in ("function", "tool_use"):
        return [("call", value["id"])]
    if kind == "function_call":
        return [("call", value["call_id"])]
    if kind == "function_call_output":
        return [("result", value["call_id"])]
    if kind == "tool_result":
        return [("result", value["tool_use_id"])]
    own = [("result", value["tool_call_id"])] if "tool_call_id" in value else []
    return [*own, *calls(value.get("tool_calls")), *calls(value.get("content"))]


@pytest.mark.parametrize(("messages", "model", "system"), SHAPES)
def test_u1_what_fits_comes_back_as_the_same_objects(messages: Any, model: str, system: Any) -> None:
    fitted = fit_messages(messages, model, system=system)

    assert fitted.unchanged
    assert fitted.messages is messages
    assert fitted.system is system


@pytest.mark.parametrize("limit", [70, 100, 150, 200, 300, 500, 700, 900])
@pytest.mark.parametrize(("messages", "model", "system"), SHAPES)
def test_u1_the_same_shape_comes_out_and_the_input_is_untouched(
    messages: Any, model: str, system: Any, limit: int
) -> None:
    before = copy.deepcopy((messages, system))
    try:
        fitted = fit_messages(messages, model, system=system, max_input_tokens=limit)
    except ContextBudgetError as error:
        assert error.needed is not None
        assert error.needed > limit
        return
    finally:
        assert (messages, system) == before

    assert fitted.report.tokens_after <= limit
    if limit >= 300:  # below, there is no room for the image of the question
        assert fitted.messages[-1] is messages[-1]
    assert {**fitted.messages[-1], "content": None} == {**messages[-1], "content": None}
    assert "Why?" in str(fitted.messages[-1]["content"])
    assert fitted.system == system
    found = calls(fitted.messages)
    assert [kind for kind, _ in found] in ([], ["call", "result"])
    given = {key for message in messages for key in message}
    assert all(message.keys() <= given for message in fitted.messages)
    # The same figure, when the result is given again.
    again = fit_messages(fitted.messages, model, system=fitted.system, max_input_tokens=limit)
    assert again.report.tokens_before == fitted.report.tokens_after
    assert again.unchanged


@pytest.mark.parametrize(
    ("messages", "place", "key", "kept"),
    [
        pytest.param(OPENAI, 1, "name", "ann", id="name"),
        pytest.param(ANTHROPIC, 0, "content", CACHED, id="cache_control"),
    ],
)
def test_u1_a_shortened_message_keeps_everything_else(messages: Any, place: int, key: str, kept: Any) -> None:
    fitted = fit_messages([messages[place], WHY], max_input_tokens=120, output_reserve=0)

    shortened = fitted.messages[0]
    assert shortened is not messages[place]
    assert kept in (shortened[key], shortened[key][0].get("cache_control") if key == "content" else None)


def test_u1_reasoning_items_stay_with_what_they_precede() -> None:
    fitted = fit_messages(RESPONSES, "gpt-5", max_input_tokens=300)

    assert RESPONSES[1] in fitted.messages


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param([f"Lamp {i} burns. " * 40 for i in range(9)], id="strings"),
        pytest.param([{"text": f"Lamp {i} burns. " * 40, "score": i, "page": i} for i in range(9)], id="mappings"),
        pytest.param([Document(text=f"Lamp {i} burns. " * 40, score=i) for i in range(9)], id="documents"),
    ],
)
def test_u1_documents_come_back_in_the_kind_that_was_given(documents: list[Any]) -> None:
    fitted = fit_messages([WHY], "gpt-5", documents=documents, max_input_tokens=500)

    assert 0 < len(fitted.documents) < len(documents)
    assert {type(document) for document in fitted.documents} == {type(documents[0])}
    assert any(document is given for document in fitted.documents for given in documents)
    if isinstance(documents[0], dict):
        assert all("page" in document for document in fitted.documents)
    assert fitted.report.tokens_after <= 500


def test_u1_tools_and_formats_are_counted() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "d " * 50, "parameters": {"type": "object"}}}
    bare = fit_messages([WHY], "gpt-5").report.tokens_before

    assert fit_messages([WHY], "gpt-5", tools=[tool]).report.tokens_before > bare + 50
    with_format = fit_messages([WHY], "gpt-5", response_format={"type": "json_schema", "json_schema": {"name": "n"}})
    assert with_format.report.tokens_before > bare


class Dumped:
    """A client's object."""

    def model_dump(self) -> dict[str, Any]:
        return {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        pytest.param("Why?", "put a string into a message", id="string"),
        pytest.param({"messages": [WHY], "model": "gpt-5"}, "pass the value of 'messages'", id="body"),
        pytest.param({"input": [WHY]}, "pass the value of 'input'", id="responses body"),
        pytest.param(WHY, "put a single message into a list", id="one message"),
        pytest.param(None, "pass the list", id="none"),
        pytest.param([WHY, Dumped()], r"messages\[1\].*model_dump", id="client object"),
        pytest.param([WHY, "x"], r"messages\[1\].*give a dict", id="string in the list"),
    ],
)
def test_u1_wrong_messages_say_what_to_give(messages: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        fit_messages(messages, "gpt-5")


@pytest.mark.parametrize("call", [fit, plan, lambda *given: asyncio.run(afit(*given))], ids=["fit", "plan", "afit"])
@pytest.mark.parametrize(
    ("request_", "budget", "said"),
    [
        pytest.param([WHY], ContextBudget(max_input_tokens=90), "fit_messages", id="list"),
        pytest.param((WHY,), "gpt-5", "fit_messages", id="tuple"),
        pytest.param({"messages": [WHY]}, "gpt-5", "fit_messages", id="dict"),
        pytest.param("Why?", "gpt-5", "ContextRequest", id="string"),
        pytest.param(None, "gpt-5", "ContextRequest", id="none"),
        pytest.param(ContextRequest(query="x"), "gpt-4o", r"ContextBudget.for_model\('gpt-4o'\)", id="model name"),
        pytest.param(ContextRequest(query="x"), 4000, r"max_input_tokens=4000", id="number"),
        pytest.param(ContextRequest(query="x"), {"model_name": "gpt-4o"}, "from_mapping", id="mapping"),
        pytest.param(ContextRequest(query="x"), None, "for_model", id="no budget"),
    ],
)
def test_u1_wrong_first_arguments_of_fit_say_what_to_call(call: Any, request_: Any, budget: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        call(request_, budget)
