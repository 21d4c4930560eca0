"""Counts the tokens of a message as LlamaIndex does, without its side effects.

LlamaIndex sets a tokenizer for the whole process when it first counts, downloads media to charge a flat number of
tokens for them, and raises on calls in the form of some providers. Here nothing is set, downloaded or raised.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import llama_index.core
from llama_index.core.base.llms.types import (
    BaseContentBlock,
    BaseRecursiveContentBlock,
    CachePoint,
    ChatMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from ctxopt_core import TiktokenCounter, TokenCounter, counter_for
from ctxopt_core.adapters import TOKENS_PER_MESSAGE, TOOL_ROLES, arguments_text
from llamaindex_ctxopt.messages.blocks import take_apart_blocks
from llamaindex_ctxopt.messages.legacy_tool_calls import function_of, raw_calls
from llamaindex_ctxopt.messages.media import FRAMEWORK_MEDIA_TOKENS, media_kind

# In tokens, as in LlamaIndex's `TokenCounter`. With other values the number of its calls would be predicted wrong.
TOKENS_PER_CALL = 3  # added for each tool call
_LESS_FOR_RESULTS = 2  # taken off for each tool result
_OWN_ENCODING = "cl100k_base"  # the default tokenizer of LlamaIndex

_latest: tuple[Callable[[str], Any], TokenCounter] | None = None


def framework_counter() -> TokenCounter:
    """Return a counter with the tokenizer that LlamaIndex has at the moment: its global one, or its default.

    Reading it sets nothing. A tokenizer of tiktoken counts special tokens as ordinary characters, as a provider reads
    them. Some ways to set one in LlamaIndex would raise on them, others count each as one token.
    """
    global _latest  # noqa: PLW0603
    function = llama_index.core.global_tokenizer
    if function is None:
        return TiktokenCounter(_OWN_ENCODING)
    latest = _latest
    if latest is None or latest[0] is not function:
        latest = _latest = (function, counter_for(function))
    return latest[1]


def framework_tokens(message: ChatMessage, counter: TokenCounter, contents: TokenCounter | None = None) -> int:
    """Return the tokens that LlamaIndex's `TokenCounter` estimates for a message.

    Media are charged the flat figure that LlamaIndex falls back to. Arguments of calls that are no strings, which
    LlamaIndex cannot count, are counted as JSON.

    Args:
        message: The message.
        counter: Counts role and calls; see `framework_counter`.
        contents: Counts the blocks, by default as `counter` does. LlamaIndex counts them by its global tokenizer even
            where a prompt helper has another one.
    """
    role = str(getattr(message.role, "value", message.role))
    tokens = TOKENS_PER_MESSAGE + counter.count(role)
    tokens += sum(_block_tokens(block, contents or counter) for block in message.blocks)
    extra = message.additional_kwargs
    if (legacy := extra.get("function_call")) is not None:
        tokens += _call_tokens(legacy, counter)
    for call in raw_calls(extra):
        if getattr(call, "function", None) is not None:
            tokens += _call_tokens(function_of(call), counter)
    return tokens - _LESS_FOR_RESULTS if role in TOOL_ROLES else tokens


def _block_tokens(block: BaseContentBlock, counter: TokenCounter) -> int:
    if isinstance(block, TextBlock):
        return counter.count(block.text)
    if isinstance(block, ToolCallBlock):
        return counter.count(_block_json(block))
    if isinstance(block, ThinkingBlock):
        return max(0, block.num_tokens or counter.count(block.content or ""))
    if isinstance(block, BaseRecursiveContentBlock):
        return sum(_block_tokens(nested, counter) for nested in block.nested_blocks)
    if media := media_kind(block):
        return FRAMEWORK_MEDIA_TOKENS[media]
    if isinstance(block, CachePoint):
        return 0
    # A block of another class than LlamaIndex's is not asked for its tokens: it might download something.
    found = take_apart_blocks([block])
    return sum(map(counter.count, found.verbatim)) + sum(attachment.cost for attachment in found.attachments)


def _block_json(block: ToolCallBlock) -> str:
    try:
        return block.model_dump_json(warnings=False)
    except ValueError:
        # Lone surrogates, and objects that pydantic cannot write.
        fields = dict(block)
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=str)


def _call_tokens(holder: Any, counter: TokenCounter) -> int:
    if isinstance(holder, Mapping):
        name, arguments = holder.get("name"), holder.get("arguments")
    else:
        name, arguments = getattr(holder, "name", None), getattr(holder, "arguments", None)
    return counter.count(str(name or "")) + counter.count(arguments_text(arguments)) + TOKENS_PER_CALL
