"""A pasted JSON text is recognized by its shape, and read whole, in order, or refused with the place that is wrong."""

from __future__ import annotations

import json

import pytest

from ctxopt_core import Message, ToolCall
from ctxopt_core.errors import CtxoptError
from ctxopt_playground.readers.history import read_history
from ctxopt_playground.readers.json import UnreadablePasteError, opens_json, read_json

ASKED = {"role": "user", "content": "Which key?"}
TOLD = {"role": "assistant", "content": "Key 777."}
BRIEF = {"role": "system", "content": "Be brief."}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"gate": 7}'}},
        {"id": "c2", "type": "function", "function": {"name": "look_up", "arguments": '{"gate": 8}'}},
    ],
}
RESULTS = [
    {"role": "tool", "tool_call_id": "c1", "content": "777"},
    {"role": "tool", "tool_call_id": "c2", "content": "888"},
]
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {}}}

USER = Message(role="user", content="Which key?")
ASSISTANT = Message(role="assistant", content="Key 777.")
SYSTEM = Message(role="system", content="Be brief.")
CALLING = Message(
    role="assistant",
    content=(),
    tool_calls=(
        ToolCall(id="c1", name="look_up", arguments='{"gate": 7}'),
        ToolCall(id="c2", name="look_up", arguments='{"gate": 8}'),
    ),
)
ANSWERS = [
    Message(role="tool", content="777", tool_call_id="c1"),
    Message(role="tool", content="888", tool_call_id="c2"),
]


def lines(*values):
    return "\n".join(map(json.dumps, values))


def constructed(name, **fields):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}


@pytest.mark.parametrize(
    ("text", "messages", "recognized"),
    [
        pytest.param(json.dumps([BRIEF, ASKED, TOLD]), [SYSTEM, USER, ASSISTANT], "OpenAI JSON", id="a list"),
        pytest.param(json.dumps([ASKED, TOLD], indent=4), [USER, ASSISTANT], "OpenAI JSON", id="an indented list"),
        pytest.param("\ufeff\n " + json.dumps([ASKED]), [USER], "OpenAI JSON", id="a byte order mark"),
        pytest.param(json.dumps({"model": "gpt-4o", "messages": [ASKED]}), [USER], "OpenAI JSON", id="a request"),
        pytest.param(
            json.dumps({"custom_id": "7", "body": {"messages": [ASKED]}}), [USER], "OpenAI JSON", id="a batch line"
        ),
        pytest.param(json.dumps(ASKED), [USER], "OpenAI JSON", id="one message"),
        pytest.param(lines(ASKED, TOLD), [USER, ASSISTANT], "OpenAI JSON", id="a message on each line"),
        pytest.param(
            "\r\n\r\n".join(map(json.dumps, [ASKED, TOLD])), [USER, ASSISTANT], "OpenAI JSON", id="blank lines"
        ),
        pytest.param(
            json.dumps([ASKED, CALLS, *RESULTS]), [USER, CALLING, *ANSWERS], "OpenAI JSON", id="calls in flight"
        ),
        pytest.param(
            json.dumps([{"role": "human", "content": "Which key?"}]), [USER], "OpenAI JSON", id="another role name"
        ),
        pytest.param(
            json.dumps({"system": "Be brief.", "messages": [ASKED]}), [USER], "Anthropic JSON", id="Anthropic"
        ),
        pytest.param(
            json.dumps(
                [
                    ASKED,
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {}}],
                    },
                ]
            ),
            [
                USER,
                Message(role="assistant", content=(), tool_calls=(ToolCall(id="c1", name="look_up", arguments="{}"),)),
            ],
            "Anthropic JSON",
            id="blocks of Anthropic",
        ),
        pytest.param(
            json.dumps({"messages": [{"type": "human", "data": {"content": "Which key?"}}]}),
            [USER],
            "LangChain messages",
            id="messages_to_dict",
        ),
        pytest.param(
            json.dumps([{"type": "human", "content": "Which key?"}, {"type": "ai", "content": "Key 777."}]),
            [USER, ASSISTANT],
            "LangChain messages",
            id="model_dump",
        ),
        pytest.param(
            lines(constructed("HumanMessage", content="Which key?"), constructed("AIMessage", content="Key 777.")),
            [USER, ASSISTANT],
            "LangChain messages",
            id="lines of dumps of old releases",
        ),
        pytest.param(
            json.dumps([BRIEF, {"type": "human", "content": "Which key?"}]),
            [SYSTEM, USER],
            "LangChain messages",
            id="mixed",
        ),
        pytest.param(
            json.dumps([{"role": "user", "blocks": [{"block_type": "text", "text": "Which key?"}]}]),
            [USER],
            "LlamaIndex messages",
            id="LlamaIndex",
        ),
    ],
)
def test_each_shape_is_recognized(text, messages, recognized):
    found = read_history(text)

    assert list(found.request.history) == messages
    assert (found.format, found.notes) == (recognized, ())


def test_what_goes_with_the_messages_is_read():
    found = read_history(
        json.dumps(
            {
                "model": "gpt-4o",
                "messages": [BRIEF, ASKED],
                "tools": [TOOL],
                "documents": ["Gate 7 has a door.", {"id": "d8", "text": "Gate 8 has none.", "score": 0.5}],
            }
        )
    )

    assert found.request.tools == (TOOL,)
    assert [document.text for document in found.request.documents] == ["Gate 7 has a door.", "Gate 8 has none."]
    assert found.stored.settings.name == "gpt-4o"


def test_items_of_the_responses_api_are_read():
    call = {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"gate": 7}'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "777"}
    given = {"model": "gpt-4o", "instructions": "Be brief.", "input": [ASKED, call, result]}
    found = read_history(json.dumps(given))

    assert found.format == "OpenAI Responses JSON"
    assert found.request.system == ("Be brief.",)
    assert [message.role for message in found.request.history] == ["user", "assistant", "tool"]
    assert found.request.history[1].tool_calls == (ToolCall(id="c1", name="look_up", arguments='{"gate": 7}'),)


def test_of_several_requests_the_first_is_read_and_a_note_says_so():
    found = read_history(lines({"messages": [ASKED]}, {"messages": [TOLD]}, {"messages": [TOLD]}))

    assert list(found.request.history) == [USER]
    assert found.notes == ("only the first of 3 requests is read",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(" \n\ufeff", "nothing was pasted", id="nothing"),
        pytest.param("[]", "must be a list of messages.*got an empty list", id="an empty list"),
        pytest.param("{}", "must be a list of messages.*got an object without them", id="an empty object"),
        pytest.param('["Which key?"]', "must be a list of messages.*got a list of something else", id="texts"),
        pytest.param('[{"role": "user",\n "content": "Which key?"', r"not JSON: .* line 2", id="cut off"),
        pytest.param("[{'role': 'user'}]", "not JSON: .*double quotes", id="as Python prints it"),
        pytest.param(lines(ASKED, TOLD) + "\n{oops", "line 3: not JSON", id="a line that is no JSON"),
        pytest.param(lines(ASKED, TOLD, {"x": 1}), "line 3: .* must hold one, too", id="a line that is no message"),
        pytest.param(json.dumps([ASKED, "Which key?"]), r"messages\[1\].* got str", id="a text among messages"),
        pytest.param(json.dumps([ASKED, {"content": "x"}]), r"messages\[1\]\.role.* got NoneType", id="no role"),
        pytest.param(
            json.dumps([ASKED, {"role": 7, "content": "x"}]), r"messages\[1\]\.role.* got int", id="a role of 7"
        ),
        pytest.param(
            json.dumps([{"role": "user", "parts": []}]), r"messages\[0\].* must have `content`", id="no content"
        ),
        pytest.param(
            json.dumps([{"role": "user", "content": 7}]), r"messages\[0\]\.content.* got int", id="content of 7"
        ),
        pytest.param(
            json.dumps([{"role": "user", "content": [7]}]), r"messages\[0\]\.content.* got int", id="a part of 7"
        ),
        pytest.param(json.dumps([{**ASKED, "name": 7}]), r"messages\[0\]\.name.* got int", id="a name of 7"),
        pytest.param(json.dumps([{**TOLD, "tool_calls": 7}]), r"messages\[0\]\.tool_calls.* got int", id="calls of 7"),
        pytest.param(
            json.dumps([{**TOLD, "tool_calls": [7]}]), r"messages\[0\]\.tool_calls.* got int", id="a call of 7"
        ),
        pytest.param(json.dumps({"messages": [ASKED, 7]}), r"messages\[1\].* got int", id="inside a request"),
        pytest.param(json.dumps({"messages": 7}), "must be a list of messages", id="messages of 7"),
        pytest.param(json.dumps({"messages": [ASKED], "tools": [7]}), "tools.* got int", id="a tool of 7"),
        pytest.param(json.dumps({"messages": [ASKED], "documents": [7]}), "documents.* got int", id="a document of 7"),
        pytest.param(
            json.dumps([{"type": "ai", "content": "", "tool_calls": [7]}]),
            r"messages\[0\].*`tool_calls` must be a list of objects",
            id="a LangChain call of 7",
        ),
        pytest.param(
            json.dumps([{"role": "user", "blocks": [7]}]),
            r"messages\[0\].*`blocks` must be a list of objects",
            id="a LlamaIndex block of 7",
        ),
        pytest.param("[" * 100_000, "nested too deeply", id="nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, message):
    with pytest.raises(UnreadablePasteError, match=message) as caught:
        read_history(text)

    assert isinstance(caught.value, CtxoptError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('[{"role"', True, id="a list of objects"),
        pytest.param(' {\n"role"', True, id="an object"),
        pytest.param("[]", True, id="an empty list"),
        pytest.param("[10:32] User: good morning", False, id="a time"),
        pytest.param("[User]: good morning", False, id="a speaker"),
        pytest.param("{name} says good morning", False, id="a template"),
        pytest.param("{{name}} says good morning", False, id="a template with two braces"),
        pytest.param("{} says good morning", False, id="a template with nothing in it"),
        pytest.param("[] nothing done", False, id="a box to tick"),
        pytest.param("{'role'", True, id="an object as Python prints it"),
        pytest.param("good [morning]", False, id="prose"),
    ],
)
def test_a_bracket_alone_makes_no_json(text, expected):
    assert opens_json(text) is expected


@pytest.mark.parametrize("text", ["", "\n \n", "[1"], ids=["nothing", "blank lines", "cut off"])
def test_what_is_no_json_has_no_values(text):
    with pytest.raises(UnreadablePasteError, match="not JSON"):
        read_json(text)
