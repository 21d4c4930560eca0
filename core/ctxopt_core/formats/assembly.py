"""Message contents put together again: the parts as they were given, with shorter texts and arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ctxopt_core.formats.part_kinds import (
    CALL_KINDS,
    READ_RESULTS,
    TEXT_KINDS,
    is_attachment,
    is_readable,
    is_result,
    kind_of,
    source_texts,
    text_of,
    unwrapped,
    with_source_texts,
)
from ctxopt_core.formats.tool_calls import ShortenedCalls
from ctxopt_core.messages.message import ToolCall
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened


def put_together(content: object, cut: Shortened, calls: Sequence[ToolCall] = ()) -> Any:
    """Return a content with the texts of `cut` in place of its texts, everything else as it was.

    A part of which no text is left goes; the first attachment that is left out becomes a part that says so.

    Args:
        content: The content as it was given.
        cut: The new texts and arguments.
        calls: The calls of the message's view, where arguments are shortened.
    """
    return Assembly(cut, calls).content(content)


class Assembly:
    """Puts contents together again. `content` uses up the texts: call it in the order in which they came apart."""

    def __init__(self, cut: Shortened, calls: Sequence[ToolCall] = ()) -> None:
        self._cut = cut
        self._calls = ShortenedCalls(calls, cut.arguments)
        self._seen: Counter[str | None] = Counter()
        self._texts = iter(cut.texts)
        self._omitted = 0

    def content(self, content: object, text_kind: str = "text") -> Any:
        """Return the next content; `text_kind` is the kind of a part that says that attachments were left out."""
        if isinstance(content, str):
            return next(self._texts, content) if content else content
        if not isinstance(content, Sequence):
            return content
        return [left for part in content if not self._omits_result(part) for left in self._left_of(part, text_kind)]

    def _left_of(self, part: Any, text_kind: str) -> Iterator[Any]:
        kind = kind_of(part)
        if kind in TEXT_KINDS:
            text = next(self._texts, text_of(part))
            if text == text_of(part):
                yield part
            elif text:
                yield text if isinstance(part, str) else {**part, "text": text}
        elif kind in READ_RESULTS and is_readable(content := part.get(READ_RESULTS[kind])):
            left = self.content(content, text_kind)
            yield part if left == content else {**part, READ_RESULTS[kind]: left}
        elif (given := source_texts(part, kind)) is not None:
            changed = with_source_texts(part, kind, [next(self._texts, text) for text in given])
            if changed is not None:
                yield changed
        elif kind in CALL_KINDS:
            yield self._calls.of(part, self._seen) if self._calls else part
        elif self._omits_attachment(part, kind):
            if not self._omitted:
                yield {"type": text_kind, "text": ATTACHMENT_OMITTED}
            self._omitted += 1
        else:
            yield part

    def _omits_attachment(self, part: Any, kind: str) -> bool:
        return self._cut.omits_attachment(self._omitted) and is_attachment(part, kind)

    def _omits_result(self, part: Any) -> bool:
        if not self._cut.results_omitted or isinstance(part, str):
            return False
        return is_result(*unwrapped(part, kind_of(part)))
