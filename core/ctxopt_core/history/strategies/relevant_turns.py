"""The strategies `relevance`, `auto` and `hybrid`: the newest turns, then those most relevant to what is asked now."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from ctxopt_core.conversation.read_turns import ReadTurns
from ctxopt_core.conversation.turns import Turn
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.placeholder_note import summary_room
from ctxopt_core.history.strategies.message_scores import score_messages
from ctxopt_core.history.strategies.recent_turns import add_newest_turns
from ctxopt_core.history.strategies.stable_prefix import add_stable
from ctxopt_core.history.strategies.strategy import Strategy
from ctxopt_core.relevance.word_blocks import BLOCK_TEXTS

# How far `auto` looks back: 4,000,000 characters, about a million tokens of English, which is the largest window that
# there is; or about twice the tokens that are left, if that is more. So the time of a fit has a bound, and what is read
# fits into the memory of the index. `relevance` looks back all the way.
LOOK_BACK_CHARACTERS = 4_000_000
_LOOK_BACK_PER_TOKEN = 8  # characters, two tokens of English
_LONGEST_TOKEN = 10  # characters: hardly any is longer, so a turn with more for each token that is left is not counted
_LEAST_TOKENS = 5  # tokens of the shortest turn: 3 for the message, its role, and a string
_SPARE_MESSAGES = 64  # messages that are looked at besides as many as there is room for by their mean tokens
_MOST_MISSES = 16  # turns in a row that are too long for what is left: then the search for a shorter one ends


class RelevantTurns(Strategy):
    """`relevance`: the newest turns up to `recent_percent`, then the most relevant; without a question the newest."""

    searches = True

    def apply(self, draft: HistoryDraft) -> None:
        """Keep the newest turns and the most relevant ones."""
        draft.add_current_exchange()
        if not _add_by_relevance(draft):
            draft.fallback = "turns"


class Auto(Strategy):
    """`auto`: as `relevance`, but it looks back a million tokens at most; where tools are at work, as `turns`."""

    may_be_stable = True
    prunes_results = True
    searches = True

    def apply(self, draft: HistoryDraft) -> None:
        """Keep the newest turns and the most relevant ones, or with tools at work the newest alone."""
        draft.add_current_exchange()
        if draft.prunes_results:
            add_newest_turns(draft)
        else:
            _add_by_relevance(draft, max(LOOK_BACK_CHARACTERS, _LOOK_BACK_PER_TOKEN * draft.left))


class Hybrid(Strategy):
    """`hybrid`: what `relevance` keeps, and a summary of what is left out.

    Where not even the newest turn fits whole, nothing is chosen by relevance, and the cut moves in steps as with
    `summarize`, so that the summarizer is not called for each call of a long run.
    """

    summarizes = True
    searches = True

    def apply(self, draft: HistoryDraft) -> None:
        """Keep the newest turns and the most relevant ones, and set tokens aside for the summary."""
        room = draft.summary_tokens or summary_room(draft.policy, draft.budget, draft.counter)
        draft.placeholder.summary_room = room
        if _newest_tokens(draft) + draft.placeholder.tokens(len(draft.conversation)) <= draft.left or not add_stable(
            draft
        ):
            draft.placeholder.summary_room = room
            draft.add_current_exchange()
            _add_by_relevance(draft)
        draft.strategy = "hybrid"


def _newest_tokens(draft: HistoryDraft) -> int:
    """Return the tokens of what follows the query; where nothing does, those of the newest turn."""
    if draft.query is not None:
        return draft.split(draft.end + 1, len(draft.conversation)).tokens
    return next((turn.tokens for turn in draft.counted_turns()), 0)


def _add_by_relevance(draft: HistoryDraft, most_characters: float = math.inf) -> bool:
    """Keep turns by relevance, or the newest where nothing is asked; return whether something is asked."""
    if draft.ranking_query.strip():
        draft.strategy = "relevance"
        _add_relevant_turns(draft, most_characters)
        return True
    add_newest_turns(draft)
    return False


def _add_relevant_turns(draft: HistoryDraft, most_characters: float) -> None:
    """Keep the newest turns up to their share, then those with the best scores; all of them whole.

    At most `most_characters` before the query are read.
    """
    newest, complete = draft.scan()
    if complete:
        if newest and not draft.opens_properly(newest[-1]):
            newest.pop()
        draft.keep_whole(newest)
        return
    turns = ReadTurns(
        draft.conversation,
        draft.end,
        until=newest[-1].start,
        most_characters=most_characters,
        step=BLOCK_TEXTS,
    )
    oldest = 0 if draft.opens_properly(turns[0]) else 1
    if oldest == len(turns):
        return
    draft.scattered = True
    last = newest[0]
    first = draft.first_message()
    if first is not None and first >= last.start:
        first = None
    left = draft.left - draft.reserve(first)
    if last.tokens > left:
        # No score is better than having been said last.
        if first is not None:
            draft.add_first(first)
        draft.add_part(last)
        return
    tokens = sum(turn.tokens for turn in newest)
    messages = draft.end - newest[-1].start
    candidates = _Candidates(draft, turns, oldest, first, most_messages=_SPARE_MESSAGES + left * messages // tokens)
    taken = _chosen(candidates, left)
    draft.keep_whole([taken[n] for n in sorted(taken, reverse=True)])
    whole = {turn.start: turn for turn in taken.values()}
    if first is not None and first not in whole:
        draft.add_first(first)
    elif first is not None and whole[first].stop == first + 1:
        # After a whole turn with an answer there is no placeholder, since roles would not alternate.
        draft.add_placeholder(first)
    left_out = next(candidates.newest_first(besides=taken), None)
    if left_out is not None and turns.starts[left_out] != first:
        draft.add_part(turns[left_out])


class _Candidates:
    """The turns that may be kept, by their numbers; the newest is always one."""

    def __init__(
        self, draft: HistoryDraft, turns: ReadTurns, oldest: int, first: int | None, most_messages: int
    ) -> None:
        self._draft, self._turns, self._oldest, self._most_messages = draft, turns, oldest, most_messages
        # The placeholder of an earlier fit goes, so that its turn gives the first message and a new placeholder. A
        # summary needs its place after the first message.
        self._reserved = first if draft.placeholder.summary_room else None
        self.recent_percent = draft.policy.recent_percent

    def newest_first(self, besides: Container[int] = ()) -> Iterator[int]:
        """Yield the numbers of the turns, `besides` some."""
        numbers = range(len(self._turns) - 1, self._oldest - 1, -1)
        return (n for n in numbers if n not in besides and self._may_stay(self._turns[n]))

    def best_first(self) -> Iterator[int]:
        """Yield the numbers of the turns by the best score of a message in them, then the others, newest first."""
        turns = self._turns
        scores = score_messages(
            self._draft.ranking_query, turns.texts, self._draft.policy.scorer, most=self._most_messages
        )
        best = turns.best_scores(scores)
        # Of turns with the same score, the newest first: the second sort leaves them in the order of the first.
        order = sorted(best, reverse=True)
        order.sort(key=best.__getitem__, reverse=True)
        yield from order
        yield from (n for n in range(len(turns) - 1, -1, -1) if n not in best)

    def within(self, n: int, tokens: float) -> Turn | None:
        """Return a turn with its tokens if it may stay and has at most so many."""
        if n < self._oldest or self._turns.characters(n) > _LONGEST_TOKEN * tokens:
            return None
        turn = self._turns[n]
        if not turn.plain:
            counted = self._draft.counted(turn) if self._may_stay(turn) else None
            return counted if counted and counted.tokens <= tokens else None
        if turn.start == self._reserved and turn.start != self._turns.starts[-1]:
            return None
        # The most frequent case, without a second `Turn` where it is too long.
        found = self._draft.plain_tokens(turn.start, turn.stop)
        return Turn(turn.start, turn.stop, found, plain=True) if found <= tokens else None

    def counted(self, n: int) -> Turn:
        """Return a turn with its tokens."""
        return self._draft.counted(self._turns[n])

    def _may_stay(self, turn: Turn) -> bool:
        if turn.start == self._turns.starts[-1]:
            return True
        return turn.start != self._reserved and not self._draft.holds_placeholder(turn)


def _chosen(candidates: _Candidates, left: int) -> dict[int, Turn]:
    """Return the turns that are kept by their numbers; the newest one always."""
    recent = left * candidates.recent_percent / 100
    taken: dict[int, Turn] = {}
    for n in candidates.newest_first():
        counted = candidates.counted(n)
        if counted.tokens > (min(left, recent) if taken else left):
            break
        taken[n] = counted
        left -= counted.tokens
        recent -= counted.tokens
    misses = 0
    for n in candidates.best_first():
        if left < _LEAST_TOKENS or misses >= _MOST_MISSES:
            break
        if n in taken:
            continue
        found = candidates.within(n, left)
        if found is None:
            misses += 1
            continue
        misses = 0
        taken[n] = found
        left -= found.tokens
    return taken
