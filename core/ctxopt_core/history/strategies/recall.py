"""Recall at the end of a stable prefix: what the question needs of what the cut left out, in one message before it.

A stable prefix is cheap, because requests begin alike, and forgets what the cut left out. What is recalled stands right
before the newest user message, where all that it changes in the prompt cache is the question before. It is for chats: a
run of tools would be sent anew from the question on whenever another one is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE
from ctxopt_core.conversation.read_turns import ReadTurns
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import pack_documents
from ctxopt_core.history.strategies.message_scores import score_messages
from ctxopt_core.messages.placeholder import recalled_text
from ctxopt_core.relevance.word_blocks import BLOCK_TEXTS

if TYPE_CHECKING:
    from ctxopt_core.history.draft import HistoryDraft

RECALL_ROLE = "user"
LOOK_BACK_CHARACTERS = 4_000_000  # as far as `auto` looks back
_LEAST_SCORE = 0.2  # of the best score of any message, kept ones included: less says little for its price
_LONGEST_SHARE = 3  # a message has at most a third of the room; of a longer one the best sentences are recalled
_RESERVED_SHARE = 3  # a third of the most that may be recalled is never used for anything else
_MOST_MISSES = 16  # messages in a row that are too long for what is left: then the search for a shorter one ends
_LEAST_ROOM = 24  # tokens: with fewer, one line says nothing that can be used


class Recall(NamedTuple):
    """What is recalled: the text of the message, its tokens, and which messages are in it."""

    text: str
    tokens: int
    messages: tuple[int, ...]


def reserved_tokens(limit: int, percent: float) -> int:
    """Return the tokens that are kept free for what is recalled, at every request of a conversation."""
    return int(limit * percent / 100 / _RESERVED_SHARE)


def recall(draft: HistoryDraft, room: int) -> Recall | None:
    """Return what the question needs of the messages that are left out, in at most `room` tokens.

    The messages are ranked as for the strategy `relevance`. The best come first, until the room is full or a score is
    below a fifth of the best; in the text they stand in their order, each on a line with its number and role.
    """
    query = draft.query
    if query is None or query <= 0 or room < _LEAST_ROOM or not draft.ranking_query.strip():
        return None
    counter = draft.counter
    left = room - TOKENS_PER_MESSAGE - counter.count(RECALL_ROLE) - counter.count(recalled_text(query, ("",)))
    lines: dict[int, str] = {}
    misses = 0
    for index, text in _best_first(draft, query):
        if misses == _MOST_MISSES or left <= 0:
            break
        line = _line(draft, index, text, room // _LONGEST_SHARE)
        tokens = counter.count(f"\n- {line}") if line else left + 1
        if tokens > left:
            misses += 1
            continue
        misses = 0
        lines[index] = line
        left -= tokens
    return _joined(lines, room, counter)


def _joined(lines: dict[int, str], room: int, counter: TokenCounter) -> Recall | None:
    """Return the message with these lines, best first; those of least score go while the whole is over its room."""
    best = list(lines)
    while best:
        messages = tuple(sorted(best))
        text = recalled_text(len(messages), [lines[index] for index in messages])
        tokens = TOKENS_PER_MESSAGE + counter.count(RECALL_ROLE) + counter.count(text)
        if tokens <= room:
            return Recall(text, tokens, messages)
        best.pop()
    return None


def _best_first(draft: HistoryDraft, query: int) -> Iterator[tuple[int, str]]:
    """Yield the messages that are left out, and their texts, by score."""
    conversation = draft.conversation
    turns = ReadTurns(conversation, query, until=query, most_characters=LOOK_BACK_CHARACTERS, step=BLOCK_TEXTS)
    scores = score_messages(draft.ranking_query, turns.texts, draft.policy.scorer)
    least = _LEAST_SCORE * max(scores.values(), default=0.0)
    kept = frozenset(draft.kept).difference(draft.shortened)
    for place in sorted(scores, key=lambda place: (-scores[place], -place)):
        index, text = place + turns.first, turns.texts[place]
        if scores[place] < least:
            break
        if index in kept or not text.strip() or conversation.is_system(index) or conversation.is_synthetic(index):
            continue
        yield index, text


def _line(draft: HistoryDraft, index: int, text: str, most: int) -> str:
    """Return a message on one line: its number, counted from 1, its role, and its text or the best sentences of it."""
    head = f"{index + 1} {draft.conversation.role(index)}: "
    line = head + " ".join(text.split())
    if not draft.counter.exceeds(line, most):
        return line
    packing = pack_documents(
        [Document(text=text)], max(0, most - draft.counter.count(head)), draft.counter, query=draft.ranking_query
    )
    found = packing.texts.get(0, "")
    return head + " ".join(found.split()) if found else ""
