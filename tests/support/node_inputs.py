"""LlamaIndex nodes of every class, and the count of what a response synthesizer makes of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from pydantic import Field

from request_tokens import MEDIA_ALLOWANCE, count_text

TOPICS = ("kiln", "orchard", "ferry", "lantern", "beehive", "anvil", "loom", "quarry", "mill", "chapel")


class Page(TextNode):
    """A node class of an application."""

    number: int = 0


class Ledger(BaseNode):
    """A node class that keeps its text in its own way, and shows it to an LLM in its own way."""

    entries: list[str] = Field(default_factory=list)

    @classmethod
    def get_type(cls) -> str:
        return "ledger"

    @property
    def hash(self) -> str:
        return str(hash(tuple(self.entries)))

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.ALL) -> str:
        text = "\n".join(self.entries)
        return text if metadata_mode == MetadataMode.NONE else f"<ledger>\n{text}\n</ledger>"

    def get_content_blocks(self, metadata_mode: MetadataMode = MetadataMode.ALL) -> list[Any]:
        return []

    def set_content(self, value: str) -> None:
        self.entries = value.split("\n")


def _common(topic: str) -> dict[str, Any]:
    return {
        "metadata": {"topic": topic, "deep": {"tags": [topic]}, "page_label": "7"},
        "excluded_llm_metadata_keys": ["page_label"],
        "relationships": {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"shelf-{topic}")},
    }


# The lock stands for anything that an IndexNode may lead to: it can be neither copied nor dumped.
CLASSES: dict[str, Callable[..., BaseNode]] = {
    "TextNode": lambda text, **rest: TextNode(text=text, **rest),
    "Node": lambda text, **rest: Node(text_resource=MediaResource(text=text, mimetype="text/markdown"), **rest),
    "Document": lambda text, **rest: Document(text_resource=MediaResource(text=text, path="a/b.md"), **rest),
    "IndexNode": lambda text, **rest: IndexNode(text=text, index_id="i", obj=threading.Lock(), **rest),
    "ImageNode": lambda text, **rest: ImageNode(text=text, image_url="https://nowhere.invalid/a.png", **rest),
    "Page": lambda text, **rest: Page(text=text, number=7, **rest),
    "Ledger": lambda text, **rest: Ledger(entries=text.split("\n"), **rest),
}


class FixedRetriever(BaseRetriever):
    """Finds the same nodes for whatever is asked, and remembers how it was asked."""

    def __init__(self, nodes: Sequence[NodeWithScore], **settings: Any) -> None:
        super().__init__(**settings)
        self.nodes = list(nodes)
        self.asked: list[str] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append("sync")
        return list(self.nodes)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append("async")
        return list(self.nodes)


def report_on(topic: str, number: int, sentences: int = 4) -> str:
    """Return a text about one topic that is like no other."""
    parts = (f"In year {1900 + number * 7 + i} the {topic} kept record {number * 31 + i}." for i in range(sentences))
    return " ".join(parts)


def node_of(kind: str, number: int = 0, *, sentences: int = 4, **fields: Any) -> BaseNode:
    """Return a node of a class with id, metadata of which some is shown, and a source."""
    topic = TOPICS[number % len(TOPICS)]
    return CLASSES[kind](report_on(topic, number, sentences), **{"id_": f"n{number}", **_common(topic), **fields})


def scored_nodes(count: int = 10, *, sentences: int = 4) -> list[NodeWithScore]:
    """Return nodes of all classes, with scores that fall."""
    kinds = list(CLASSES)
    return [
        NodeWithScore(node=node_of(kinds[number % len(kinds)], number, sentences=sentences), score=1 - number / 20)
        for number in range(count)
    ]


def retrieved_nodes(count: int = 10, *, sentences: int = 4) -> list[NodeWithScore]:
    """Return such nodes as a retriever gives them: what they lead to, it has followed."""
    nodes = scored_nodes(count, sentences=sentences)
    for item in nodes:
        if isinstance(item.node, IndexNode):
            item.node.obj = None
    return nodes


def texts_with_scores(*scores: Any) -> list[NodeWithScore]:
    """Return nodes of equal length with these scores, named by their places."""
    return [
        NodeWithScore(node=TextNode(text=report_on("lantern", i, 2), id_=str(i)), score=score)
        for i, score in enumerate(scores)
    ]


def image_node(number: int = 0, **fields: Any) -> ImageNode:
    """Return an image without any text."""
    return ImageNode(image_url=f"https://nowhere.invalid/{number}.png", id_=f"image-{number}", **fields)


def joined(kept: Sequence[NodeWithScore]) -> str:
    """Return what a response synthesizer puts into its prompt."""
    shown = (item.node.get_content(metadata_mode=MetadataMode.LLM).strip() for item in kept)
    return "\n\n".join(text for text in shown if text)


def joined_tokens(kept: Sequence[NodeWithScore], encoding: str = "o200k_base") -> int:
    """Return the tokens of what an engine sends of nodes: the texts, and an allowance for each `ImageNode`."""
    images = sum(isinstance(item.node, ImageNode) for item in kept)
    return text_tokens(kept, encoding) + images * MEDIA_ALLOWANCE["image"]


def text_tokens(kept: Sequence[NodeWithScore], encoding: str = "o200k_base") -> int:
    """Return the tokens of what a response synthesizer puts into its prompt."""
    return count_text(joined(kept), encoding)


def text_in(item: NodeWithScore) -> str:
    """Return the text of a node of any class."""
    return item.node.get_content(metadata_mode=MetadataMode.NONE)


def ids_of(kept: Sequence[NodeWithScore]) -> list[str]:
    return [item.node.node_id for item in kept]


def snapshot(nodes: Sequence[NodeWithScore]) -> list[tuple[Any, ...]]:
    """Return all that can be seen of nodes, to compare it later."""
    return [
        (id(item), id(item.node), repr(item.score), text_in(item), repr(item.node.metadata), _relations(item.node))
        for item in nodes
    ]


def is_cut_of(kept: NodeWithScore, given: NodeWithScore) -> bool:
    """Tell whether one is another with parts of its text and everything else equal, and shares no dict with it."""
    left, right = kept.node, given.node
    apart = left is not right and left.metadata is not right.metadata and left.relationships is not right.relationships
    same = type(left) is type(right) and left.node_id == right.node_id and repr(kept.score) == repr(given.score)
    same = same and left.metadata == right.metadata and _relations(left) == _relations(right)
    others = ("obj", "image_url", "number", "text_template", "excluded_llm_metadata_keys", "embedding")
    same = same and all(getattr(left, name, None) is getattr(right, name, None) for name in others)
    return apart and same and _are_parts(text_in(kept), text_in(given))


def _are_parts(text: str, whole: str) -> bool:
    """Tell whether a text is slices of another one in their order, with a marker in the gaps."""
    start = 0
    for part in filter(None, map(str.strip, text.split("[...]"))):
        found = whole.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return start > 0 and text != whole


def _relations(node: BaseNode) -> str:
    return repr({key: repr(value) for key, value in node.relationships.items()})
