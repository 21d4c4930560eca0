"""The playground reads what LangChain writes: every stored form of a message is seen as the message itself is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    get_buffer_string,
    messages_to_dict,
)
from langchain_core.prompt_values import ChatPromptValue

from ctxopt_playground.readers.documents import read_documents
from ctxopt_playground.readers.history import read_history
from ctxopt_playground.readers.json import UnreadablePasteError
from drawn_examples import examples
from hostile_text import openai_messages
from langchain_ctxopt.documents import document_views
from langchain_ctxopt.message_views import view_of
from langchain_requests import to_message

FORMS = {
    "messages_to_dict": messages_to_dict,
    "dumpd": lambda messages: [dumpd(message) for message in messages],
    "model_dump": lambda messages: [message.model_dump(mode="json") for message in messages],
    "a request": lambda messages: {"messages": messages_to_dict(messages)},
    "a prompt value": lambda messages: dumpd(ChatPromptValue(messages=messages)),
}
CALL = {"name": "look_up", "args": {"gate": 7, "Tür": ["ä"]}, "id": "call_1"}
RAW_CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"gate": 7}'}}

each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def seen(messages: list[BaseMessage]) -> list:
    """Return the messages as the adapter sees them; an id of no letters is none."""
    views = [view_of(message) for message in messages]
    return [replace(view, tool_call_id=view.tool_call_id or None) for view in views]


@each_form
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(HumanMessage("Which key?"), id="human"),
        pytest.param(HumanMessage("Which key?", name="Orla"), id="a named human"),
        pytest.param(HumanMessage([{"type": "text", "text": "Which"}, "key?"]), id="blocks of text"),
        pytest.param(SystemMessage("Be brief."), id="system"),
        pytest.param(
            SystemMessage("Be brief.", additional_kwargs={"__openai_role__": "developer"}), id="the developer"
        ),
        pytest.param(AIMessage("Key 777."), id="ai"),
        pytest.param(AIMessage("", tool_calls=[CALL, {**CALL, "id": "call_2"}]), id="calls"),
        pytest.param(
            AIMessage("", invalid_tool_calls=[{"name": "look_up", "args": '{"gate', "id": "call_3", "error": "cut"}]),
            id="a call that is no JSON",
        ),
        pytest.param(
            AIMessage("", tool_calls=[CALL], additional_kwargs={"tool_calls": [RAW_CALL]}), id="calls kept twice"
        ),
        pytest.param(
            AIMessage("", tool_calls=[CALL], additional_kwargs={"tool_calls": [{**RAW_CALL, "signature": "x"}]}),
            id="a signed call",
        ),
        pytest.param(
            AIMessage("", additional_kwargs={"function_call": {"name": "look_up", "arguments": "{}"}}),
            id="the legacy form of a call",
        ),
        pytest.param(AIMessage("Yes.", additional_kwargs={"reasoning_content": "Seven it is."}), id="reasoning beside"),
        pytest.param(AIMessage("", additional_kwargs={"refusal": "I cannot."}), id="a refusal"),
        pytest.param(
            AIMessage(
                [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "t1", "name": "g", "input": {}}],
                tool_calls=[{"name": "g", "args": {}, "id": "t1"}],
            ),
            id="blocks of Anthropic",
        ),
        pytest.param(AIMessageChunk("Key", tool_calls=[CALL]), id="a chunk"),
        pytest.param(ToolMessage("777", tool_call_id="call_1", name="look_up", artifact={"n": 7}), id="a result"),
        pytest.param(FunctionMessage("777", name="look_up"), id="the legacy form of a result"),
        pytest.param(ChatMessage("Hear, hear.", role="critic"), id="a role of one's own"),
        pytest.param(ChatMessage("Hear, hear.", role="human"), id="another name of a role"),
    ],
)
def test_a_message_is_seen_as_it_is_without_being_stored(form, message):
    found = read_history(json.dumps(form([message])))

    assert list(found.request.history) == seen([message])
    assert found.format == "LangChain messages"


@each_form
@settings(max_examples=examples(40))
@given(rows=openai_messages())
def test_every_conversation_is_read_whole_and_in_order(form, rows):
    # JSON joins the halves of a pair of surrogates.
    messages = [to_message(row) for row in json.loads(json.dumps(rows))]
    read = read_history(json.dumps(form(messages))).request

    # The bytes of media are charged by the rules of the provider in whose form they are written.
    assert [replace(view, attachments=()) for view in read.history] == [
        replace(view, attachments=()) for view in seen(messages)
    ]
    assert [len(view.attachments) for view in read.history] == [len(view.attachments) for view in seen(messages)]


def test_lines_of_messages_are_one_conversation():
    messages = [SystemMessage("Be brief."), HumanMessage("Which key?"), AIMessage("Key 777.")]
    lines = "\n".join(json.dumps(dumpd(message)) for message in messages)

    assert list(read_history(lines).request.history) == seen(messages)


@each_form
def test_a_message_that_removes_another_is_refused(form):
    with pytest.raises(UnreadablePasteError, match=r"messages\[1\].* a RemoveMessage"):
        read_history(json.dumps(form([HumanMessage("Which key?"), RemoveMessage(id="x")])))


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(get_buffer_string, id="get_buffer_string"),
        pytest.param(
            lambda messages: "\n".join(message.pretty_repr() for message in messages), id="as pretty_print writes"
        ),
    ],
)
def test_what_langchain_prints_is_a_transcript(written):
    messages = [SystemMessage("Be brief."), HumanMessage("Which\n\nkey?"), AIMessage("Key 777."), HumanMessage("Sure?")]
    found = read_history(written(messages))

    assert list(found.request.history) == seen(messages)
    assert found.format == "transcript"


@pytest.mark.parametrize(
    "form",
    [dumpd, lambda document: document.model_dump(mode="json")],
    ids=["dumpd", "model_dump"],
)
def test_documents_are_seen_as_they_are_without_being_stored(form):
    documents = [
        Document("Gate 7 has a door.", id="d7", metadata={"score": 0.75, "source": "gates.md"}),
        Document("", id="d8", metadata={"relevance_score": 0.5}),
        Document("Gate 9 <b>is</b> shut.", metadata={"score": "HIGH"}),
    ]
    expected = [
        replace(view, id=view.id or str(number), metadata=document.metadata, from_pipeline=False)
        for number, (view, document) in enumerate(zip(document_views(documents, None), documents, strict=True), 1)
    ]

    assert list(read_documents(json.dumps([form(document) for document in documents]))) == expected


def test_pairs_of_a_document_and_its_score_are_read():
    pairs = [(dumpd(Document("Gate 7 has a door.")), 0.25), (dumpd(Document("Gate 8 has none.")), 0.5)]

    assert [(one.text, one.score) for one in read_documents(json.dumps(pairs))] == [
        ("Gate 7 has a door.", 0.25),
        ("Gate 8 has none.", 0.5),
    ]
