"""What goes into a fit: documents, messages and the request that holds them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ctxopt_core.message_views import SYSTEM_ROLES, MessageViews

__all__ = [
    "ALLOWANCES",
    "SYSTEM_ROLES",
    "TOOL_ROLES",
    "Attachment",
    "AttachmentKind",
    "ContextRequest",
    "Document",
    "Message",
    "ToolCall",
    "schema_texts",
]

AttachmentKind = Literal["image", "audio", "video", "file", "other"]

TOOL_ROLES = frozenset({"tool", "function"})
ALLOWANCES: Mapping[str, int] = MappingProxyType({"image": 850, "file": 1000, "audio": 500, "video": 500, "other": 500})


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something in a message that is not text. It is kept as it is or left out whole; its bytes are never counted.

    Args:
        kind: What it is.
        tokens: Its cost in tokens where that is known; None for the fixed allowance of its kind (image 850, file
            1,000, others 500).
        fixed: Whether it stays while its message stays, since it is inside something that may not be edited.
    """

    kind: AttachmentKind = "other"
    tokens: int | None = None

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
        """Tokens that are charged for it."""
        return ALLOWANCES[self.kind] if self.tokens is None else self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that an assistant message makes.

    Args:
        id: What its result refers to; None in the legacy form, where the name is what links them.
        name: The tool.
        arguments: The arguments as the text that is sent.
    """

    id: str | None = None
    name: str = ""
    arguments: str = ""


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
        attachments: What is not text.
        synthetic: Whether it is a placeholder that an earlier fit put there.
    """

    role: str
    content: str | tuple[str, ...] = ""
    verbatim: tuple[str, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    synthetic: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The text parts; none for an empty content."""
        if isinstance(self.content, tuple):
            return self.content
        return (self.content,) if self.content else ()

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
            and self.name is None
            and not self.attachments
            and not self.verbatim
            and not self.synthetic
        )

    @property
    def empty(self) -> bool:
        """Whether it says nothing and calls nothing."""
        return not (self.tool_calls or self.attachments or self.verbatim or any(text.strip() for text in self.texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One retrieved document.

    Args:
        text: Its text; None or blank documents are dropped with the reason `empty`.
        id: What the report calls it; its index where there is none.
        score: Relevance; None or NaN rank last.
        source: What it was cut from, so that neighbours can be recognised.
        metadata: Anything else. Never read by the core.
    """

    text: str | None
    id: str | None = None
    score: float | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.text is not None and not isinstance(self.text, str):
            message = f"`text` of document {self.id!r} must be a text or None, got {type(self.text).__name__}"
            raise TypeError(message)
        if self.score is not None and (isinstance(self.score, (str, bytes)) or not _is_number(self.score)):
            message = (
                f"`score` of document {self.id!r} must be a number or None, got {type(self.score).__name__}; "
                "map words such as 'HIGH' to numbers first"
            )
            raise TypeError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """One request to a model, before it is fitted.

    The query is either given in `query`, or it is the last user message of `history`; what follows that message is
    the current exchange.

    Args:
        system: The system prompt, or several texts of it. System messages may also stand in `history`.
        query: The question, or several entries of it.
        documents: The retrieved documents.
        history: The conversation, oldest message first. It may be lazy: only what is looked at is read.
        tools: Tool schemas; a mapping is counted as compact JSON.
        fixed_tokens: Tokens of everything else that will be rendered.

    Raises:
        TypeError: A field has a type that cannot be fitted.
        ValueError: `fixed_tokens` is negative.
    """

    system: tuple[str, ...] | str = ()
    query: tuple[str, ...] | str = ()
    documents: Sequence[Document] = ()
    history: tuple[Message, ...] | list[Message] | MessageViews = ()
    tools: Sequence[str | Mapping[str, Any]] = ()
    fixed_tokens: int = 0

    def __post_init__(self) -> None:
        for name in ("system", "query"):
            object.__setattr__(self, name, _as_texts(name, getattr(self, name)))
        for name in ("documents", "history", "tools"):
            _check_items(name, getattr(self, name))
        if isinstance(self.fixed_tokens, bool) or not isinstance(self.fixed_tokens, int) or self.fixed_tokens < 0:
            message = f"`fixed_tokens` must be a number of tokens, 0 or more, got {self.fixed_tokens!r}"
            raise ValueError(message)

    @property
    def system_texts(self) -> tuple[str, ...]:
        """The texts of `system`."""
        return self.system if isinstance(self.system, tuple) else (self.system,)

    @property
    def query_texts(self) -> tuple[str, ...]:
        """The texts of `query`."""
        return self.query if isinstance(self.query, tuple) else (self.query,)


def schema_texts(tools: Sequence[str | Mapping[str, Any]]) -> tuple[str, ...]:
    """Return each tool schema as the compact JSON that is sent."""
    return tuple(tool if isinstance(tool, str) else _compact(tool) for tool in tools)


def _compact(tool: Mapping[str, Any]) -> str:
    return json.dumps(tool, separators=(",", ":"), ensure_ascii=False, default=str)


_ITEM_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"documents": (Document,), "history": (Message,), "tools": (str, Mapping)}
)


def _check_items(name: str, items: object) -> None:
    """Check a sequence by its first item; a lazy one is checked when it is read."""
    if items is None or isinstance(items, (str, bytes, Mapping)) or not hasattr(items, "__len__"):
        message = f"`{name}` must be a sequence of items, got {type(items).__name__}"
        raise TypeError(message)
    if isinstance(items, (list, tuple)) and items and not isinstance(items[0], _ITEM_TYPES[name]):
        kinds = " or ".join(kind.__name__ for kind in _ITEM_TYPES[name])
        message = f"`{name}` must hold {kinds} items, got {type(items[0]).__name__}"
        raise TypeError(message)


def _as_texts(name: str, value: object) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if texts is None or texts == ("",):
        return ()
    if not isinstance(texts, (tuple, list)) or not all(isinstance(text, str) for text in texts):
        message = f"`{name}` must be a text or a sequence of texts, got {type(value).__name__}"
        raise TypeError(message)
    return tuple(texts)


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
