"""Items of OpenAI's Responses API in groups: what can only be kept or dropped together.

There a message, each tool call, each result and the reasoning before them are items of one list. A group is what a
model wrote in one answer: reasoning, messages and the calls up to the results that answer them. So reasoning stays with
the item that it precedes, as the API demands, and parallel calls stay together. A call after a result is taken for
another answer, since nothing says whether it belongs to the call before. A result is a separate group, which is kept
with its call, and so is each message of anyone else, and each compaction of the conversation before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxopt_core.formats.part_kinds import (
    APPROVAL_CALL,
    APPROVAL_RESULT,
    COMPACTION,
    TEXT_KINDS,
    answered_by,
    kind_of,
    sealed_call_id,
    text_of,
)
from ctxopt_core.messages.placeholder import is_placeholder_message

Item = Mapping[str, Any]

MESSAGE, REASONING, REFERENCE = "message", "reasoning", "item_reference"
TOOL_CALLS = frozenset({"function_call", "custom_tool_call"})
TOOL_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_RESULT_ENDING = "_output"
_ONLY_ITEMS = TOOL_CALLS | TOOL_RESULTS | {REASONING, REFERENCE}
_MODEL_ROLE = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Items that are kept or dropped together.

    Args:
        items: The items, in order.
        calls: The ids of the calls among them that wait for a result, by their positions.
        referred: The ids of results after it whose calls are stored at OpenAI, so that items here only refer to them.
    """

    items: tuple[Item, ...]
    calls: Mapping[int, str]
    referred: tuple[str, ...] = ()

    @property
    def thinks(self) -> bool:
        """Whether there is reasoning in it, with which what follows must not be changed."""
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
    """Return whether a list has items and not messages: it has a kind of item that chat APIs do not know."""
    kinds = [item.get("type") for item in content if isinstance(item, Mapping)]
    return any(isinstance(kind, str) and kind in _ONLY_ITEMS for kind in kinds)


def answered_id(item: Item) -> str | None:
    """Return the id of the call that a result answers; None for what is no result."""
    kind = item_kind(item)
    return answered_by(item, kind) if kind == APPROVAL_RESULT or kind.endswith(_RESULT_ENDING) else None


def groups_of(items: Sequence[Item]) -> tuple[Group, ...]:
    """Return the groups of a list of items, in order; together they hold each item once."""
    answered = frozenset(filter(None, map(answered_id, items)))
    found: list[list[Item]] = []
    is_open = False
    for item in items:
        is_by_model = _is_by_model(item)
        if is_by_model and is_open and not _is_new_answer(item, found[-1], answered):
            found[-1].append(item)
        else:
            found.append([item])
        is_open = is_by_model
    groups: list[Group] = []
    results: list[str] = []  # the ids of the results that follow the group, last first
    for group in reversed(found):
        calls = {position: name for position, item in enumerate(group) if (name := _call_id(item, answered))}
        identity = answered_id(group[0])
        refers = identity is None and any(item_kind(item) == REFERENCE for item in group)
        referred = tuple(name for name in reversed(results) if name not in calls.values()) if refers else ()
        groups.append(Group(items=tuple(group), calls=calls, referred=referred))
        results = [] if identity is None else [*results, identity]
    return tuple(reversed(groups))


def _is_by_model(item: Item) -> bool:
    if item_kind(item) == MESSAGE:
        return item.get("role") == _MODEL_ROLE and not _is_placeholder(item)
    return answered_id(item) is None


def _is_new_answer(item: Item, before: Sequence[Item], answered: frozenset[str]) -> bool:
    """Return whether an item begins another answer of the model, though it follows one with nothing in between."""
    kind, kinds = item_kind(item), [item_kind(found) for found in before]
    if COMPACTION in (kind, kinds[-1]):
        return True
    if any(_call_id(found, answered) for found in before):
        return False
    if kind == REASONING:
        return kinds[-1] != REASONING
    return kind == MESSAGE and set(kinds) == {MESSAGE}


def _call_id(item: Item, answered: frozenset[str]) -> str | None:
    """Return the id of a call that a result answers, or ought to; None for what needs no result."""
    kind = item_kind(item)
    if answered_id(item) is not None:
        return None
    named = [found for key in ("call_id", "id") if isinstance(found := item.get(key), str)]
    # An approval may stay open, and a local shell's output may name the id of the call.
    known = next((found for found in named if found in answered), None)
    return known or (None if kind == APPROVAL_CALL else sealed_call_id(item, kind))


def _is_placeholder(item: Item) -> bool:
    content = item.get("content")
    if isinstance(content, str):
        return is_placeholder_message(_MODEL_ROLE, (content,))
    if not isinstance(content, Sequence) or len(content) != 1:
        return False
    return kind_of(content[0]) in TEXT_KINDS and is_placeholder_message(_MODEL_ROLE, (text_of(content[0]),))
