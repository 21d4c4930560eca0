"""What the prompt caches of providers read of a request that begins like the one before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxopt_core.models.model_ids import id_spellings

CACHED_SHARE = 0.1
"""What a cached token costs of a new one where no price is known: the discount of most current models."""

WRITTEN_SHARE = 1.25
"""What a token costs that is written into a cache that charges for it, where no price is known: Anthropic's cache for
five minutes, and OpenAI's from the GPT-5.6 family on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCacheRules:
    """What a provider's prompt cache reads of a prefix that repeats the request before.

    The request before is taken to be in the cache: it was sent to the same machines a short time ago.

    Args:
        minimum: The shortest prefix that is cached, in tokens.
        step: Tokens by which a cached prefix grows beyond the minimum.
        whole_messages: Whether a prefix ends with a message, since a breakpoint has to be set there.
        charges_writes: Whether what is written into the cache costs more than what is not.
        source: Where this is said, or why nothing is known.

    Example:
        >>> from ctxopt_core.providers.prompt_caches import cache_rules_for
        >>> rules = cache_rules_for("gpt-4o")
        >>> [rules.cached_tokens(common) for common in (1_000, 1_100, 2_000)]
        [0, 1024, 1920]
    """

    minimum: int = 0
    step: int = 1
    whole_messages: bool = False
    charges_writes: bool = False
    source: str = "no provider's rules are known: each repeated token is taken to be cached"

    def cached_tokens(self, common: int) -> int:
        """Return how many tokens are read from the cache where the first `common` tokens repeat the request before."""
        if common < self.minimum:
            return 0
        return common - (common - self.minimum) % self.step

    def written_tokens(self, tokens: int, cached: int) -> int:
        """Return how many tokens of a request are charged as written into the cache: all new ones, or none."""
        return tokens - cached if self.charges_writes and tokens >= self.minimum else 0


_OPENAI = "https://developers.openai.com/api/docs/guides/prompt-caching"
_ANTHROPIC = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_GOOGLE = "https://ai.google.dev/gemini-api/docs/caching"
_READ_ON = "read on 1 December 2026"

# The shortest cached prefix in tokens, by the beginning of the model's bare id; the first that matches is meant. From
# the pages above, which change with each generation of models.
_CLAUDE_MINIMUM: Sequence[tuple[str, int]] = (
    (r"claude-(?:opus|fable|mythos)-5", 512),
    (r"claude-(?:opus-4-7|mythos-preview|haiku-3)", 2_048),
    (r"claude-(?:opus-4-[56]|haiku-4)", 4_096),
    (r"claude", 1_024),
)
_GEMINI_MINIMUM: Sequence[tuple[str, int]] = ((r"gemini-2-5", 2_048), (r"gemini", 4_096))
_OPENAI_MINIMUM, _OPENAI_STEP = 1_024, 128  # tokens
_OPENAI_IDS = re.compile(r"(?:chat)?gpt-(?!oss)|o\d+(?:-|$)|codex-")
_OPENAI_CHARGES_WRITES = re.compile(r"gpt-(?:5-[6-9]|[6-9])(?!\d)")
_NOTHING_KNOWN = PromptCacheRules()


def cache_rules_for(model: str | None) -> PromptCacheRules:
    """Return the rules of the prompt cache for a model by its id in any spelling.

    OpenAI caches prefixes of 1,024 tokens and more, in steps of 128, and charges for writing from GPT-5.6 on.
    Anthropic charges for writing, and caches up to the breakpoints that the client sets. They are taken to be at the
    ends of the messages where they are needed. Its shortest prefix depends on the model, as does that of Gemini's
    implicit cache.

    Args:
        model: The id; None or one of another provider has the rules where nothing is known.
    """
    name = id_spellings(model)[-1] if model else ""
    if _OPENAI_IDS.match(name):
        return PromptCacheRules(
            minimum=_OPENAI_MINIMUM,
            step=_OPENAI_STEP,
            charges_writes=bool(_OPENAI_CHARGES_WRITES.match(name)),
            source=f"{_OPENAI}, {_READ_ON}",
        )
    if name.startswith("claude"):
        return PromptCacheRules(
            minimum=_minimum(_CLAUDE_MINIMUM, name),
            whole_messages=True,
            charges_writes=True,
            source=f"{_ANTHROPIC}, {_READ_ON}",
        )
    if name.startswith("gemini"):
        return PromptCacheRules(minimum=_minimum(_GEMINI_MINIMUM, name), source=f"{_GOOGLE}, {_READ_ON}")
    return _NOTHING_KNOWN


def _minimum(rows: Sequence[tuple[str, int]], name: str) -> int:
    return next(tokens for pattern, tokens in rows if re.match(pattern, name))
