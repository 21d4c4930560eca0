"""The placeholder of a trimmed conversation: the tokens reserved for it, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ctxopt_core.conversation.conversation import TOKENS_PER_MESSAGE, CountedConversation
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.messages.placeholder import PLACEHOLDER_ROLE, placeholder_text
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.text.identifiers import identifiers_in

_SHORTEST = 4
_MENTIONED_BY_SOMEBODY = 3
MOST_MESSAGES = 32
MOST_CHARACTERS = 200_000
Choose = Callable[[Iterable[int], Callable[[Sequence[str]], bool]], Sequence[str]]
WIDEST_NOTE = 999_999
"""A number of messages whose note is as wide as any."""


_MOST_TOKENS = 512
QUESTION_TOKENS = 16
ANSWER_TOKENS = 24
_MOST_TURNS = 32
_MOST_CHARACTERS = 400
_GAP = "…"


def pinned_identifiers(
    conversation: CountedConversation,
    dropped: Iterable[int],
    visible: Collection[str],
    fits: Callable[[Sequence[str]], bool],
) -> tuple[str, ...]:
    """Return the identifiers of dropped messages that are named oftenest, as many as fit, in order of appearance.

    What a user or the assistant names weighs three times what only a result does. Messages further back than 32
    messages or 200,000 characters are not looked at.

    Args:
        conversation: The whole conversation.
        dropped: The dropped messages, newest first.
        visible: Identifiers that are seen in what is kept.
        fits: Tells whether there is room for some identifiers.
    """
    scores: dict[str, float] = {}
    seen_at: dict[str, int] = {}
    characters = 0
    for number, index in enumerate(dropped):
        said = conversation.glance(index)
        characters += len(said.text)
        if number >= MOST_MESSAGES or characters > MOST_CHARACTERS:
            break
        weight = 1 if conversation.holds_results(index) else _MENTIONED_BY_SOMEBODY
        for identifier in dict.fromkeys(identifiers_in(said.text)):
            if len(identifier) >= _SHORTEST and identifier not in visible:
                scores[identifier] = scores.get(identifier, 0) + weight
                seen_at[identifier] = max(index, seen_at.get(identifier, 0))
    ranked = sorted(scores, key=lambda name: (-scores[name], -seen_at[name], name))
    chosen = ranked[: _most_that_fit(ranked, fits)]
    return tuple(sorted(chosen, key=lambda name: (seen_at[name], name)))


def _most_that_fit(ranked: Sequence[str], fits: Callable[[Sequence[str]], bool]) -> int:
    low, high = 0, len(ranked)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(ranked[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


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
        says_more = policy.placeholder_content == "excerpts" or (
            policy.placeholder_content == "identifiers" and names_identifiers
        )
        self._share = min(_MOST_TOKENS, int(budget * policy.placeholder_max_percent / 100)) if says_more else 0

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
        if self._policy.placeholder_content == "excerpts":
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


def turn_excerpts(
    conversation: CountedConversation,
    counter: TokenCounter,
    dropped: Iterable[int],
    fits: Callable[[Sequence[str]], bool],
) -> tuple[str, ...]:
    """Return the beginnings of dropped questions and of their last answers, as many of the newest as fit, oldest first.

    Args:
        conversation: The whole conversation.
        counter: Counts the texts.
        dropped: The dropped messages, newest first.
        fits: Tells whether there is room for some lines.
    """
    lines: list[str] = []
    for line in _lines(conversation, counter, dropped):
        if len(lines) == _MOST_TURNS or not fits([line, *reversed(lines)]):
            break
        lines.append(line)
    return tuple(reversed(lines))


def _lines(conversation: CountedConversation, counter: TokenCounter, dropped: Iterable[int]) -> Iterator[str]:
    answer = ""
    for index in dropped:
        said = conversation.glance(index)
        if conversation.opens_turn(index):
            question = _beginning(said.text, QUESTION_TOKENS, counter)
            yield f"user: {question}" + (f" assistant: {answer}" if answer else "")
            answer = ""
        elif said.role == "assistant" and said.plain and not answer:
            answer = _beginning(said.text, ANSWER_TOKENS, counter)


def _beginning(text: str, tokens: int, counter: TokenCounter) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[:_MOST_CHARACTERS].split())
    if len(text) <= _MOST_CHARACTERS and not counter.exceeds(line, tokens):
        return line
    return truncate(line, tokens, counter).rstrip() + _GAP
