"""How the provider of a model counts images, audio, files and tool schemas."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ctxopt_core.messages.message import ALLOWANCES, Attachment, MediaFacts, Message, Provider, allowance
from ctxopt_core.models.model_ids import id_spellings
from ctxopt_core.providers.anthropic_media import anthropic_tokens
from ctxopt_core.providers.gemini_media import gemini_tokens
from ctxopt_core.providers.openai_media import openai_image_allowance, openai_tokens
from ctxopt_core.providers.tool_schemas import (
    Count,
    Tools,
    anthropic_schema_tokens,
    json_tokens,
    mistral_schema_tokens,
    openai_schema_tokens,
)
from ctxopt_core.validation import token_amount

_MEDIA_TOKENS: Mapping[Provider, Callable[[str, MediaFacts], int | None]] = MappingProxyType(
    {"openai": openai_tokens, "anthropic": anthropic_tokens, "google": gemini_tokens}
)
_MISTRAL = re.compile(
    r"(?:labs-)?(?:open-)?(?:mi(?:ni)?stral|mixtral|codestral|magistral|devstral|pixtral|voxtral|mathstral)"
)
# Tokens around a call and its result in the template v3 of mistral-common, `{"name": "", "arguments": , "id": ""}, `
# and `{"content": , "call_id": }` with control tokens, beyond those of two messages and of the strings. With fewer,
# eight calls in one message are counted below it; later templates have fewer.
_MISTRAL_CALL = 17
_OPENAI = re.compile(r"(?:chat)?gpt-(?!oss)|o\d+(?:-|$)|codex-|computer-use")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRules:
    """How the provider of a model counts images, audio, files and tool schemas.

    Rules are values: they compare, hash and pickle, and everything is pure. They travel with the token counter, so that
    whoever counts messages or schemas has them.

    Args:
        name: The bare id of the model in its unified spelling; empty where the provider is not known.
        provider: Whose rules apply; None where the id does not show it.
        allowances: What an attachment of a kind is charged where its size is not known, in place of the usual figure.
    """

    name: str = ""
    provider: Provider | None = None
    allowances: tuple[tuple[str, int], ...] = ()

    @property
    def counts_json(self) -> bool:
        """Whether `schema_tokens` is never less than the tokens of the schemas as JSON."""
        return self.provider != "openai"

    @property
    def rewrites_strings(self) -> bool:
        """Whether the provider writes the arguments of calls and the results of tools anew."""
        return self.provider == "mistral"

    @property
    def call_tokens(self) -> int:
        """Tokens around a call and its result, beyond its strings and those of any message."""
        return _MISTRAL_CALL if self.provider == "mistral" else 0

    def attachment_tokens(self, attachment: Attachment) -> int:
        """Return the tokens of an attachment: its own, else by the provider's rule, else an allowance.

        Only its facts are read: nothing is decoded or downloaded.
        """
        known = self.known_tokens(attachment)
        if known is None:
            known = dict(self.allowances).get(attachment.kind)
        if known is not None:
            return known
        provider = self.provider or attachment.provider
        usual = allowance(attachment.kind, provider)
        is_openai_image = attachment.kind == "image" and self.provider == "openai"
        return max(usual, openai_image_allowance(self.name)) if is_openai_image else usual

    def known_tokens(self, attachment: Attachment) -> int | None:
        """Return the tokens of an attachment; None where its size or its provider is not known."""
        provider, facts = self.provider or attachment.provider, attachment.facts
        if attachment.tokens is not None or facts is None or provider is None:
            return attachment.tokens
        tokens_of = _MEDIA_TOKENS.get(provider)
        return None if tokens_of is None else tokens_of(self.name, facts)

    def schema_tokens(self, tools: Tools, count: Count, system: str | None) -> int:
        """Return the tokens that tools and response formats add, never less than the provider is known to charge.

        `count` returns the tokens of a string; `system` is the first system message.
        """
        if self.provider == "openai":
            return openai_schema_tokens(tools, count, system)
        if self.provider == "anthropic":
            return anthropic_schema_tokens(tools, count, self.name)
        if self.provider == "mistral":
            return mistral_schema_tokens(tools, count)
        return json_tokens(tools, count)


NO_MODEL = ProviderRules()
"""The rules where no model is named."""


def rules_for(model: str | None, allowances: Mapping[str, int] | None = None) -> ProviderRules:
    """Return the rules for a model by its id in any spelling; `allowances` are tokens by the kind of attachment."""
    own = tuple(sorted((allowances or {}).items()))
    name = id_spellings(model)[-1] if model else ""
    provider = _provider_of(name)
    return ProviderRules(name=name if provider else "", provider=provider, allowances=own)


def rules_of(counter: object) -> ProviderRules:
    """Return the rules that a token counter has; those for no model where it has none."""
    rules: ProviderRules = getattr(counter, "rules", NO_MODEL)
    return rules


def priced(message: Message, rules: ProviderRules) -> Message:
    """Return a message whose attachments have their `tokens`; the message itself where it has no attachments."""
    if not message.attachments:
        return message
    attachments = tuple(
        replace(attachment, tokens=rules.attachment_tokens(attachment)) for attachment in message.attachments
    )
    return replace(message, attachments=attachments)


def read_allowances(allowances: object) -> dict[str, int]:
    """Return allowances by kind, each checked.

    Raises:
        ValueError: It is no mapping of kinds of attachments to numbers of tokens.
    """
    if not isinstance(allowances, Mapping) or not ALLOWANCES.keys() >= allowances.keys():
        kinds = ", ".join(ALLOWANCES)
        message = f"`attachment_tokens` must map kinds of attachments ({kinds}) to tokens, got {allowances!r}"
        raise ValueError(message)
    return {kind: token_amount(f"attachment_tokens[{kind!r}]", t, minimum=0) for kind, t in allowances.items()}


def _provider_of(name: str) -> Provider | None:
    if _OPENAI.match(name):
        return "openai"
    if name.startswith("claude"):
        return "anthropic"
    if _MISTRAL.match(name):
        return "mistral"
    return "google" if name.startswith("gemini") else None
