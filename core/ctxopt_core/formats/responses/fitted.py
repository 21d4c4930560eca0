"""Fitted items of OpenAI's Responses API: originals, copies with shortened texts, and the placeholder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxopt_core.formats.content_blocks import put_together, take_apart
from ctxopt_core.formats.content_parts import TEXT_KINDS, kind_of
from ctxopt_core.formats.responses.groups import MESSAGE, TOOL_CALLS, TOOL_RESULTS, Group, Item, groups_of, item_kind
from ctxopt_core.formats.responses.items import message_of_group
from ctxopt_core.formats.tool_calls import ShortenedCalls
from ctxopt_core.history.trimming import Trimming, kept_items
from ctxopt_core.messages.placeholder import PLACEHOLDER_ROLE
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened

_WRITTEN, _GIVEN = "output_text", "input_text"


def fitted_responses(items: Sequence[Item], trimming: Trimming) -> list[Item]:
    """Return the items that a trimming keeps: originals, copies where shortened, the placeholder.

    Args:
        items: The items that were given.
        trimming: What is kept of their groups.
    """
    given = groups_of(items)
    groups = kept_items(
        [group.items for group in given],
        trimming,
        shortened=lambda index, cut: tuple(_ShortenedGroup(given[index], cut).items()),
        placeholder=lambda text, _: ({"role": PLACEHOLDER_ROLE, "content": text},),
    )
    return [item for group in groups for item in group]


class _ShortenedGroup:
    """A group whose texts and arguments are replaced, one item after the other."""

    def __init__(self, group: Group, cut: Shortened) -> None:
        self._group = group
        self._cut = cut
        self._texts = iter(cut.texts)
        self._calls = ShortenedCalls(message_of_group(group).tool_calls, cut.arguments)
        self._seen: Counter[str | None] = Counter()
        self._said = False

    def items(self) -> Iterator[Item]:
        """Yield the items; a message of which nothing is left goes, unless reasoning before it needs it."""
        for item in self._group.items:
            kind = item_kind(item)
            if kind == MESSAGE:
                yield from self._message(item)
            elif kind in TOOL_RESULTS:
                yield self._with_content(item, "output", _GIVEN)
            elif kind in TOOL_CALLS and self._calls:
                yield self._calls.of(item, self._seen)
            else:
                yield item

    def _message(self, item: Item) -> Iterator[Item]:
        kind = _WRITTEN if item.get("role") == PLACEHOLDER_ROLE else _GIVEN
        left = self._with_content(item, "content", kind)
        content = left.get("content")
        if left is item or content:
            yield left
        elif self._group.thinks or len(self._group.items) == 1:
            yield {**left, "content": content if isinstance(content, str) else _silent(item["content"])}

    def _with_content(self, item: Item, key: str, text_kind: str) -> Item:
        content = item.get(key)
        texts = take_apart(content).texts
        new = tuple(next(self._texts) for _ in texts)
        if new == texts and not self._cut.attachments_omitted:
            return item
        left = put_together(content, replace(self._cut, texts=new, arguments={}))
        if self._cut.attachments_omitted and not isinstance(left, str):
            left = list(self._marked(left, content, text_kind))
        return item if left == content else {**item, key: left}

    def _marked(self, left: Sequence[Any], before: Any, text_kind: str) -> Iterator[Any]:
        """Yield parts in which the mark of left out attachments is a text of this API, and stands once."""
        for part in left:
            if part in before or part != {"type": "text", "text": ATTACHMENT_OMITTED}:
                yield part
            elif not self._said:
                self._said = True
                yield {"type": text_kind, "text": ATTACHMENT_OMITTED}


def _silent(content: Sequence[Any]) -> list[Any]:
    """Return a content with its first text part, emptied."""
    parts = (part for part in content if kind_of(part) in TEXT_KINDS)
    return [{**part, "text": ""} if isinstance(part, Mapping) else {"type": _WRITTEN, "text": ""} for part in parts][:1]
