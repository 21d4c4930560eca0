"""What an engine sends of a node: its text, its media, or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from llama_index.core.schema import BaseNode, ImageNode, MetadataMode

from ctxopt_core import Attachment
from llamaindex_ctxopt.messages.media import attachments_of_node, image_of_node

BLOCK_SEPARATOR = " "
"""What LlamaIndex puts between the texts of two blocks that it merges."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """What is sent of one node.

    Args:
        text: The text that can be cut; empty where none is sent.
        shown: The whole text, with metadata.
        attachments: The media; those that are not sent have no tokens.
    """

    text: Callable[[BaseNode], str]
    shown: Callable[[BaseNode], str]
    attachments: Callable[[BaseNode], tuple[Attachment, ...]]


class NodeReading(Enum):
    """What an engine sends of a node.

    Attributes:
        TEXTS: The text alone, with the metadata for an LLM.
        IMAGES: The image of an `ImageNode`, and the text of any other node. So do the multimodal chat engines.
        BLOCKS: The content blocks: metadata, text and media; of an `ImageNode` no text. So do synthesizers with
            `multimodal=True`.
        ANY: Text and media, where the engine is not known.
    """

    TEXTS = "texts"
    IMAGES = "images"
    BLOCKS = "blocks"
    ANY = "any"

    def text(self, node: BaseNode) -> str:
        """Return the text of a node that can be cut, without any metadata; empty where it is not sent."""
        return _SENT[self].text(node)

    def shown(self, node: BaseNode) -> str:
        """Return the text that an LLM sees of a node, metadata included.

        Raises:
            ValueError: A template of the node cannot be formatted.
        """
        return _SENT[self].shown(node)

    def attachments(self, node: BaseNode) -> tuple[Attachment, ...]:
        """Return the media of a node. Those that the engine does not send have no tokens, but stay with the node."""
        return _SENT[self].attachments(node)


def own_text(node: BaseNode) -> str:
    """Return the text of a node that can be cut, without any metadata."""
    return node.get_content(metadata_mode=MetadataMode.NONE) or ""


def shown_text(node: BaseNode) -> str:
    """Return the text that an LLM sees of a node, metadata included.

    Raises:
        ValueError: A template of the node cannot be formatted.
    """
    return _formatted(node, lambda: node.get_content(metadata_mode=MetadataMode.LLM) or "")


def _formatted(node: BaseNode, show: Callable[[], str]) -> str:
    try:
        return show()
    except (KeyError, IndexError, ValueError) as error:
        message = (
            f"node {node.node_id!r} cannot be rendered, {type(error).__name__}; its `text_template` may only name "
            "{content} and {metadata_str}, its `metadata_template` {key} and {value}: write other braces twice"
        )
        raise ValueError(message) from error


def _text_beside_image(node: BaseNode) -> str:
    return "" if isinstance(node, ImageNode) else own_text(node)


def _shown_beside_image(node: BaseNode) -> str:
    return "" if isinstance(node, ImageNode) else shown_text(node)


def _shown_in_blocks(node: BaseNode) -> str:
    # The blocks themselves are not asked for: those of an image would be downloaded.
    metadata = _formatted(node, lambda: node.get_metadata_str(mode=MetadataMode.LLM)).strip()
    return BLOCK_SEPARATOR.join(filter(None, (metadata, _text_beside_image(node))))


def _free(attachments: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
    return tuple(replace(attachment, tokens=0) for attachment in attachments)


def _images_alone(node: BaseNode) -> tuple[Attachment, ...]:
    return image_of_node(node) or _free(attachments_of_node(node))


_SENT = {
    NodeReading.TEXTS: _Sent(own_text, shown_text, lambda node: _free(attachments_of_node(node))),
    NodeReading.IMAGES: _Sent(_text_beside_image, _shown_beside_image, _images_alone),
    NodeReading.BLOCKS: _Sent(_text_beside_image, _shown_in_blocks, attachments_of_node),
    NodeReading.ANY: _Sent(own_text, shown_text, attachments_of_node),
}
