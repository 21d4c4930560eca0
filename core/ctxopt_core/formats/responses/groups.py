"""Items of OpenAI's Responses API in groups: what can only be kept or dropped together.

There a message, each call of a tool, each result and the reasoning before them are items of one list. What a model
wrote in one go is one group: reasoning, messages and the calls up to the results that answer them. So reasoning stays
with the item that it precedes, as the API demands, and parallel calls stay together. A call behind a result is taken
for another answer, since nothing tells whether it was one with the call before. A result is a group of its own, which
its call binds, and so is each message of anyone else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxopt_core.formats.content_parts import TEXT_KINDS, kind_of, text_of
from ctxopt_core.messages.placeholder import is_placeholder_message

Item = Mapping[str, Any]

MESSAGE, REASONING, REFERENCE = "message", "reasoning", "item_reference"
TOOL_CALLS = frozenset({"function_call", "custom_tool_call"})
TOOL_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_RESULT_ENDING = "_output"
_APPROVAL_CALL, _APPROVAL_RESULT = "mcp_approval_request", "mcp_approval_response"
_ONLY_ITEMS = TOOL_CALLS | TOOL_RESULTS | {REASONING, REFERENCE}
_MODEL_ROLE = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Items that are kept or dropped together.

    Args:
        items: The items, in order.
        calls: The ids of the calls among them that wait for a result, by their positions.
        referred: The ids of results behind it whose calls are with OpenAI, so that items here only refer to them.
    """

    items: tuple[Item, ...]
    calls: Mapping[int, str]
    referred: tuple[str, ...] = ()

    @property
    def thinks(self) -> bool:
        """Whether reasoning stands in it, which vouches for what follows."""
        return any(item_kind(item) in (REASONING, REFERENCE) for item in self.items)


def item_kind(item: Item) -> str:
    """Return the type of an item. One with a role needs none, and one with nothing but an id is a reference."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    if "role" in item:
        return MESSAGE
    return REFERENCE if item.keys() <= {"id", "type"} and "id" in item else ""


def is_list_of_items(content: Sequence[object]) -> bool:
    """Tell whether a list is one of items and not of messages: a kind of item that chat APIs do not know tells."""
    kinds = [item.get("type") for item in content if isinstance(item, Mapping)]
    return any(isinstance(kind, str) and kind in _ONLY_ITEMS for kind in kinds)


def answered_id(item: Item) -> str | None:
    """Return the id of the call that a result answers; None for what is no result."""
    kind = item_kind(item)
    if kind == _APPROVAL_RESULT:
        found = item.get("approval_request_id")
    else:
        found = item.get("call_id") if kind.endswith(_RESULT_ENDING) else None
    return found if isinstance(found, str) else None


def groups_of(items: Sequence[Item]) -> tuple[Group, ...]:
    """Return the groups of a list of items, in order; together they hold each item once."""
    grouping = _Grouping(items)
    for item in items:
        grouping.add(item)
    return grouping.groups()


class _Grouping:
    """Groups, as the items come."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._answered = frozenset(found for item in items if (found := answered_id(item)) is not None)
        self._found: list[list[Item]] = []
        self._open = False

    def add(self, item: Item) -> None:
        """Add the next item to the group of the one before it, or begin one with it."""
        joins = self._is_written_by_model(item) and self._open and not self._begins_anew(item)
        if joins:
            self._found[-1].append(item)
        else:
            self._found.append([item])
        self._open = self._is_written_by_model(item)

    def groups(self) -> tuple[Group, ...]:
        """Return the groups that were found."""
        groups: list[Group] = []
        for items in self._found:
            calls = {position: found for position, item in enumerate(items) if (found := self._call_id(item))}
            groups.append(Group(items=tuple(items), calls=calls))
        return tuple(_with_referred(groups))

    def _is_written_by_model(self, item: Item) -> bool:
        if item_kind(item) == MESSAGE:
            return item.get("role") == _MODEL_ROLE and not _is_placeholder(item)
        return answered_id(item) is None

    def _begins_anew(self, item: Item) -> bool:
        """Tell whether an item opens another answer of the model, though no one has spoken in between."""
        before, kind = self._found[-1], item_kind(item)
        if any(self._call_id(found) for found in before):
            return False
        kinds = [item_kind(found) for found in before]
        if kind == REASONING:
            return kinds[-1] != REASONING
        return kind == MESSAGE and set(kinds) == {MESSAGE}

    def _call_id(self, item: Item) -> str | None:
        """Return the id of a call that a result answers, or ought to; None for what needs no result."""
        kind = item_kind(item)
        found = item.get("id" if kind == _APPROVAL_CALL else "call_id")
        if not isinstance(found, str) or answered_id(item) is not None:
            return None
        return found if kind in TOOL_CALLS or found in self._answered else None


def _with_referred(groups: Sequence[Group]) -> list[Group]:
    """Return groups in which references stand for the calls whose results follow them."""
    found: list[Group] = []
    position = 0
    while position < len(groups):
        group = groups[position]
        position += 1
        results: list[Group] = []
        while position < len(groups) and answered_id(groups[position].items[0]) is not None:
            results.append(groups[position])
            position += 1
        found += [_referring(group, results), *results]
    return found


def _referring(group: Group, results: Sequence[Group]) -> Group:
    if not any(item_kind(item) == REFERENCE for item in group.items):
        return group
    named = [answered_id(result.items[0]) for result in results]
    referred = tuple(name for name in named if name is not None and name not in group.calls.values())
    return Group(items=group.items, calls=group.calls, referred=referred)


def _is_placeholder(item: Item) -> bool:
    content = item.get("content")
    if isinstance(content, str):
        return is_placeholder_message(_MODEL_ROLE, (content,))
    if not isinstance(content, Sequence) or len(content) != 1:
        return False
    return kind_of(content[0]) in TEXT_KINDS and is_placeholder_message(_MODEL_ROLE, (text_of(content[0]),))
