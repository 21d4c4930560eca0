"""What goes into a fit: documents, and the request that holds them with the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ctxopt_core.message_views import SYSTEM_ROLES, MessageViews
from ctxopt_core.messages import ALLOWANCES, TOOL_ROLES, Attachment, AttachmentKind, Message, ToolCall, ToolResult
from ctxopt_core.sections import Section
from ctxopt_core.tool_schemas import schema_texts

__all__ = [
    "ALLOWANCES",
    "SYSTEM_ROLES",
    "TOOL_ROLES",
    "Attachment",
    "AttachmentKind",
    "ContextRequest",
    "Document",
    "Message",
    "Section",
    "ToolCall",
    "ToolResult",
    "schema_texts",
]


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
        tools: Tool schemas and response formats, counted as the provider of the model counts them; the choice of a tool
            as `{"tool_choice": ...}`.
        sections: Further texts with a budget of their own, such as saved memories.
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
    sections: Sequence[Section] = ()
    fixed_tokens: int = 0

    def __post_init__(self) -> None:
        for name in ("system", "query"):
            object.__setattr__(self, name, _as_texts(name, getattr(self, name)))
        for name in ("documents", "history", "tools", "sections"):
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


_ITEM_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"documents": (Document,), "history": (Message,), "tools": (str, Mapping), "sections": (Section,)}
)


def _check_items(name: str, items: object) -> None:
    """Check a sequence by its first item, tools by all; a lazy one is checked when it is read."""
    if items is None or isinstance(items, (str, bytes, Mapping)) or not hasattr(items, "__len__"):
        message = f"`{name}` must be a sequence of items, got {type(items).__name__}"
        raise TypeError(message)
    checked = (items if name == "tools" else items[:1]) if isinstance(items, (list, tuple)) else ()
    for item in checked:
        if not isinstance(item, _ITEM_TYPES[name]):
            kinds = " or ".join(kind.__name__ for kind in _ITEM_TYPES[name])
            message = f"`{name}` must hold {kinds} items, got {type(item).__name__}"
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
