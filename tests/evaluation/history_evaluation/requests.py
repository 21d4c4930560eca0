"""A request as candidates get it, and what they keep: OpenAI-shaped messages, counted as a chat request counts them."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from document_evaluation.cases import COUNTER

Row = Mapping[str, Any]
NOTE = -1
_PER_MESSAGE = 3
_PER_NAME = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """What a model is to be asked. Two are the same if they are one object, so that what is made of one can be kept.

    Args:
        rows: The messages, oldest first.
        question: What is asked about them, where that is not one of them.
        tools: The schemas of the tools.
        sittings: The number of the sitting in which each message was said, where that is known.
        evidence: The places of the gold messages, for the oracle alone.
    """

    rows: Sequence[Row] = field(repr=False)
    question: str = ""
    tools: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    sittings: Sequence[int] = field(default=(), repr=False)
    evidence: Sequence[int] = ()

    @property
    def newest_question(self) -> int | None:
        """The place of the newest message of a user."""
        return next((i for i in reversed(range(len(self.rows))) if self.rows[i]["role"] == "user"), None)

    @property
    def systems(self) -> list[int]:
        """The places of the system messages."""
        return [i for i, row in enumerate(self.rows) if row["role"] == "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What stays of a request.

    Args:
        rows: The messages: the place of each among the request's, or NOTE for one that was added, and how it is sent.
        tokens: What they count, where they are not sent as messages.
    """

    rows: Sequence[tuple[int, Row]]
    tokens: int | None = None

    @property
    def counted(self) -> int:
        """What is sent, in tokens."""
        return total(row for _, row in self.rows) if self.tokens is None else self.tokens


Fit = Callable[[Request, int], Kept]
"""Keeps messages that count at most so many tokens; the question and the tools are charged elsewhere."""


@functools.lru_cache(maxsize=65_536)
def count(text: str) -> int:
    return COUNTER.count(text)


def cost(row: Row) -> int:
    """Count a message: 3, the role, the text, the name and 1 for it, of each call the name, arguments and id."""
    tokens = _PER_MESSAGE + count(row["role"]) + count(row.get("content") or "")
    if row.get("name"):
        tokens += _PER_NAME + count(row["name"])
    for call in row.get("tool_calls") or ():
        tokens += count(call["function"]["name"]) + count(call["function"]["arguments"]) + count(call.get("id") or "")
    return tokens + count(row.get("tool_call_id") or "")


def total(rows: Iterable[Row]) -> int:
    """Count messages."""
    return sum(map(cost, rows))


def whole_places(request: Request, kept: Kept) -> list[int]:
    """Return the places of the messages that stay as they are."""
    return [place for place, row in kept.rows if place != NOTE and row == request.rows[place]]


def visible_text(rows: Iterable[Row]) -> str:
    """Return all that a model reads of messages: texts, names and arguments of calls."""
    parts: list[str] = []
    for row in rows:
        parts.append(row.get("content") or "")
        parts += (f"{call['function']['name']} {call['function']['arguments']}" for call in row.get("tool_calls") or ())
    return "\n".join(parts)


def groups(rows: Sequence[Row]) -> list[list[int]]:
    """Return the places of messages that belong together: a calling message with its results, any other alone.

    System messages are in none.
    """
    found: list[list[int]] = []
    for place, row in enumerate(rows):
        if row["role"] == "tool" and found:
            found[-1].append(place)
        elif row["role"] != "system":
            found.append([place])
    return found


def pairs_whole(rows: Iterable[Row]) -> bool:
    """Tell whether every call is followed by its result and every result follows its call."""
    waiting: Counter[str] = Counter()
    for row in rows:
        if row["role"] == "tool":
            if not waiting[row["tool_call_id"]]:
                return False
            waiting[row["tool_call_id"]] -= 1
        elif waiting.total():
            return False
        else:
            waiting = Counter(call["id"] for call in row.get("tool_calls") or ())
    return not waiting.total()


def whole(request: Request, places: Iterable[int]) -> Kept:
    """Keep messages as they are, in their order."""
    return Kept(rows=[(place, request.rows[place]) for place in sorted(places)])
