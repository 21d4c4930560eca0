"""One message of a conversation, as it is counted and cut, and the parts of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from ctxopt_core.messages.roles import KNOWN_ROLES, checked_role

AttachmentKind = Literal["image", "audio", "video", "file", "other"]
Provider = Literal["openai", "anthropic", "google", "mistral"]
"""Whose published rules say what an attachment or a tool costs."""

# Tokens of an attachment of unknown size, by its kind. They are allowances and no bounds: an image of 1,024 x 1,024
# pixels has 765 tokens in gpt-4o, and a long file has more. A larger figure leaves more of the window unused, a smaller
# one lets more requests over it; `ContextBudget(attachment_tokens=...)` sets others.
ALLOWANCES: Mapping[str, int] = MappingProxyType({"image": 850, "file": 1000, "audio": 500, "video": 500, "other": 500})
ANTHROPIC_IMAGE_TOKENS = 1_500  # tokens of an image of unknown size; Claude scales images to 1,568 tokens and more


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaFacts:
    """What is known of an image, a recording or a file. Whatever is not known is None.

    Args:
        media_type: Its type by its first bytes, else as it is declared, for example `image/png`.
        width: Width of an image in pixels.
        height: Height of an image in pixels.
        detail: The resolution that is asked for: `low`, `medium`, `high`, `original`, `ultra_high` or `auto`.
        seconds: Length of a recording in seconds.
        pages: Pages of a document.

    Raises:
        ValueError: A figure is not above 0.
    """

    media_type: str | None = None
    width: int | None = None
    height: int | None = None
    detail: str | None = None
    seconds: float | None = None
    pages: int | None = None

    def __post_init__(self) -> None:
        for name in ("width", "height", "seconds", "pages"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                message = f"`{name}` must be above 0, or None where it is not known, got {value!r}"
                raise ValueError(message)

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, where both are known."""
        return None if self.width is None or self.height is None else (self.width, self.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An image, a recording or a file in a message. It is kept as it is or left out; its bytes are never counted.

    Args:
        kind: What it is.
        tokens: Its cost in tokens where that is known; None for what the rules of the model's provider say of `facts`,
            or else the allowance of its kind (image 850, for Claude 1,500, file 1,000, others 500).
        facts: What is known of it: size, length, pages.
        provider: The provider in whose form it is written, where that is known; its rules apply where no model is
            named.
        fixed: Whether it stays while its message stays, since it is inside something that may not be edited.

    Raises:
        ValueError: The kind is unknown, or the tokens are below 0.

    Example:
        >>> from ctxopt_core import Attachment
        >>> Attachment(kind="image").cost, Attachment(kind="image", tokens=85).cost
        (850, 85)
    """

    kind: AttachmentKind = "other"
    tokens: int | None = None
    facts: MediaFacts | None = None
    provider: Provider | None = None
    fixed: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ALLOWANCES:
            message = f"`kind` must be one of {', '.join(ALLOWANCES)}, got {self.kind!r}"
            raise ValueError(message)
        if self.tokens is not None and (isinstance(self.tokens, bool) or self.tokens < 0):
            message = f"`tokens` must be a number of tokens, 0 or more, or None, got {self.tokens!r}"
            raise ValueError(message)

    @property
    def cost(self) -> int:
        """Its tokens where no model is known."""
        return allowance(self.kind, self.provider) if self.tokens is None else self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call in an assistant message.

    Args:
        id: What its result refers to; None in the legacy form, where the result has the name of the tool.
        name: The tool.
        arguments: The arguments as the string that is sent.
        fixed: Whether the arguments must stay as they are, because of reasoning beside them or a signature.
        caller: The provider-side call whose code makes this call, as Anthropic's code execution does.

    Example:
        >>> from ctxopt_core import Message, ToolCall
        >>> call = ToolCall(id="call_1", name="look_up", arguments='{"city": "Oslo"}')
        >>> Message(role="assistant", tool_calls=(call,)).tool_calls[0].name
        'look_up'
    """

    id: str | None = None
    name: str = ""
    arguments: str = ""
    fixed: bool = False
    caller: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """A tool result inside a user's message, where Anthropic's API wants it.

    Args:
        call_id: The call that it answers; None where that is unknown.
        texts: Which of the message's texts belong to it, as a range of their positions.
        verbatim: Which of the message's verbatim texts belong to it; the id is one of them.
        attachments: Which of the message's attachments belong to it.

    Example:
        >>> from ctxopt_core import Message, ToolResult
        >>> result = ToolResult(call_id="call_1", texts=range(0, 1))
        >>> message = Message(role="user", content=("4 degrees", "Thanks. And Bergen?"), tool_results=(result,))
        >>> [message.texts[i] for i in message.spoken]
        ['Thanks. And Bergen?']
    """

    call_id: str | None = None
    texts: range = range(0)
    verbatim: range = range(0)
    attachments: range = range(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A search result, a document or a file in a message that is sent as text. It goes when none of its text is left.

    Args:
        texts: Which of the message's texts belong to it, as a range of their positions.
        verbatim: Which of the message's verbatim texts belong to it, such as its title.

    Example:
        >>> from ctxopt_core import Message, TextSource
        >>> page = TextSource(texts=range(0, 1), verbatim=range(0, 1))
        >>> message = Message(role="user", content=("4 degrees", "And now?"), verbatim=("Oslo",), sources=(page,))
        >>> [message.texts[i] for i in message.own]
        ['And now?']
    """

    texts: range = range(0)
    verbatim: range = range(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, as it is counted and cut.

    Args:
        role: `system`, `developer`, `user`, `assistant`, `tool` or `function`. The rarer `critic`, `discriminator`,
            `ipython` and `control` are treated as `assistant`.
        content: The text, or a tuple with the text of each part.
        verbatim: Other text that is sent and counted but never shortened, such as reasoning or citations.
        name: The speaker's name.
        tool_calls: The calls in it.
        tool_call_id: The call that it answers.
        tool_results: The results inside it, where it is a user's message.
        attachments: What is not text.
        sources: Search results, documents and files that are sent as text, those inside results among them.
        synthetic: Whether it is the placeholder of an earlier fit.
        server_calls: The ids of the provider's own calls in it, such as a web search, whose results are not in it.
        server_results: The ids of the provider's own calls in earlier messages whose results are in it.
        compacts: Whether a provider's compaction is in it, which stands for all messages before it.
        leads: Whether it ends with reasoning, so that it goes with the model's next message alone.

    Example:
        >>> from ctxopt_core import Message, ToolCall
        >>> Message(role="user", content="Is it cold in Oslo?").texts
        ('Is it cold in Oslo?',)
        >>> Message(role="assistant", tool_calls=(ToolCall(name="look_up"),)).plain
        False
    """

    role: str
    content: str | tuple[str, ...] = ""
    verbatim: tuple[str, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_results: tuple[ToolResult, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    sources: tuple[TextSource, ...] = ()
    synthetic: bool = False
    server_calls: tuple[str, ...] = ()
    server_results: tuple[str, ...] = ()
    compacts: bool = False
    leads: bool = False

    def __post_init__(self) -> None:
        if self.role not in KNOWN_ROLES:
            checked_role(self.role)

    @property
    def texts(self) -> tuple[str, ...]:
        """The text parts; none for an empty content."""
        if isinstance(self.content, tuple):
            return self.content
        return (self.content,) if self.content else ()

    @property
    def spoken(self) -> tuple[int, ...]:
        """Positions of the texts that the speaker wrote: those that belong to no result."""
        return _outside(len(self.texts), [result.texts for result in self.tool_results])

    @property
    def own(self) -> tuple[int, ...]:
        """Positions of the texts that the speaker wrote: those that belong to no result and to no source."""
        not_own = [result.texts for result in self.tool_results] + [source.texts for source in self.outer_sources]
        return _outside(len(self.texts), not_own)

    @property
    def outer_sources(self) -> tuple[TextSource, ...]:
        """The sources that belong to no result."""
        if not self.tool_results:
            return self.sources
        spoken = frozenset(self.spoken)
        return tuple(source for source in self.sources if spoken.issuperset(source.texts))

    @property
    def speaks_beside_results(self) -> bool:
        """Whether it has results and something else, too."""
        results = self.tool_results
        if not results:
            return False
        more_verbatim = len(self.verbatim) > sum(len(result.verbatim) for result in results)
        more_attachments = len(self.attachments) > sum(len(result.attachments) for result in results)
        return more_verbatim or more_attachments or any(self.texts[i].strip() for i in self.spoken)

    @property
    def special(self) -> bool:
        """Whether it calls, answers inside a message, leads to another, stands for others, or is a placeholder."""
        linked = self.tool_calls or self.tool_results or self.server_calls or self.server_results or self.leads
        return bool(linked or self.compacts or self.synthetic)

    @property
    def removable(self) -> tuple[Attachment, ...]:
        """The attachments that may be left out."""
        return tuple(attachment for attachment in self.attachments if not attachment.fixed)

    @property
    def plain(self) -> bool:
        """Whether it has a role and one text and nothing else."""
        return (
            isinstance(self.content, str)
            and not self.special
            and self.tool_call_id is None
            and self.name is None
            and not self.attachments
            and not self.verbatim
        )

    @property
    def empty(self) -> bool:
        """Whether it has no text, no call and no attachment."""
        return not (self.tool_calls or self.attachments or self.verbatim or any(text.strip() for text in self.texts))

    @property
    def beside_results(self) -> Message:
        """The message without the content of its results: they are still named."""
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
            sources=tuple(
                TextSource(texts=_among(source.texts, self.spoken), verbatim=_among(source.verbatim, verbatim))
                for source in self.outer_sources
            ),
        )


def allowance(kind: AttachmentKind, provider: Provider | None = None) -> int:
    """Return the tokens of an attachment of which only the kind is known."""
    return ANTHROPIC_IMAGE_TOKENS if kind == "image" and provider == "anthropic" else ALLOWANCES[kind]


def _outside(length: int, ranges: list[range]) -> tuple[int, ...]:
    if length == sum(map(len, ranges)):
        return ()
    return tuple(i for i in range(length) if not any(i in inside for inside in ranges))


def _among(positions: range, kept: tuple[int, ...]) -> range:
    """Return where positions are once only some are kept, all of them among those."""
    start = sum(1 for i in kept if i < positions.start)
    return range(start, start + len(positions))
