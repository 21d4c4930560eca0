"""Names in braces inside a conversation, which chat engines would fill in as if they were parts of their templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from llama_index.core.base.llms.types import ChatMessage, CitableBlock, CitationBlock, ContentBlock, TextBlock
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_ctxopt.engines.engine_prompts import EMPTY_SLOTS

_IN_BRACES = re.compile(r"\{([^{}]+)\}")


def filled_names(prompts: Iterable[BasePromptTemplate] = ()) -> frozenset[str]:
    """Return the names that engines fill in: those of LlamaIndex's own templates and those of `prompts`."""
    names = set(EMPTY_SLOTS)
    for prompt in prompts:
        names.update(prompt.template_vars, prompt.function_mappings or (), prompt.template_var_mappings or ())
    return frozenset(names)


def neutralized(messages: Sequence[ChatMessage], names: frozenset[str]) -> tuple[Sequence[ChatMessage], int]:
    """Return messages in which no name that would be filled in stands in braces, and how many had to be changed.

    `{context_str}` becomes `{ context_str }`, which reads the same and is no name to LlamaIndex. The messages that are
    given stay as they are; where nothing is to be done, they are what is returned.
    """
    changed = {
        index: copy for index, message in enumerate(messages) if (copy := _neutralized(message, names)) is not message
    }
    if not changed:
        return messages, 0
    return [changed.get(index, message) for index, message in enumerate(messages)], len(changed)


def texts_with_braces(message: ChatMessage) -> list[str]:
    """Return the texts of a message in which names in braces may stand, those of what it cites as well."""
    return [text for block in message.blocks for text in _texts_of(block) if "{" in text]


def _neutralized(message: ChatMessage, names: frozenset[str]) -> ChatMessage:
    if not texts_with_braces(message):
        return message
    blocks = message.blocks
    new = [_neutralized_block(block, names) for block in blocks]
    if all(after is before for after, before in zip(new, blocks, strict=True)):
        return message
    return message.model_copy(update={"blocks": new})


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


def _neutralized_block(block: ContentBlock, names: frozenset[str]) -> ContentBlock:
    if not any("{" in text for text in _texts_of(block)):
        return block
    match block:
        case TextBlock():
            text = _IN_BRACES.sub(lambda match: f"{{ {match[1]} }}" if match[1] in names else match[0], block.text)
            return block if text == block.text else block.model_copy(update={"text": text})
        case CitableBlock():
            inner = [_neutralized_block(part, names) for part in block.content]
            same = all(after is before for after, before in zip(inner, block.content, strict=True))
            return block if same else block.model_copy(update={"content": inner})
        case CitationBlock():
            cited = _neutralized_block(block.cited_content, names)
            return block if cited is block.cited_content else block.model_copy(update={"cited_content": cited})
        case _:
            return block
