"""Names in braces inside a conversation, which chat engines would fill in as if they were parts of their templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_ctxopt.engine_prompts import EMPTY_SLOTS

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
    """Return the texts of a message in which names in braces may stand."""
    return [block.text for block in message.blocks if isinstance(block, TextBlock) and "{" in block.text]


def _neutralized(message: ChatMessage, names: frozenset[str]) -> ChatMessage:
    if not texts_with_braces(message):
        return message
    blocks = message.blocks
    new = [_neutralized_block(block, names) if isinstance(block, TextBlock) else block for block in blocks]
    if all(after is before for after, before in zip(new, blocks, strict=True)):
        return message
    return message.model_copy(update={"blocks": new})


def _neutralized_block(block: TextBlock, names: frozenset[str]) -> TextBlock:
    text = _IN_BRACES.sub(lambda match: f"{{ {match[1]} }}" if match[1] in names else match[0], block.text)
    return block if text == block.text else block.model_copy(update={"text": text})
