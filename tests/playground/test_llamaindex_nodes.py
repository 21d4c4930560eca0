"""The playground reads what LlamaIndex writes: nodes with their scores, and messages."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from llama_index.core.base.llms.types import (
    AudioBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import Document, MediaResource, Node, NodeWithScore, TextNode

from ctxopt_playground.readers.documents import read_documents
from ctxopt_playground.readers.history import read_history
from drawn_examples import examples
from hostile_text import openai_messages
from llamaindex_ctxopt.messages.message_views import view_of
from llamaindex_ctxopt.nodes.rendering import node_views
from llamaindex_messages import to_messages

NODES = {
    "a text node": TextNode(text="Gate 7 has a door.", id_="n7", metadata={"file_name": "gates.md"}),
    "a document": Document(text="Gate 7 has a door.", id_="d7"),
    "a node with a text resource": Node(text_resource=MediaResource(text="Gate 7 has a door."), id_="r7"),
    "no text": TextNode(text="", id_="n8"),
    "hostile text": TextNode(text="</script><b>Gate</b> \u202e <|endoftext|>", id_="n9"),
}


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda found: found.to_dict(), id="to_dict"),
        pytest.param(lambda found: json.loads(found.model_dump_json()), id="model_dump_json"),
    ],
)
def test_nodes_are_seen_as_they_are_without_being_stored(node, written):
    found = [NodeWithScore(node=node, score=0.75), NodeWithScore(node=node)]
    expected = [(view.text, view.id, view.score) for view in node_views(found)]

    read = read_documents(json.dumps([written(one) for one in found]))

    assert [(one.text, one.id, one.score) for one in read] == expected
    assert [one.metadata for one in read] == [node.metadata] * 2
    assert [(one.text, one.id, one.score) for one in read_documents(json.dumps(written(node)))] == [
        (expected[1][0], expected[1][1], None)
    ]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(ChatMessage("Which key?"), id="user"),
        pytest.param(ChatMessage("Be brief.", role="system"), id="system"),
        pytest.param(ChatMessage("Key 777.", role="chatbot"), id="another name of the assistant"),
        pytest.param(ChatMessage(blocks=[TextBlock(text="Which"), TextBlock(text="key?")]), id="blocks of text"),
        pytest.param(
            ChatMessage(
                role="assistant",
                blocks=[
                    TextBlock(text="Let me see."),
                    ToolCallBlock(tool_call_id="c1", tool_name="look_up", tool_kwargs={"gate": 7}),
                    ToolCallBlock(tool_call_id="c2", tool_name="look_up", tool_kwargs='{"gate": 8}'),
                ],
            ),
            id="calls",
        ),
        pytest.param(
            ChatMessage(
                role="assistant",
                blocks=[
                    ThinkingBlock(content="Seven it is."),
                    ToolCallBlock(tool_call_id="c1", tool_name="look_up", tool_kwargs={"gate": 7}),
                ],
            ),
            id="a call with reasoning",
        ),
        pytest.param(
            ChatMessage("777", role="tool", additional_kwargs={"tool_call_id": "c1", "name": "look_up"}), id="a result"
        ),
    ],
)
def test_a_message_is_seen_as_it_is_without_being_stored(message):
    found = read_history(json.dumps([json.loads(message.model_dump_json())]))

    assert list(found.request.history) == [view_of(message)]
    assert found.format == "LlamaIndex messages"


@settings(max_examples=examples(40))
@given(rows=openai_messages())
def test_every_conversation_is_read_whole_and_in_order(rows):
    messages = to_messages(json.loads(json.dumps(rows)))
    stored = json.dumps({"messages": [message.model_dump() for message in messages]}, default=str)
    read = read_history(stored).request

    assert list(map(_without_media, read.history)) == [_without_media(view_of(message)) for message in messages]


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        pytest.param(ImageBlock(url="https://gates.example/7.png"), "image", id="an image by its address"),
        pytest.param(ImageBlock(image=b"\x89PNG\r\n\x1a\n" + b"0" * 400), "image", id="an image by its bytes"),
        pytest.param(AudioBlock(audio=b"RIFF" * 100, format="wav"), "audio", id="audio"),
        pytest.param(DocumentBlock(data=b"%PDF" * 100, document_mimetype="application/pdf"), "file", id="a file"),
    ],
)
def test_media_stay_attachments_and_their_bytes_no_text(block, kind):
    message = ChatMessage(role="user", blocks=[TextBlock(text="Which key?"), block])
    (view,) = read_history(json.dumps([json.loads(message.model_dump_json())])).request.history

    assert (view.texts, view.verbatim) == (("Which key?",), ())
    assert [attachment.kind for attachment in view.attachments] == [kind]


def _without_media(view):
    """Return a view whose text stands in a list, as beside media, without these: LlamaIndex charges its own price."""
    return replace(view, content=view.texts, attachments=())
