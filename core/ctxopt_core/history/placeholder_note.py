"""The placeholder of a trimmed conversation: what it says about the dropped messages, and the tokens that it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.placeholder import PLACEHOLDER_ROLE, placeholder_text, summary_text
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.text.identifiers import identifiers_in

if TYPE_CHECKING:
    from ctxopt_core.history.policy import HistoryPolicy

Fits = Callable[[Sequence[str]], bool]
Choose = Callable[[Iterable[int], Fits], Sequence[str]]
WIDEST_NOTE = 999_999  # messages: the note of so many has as many tokens as any
_MOST_TOKENS = 512  # tokens of identifiers or excerpts, so that a large window does not get a list of everything
_SUMMARY_DIVISOR = 4  # a summary has at most a quarter of the limit, so that it leaves most for the newest turns
# Dropped messages that are searched for identifiers, and their characters: more would take longer than the fit.
_MOST_MESSAGES = 32  # messages
_MOST_CHARACTERS = 200_000  # characters
_SHORTEST_IDENTIFIER = 4  # characters: shorter names and numbers are too common to be repeated in a call
_MENTION_WEIGHT = 3  # a name in a user's or the assistant's message is needed more often than one in a result
# An excerpt of a turn: tokens of its question and of its answer, enough to recognize what it was about.
_QUESTION_TOKENS = 16  # tokens
_ANSWER_TOKENS = 24  # tokens
_MOST_TURNS = 32  # excerpts: 512 tokens hold about as many
_READ_CHARACTERS = 400  # characters of a message that are read for an excerpt: more than 24 tokens have
_GAP = "…"


def pinned_identifiers(
    conversation: CountedConversation, dropped: Iterable[int], visible: Collection[str], fits: Fits
) -> tuple[str, ...]:
    """Return the identifiers that dropped messages name most often, as many as fit, in order of appearance.

    What a user or the assistant names weighs three times as much as what only a result names. The newest 32 messages,
    or fewer with 200,000 characters in all, are searched for identifiers that are not `visible` in what is kept.
    `dropped` has the newest message first.
    """
    scores: dict[str, float] = {}
    seen_at: dict[str, int] = {}
    characters = 0
    for number, index in enumerate(dropped):
        text = conversation.peek(index).text
        characters += len(text)
        if number >= _MOST_MESSAGES or characters > _MOST_CHARACTERS:
            break
        weight = 1 if conversation.holds_results(index) else _MENTION_WEIGHT
        for identifier in dict.fromkeys(identifiers_in(text)):
            if len(identifier) >= _SHORTEST_IDENTIFIER and identifier not in visible:
                scores[identifier] = scores.get(identifier, 0) + weight
                seen_at[identifier] = max(index, seen_at.get(identifier, 0))
    ranked = sorted(scores, key=lambda name: (-scores[name], -seen_at[name], name))
    low, high = 0, len(ranked)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(ranked[:middle]) else (low, middle - 1)
    return tuple(sorted(ranked[:low], key=lambda name: (seen_at[name], name)))


def turn_excerpts(
    conversation: CountedConversation, counter: TokenCounter, dropped: Iterable[int], fits: Fits
) -> tuple[str, ...]:
    """Return the beginnings of dropped questions and of their last answers, as many of the newest as fit, oldest first.

    `dropped` has the newest message first.
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
        message = conversation.peek(index)
        if conversation.opens_turn(index):
            question = _beginning(message.text, _QUESTION_TOKENS, counter)
            yield f"user: {question}" + (f" assistant: {answer}" if answer else "")
            answer = ""
        elif message.role == "assistant" and message.plain and not answer:
            answer = _beginning(message.text, _ANSWER_TOKENS, counter)


def _beginning(text: str, tokens: int, counter: TokenCounter) -> str:
    """Return the beginning of a message on one line."""
    line = " ".join(text[:_READ_CHARACTERS].split())
    if len(text) <= _READ_CHARACTERS and not counter.exceeds(line, tokens):
        return line
    return truncate(line, tokens, counter).rstrip() + _GAP


def summary_room(policy: HistoryPolicy, limit: int, counter: TokenCounter) -> int:
    """Return how many tokens the text of a placeholder with a summary may have, where the history has `limit`."""
    overhead = counter.count(summary_text(WIDEST_NOTE, ""))
    return overhead + min(policy.max_summary_tokens, max(1, limit // _SUMMARY_DIVISOR - overhead))


class PlaceholderDraft:
    """The message that says what was dropped, while messages are still being chosen.

    First `tokens` and `most_detail` say what has to be set aside. `after` is set when the placeholder has a place, then
    `fill` chooses the details, and `text` comes last.

    Attributes:
        after: Index of the message that it follows; None while it has no place.
        role: The role that it has there.
        summary_room: The most tokens of its text where a summary replaces it in the end; 0 where none does.
        details: What it says besides the number of messages: identifiers, or excerpts.
    """

    def __init__(
        self, policy: HistoryPolicy, budget: int, counter: TokenCounter, *, names_identifiers: bool = False
    ) -> None:
        self.after: int | None = None
        self.role: Literal["assistant", "user"] = PLACEHOLDER_ROLE
        self.summary_room = 0
        self.details: tuple[str, ...] = ()
        self._policy = policy
        self._counter = counter
        content = policy.placeholder_content
        has_details = content == "excerpts" or (content == "identifiers" and names_identifiers)
        self._cap = min(_MOST_TOKENS, int(budget * policy.placeholder_max_percent / 100)) if has_details else 0

    @property
    def most_detail(self) -> int:
        """The most tokens that it may have besides those of the number of messages."""
        return self._cap if self._policy.placeholder and not self.summary_room else 0

    def text(self, messages: int) -> str:
        """Return its text where so many messages were dropped."""
        if self._policy.placeholder_content == "excerpts":
            return placeholder_text(messages, excerpts=self.details)
        return placeholder_text(messages, self.details)

    def tokens(self, messages: int) -> int:
        """Return its tokens where so many messages were dropped; if a summary replaces it, the most tokens of that."""
        if not self._policy.placeholder:
            return 0
        text = self.summary_room or self._counter.count(self.text(messages))
        return TOKENS_PER_MESSAGE + self._counter.count(self.role) + text

    def fill(self, choose: Choose, dropped: Iterable[int], length: int, left: int) -> int:
        """Let `choose` pick what it says about the dropped messages, and return the tokens that this adds.

        `length` is how many messages the conversation has, `left` how many tokens of the budget are not used.
        """
        without = self.tokens(length)
        limit = without + min(left, self.most_detail)

        def fits(details: Sequence[str]) -> bool:
            self.details = tuple(details)
            return self.tokens(length) <= limit

        self.details = tuple(choose(dropped, fits))
        return self.tokens(length) - without
