"""LlamaIndex nodes as the prompt contains them, and copies of nodes with shortened texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    MediaResource,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from ctxopt_core import Document
from llamaindex_ctxopt.messages.media import attachments_of_node
from llamaindex_ctxopt.nodes.node_reading import BLOCK_SEPARATOR, NodeReading, own_text

SEPARATOR = "\n\n"
_LABEL = "Source 10:\n"  # how a `CitationQueryEngine` begins a source; more digits have as many tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRendering:
    """Renders nodes as a response synthesizer joins them: with the metadata for an LLM, a blank line between two.

    Args:
        nodes: The nodes as they were given.
        strips: Whether white space at the ends of each node is left out.
        reading: What the engine sends of a node.
    """

    nodes: Sequence[NodeWithScore]
    strips: bool = True
    reading: NodeReading = NodeReading.TEXTS
    _given: dict[int, tuple[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def separator(self) -> str:
        """What stands between two nodes."""
        return BLOCK_SEPARATOR if self.reading is NodeReading.BLOCKS else SEPARATOR

    def render(self, index: int, text: str) -> str:
        """Return node `index` as the prompt contains it when its text is `text`.

        Raises:
            ValueError: A template of the node cannot be formatted.
        """
        node = self.nodes[index].node
        if index not in self._given:
            self._given[index] = (self.reading.text(node), self._shown(node))
        own, shown = self._given[index]
        return shown if text == own else self._shown(_node_with_text(node, text))

    def _shown(self, node: BaseNode) -> str:
        shown = self.reading.shown(node)
        return shown.strip() if self.strips else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitNodes:
    """Renders nodes that become several sources each, as a `CitationQueryEngine` splits them.

    Args:
        nodes: The nodes as they were given.
        split: Makes the sources of nodes. Each begins with its number, which has a token or two wherever it is.
        reading: What the engine sends of a node.
    """

    nodes: Sequence[NodeWithScore]
    split: Callable[[list[NodeWithScore]], list[NodeWithScore]]
    reading: NodeReading = NodeReading.TEXTS

    @property
    def separator(self) -> str:
        """What stands between two nodes."""
        return BLOCK_SEPARATOR if self.reading is NodeReading.BLOCKS else SEPARATOR

    def render(self, index: int, text: str) -> str:
        """Return the sources of node `index` as the prompt contains them when its text is `text`."""
        given = self.nodes[index]
        if self.reading is not NodeReading.BLOCKS:
            sources = self.split([with_text(given, text)])
            return self.separator.join(self.reading.shown(source.node).strip() for source in sources)
        # The blocks of a node with media would be loaded. Without them it has the same texts, and each medium becomes
        # a source that shows the metadata of the node.
        plain = _without_media(given.node, text)
        shown = [self.reading.shown(source.node) for source in self.split([NodeWithScore(node=plain)])]
        shown += [f"{_LABEL} {self.reading.shown(_without_media(plain, ''))}"] * len(attachments_of_node(given.node))
        return self.separator.join(filter(None, shown))


def node_views(nodes: Sequence[Any], reading: NodeReading = NodeReading.TEXTS) -> tuple[Document, ...]:
    """Return views of nodes, in the same order. A node without a score has a view without one.

    Args:
        nodes: The nodes.
        reading: What the engine sends of a node.

    Raises:
        TypeError: `nodes` is no list of `NodeWithScore`, or a score is no number.
    """
    if not isinstance(nodes, Sequence) or isinstance(nodes, (str, bytes)):
        message = f"`nodes` must be a list of NodeWithScore, got {type(nodes).__name__}"
        raise TypeError(message)
    views: list[Document] = []
    for position, item in enumerate(nodes):
        if not isinstance(item, NodeWithScore):
            message = (
                f"item {position} of the nodes must be a NodeWithScore, got {type(item).__name__}; "
                "wrap nodes as NodeWithScore(node=...)"
            )
            raise TypeError(message)
        node = item.node
        # A list of sources does not say which of them the text is from.
        cut_from = node.relationships.get(NodeRelationship.SOURCE)
        source = cut_from.node_id if isinstance(cut_from, RelatedNodeInfo) else None
        views.append(
            Document(
                text=reading.text(node),
                id=node.node_id,
                score=item.score,
                source=source,
                attachments=reading.attachments(node),
                from_pipeline=True,
            )
        )
    return tuple(views)


def with_texts(nodes: Sequence[NodeWithScore], kept: Iterable[int], texts: Mapping[int, str]) -> list[NodeWithScore]:
    """Return the kept nodes: the identical objects, but copies of those that have a new text in `texts`."""
    return [with_text(nodes[index], texts[index]) if index in texts else nodes[index] for index in kept]


def with_text(item: NodeWithScore, text: str) -> NodeWithScore:
    """Return the item itself when that is its text, else a copy with the text.

    The copy keeps class, id, score, metadata, relationships and media. Its two dicts are copies, too.
    """
    if own_text(item.node) == text:
        return item
    return item.model_copy(update={"node": _node_with_text(item.node, text)})


def _node_with_text(node: BaseNode, text: str) -> BaseNode:
    own: dict[str, Any] = {"metadata": dict(node.metadata), "relationships": dict(node.relationships)}
    if isinstance(node, TextNode) and type(node).set_content is TextNode.set_content:
        return node.model_copy(update={**own, "text": text})
    if isinstance(node, Node) and type(node).set_content is Node.set_content:
        resource = node.text_resource or MediaResource()
        return node.model_copy(update={**own, "text_resource": resource.model_copy(update={"text": text})})
    copied = node.model_copy(update=own)
    copied.set_content(text)
    return copied


def _without_media(node: BaseNode, text: str) -> Node:
    """Return a node with the metadata of another, the text and nothing else."""
    return Node(
        text_resource=MediaResource(text=text) if text else None,
        metadata=dict(node.metadata),
        excluded_llm_metadata_keys=list(node.excluded_llm_metadata_keys),
        metadata_template=node.metadata_template,
        metadata_separator=node.metadata_separator,
    )
