"""Documents for the compressor, embeddings that need no model, and the count of what a chain makes of the result."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.prompts import BasePromptTemplate, PromptTemplate, format_document
from langchain_core.vectorstores import InMemoryVectorStore

from independent_recount import count_text

TOPICS = ("kiln", "orchard", "ferry", "lantern", "beehive", "anvil", "loom", "quarry", "mill", "chapel")
BARE = PromptTemplate.from_template("{page_content}")
CITED = PromptTemplate.from_template("<source id={source}>\n{page_content}\n</source>")
DIMENSIONS = 64


class Chunk(Document):
    """A document class of an application."""

    page: int = 0


class HashedWords(Embeddings):
    """Counts words in as many buckets as there are dimensions: deterministic, local, and alike for like texts."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
        length = math.hypot(*vector) or 1.0
        return [value / length for value in vector]


def report_on(topic: str, number: int, sentences: int = 4) -> str:
    """Return a text about one topic that is like no other."""
    parts = (f"In year {1900 + number * 7 + i} the {topic} kept record {number * 31 + i}." for i in range(sentences))
    return " ".join(parts)


def chunks(count: int = 10, *, sentences: int = 4) -> list[Document]:
    """Return documents of two classes, with ids, nested metadata and scores that fall."""
    made: list[Document] = []
    for number in range(count):
        kind = Chunk if number % 2 else Document
        metadata = {"score": 1 - number / 20, "source": f"shelf-{number}", "deep": {"tags": [number]}, "n": number}
        text = report_on(TOPICS[number % len(TOPICS)], number, sentences)
        made.append(kind(page_content=text, id=f"c{number}", metadata=metadata, **{"page": 7} if kind is Chunk else {}))
    return made


def store_of(documents: Sequence[Document]) -> InMemoryVectorStore:
    """Return a vector store that holds the documents."""
    store = InMemoryVectorStore(HashedWords())
    store.add_documents(list(documents))
    return store


def joined(
    documents: Sequence[Document], template: BasePromptTemplate[str] | None = None, separator: str = "\n\n"
) -> str:
    """Return what a chain that stuffs documents puts into its prompt."""
    return separator.join(format_document(document, template or BARE) for document in documents)


def joined_tokens(documents: Sequence[Document], **settings: Any) -> int:
    """Return the tokens of what a chain that stuffs documents puts into its prompt."""
    return count_text(joined(documents, **settings))


def is_cut_of(kept: Document, given: Document) -> bool:
    """Tell whether a document is another one with a shorter text and everything else equal, and shares no metadata."""
    same = kept.model_copy(update={"page_content": given.page_content}) == given
    apart = kept is not given and kept.metadata is not given.metadata
    return same and apart and type(kept) is type(given) and 0 < len(kept.page_content) < len(given.page_content)
