"""The turns of a conversation that were read but not counted, each made only when it is asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain, compress, islice
from typing import NamedTuple

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import UNCOUNTED, Turn
from ctxopt_core.messages.roles import TOOL_ROLES


class ReadTurns:
    """The newest turns before an index, oldest first.

    Args:
        conversation: The conversation.
        stop: The index after the last turn.
        until: Messages from this index on are read in any case; it is that at which a turn starts.
        most_characters: Where the messages have more, older ones are not read.
        step: How many messages are read at a time; they begin at a multiple of it.

    Attributes:
        first: The index of the first message that was read.
        texts: The text of each message from there on.
        starts: The index at which each turn starts.
    """

    def __init__(
        self, conversation: CountedConversation, stop: int, *, until: int, most_characters: float, step: int
    ) -> None:
        self._conversation, self._stop = conversation, stop
        parts, self.first = self._read(until, most_characters, step)
        read = stop - sum([len(part.texts) for part in parts])
        self.texts = list(islice(chain.from_iterable([part.texts for part in parts]), self.first - read, None))
        self.starts = list(chain.from_iterable([part.opening for part in parts]))
        del self.starts[: bisect_left(self.starts, self.first)]
        self._special = [index for part in parts for index in part.not_plain if index >= self.first]
        # Messages before the first user message are a turn of their own, where they are the beginning.
        leads = range(self.starts[0] if self.starts else stop) if self.first == 0 else ()
        if not all(map(conversation.is_system, leads)):
            self.starts.insert(0, 0)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: int) -> Turn:
        start, stop = self.starts[number], self.stop_of(number)
        if not self._special:
            return Turn(start, stop, UNCOUNTED, plain=True)
        place = bisect_left(self._special, start)
        return Turn(start, stop, UNCOUNTED, place == len(self._special) or self._special[place] >= stop)

    def best_scores(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Return the best score of a message in each turn, by the number of the turn; -1 is what precedes the first.

        Args:
            scores: Scores of messages by their place in `texts`, ascending.
        """
        starts, ends = self.starts, [*self.starts[1:], self._stop]
        best: dict[int, float] = {}
        number, stop, high = -1, self.first, 0.0
        for place, score in scores.items():
            index = place + self.first
            if index >= stop:
                number = bisect_right(starts, index) - 1
                stop = ends[number] if number >= 0 else starts[0]
                best[number] = high = score
            elif score > high:
                best[number] = high = score
        return best

    def characters(self, number: int) -> int:
        """Return the characters of a turn."""
        start, stop = self.starts[number], self.stop_of(number)
        return sum(map(len, self.texts[start - self.first : stop - self.first]))

    def stop_of(self, number: int) -> int:
        """Return the index after a turn."""
        number += 1
        return self.starts[number] if number < len(self.starts) else self._stop

    def _read(self, until: int, most_characters: float, step: int) -> tuple[list[_Part], int]:
        """Read messages, newest first, and return them, oldest first, with the index of the oldest that is wanted."""
        parts: list[_Part] = []
        start, left = self._stop, most_characters
        while start:
            first = (start - 1) // step * step
            part = self._read_plain(first, start) or self._read_each(first, start)
            parts.append(part)
            left -= sum(map(len, part.texts))
            if left < 0 and first <= until:
                return parts[::-1], min(start, until)
            start = first
        return parts[::-1], 0

    def _read_plain(self, start: int, stop: int) -> _Part | None:
        """Read messages at once, if all have content and nothing else: most messages are so."""
        found = self._conversation.plain_range(start, stop)
        if found is None:
            return None
        texts = found.texts
        if found.names is not None:
            texts = [f"{name}\n{text}" if name else text for name, text in zip(found.names, texts, strict=True)]
        return _Part(texts, list(compress(range(start, stop), map("user".__eq__, found.roles))), ())

    def _read_each(self, start: int, stop: int) -> _Part:
        texts: list[str] = []
        opening: list[int] = []
        not_plain: list[int] = []
        plains = list(islice(self._conversation.backwards(stop), stop - start))[::-1]
        for index, plain in zip(range(start, stop), plains, strict=True):
            named = self._conversation.named(index) if plain is None else None
            if plain is None and named is None:
                peek = self._conversation.peek(index)
                text, is_plain, opens = peek.text, peek.plain, self._conversation.opens_turn(index)
            else:
                role, name, text = named or ("", "", "")
                if plain is not None:
                    role, text = plain
                is_plain = bool(text) and not text.isspace() and role not in TOOL_ROLES
                opens = is_plain and role == "user"
                text = f"{name}\n{text}" if name else text
            texts.append(text)
            if not is_plain:
                not_plain.append(index)
            if opens:
                opening.append(index)
        return _Part(texts, opening, not_plain)


class _Part(NamedTuple):
    """Messages that were read: their texts, and the indices of those that open a turn and of those that are not plain.

    All are in ascending order.
    """

    texts: Sequence[str]
    opening: Sequence[int]
    not_plain: Sequence[int]
