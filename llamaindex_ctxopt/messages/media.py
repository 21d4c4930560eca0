"""What is known of the images, recordings and files that blocks and nodes carry, so that their provider's rules apply.

Nothing is downloaded: only bytes, base64, data URIs and the headers of local files are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import IOBase
from types import MappingProxyType
from typing import Any

from llama_index.core.base.llms.types import AudioBlock, BaseContentBlock, DocumentBlock, ImageBlock, VideoBlock
from llama_index.core.schema import BaseNode, ImageNode

from ctxopt_core import Attachment
from ctxopt_core.adapters import AttachmentKind, MediaFacts, facts_of, file_facts, stream_facts

# Tokens that LlamaIndex counts for one of them, whatever its size, where it does not know its length.
FRAMEWORK_MEDIA_TOKENS: Mapping[type[BaseContentBlock], int] = MappingProxyType(
    {ImageBlock: 2125, AudioBlock: 256, VideoBlock: 2048, DocumentBlock: 512}
)
_KINDS: Mapping[type[BaseContentBlock], AttachmentKind] = MappingProxyType(
    {ImageBlock: "image", AudioBlock: "audio", VideoBlock: "video", DocumentBlock: "file"}
)
# The fields in which a block has its bytes and its media type.
_FIELDS: Mapping[type[BaseContentBlock], tuple[str, str]] = MappingProxyType(
    {
        ImageBlock: ("image", "image_mimetype"),
        AudioBlock: ("audio", "format"),
        VideoBlock: ("video", "video_mimetype"),
        DocumentBlock: ("data", "document_mimetype"),
    }
)
_RESOURCES: Mapping[str, AttachmentKind] = MappingProxyType(
    {"image_resource": "image", "audio_resource": "audio", "video_resource": "video"}
)
_OF_IMAGE_NODE = ("image", "image_path", "image_url")


def media_kind(block: BaseContentBlock) -> type[BaseContentBlock] | None:
    """Return which kind of media a block is; None for any other block."""
    return next((kind for kind in _KINDS if isinstance(block, kind)), None)


def attachment_of_block(block: BaseContentBlock, media: type[BaseContentBlock]) -> Attachment:
    """Return a block of media as an attachment.

    Args:
        block: The block.
        media: What `media_kind` says of it.
    """
    data, media_type = _FIELDS[media]
    fields = vars(block)
    facts = _facts(fields.get(data), fields.get("path"), fields.get("url"), fields.get(media_type))
    detail = fields.get("detail")
    if isinstance(detail, str) and (asked := facts_of({"detail": detail})) is not None:
        facts = replace(facts or MediaFacts(), detail=asked.detail)
    return Attachment(kind=_KINDS[media], facts=facts)


def attachments_of_node(node: BaseNode) -> tuple[Attachment, ...]:
    """Return the image, the recording and the video that a node holds, or that it says the place of."""
    return tuple(_attachments(node))


def image_of_node(node: BaseNode) -> tuple[Attachment, ...]:
    """Return the image of an `ImageNode`, which may be in a file that its metadata name; nothing for other nodes."""
    if not isinstance(node, ImageNode):
        return ()
    found = tuple(_attachments(node))
    in_file = _facts(None, node.metadata.get("file_path"), None, node.image_mimetype)
    return found or (Attachment(kind="image", facts=in_file),)


def framework_media_tokens(attachments: tuple[Attachment, ...]) -> int:
    """Return the tokens that LlamaIndex counts for attachments."""
    flat = {_KINDS[media]: tokens for media, tokens in FRAMEWORK_MEDIA_TOKENS.items()}
    return sum(flat.get(attachment.kind, 0) for attachment in attachments)


def _attachments(node: BaseNode) -> Iterator[Attachment]:
    # Properties of a node are not asked: they may load something.
    fields = vars(node)
    for name, kind in _RESOURCES.items():
        if resource := fields.get(name):
            held = vars(resource)
            facts = _facts(held.get("data"), held.get("path"), held.get("url"), held.get("mimetype"))
            yield Attachment(kind=kind, facts=facts)
    image, path, url = (fields.get(name) for name in _OF_IMAGE_NODE)
    if image or path or url:
        yield Attachment(kind="image", facts=_facts(image, path, url, fields.get("image_mimetype")))


def _facts(data: Any, path: Any, url: Any, media_type: Any) -> MediaFacts | None:
    """Return what is known of media, by the first of their places that says anything."""
    found = None
    if isinstance(data, IOBase):
        found = stream_facts(data) if data.seekable() else None  # type: ignore[arg-type]
    elif data:
        found = facts_of({"data": data})
    if found is None and path is not None and not data:
        found = file_facts(str(path))
    if found is None and url is not None and not data:
        found = facts_of({"url": str(url)})
    if not isinstance(media_type, str) or (found is not None and found.media_type is not None):
        return found
    return replace(found or MediaFacts(), media_type=media_type)
