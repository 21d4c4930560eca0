"""Names in braces inside a conversation, which chat engines would fill in as if they were parts of their templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from llama_index.core.base.llms.types import ChatMessage, CitableBlock, CitationBlock, ContentBlock, TextBlock
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_ctxopt.engines.engine_prompts import EMPTY_SLOTS

_IN_BRACES = re.compile(r"\{([^{}]+)\}")


def template_names(prompts: Iterable[BasePromptTemplate] = ()) -> frozenset[str]:
    """Return the names that engines fill in: those of LlamaIndex's own templates and those of `prompts`."""
    names: set[str] = set(EMPTY_SLOTS)
    for prompt in prompts:
        names.update(prompt.template_vars, prompt.function_mappings or (), prompt.template_var_mappings or ())
    return frozenset(names)


def escape_template_names(messages: Sequence[ChatMessage], names: frozenset[str]) -> tuple[Sequence[ChatMessage], int]:
    """Return messages in which an engine fills in none of `names`, and how many messages had to be changed.

    `{context_str}` becomes `{ context_str }`, which reads the same and is no name to LlamaIndex. The given messages are
    not changed; where there is nothing to escape, they are returned as they are.
    """
    escaped = [_escaped(message, names) for message in messages]
    changed = sum(new is not old for new, old in zip(escaped, messages, strict=True))
    return (escaped, changed) if changed else (messages, 0)


def texts_with_braces(message: ChatMessage) -> list[str]:
    """Return the texts of a message that contain a brace, those of what it cites as well."""
    return [text for block in message.blocks for text in _texts_of(block) if "{" in text]


def _texts_of(block: ContentBlock) -> Iterator[str]:
    match block:
        case TextBlock():
            yield block.text
        case CitableBlock():
            yield from (text for inner in block.content for text in _texts_of(inner))
        case CitationBlock():
            yield from _texts_of(block.cited_content)
        case _:
            return


def _escaped(message: ChatMessage, names: frozenset[str]) -> ChatMessage:
    if not texts_with_braces(message):
        return message
    blocks = [_escaped_block(block, names) for block in message.blocks]
    same = all(new is old for new, old in zip(blocks, message.blocks, strict=True))
    return message if same else message.model_copy(update={"blocks": blocks})


def _escaped_block(block: ContentBlock, names: frozenset[str]) -> ContentBlock:
    """Return a copy of a block with `names` escaped; the block itself where there are none."""
    match block:
        case TextBlock():
            text = _IN_BRACES.sub(lambda match: f"{{ {match[1]} }}" if match[1] in names else match[0], block.text)
            return block if text == block.text else block.model_copy(update={"text": text})
        case CitableBlock():
            inner = [_escaped_block(part, names) for part in block.content]
            same = all(new is old for new, old in zip(inner, block.content, strict=True))
            return block if same else block.model_copy(update={"content": inner})
        case CitationBlock():
            cited = _escaped_block(block.cited_content, names)
            return block if cited is block.cited_content else block.model_copy(update={"cited_content": cited})
        case _:
            return block
