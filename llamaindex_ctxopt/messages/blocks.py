"""The blocks of a LlamaIndex message: what is text to cut, text to keep, calls and attachments.

Media are never resolved, since that would download them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from llama_index.core.base.llms.types import (
    BaseContentBlock,
    CachePoint,
    CitableBlock,
    CitationBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from ctxopt_core import Attachment, ToolCall
from ctxopt_core.adapters import (
    ATTACHMENT_OMITTED,
    MEDIA_KEYS,
    Content,
    ContentBuilder,
    Shortened,
    arguments_text,
    sealed_attachment,
    sealed_characters,
    verbatim_texts,
)
from llamaindex_ctxopt.messages.media import attachment_of_block, media_kind


def take_apart_blocks(blocks: Sequence[Any]) -> Content:
    """Return the parts of a message's blocks.

    Raises:
        TypeError: One of them is no content block.
    """
    found = ContentBuilder()
    for block in blocks:
        _add(block, found)
    return found.content()


def put_blocks_together(blocks: Sequence[Any], texts: Sequence[str], cut: Shortened) -> list[Any]:
    """Return the blocks with new texts in the places of their texts; an unchanged block is the identical object.

    A block of which no text is left goes. The first attachment that is left out becomes a TextBlock that says so.

    Args:
        blocks: The blocks as they were given.
        texts: One text for each text block, those in sources among them.
        cut: Whether attachments are left out, and which arguments are shorter. The calls of the blocks come first
            among the calls of the message.
    """
    return list(_left_of(blocks, iter(texts), cut))


def _add(block: Any, found: ContentBuilder) -> None:
    if isinstance(block, TextBlock):
        found.texts.append(block.text or "")
    elif isinstance(block, ToolCallBlock):
        found.calls.append(call_of_block(block))
    elif isinstance(block, ThinkingBlock):
        _add_thought(block, found)
    elif is_source(block):
        found.add_source(_texts_of(block), [text for text in (block.title, block.source) if text])
    elif isinstance(block, (CitableBlock, CitationBlock)):
        _add_cited(block, found)
    elif media := media_kind(block):
        found.attachments.append(attachment_of_block(block, media))
    elif isinstance(block, BaseContentBlock):
        _add_unknown(block, found)
    else:
        kind = type(block).__name__
        message = f"a message's `blocks` must hold content blocks, got {kind}; wrap strings in TextBlock"
        raise TypeError(message)


def is_source(block: Any) -> TypeGuard[CitableBlock]:
    """Return whether a block is a source with text and nothing else, which may be cut."""
    return (
        isinstance(block, CitableBlock)
        and bool(block.content)
        and all(isinstance(nested, TextBlock) for nested in block.content)
    )


def _add_thought(block: ThinkingBlock, found: ContentBuilder) -> None:
    found.thinks = True
    if block.num_tokens and block.num_tokens > 0:
        found.attachments.append(Attachment(tokens=block.num_tokens, fixed=True))
        return
    text = block.content or ""
    if text:
        found.verbatim.append(text)
    readable = len(text.encode("utf-8", "surrogatepass"))
    found.attachments.extend(sealed_attachment(sealed_characters(block.additional_information), readable=readable))


def _add_unknown(block: BaseContentBlock, found: ContentBuilder) -> None:
    if isinstance(block, CachePoint):
        return
    fields = dict(block)
    found.verbatim.extend(verbatim_texts(fields, "", found.attachments))
    found.attachments.extend(sealed_attachment(sealed_characters(fields)))
    if any(isinstance(fields.get(key), str) for key in MEDIA_KEYS):
        found.attachments.append(Attachment(kind="other", fixed=True))


def _add_cited(block: CitableBlock | CitationBlock, found: ContentBuilder) -> None:
    found.verbatim.extend(text for text in (block.title, block.source) if text)
    for nested in block.nested_blocks:
        if isinstance(nested, TextBlock):
            found.verbatim.append(nested.text)
        elif media := media_kind(nested):
            found.attachments.append(replace(attachment_of_block(nested, media), fixed=True))


def call_of_block(block: ToolCallBlock) -> ToolCall:
    """Return the call that a block makes."""
    identity = block.tool_call_id
    return ToolCall(
        id=str(identity) if identity else None,
        name=block.tool_name or "",
        arguments=arguments_text(block.tool_kwargs),
    )


def _left_of(blocks: Sequence[Any], texts: Iterator[str], cut: Shortened) -> Iterator[Any]:
    calls, omitted = 0, 0
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
        elif is_source(block):
            if (left := _left_of_source(block, texts)) is not None:
                yield left
        elif cut.omits_attachment(omitted) and media_kind(block):
            if not omitted:
                yield TextBlock(text=ATTACHMENT_OMITTED)
            omitted += 1
        else:
            yield block


def _texts_of(block: CitableBlock) -> list[str]:
    return [nested.text for nested in block.content if isinstance(nested, TextBlock)]


def _left_of_source(block: CitableBlock, texts: Iterator[str]) -> CitableBlock | None:
    """Return a source with the next texts; None where no text is left."""
    given = _texts_of(block)
    new = [next(texts, text) for text in given]
    if new == given:
        return block
    left = [nested.model_copy(update={"text": text}) for nested, text in zip(block.content, new, strict=True) if text]
    return block.model_copy(update={"content": left}) if left else None


def _with_arguments(block: ToolCallBlock, arguments: str | None) -> ToolCallBlock:
    """Return the block itself, or a copy with shorter arguments: a string for a string, a mapping for a mapping."""
    if arguments is None:
        return block
    is_text = isinstance(block.tool_kwargs, str)
    return block.model_copy(update={"tool_kwargs": arguments if is_text else json.loads(arguments)})
