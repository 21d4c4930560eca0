"""Model ids: one spelling for all the ways of writing the same id, and the encoding that an id implies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ctxopt_core.model_paths import path_and_name

DEFAULT_SAFETY_FACTOR = 1.2
"""How many of their own tokens most models may need for one token of the stand-in encoding."""

CLAUDE_SAFETY_FACTOR = 1.35
"""The same for Claude, whose newer tokenizers cut text finer."""

_PUBLISHED = frozenset({"o200k_base", "cl100k_base"})

_O200K = re.compile(
    r"(?:chat)?gpt-(?:4o|4-\d{1,2}(?:-|$)|[5-9]|[1-9]\d|oss|audio|chat|realtime)|o\d+(?:-|$)|codex-mini"
)
# Some hosts write the vendor before the names of models whose figures are their providers'.
_VENDOR_PREFIX = re.compile(r"^(?:anthropic|openai)-(?=claude|gemini|gpt-(?!oss)|o\d)")
_CL100K = re.compile(r"gpt-4(?!-\d{1,2}(?:-|$))(?:-|$)|gpt-3-5|text-embedding-(?:3|ada)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingChoice:
    """The tiktoken encoding to count a model's tokens with.

    Attributes:
        name: The encoding.
        exact: Whether it is the model's own. False: a stand-in, since the model's own is not published.
        safety_factor: What a count must be multiplied with, so that it leans towards too many; 1 if exact.
            Enough for prose and code in Latin script. Other scripts can need more: count with the model's own
            tokenizer there.
    """

    name: str
    exact: bool
    safety_factor: float


def checked_model_name(model: object, *, name: str = "model") -> str:
    """Return the id without the blanks around it; `name` is what the message of an error calls it.

    Raises:
        ValueError: `model` is no text, or is blank.
    """
    if not isinstance(model, str) or not model.strip():
        message = f"`{name}` must be the id of a model, for example 'gpt-4o', got {model!r}"
        raise ValueError(message)
    return model.strip()


def encoding_for(model: str) -> EncodingChoice:
    """Return the encoding that counts the tokens of `model`.

    OpenAI's models have a published encoding; ids of theirs that are newer than this package get the newest.
    Every other model gets `o200k_base`, marked as not exact.

    Args:
        model: A model id in any spelling: with provider, region, version or date.

    Raises:
        ValueError: `model` is no text, or is blank.
    """
    name = id_spellings(checked_model_name(model))[-1]
    if _O200K.match(name):
        return encoding_of_tokenizer("o200k_base")
    if _CL100K.match(name):
        return encoding_of_tokenizer("cl100k_base")
    return encoding_of_tokenizer("claude" if "claude" in name else "other")


def encoding_of_tokenizer(tokenizer: str) -> EncodingChoice:
    """Return the encoding for the name of a tokenizer: a published encoding, or a family that has none."""
    if tokenizer in _PUBLISHED:
        return EncodingChoice(name=tokenizer, exact=True, safety_factor=1.0)
    factor = CLAUDE_SAFETY_FACTOR if tokenizer == "claude" else DEFAULT_SAFETY_FACTOR
    return EncodingChoice(name="o200k_base", exact=False, safety_factor=factor)


@lru_cache(maxsize=8192)
def id_spellings(model: str) -> tuple[str, ...]:
    """Return the normal spellings of an id, the whole one first, the bare name last.

    `openrouter/anthropic/claude-sonnet-4.5:free` gives `openrouter/anthropic/claude-sonnet-4-5`,
    `anthropic/claude-sonnet-4-5` and `claude-sonnet-4-5`. A date stays: it may name a model with figures of
    its own.
    """
    scope, name = path_and_name(model.strip().lower())
    parts = [*scope, _unified(name)]
    return tuple("/".join(parts[start:]) for start in range(len(parts)))


def _unified(name: str) -> str:
    name = re.sub(r"[_\s]+", "-", name)
    name = re.sub(r"(?<=\d)\.(?=\d)", "-", name)
    name = re.sub(r"(?<=\d)p(?=\d)", "-", name)
    name = re.sub(r"\b([a-z]{3,})(?=\d)", r"\1-", name)
    name = re.sub(r"^llama-v(?=\d)", "llama-", name)
    name = _VENDOR_PREFIX.sub("", name)
    name = re.sub(r"^gpt-35(?=-|$)", "gpt-3-5", name)
    name = re.sub(r"^meta-(?=llama)", "", name)
    name = re.sub(r"^claude-(\d(?:-\d)?)-([a-z]+)", r"claude-\2-\1", name)
    return name.removesuffix("-latest")
