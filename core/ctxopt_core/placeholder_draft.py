"""The placeholder of a trimming in the making: the room that is kept for it, and what it says in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ctxopt_core.conversation import TOKENS_PER_MESSAGE
from ctxopt_core.history import HistoryPolicy
from ctxopt_core.placeholder import PLACEHOLDER_ROLE, placeholder_text
from ctxopt_core.tokens import TokenCounter

Choose = Callable[[Iterable[int], Callable[[Sequence[str]], bool]], Sequence[str]]

WIDEST_NOTE = 999_999
"""A number of messages whose note is as wide as any."""

_MOST_TOKENS = 512


class PlaceholderDraft:
    """The one message that says what was left out, until it is settled.

    Args:
        policy: Whether there is one, and what it says beside the number of messages.
        budget: The history's allocation, in tokens.
        counter: Counts the texts.
        names_identifiers: Whether identifiers of dropped messages are named in it.
    """

    def __init__(
        self, policy: HistoryPolicy, budget: int, counter: TokenCounter, *, names_identifiers: bool = False
    ) -> None:
        self.after: int | None = None
        self.summary_room = 0
        self._policy = policy
        self._counter = counter
        self._said: tuple[str, ...] = ()
        says_more = policy.note == "excerpts" or (policy.note == "identifiers" and names_identifiers)
        self._share = min(_MOST_TOKENS, int(budget * policy.note_share / 100)) if says_more else 0

    @property
    def said(self) -> tuple[str, ...]:
        """What it says beside the number of messages: identifiers, or excerpts."""
        return self._said

    @property
    def room(self) -> int:
        """Tokens that it may take beside the number of messages."""
        return self._share if self._policy.placeholder and not self.summary_room else 0

    def text(self, messages: int) -> str:
        """Return what it says where so many messages were left out."""
        if self._policy.note == "excerpts":
            return placeholder_text(messages, excerpts=self._said)
        return placeholder_text(messages, self._said)

    def tokens(self, messages: int) -> int:
        """Return what it counts where so many messages were left out; with a summary to come, the most that it may."""
        if not self._policy.placeholder:
            return 0
        text = self.summary_room or self._counter.count(self.text(messages))
        return TOKENS_PER_MESSAGE + self._counter.count(PLACEHOLDER_ROLE) + text

    def say_more(self, choose: Choose, dropped: Iterable[int], length: int, left: int) -> int:
        """Let `choose` pick what is said of the dropped messages, and return the tokens that it takes.

        Args:
            choose: Called with the dropped messages and a function that tells whether there is room for some lines.
            dropped: The dropped messages, newest first.
            length: How many messages there are in all.
            left: Tokens that are left.
        """
        without = self.tokens(length)
        room = without + min(left, self.room)

        def fits(said: Sequence[str]) -> bool:
            self._said = tuple(said)
            return self.tokens(length) <= room

        self._said = tuple(choose(dropped, fits))
        return self.tokens(length) - without
