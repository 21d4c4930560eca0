"""How the provider of a model counts what goes with a request besides texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ctxopt_core.messages.media_facts import MediaFacts
from ctxopt_core.messages.message import ALLOWANCES, Attachment, Message, Provider, allowance
from ctxopt_core.models.model_ids import id_spellings
from ctxopt_core.providers.tool_schemas import Count, Tools, anthropic_schema_tokens, json_tokens, openai_schema_tokens
from ctxopt_core.validation import token_amount

_OPENAI = re.compile(r"(?:chat)?gpt-(?!oss)|o\d+(?:-|$)|codex-|computer-use")


class ProviderRules(Protocol):
    """How the provider of a model counts what goes with a request besides texts.

    1. `attachment_tokens(attachment)` is what one attachment is charged, by the provider's published rule where its
       facts suffice for it, else by an allowance. It reads the facts alone: nothing is decoded or downloaded.
    2. An attachment that says itself what it costs is charged that.
    3. `schema_tokens(tools, count, system)` is what tools and response formats add to a request, and never less than
       the provider is known to charge. `count` counts a text; `system` is the first system message, or None.
       `counts_json` is True when that is never less than the schemas as JSON.
    4. Rules are values: they compare, hash and pickle, and everything is pure.
    """

    @property
    def counts_json(self) -> bool:
        """Whether schemas count at least what their JSON counts."""

    def attachment_tokens(self, attachment: Attachment) -> int:
        """Return what an attachment is charged, in tokens."""

    def schema_tokens(self, tools: Tools, count: Count, system: str | None) -> int:
        """Return what tools and response formats cost, in tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRules:
    """The rules for one model.

    Args:
        name: The bare id of the model in its unified spelling; empty where the provider is not known.
        provider: Whose rules hold; None where the id does not tell.
        allowances: What an attachment of a kind is charged where its size is not known, in place of the usual figure.
    """

    name: str = ""
    provider: Provider | None = None
    allowances: tuple[tuple[str, int], ...] = ()

    @property
    def counts_json(self) -> bool:
        """Whether schemas count at least what their JSON counts."""
        return self.provider != "openai"

    def attachment_tokens(self, attachment: Attachment) -> int:
        """Return what an attachment is charged, in tokens."""
        if attachment.tokens is not None:
            return attachment.tokens
        provider = self.provider or attachment.provider
        facts = attachment.facts
        known = None if facts is None or provider is None else self._by_rule(provider, facts)
        return self._allowance(attachment, provider) if known is None else known

    def schema_tokens(self, tools: Tools, count: Count, system: str | None) -> int:
        """Return what tools and response formats cost, in tokens."""
        if self.provider == "openai":
            return openai_schema_tokens(tools, count, system)
        if self.provider == "anthropic":
            return anthropic_schema_tokens(tools, count, self.name)
        return json_tokens(tools, count)

    def _by_rule(self, provider: Provider, facts: MediaFacts) -> int | None:
        if provider == "openai":
            from ctxopt_core.providers.openai_media import openai_tokens

            return openai_tokens(self.name, facts)
        if provider == "anthropic":
            from ctxopt_core.providers.anthropic_media import anthropic_tokens

            return anthropic_tokens(self.name, facts)
        from ctxopt_core.providers.gemini_media import gemini_tokens

        return gemini_tokens(self.name, facts)

    def _allowance(self, attachment: Attachment, provider: Provider | None) -> int:
        own = dict(self.allowances).get(attachment.kind)
        if own is not None:
            return own
        usual = allowance(attachment.kind, provider)
        if attachment.kind != "image" or self.provider != "openai":
            return usual
        from ctxopt_core.providers.openai_media import openai_image_allowance

        return max(usual, openai_image_allowance(self.name) or 0)


NO_MODEL = ModelRules()
"""The rules where no model is named."""


def rules_for(model: str | None, allowances: Mapping[str, int] | None = None) -> ModelRules:
    """Return the rules for a model.

    Args:
        model: Its id in any spelling; None where none is named.
        allowances: Tokens for attachments of unknown size, by their kind.
    """
    own = tuple(sorted((allowances or {}).items()))
    name = id_spellings(model)[-1] if model else ""
    provider = _provider_of(name)
    return ModelRules(name=name if provider else "", provider=provider, allowances=own)


def rules_of(counter: object) -> ProviderRules:
    """Return the rules that a token counter carries; those for no model where it carries none."""
    rules: ProviderRules = getattr(counter, "rules", NO_MODEL)
    return rules


def priced(message: Message, rules: ProviderRules) -> Message:
    """Return a message whose attachments say what they cost; the message itself where it has none."""
    if not message.attachments:
        return message
    told = tuple(replace(attachment, tokens=rules.attachment_tokens(attachment)) for attachment in message.attachments)
    return replace(message, attachments=told)


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
    return "google" if name.startswith("gemini") else None
