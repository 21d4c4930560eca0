"""The playground takes the messages and nodes of LlamaIndex as they are."""

from __future__ import annotations

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode

from ctxopt_playground import Playground


def test_messages_and_nodes_are_taken_as_they_are():
    messages = [ChatMessage(role=role, content=text) for role, text in (("user", "Lit?"), ("assistant", "It is."))]
    nodes = [NodeWithScore(node=TextNode(text="Lantern 7 burns.", id_="n7"), score=0.5)]

    request = Playground([*messages, ChatMessage(role="user", content="And now?")], nodes, target_tokens=300).request

    history = [request.history[index] for index in range(len(request.history))]
    assert [(message.role, *message.texts) for message in history] == [
        ("user", "Lit?"),
        ("assistant", "It is."),
        ("user", "And now?"),
    ]
    assert [(one.id, one.score, one.text) for one in request.documents] == [("n7", 0.5, "Lantern 7 burns.")]
