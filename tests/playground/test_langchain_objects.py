"""The playground takes the messages and documents of LangChain as they are."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from ctxopt_playground import Playground


def test_messages_and_documents_are_taken_as_they_are():
    called = AIMessage("", tool_calls=[{"name": "look", "args": {"lantern": 7}, "id": "c1"}])
    messages = [SystemMessage("Be brief."), HumanMessage("Lit?"), called, ToolMessage("It is.", tool_call_id="c1")]
    documents = [Document(page_content="Lantern 7 burns.", metadata={"score": 0.5}, id="d7")]

    request = Playground([*messages, HumanMessage("And now?")], documents, target_tokens=300).request

    history = [request.history[index] for index in range(len(request.history))]
    assert [message.role for message in history] == ["system", "user", "assistant", "tool", "user"]
    assert (history[2].tool_calls[0].name, history[3].texts) == ("look", ("It is.",))
    assert [(one.id, one.score, one.text) for one in request.documents] == [("d7", 0.5, "Lantern 7 burns.")]
