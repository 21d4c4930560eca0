"""The request that is fitted: system prompt, query, documents, history, tools and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ctxopt_core.documents.document import Document
from ctxopt_core.messages.message import (
    Message,
)
from ctxopt_core.messages.message_views import MessageViews
from ctxopt_core.validation import check_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """One request to a model, before it is fitted.

    The query is either given in `query`, or it is the last user message of `history`; what follows that message is
    the current exchange.

    Args:
        system: The system prompt, or several strings of it. System messages may also stand in `history`.
        query: The question, or several entries of it.
        documents: The retrieved documents.
        history: The conversation, oldest message first. It may be lazy: only the messages that matter are read.
        tools: Tool schemas and response formats, counted as the provider of the model counts them; a tool choice as
            `{"tool_choice": ...}`.
        sections: Further strings with their own token budget, such as saved memories.
        fixed_tokens: Tokens of everything else that will be rendered.

    Raises:
        TypeError: A field has a type that cannot be fitted.
        ValueError: `fixed_tokens` is negative.

    Example:
        >>> from ctxopt_core import ContextRequest, Document
        >>> request = ContextRequest(query="Why?", documents=[Document(text="Because.")])
        >>> request.query_texts
        ('Why?',)
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
        check_whole("fixed_tokens", self.fixed_tokens, minimum=0, unit="tokens")

    @property
    def system_texts(self) -> tuple[str, ...]:
        """The strings of `system`."""
        return self.system if isinstance(self.system, tuple) else (self.system,)

    @property
    def query_texts(self) -> tuple[str, ...]:
        """The strings of `query`."""
        return self.query if isinstance(self.query, tuple) else (self.query,)


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
        message = f"`{name}` must be a string or a sequence of strings, got {type(value).__name__}"
        raise TypeError(message)
    return tuple(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Texts that are sent beside the four components, such as what an agent remembers of its user.

    It is whole as long as the whole request fits. In a request that does not fit it is cut to its own budget first, and
    what is left of it is then fixed. What goes is only left out of the request; nothing is deleted from anywhere.

    Args:
        name: What the report calls it.
        entries: Its strings, oldest first.
        max_tokens: The most that it may count in a request that is cut, as it is rendered, its framing included.

    Raises:
        TypeError: `name` is no string, or `entries` is no sequence of strings.
        ValueError: `name` is empty, or `max_tokens` is no number of tokens.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, Section, fit
        >>> notes = Section(name="memories", entries=["Likes tea.", "Lives in Quillmere."], max_tokens=35)
        >>> request = ContextRequest(query="word " * 20, sections=[notes])
        >>> fitted = fit(request, ContextBudget(max_input_tokens=145), counter=CallableCounter(len))
        >>> fitted.sections
        (('Lives in Quillmere.',),)
    """

    name: str
    entries: Sequence[str]
    max_tokens: int

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            message = f"`name` of a section must be a string, got {type(self.name).__name__}"
            raise TypeError(message)
        if not self.name:
            message = "`name` of a section must not be empty; the report calls the section by it"
            raise ValueError(message)
        check_whole(f"max_tokens of section {self.name!r}", self.max_tokens, minimum=0, unit="tokens")
        object.__setattr__(self, "entries", _as_entries(self.name, self.entries))

    @property
    def text(self) -> str:
        """Its entries, one a line."""
        return "\n".join(self.entries)

    def with_entries(self, entries: Sequence[str]) -> Section:
        """Return the section with other entries; itself where they are the same."""
        return self if tuple(entries) == self.entries else replace(self, entries=entries)


_ITEM_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"documents": (Document,), "history": (Message,), "tools": (str, Mapping), "sections": (Section,)}
)


def _as_entries(name: str, entries: object) -> tuple[str, ...]:
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Sequence):
        message = (
            f"`entries` of section {name!r} must be a sequence of strings, oldest first, got {type(entries).__name__}; "
            "put a single string into a list"
        )
        raise TypeError(message)
    others = [type(entry).__name__ for entry in entries if not isinstance(entry, str)]
    if others:
        message = f"`entries` of section {name!r} must be strings, got {others[0]}; pass the text of each"
        raise TypeError(message)
    return tuple(entries)
