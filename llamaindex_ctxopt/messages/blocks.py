"""The blocks of a LlamaIndex message: what of them is text to cut, text to keep, calls and attachments.

Media are never resolved, since that would download them; each is charged a flat number of tokens, never less than what
LlamaIndex charges for it where it cannot tell its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    BaseContentBlock,
    CachePoint,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)

from ctxopt_core import Attachment, ToolCall
from ctxopt_core.adapters import (
    ALLOWANCES,
    ATTACHMENT_OMITTED,
    MEDIA_KEYS,
    AttachmentKind,
    Content,
    Shortened,
    arguments_text,
    verbatim_texts,
)

# What LlamaIndex charges for one of them, whatever its size, where it cannot tell a length.
FRAMEWORK_MEDIA_TOKENS: Mapping[type[BaseContentBlock], int] = MappingProxyType(
    {ImageBlock: 2125, AudioBlock: 256, VideoBlock: 2048, DocumentBlock: 512}
)
_KINDS: Mapping[type[BaseContentBlock], AttachmentKind] = MappingProxyType(
    {ImageBlock: "image", AudioBlock: "audio", VideoBlock: "video", DocumentBlock: "file"}
)
_ATTACHMENTS: Mapping[type[BaseContentBlock], Attachment] = MappingProxyType(
    {
        media: Attachment(kind=kind, tokens=max(ALLOWANCES[kind], FRAMEWORK_MEDIA_TOKENS[media]))
        for media, kind in _KINDS.items()
    }
)


def take_apart_blocks(blocks: Sequence[Any]) -> Content:
    """Return the parts of a message's blocks.

    Raises:
        TypeError: One of them is no content block.
    """
    found = _Parts()
    for block in blocks:
        found.add(block)
    return found.content()


def put_blocks_together(blocks: Sequence[Any], texts: Sequence[str], cut: Shortened) -> list[Any]:
    """Return the blocks with new texts in the places of their texts; an unchanged block is the identical object.

    A text block of which nothing is left goes. The first attachment that is left out becomes a text that says so.

    Args:
        blocks: The blocks as they were given.
        texts: One text for each text block.
        cut: Whether attachments are left out, and which arguments are shorter. The calls of the blocks come first
            among the calls of the message.
    """
    return list(_left_of(blocks, iter(texts), cut))


def media_kind(block: BaseContentBlock) -> type[BaseContentBlock] | None:
    """Return which kind of media a block is; None for any other block."""
    return next((kind for kind in _KINDS if isinstance(block, kind)), None)


class _Parts:
    """The parts of a message, as they are found."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.verbatim: list[str] = []
        self.attachments: list[Attachment] = []
        self.calls: list[ToolCall] = []
        self.thinks = False

    def add(self, block: Any) -> None:
        if isinstance(block, TextBlock):
            self.texts.append(block.text or "")
        elif isinstance(block, ToolCallBlock):
            self.calls.append(call_of_block(block))
        elif isinstance(block, ThinkingBlock):
            self.thinks = True
            self._add_thought(block)
        elif isinstance(block, (CitableBlock, CitationBlock)):
            self._add_cited(block)
        elif media := media_kind(block):
            self.attachments.append(_ATTACHMENTS[media])
        elif isinstance(block, BaseContentBlock):
            self._add_unknown(block)
        else:
            message = (
                f"a message's `blocks` must hold content blocks, got {type(block).__name__}; wrap texts in TextBlock"
            )
            raise TypeError(message)

    def content(self) -> Content:
        return Content(
            texts=tuple(self.texts),
            verbatim=tuple(self.verbatim),
            attachments=tuple(self.attachments),
            calls=tuple(replace(call, fixed=True) for call in self.calls) if self.thinks else tuple(self.calls),
            thinks=self.thinks,
        )

    def _add_thought(self, block: ThinkingBlock) -> None:
        if block.num_tokens and block.num_tokens > 0:
            self.attachments.append(Attachment(tokens=block.num_tokens, fixed=True))
        elif block.content:
            self.verbatim.append(block.content)

    def _add_cited(self, block: CitableBlock | CitationBlock) -> None:
        self.verbatim.extend(text for text in (block.title, block.source) if text)
        for nested in block.nested_blocks:
            if isinstance(nested, TextBlock):
                self.verbatim.append(nested.text)
            elif media := media_kind(nested):
                self.attachments.append(replace(_ATTACHMENTS[media], fixed=True))

    def _add_unknown(self, block: BaseContentBlock) -> None:
        if isinstance(block, CachePoint):
            return
        fields = dict(block)
        self.verbatim.extend(verbatim_texts(fields, "", self.attachments))
        if any(isinstance(fields.get(key), str) for key in MEDIA_KEYS):
            self.attachments.append(Attachment(kind="other", fixed=True))


def call_of_block(block: ToolCallBlock) -> ToolCall:
    """Return the call that a block makes."""
    identity = block.tool_call_id
    return ToolCall(
        id=str(identity) if identity else None,
        name=block.tool_name or "",
        arguments=arguments_text(block.tool_kwargs),
    )


def _left_of(blocks: Sequence[Any], texts: Iterator[str], cut: Shortened) -> Iterator[Any]:
    calls, said = 0, False
    for block in blocks:
        if isinstance(block, TextBlock):
            text = next(texts, block.text)
            if text == block.text:
                yield block
            elif text:
                yield block.model_copy(update={"text": text})
        elif isinstance(block, ToolCallBlock):
            yield _with_arguments(block, cut.arguments.get(calls))
            calls += 1
        elif cut.attachments_omitted and media_kind(block):
            if not said:
                yield TextBlock(text=ATTACHMENT_OMITTED)
            said = True
        else:
            yield block


def _with_arguments(block: ToolCallBlock, arguments: str | None) -> ToolCallBlock:
    """Return the block itself, or a copy with shorter arguments: a text for a text, a mapping for a mapping."""
    if arguments is None:
        return block
    is_text = isinstance(block.tool_kwargs, str)
    return block.model_copy(update={"tool_kwargs": arguments if is_text else json.loads(arguments)})
