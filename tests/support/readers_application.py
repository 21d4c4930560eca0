"""What a reader of the README has already: a chain's parts, a retriever, an index, and more text than fits."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as Page
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from pydantic import Field

WINDOW = 8_000
QUESTION = "Which lantern burns longest?"


class WindowedModel(FakeListChatModel):
    """A chat model that keeps the messages that it was last sent."""

    received: list[Any] = Field(default_factory=list)

    def _call(self, messages: list[Any], *args: Any, **kwargs: Any) -> str:
        self.received[:] = messages
        return super()._call(messages, *args, **kwargs)


class CountingLLM(MockLLM):
    """An LLM that counts its calls."""

    calls: int = 0

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return super().complete(*args, **kwargs)


def readers_documents() -> list[Document]:
    """Return documents of 360 tokens and more each."""
    return [Document(f"Lantern {i} burns {i} hours. " * 40, id=str(i)) for i in range(40)]


def readers_request() -> dict[str, Any]:
    """Return the input of the reader's chain, which is larger than its model's window."""
    history = [HumanMessage("We spoke of lanterns. "), AIMessage("We did. " * 200)] * 10
    return {"context": readers_documents(), "chat_history": history, "question": QUESTION}


def readers_names() -> dict[str, Any]:
    """Return what the first block of the README does not define."""
    prompt = ChatPromptTemplate(
        [("system", "Answer.\n\n{context}"), MessagesPlaceholder("chat_history"), ("human", "{question}")]
    )
    profile = {"max_input_tokens": WINDOW, "max_output_tokens": 500}
    store = InMemoryVectorStore.from_documents(readers_documents(), DeterministicFakeEmbedding(size=8))
    pages = [Page(text=document.page_content) for document in readers_documents()]
    return {
        "prompt": prompt,
        "model": WindowedModel(responses=["Lantern 39."], profile=profile),
        "retriever": store.as_retriever(search_kwargs={"k": 40}),
        "index": VectorStoreIndex.from_documents(pages, embed_model=MockEmbedding(embed_dim=8)),
        "llm": CountingLLM(max_tokens=50),
    }
