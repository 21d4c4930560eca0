"""The turns of a conversation that were read but not counted, each made only when it is asked for."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import UNCOUNTED, Turn


class ReadTurns:
    """The newest turns before an index, oldest first.

    Args:
        conversation: The conversation.
        stop: The index after the last turn.
        most_characters: Turns of more characters than these are left out, the oldest first, `step` messages at a time.
        step: Messages; where the first are left out, what is read begins at a multiple of it.

    Attributes:
        first: The index of the first message that was read.
        texts: The text of each message from there on.
        starts: The index at which each turn starts.
    """

    def __init__(
        self, conversation: CountedConversation, stop: int, *, most_characters: float = math.inf, step: int = 1
    ) -> None:
        self._stop = stop
        self.texts, self.starts, self._special = conversation.read_before(stop, most_characters, step)
        self.first = stop - len(self.texts)
        # Messages before the first user message are a turn of their own, where they are the beginning.
        leads = range(self.starts[0] if self.starts else stop) if self.first == 0 else ()
        if not all(map(conversation.is_system, leads)):
            self.starts.insert(0, 0)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: int) -> Turn:
        start, stop = self.starts[number], self.stop_of(number)
        place = bisect_left(self._special, start) if self._special else 0
        return Turn(start, stop, UNCOUNTED, place == len(self._special) or self._special[place] >= stop)

    def number_at(self, index: int) -> int:
        """Return the number of the turn that a message belongs to; -1 before the first."""
        return bisect_right(self.starts, index) - 1

    def characters(self, number: int) -> int:
        """Return the characters of a turn."""
        return sum(map(len, self.texts[self.starts[number] - self.first : self.stop_of(number) - self.first]))

    def stop_of(self, number: int) -> int:
        """Return the index after a turn."""
        return self.starts[number + 1] if number + 1 < len(self.starts) else self._stop
