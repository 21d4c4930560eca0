"""The strategies `relevance`, `auto` and `hybrid`: the newest turns, then those most relevant to what is asked now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Turn, newest_turns
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.placeholder_note import summary_room
from ctxopt_core.history.strategies.recent_turns import add_newest_turns
from ctxopt_core.history.strategies.stable_prefix import add_stable
from ctxopt_core.history.strategies.strategy import Strategy
from ctxopt_core.relevance.feedback import CountedTexts, bm25_with_feedback
from ctxopt_core.relevance.query_terms import query_terms
from ctxopt_core.relevance.scorer import Scorer, call_scorer, rescale

# How far `auto` looks back: 160,000 characters, about 40,000 tokens of English, or about twice the tokens that are left
# if that is more. So the time of a fit follows the window and not the conversation; `relevance` looks back all the way.
LOOK_BACK_CHARACTERS = 160_000
_LOOK_BACK_PER_TOKEN = 8  # characters, two tokens of English
_LONGEST_TOKEN = 10  # characters: hardly any is longer, so a turn with more for each token that is left is not counted
# The best messages whose words are added to the query, and the weight of these words: with more of either, common words
# of the conversation outweigh those of the query.
_FEEDBACK_MESSAGES = 5  # messages
_FEEDBACK_WEIGHT = 0.1  # a part of the weight of a query's word
_SCORER_WEIGHT = 0.4  # the most that a scorer adds, as a part of the best score by words, which stays decisive
_LEAST_WEIGHT = 0.2  # weight of a query word, from 0 to 1: words below it are in most messages, and slow to look for
_CONTEXT = 0.75  # factor from one message to the next: an answer is kept with the question that it belongs to
# Messages on either side that make a stretch, and the weight of its mean: a topic is longer than a message, but the
# stretch must not outweigh a message that has all the words.
_STRETCH = 15  # messages
_STRETCH_WEIGHT = 3.0  # times the mean score


class RelevantTurns(Strategy):
    """`relevance`: the newest turns up to `recent_percent`, then the most relevant; without a question the newest."""

    def apply(self, draft: HistoryDraft) -> None:
        """Keep the newest turns and the most relevant ones."""
        draft.add_current_exchange()
        if not _add_by_relevance(draft):
            draft.fallback = "turns"


class Auto(Strategy):
    """`auto`: as `relevance`, but it does not look back as far; where tools are at work, as `turns`."""

    may_be_stable = True
    prunes_results = True

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


def _add_by_relevance(draft: HistoryDraft, most_characters: int | None = None) -> bool:
    """Keep turns by relevance, or the newest where nothing is asked; return whether something is asked."""
    if draft.ranking_query.strip():
        draft.strategy = "relevance"
        _add_relevant_turns(draft, most_characters)
        return True
    add_newest_turns(draft)
    return False


def _add_relevant_turns(draft: HistoryDraft, most_characters: int | None) -> None:
    """Keep the newest turns up to their share, then those with the best scores; all of them whole.

    At most `most_characters` before the query are read; all where it is None.
    """
    turns, complete = draft.scan()
    if not complete:
        turns += _older_turns(draft.conversation, turns, most_characters)
    if turns and not draft.opens_properly(turns[-1]):
        turns.pop()
    if complete or not turns:
        draft.keep_whole(turns)
        return
    draft.scattered = True
    first = draft.first_message()
    if first is not None and first >= turns[0].start:
        first = None
    left = draft.left - draft.reserve(first)
    if turns[0].tokens > left:
        # No score is better than having been said last.
        if first is not None:
            draft.add_first(first)
        draft.add_part(turns[0])
        return
    # The placeholder of an earlier fit goes, so that its turn gives the first message and a new placeholder. A summary
    # needs its place after the first message.
    summarizes = bool(draft.placeholder.summary_room)
    turns = [
        turn
        for turn in turns
        if turn is turns[0] or not (draft.holds_placeholder(turn) or (summarizes and turn.start == first))
    ]
    taken = _chosen(draft, turns, _scores_of(draft, turns), left)
    draft.keep_whole(taken)
    whole = {turn.start: turn for turn in taken}
    if first is not None and first not in whole:
        draft.add_first(first)
    elif first is not None and whole[first].stop == first + 1:
        # After a whole turn with an answer there is no placeholder, since roles would not alternate.
        draft.add_placeholder(first)
    left_out = next((turn for turn in turns if turn.start not in whole), None)
    if left_out is not None and left_out.start != first:
        draft.add_part(left_out)


def _scores_of(draft: HistoryDraft, turns: Sequence[Turn]) -> Sequence[float]:
    """Return the scores of turns, which are given newest first: that of the best message in each of them."""
    starts = [0]
    texts: list[str] = []
    for turn in reversed(turns):
        texts.extend(draft.conversation.peek(index).text for index in range(turn.start, turn.stop))
        starts.append(len(texts))
    scores = score_messages(draft.ranking_query, texts, draft.policy.scorer)
    return [max(scores[start:stop]) for start, stop in pairwise(starts)][::-1]


def _older_turns(conversation: CountedConversation, scanned: Sequence[Turn], most_characters: int | None) -> list[Turn]:
    """Return the turns before those that were scanned, as far as the strategy looks back; they are not counted."""
    left = math.inf if most_characters is None else most_characters
    left -= sum(_characters(conversation, turn) for turn in scanned)
    older: list[Turn] = []
    for turn in newest_turns(conversation, scanned[-1].start, counted=False):
        left -= _characters(conversation, turn)
        if left < 0:
            break
        older.append(turn)
    return older


def _chosen(draft: HistoryDraft, turns: Sequence[Turn], scores: Sequence[float], left: int) -> list[Turn]:
    """Return the turns that are kept, newest first; the newest one always."""
    recent = left * draft.policy.recent_percent / 100
    taken: dict[int, Turn] = {}
    for n, turn in enumerate(turns):
        counted = draft.counted(turn)
        if counted.tokens > (min(left, recent) if n else left):
            break
        taken[n] = counted
        left -= counted.tokens
        recent -= counted.tokens
    for n in sorted(range(len(turns)), key=lambda n: (-scores[n], n)):
        if n in taken or _characters(draft.conversation, turns[n]) > _LONGEST_TOKEN * left:
            continue
        counted = draft.counted(turns[n])
        if counted.tokens <= left:
            taken[n] = counted
            left -= counted.tokens
    return [taken[n] for n in sorted(taken)]


def _characters(conversation: CountedConversation, turn: Turn) -> int:
    return sum(len(conversation.peek(index).text) for index in range(turn.start, turn.stop))


def score_messages(ranking_query: str, texts: Sequence[str], scorer: Scorer | None) -> list[float]:
    """Return the score of each message; all 0.0 where no word of the query is found.

    The score is BM25 of the words that a message shares with the query, with a small weight for words of the five best
    messages (pseudo-relevance feedback, Rocchio 1971). A scorer adds at most two fifths of the best of these scores.
    Messages around a good one have at least three quarters of the score beside them, and a mean over 31 messages is
    added, so that a stretch in which much is found is preferred. `texts` has the oldest message first.

    Raises:
        ValueError: The scorer gives more or fewer scores than there are messages.
    """
    if not ranking_query.strip() or not texts:
        return [0.0] * len(texts)
    weights = query_terms(ranking_query).weights
    # Words that are in most messages are left out, unless there are no others: they take longest to be found.
    terms = {term: weight for term, weight in weights.items() if weight >= _LEAST_WEIGHT} or weights
    scores = bm25_with_feedback(
        terms, CountedTexts(texts), best_texts=_FEEDBACK_MESSAGES, feedback_weight=_FEEDBACK_WEIGHT
    )
    if scorer is not None:
        best = max(scores) or 1.0
        more = _above_median(_with_neighbors(rescale(call_scorer(scorer, ranking_query, texts))))
        scores = [score / best + _SCORER_WEIGHT * above for score, above in zip(scores, more, strict=True)]
    return _with_context(scores)


def _with_neighbors(scores: Sequence[float]) -> list[float]:
    """Add to each score three quarters of both scores beside it: a short message says little without them.

    At either end the message is its own neighbor.
    """
    befores, afters = (scores[0], *scores[:-1]), (*scores[1:], scores[-1])
    return [own + _CONTEXT * (before + after) for own, before, after in zip(scores, befores, afters, strict=True)]


def _above_median(scores: Sequence[float]) -> list[float]:
    """Return how far each score is above the median, 1.0 for the best, as embeddings give every message some score."""
    middle = median(scores)
    span = max(scores) - middle
    return [max(0.0, score - middle) / span if span > 0.0 else 0.0 for score in scores]


def _with_context(scores: Sequence[float]) -> list[float]:
    """Raise the scores of the messages around a good one, and of those in a good stretch."""
    sums = [0.0, *accumulate(scores)]
    raised = list(scores)
    for n in range(1, len(raised)):
        raised[n] = max(raised[n], _CONTEXT * raised[n - 1])
    for n in range(len(raised) - 2, -1, -1):
        raised[n] = max(raised[n], _CONTEXT * raised[n + 1])
    width = 2 * _STRETCH + 1
    return [
        own + _STRETCH_WEIGHT * (sums[min(len(scores), n + _STRETCH + 1)] - sums[max(0, n - _STRETCH)]) / width
        for n, own in enumerate(raised)
    ]
