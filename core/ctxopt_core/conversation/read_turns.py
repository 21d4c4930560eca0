"""The turns of a conversation that were read but not counted, each made only when it is asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import islice

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
        self._texts: list[str] = []
        self._opening: list[int] = []
        self._not_plain: list[int] = []
        self.first = self._read(until, most_characters, step)
        self.texts = self._texts[: stop - self.first][::-1]
        self.starts = [index for index in reversed(self._opening) if index >= self.first]
        self._special = [index for index in reversed(self._not_plain) if index >= self.first]
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

    def _read(self, until: int, most_characters: float, step: int) -> int:
        """Read messages, newest first, and return the index of the oldest that is wanted."""
        scan, start, left = self._conversation.backwards(self._stop), self._stop, most_characters
        while start:
            first = (start - 1) // step * step
            indices, plains = range(start - 1, first - 1, -1), list(islice(scan, start - first))
            known = [plain for plain in plains if plain is not None]
            texts = [text for _, text in known]
            # Most messages are plain: then a bulk pass takes half the time.
            spoken = len(known) == len(plains) and TOOL_ROLES.isdisjoint([role for role, _ in known])
            if spoken and all(texts) and not any(map(str.isspace, texts)):
                self._texts += texts
                self._opening += [index for index, (role, _) in zip(indices, known, strict=True) if role == "user"]
            else:
                for index, plain in zip(indices, plains, strict=True):
                    self._read_one(index, plain)
            left -= sum(map(len, self._texts[self._stop - start :]))
            if left < 0 and first <= until:
                return min(start, until)
            start = first
        return 0

    def _read_one(self, index: int, plain: tuple[str, str] | None) -> None:
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
        self._texts.append(text)
        if not is_plain:
            self._not_plain.append(index)
        if opens:
            self._opening.append(index)
