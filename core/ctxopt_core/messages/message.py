"""One message of a conversation, as it is counted and cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from ctxopt_core.messages.media_facts import MediaFacts

AttachmentKind = Literal["image", "audio", "video", "file", "other"]
Provider = Literal["openai", "anthropic", "google"]
"""Whose published rules say what an attachment costs."""

TOOL_ROLES = frozenset({"tool", "function"})
ALLOWANCES: Mapping[str, int] = MappingProxyType({"image": 850, "file": 1000, "audio": 500, "video": 500, "other": 500})
ANTHROPIC_IMAGE_TOKENS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something in a message that is not text. It is kept as it is or left out whole; its bytes are never counted.

    Args:
        kind: What it is.
        tokens: Its cost in tokens where that is known; None for what the rules of the model's provider say of `facts`,
            or else the allowance of its kind (image 850, of Claude 1,500, file 1,000, others 500).
        fixed: Whether it stays while its message stays, since it is inside something that may not be edited.
        facts: What is known of it: size, length, pages.
        provider: Whose form it is written in, where that tells; it decides where no model is named.
    """

    kind: AttachmentKind = "other"
    tokens: int | None = None
    facts: MediaFacts | None = None
    provider: Provider | None = None

    def __post_init__(self) -> None:
        if self.kind not in ALLOWANCES:
            message = f"`kind` must be one of {', '.join(ALLOWANCES)}, got {self.kind!r}"
            raise ValueError(message)
        if self.tokens is not None and (isinstance(self.tokens, bool) or self.tokens < 0):
            message = f"`tokens` must be a number of tokens, 0 or more, or None, got {self.tokens!r}"
            raise ValueError(message)

    fixed: bool = False

    @property
    def cost(self) -> int:
        """Tokens that are charged for it where nothing else is known."""
        return allowance(self.kind, self.provider) if self.tokens is None else self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that an assistant message makes.

    Args:
        id: What its result refers to; None in the legacy form, where the name is what links them.
        name: The tool.
        arguments: The arguments as the text that is sent.
        fixed: Whether the arguments stay as they are, since reasoning beside them or a signature vouches for them.
    """

    id: str | None = None
    name: str = ""
    arguments: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """A result that stands inside a user's message, where Anthropic's API wants it.

    Args:
        call_id: The call that it answers; None where that is not said.
        texts: Which of the message's texts are its own, as a range of their positions.
        verbatim: Which of the message's verbatim texts are its own; the id is one of them.
        attachments: Which of the message's attachments are its own.
    """

    call_id: str | None = None
    texts: range = range(0)
    verbatim: range = range(0)
    attachments: range = range(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, as it is counted and cut.

    Args:
        role: `system`, `developer`, `user`, `assistant`, `tool`, `function`; any other is treated as `assistant`.
        content: The text, or one text for each text part.
        verbatim: Further text that is sent and counted but never shortened, such as reasoning or citations.
        name: The speaker's name.
        tool_calls: The calls it makes.
        tool_call_id: The call that it answers.
        tool_results: The results that stand in it, where it is a user's message.
        attachments: What is not text.
        synthetic: Whether it is a placeholder that an earlier fit put there.
    """

    role: str
    content: str | tuple[str, ...] = ""
    verbatim: tuple[str, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_results: tuple[ToolResult, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    synthetic: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The text parts; none for an empty content."""
        if isinstance(self.content, tuple):
            return self.content
        return (self.content,) if self.content else ()

    @property
    def spoken(self) -> tuple[int, ...]:
        """Positions of the texts that belong to no result."""
        return _outside(len(self.texts), [result.texts for result in self.tool_results])

    @property
    def speaks_beside_results(self) -> bool:
        """Whether results stand in it, and something else, too."""
        results = self.tool_results
        if not results:
            return False
        more_verbatim = len(self.verbatim) > sum(len(result.verbatim) for result in results)
        more_attachments = len(self.attachments) > sum(len(result.attachments) for result in results)
        return more_verbatim or more_attachments or any(self.texts[i].strip() for i in self.spoken)

    @property
    def removable(self) -> tuple[Attachment, ...]:
        """The attachments that may be left out."""
        return tuple(attachment for attachment in self.attachments if not attachment.fixed)

    @property
    def plain(self) -> bool:
        """Whether role and one text are all there is to it."""
        return (
            isinstance(self.content, str)
            and not self.tool_calls
            and self.tool_call_id is None
            and not self.tool_results
            and self.name is None
            and not self.attachments
            and not self.verbatim
            and not self.synthetic
        )

    @property
    def empty(self) -> bool:
        """Whether it says nothing and calls nothing."""
        return not (self.tool_calls or self.attachments or self.verbatim or any(text.strip() for text in self.texts))

    @property
    def beside_results(self) -> Message:
        """What is left of it without the results in it: they are still named, but nothing of them is there."""
        results = self.tool_results
        if not results:
            return self
        verbatim = _outside(len(self.verbatim), [result.verbatim for result in results])
        attachments = _outside(len(self.attachments), [result.attachments for result in results])
        return replace(
            self,
            content=tuple(self.texts[i] for i in self.spoken),
            verbatim=tuple(self.verbatim[i] for i in verbatim),
            attachments=tuple(self.attachments[i] for i in attachments),
            tool_results=tuple(ToolResult(call_id=result.call_id) for result in results),
        )


def allowance(kind: AttachmentKind, provider: Provider | None = None) -> int:
    """Return what an attachment of which nothing is known is charged, in tokens."""
    return ANTHROPIC_IMAGE_TOKENS if kind == "image" and provider == "anthropic" else ALLOWANCES[kind]


def _outside(length: int, ranges: list[range]) -> tuple[int, ...]:
    if length == sum(map(len, ranges)):
        return ()
    return tuple(i for i in range(length) if not any(i in inside for inside in ranges))
