"""LlamaIndex nodes as the prompt will hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from ctxopt_core import Document

SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRendering:
    """Nodes as a response synthesizer packs them: what they show to an LLM, stripped, a blank line between two.

    Args:
        nodes: The nodes as they were given.
        strips: Whether white space at their ends is left out.
    """

    nodes: Sequence[NodeWithScore]
    strips: bool = True
    _own: dict[int, tuple[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def separator(self) -> str:
        """What stands between two nodes."""
        return SEPARATOR

    def render(self, index: int, text: str) -> str:
        """Return node `index` as the prompt holds it when its text is `text`.

        Raises:
            ValueError: A template of the node cannot be formatted.
        """
        node = self.nodes[index].node
        if index not in self._own:
            self._own[index] = (own_text(node), self._shown(node))
        own, shown = self._own[index]
        return shown if text == own else self._shown(_node_with_text(node, text))

    def _shown(self, node: BaseNode) -> str:
        return shown_text(node) if self.strips else _rendered(node)


def node_views(nodes: Sequence[Any]) -> tuple[Document, ...]:
    """Return views of nodes, in the same order. A missing score stays missing.

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
        views.append(Document(text=own_text(node), id=node.node_id, score=item.score, source=_source_of(node)))
    return tuple(views)


def own_text(node: BaseNode) -> str:
    """Return the text of a node that can be cut, without any metadata."""
    return node.get_content(metadata_mode=MetadataMode.NONE) or ""


def shown_text(node: BaseNode) -> str:
    """Return what a node shows to an LLM, metadata included, without white space at its ends.

    Raises:
        ValueError: A template of the node cannot be formatted.
    """
    return _rendered(node).strip()


def _rendered(node: BaseNode) -> str:
    try:
        return node.get_content(metadata_mode=MetadataMode.LLM) or ""
    except (KeyError, IndexError, ValueError) as error:
        message = (
            f"node {node.node_id!r} cannot be rendered, {type(error).__name__}; its `text_template` may only name "
            "{content} and {metadata_str}, its `metadata_template` {key} and {value}: write other braces twice"
        )
        raise ValueError(message) from error


def with_text(item: NodeWithScore, text: str) -> NodeWithScore:
    """Return the item itself when that is its text, else a copy with the text.

    The copy keeps class, id, score, metadata, relationships and media; its two dicts are its own.
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


def _source_of(node: BaseNode) -> str | None:
    """Return the id of what a node was cut from; a list of sources tells nothing."""
    source = node.relationships.get(NodeRelationship.SOURCE)
    return source.node_id if isinstance(source, RelatedNodeInfo) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitNodes:
    """Nodes that become several sources each, as a `CitationQueryEngine` makes them.

    Args:
        nodes: The nodes as they were given.
        split: Makes the sources of nodes. Each begins with its number, which counts a token or two wherever it stands.
    """

    nodes: Sequence[NodeWithScore]
    split: Callable[[list[NodeWithScore]], list[NodeWithScore]]

    @property
    def separator(self) -> str:
        """What stands between two sources."""
        return SEPARATOR

    def render(self, index: int, text: str) -> str:
        """Return the sources of node `index` as the prompt holds them when its text is `text`."""
        sources = self.split([with_text(self.nodes[index], text)])
        return SEPARATOR.join(shown_text(source.node) for source in sources)
