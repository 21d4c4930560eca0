"""The cost of a fit follows the window, not the conversation."""

from __future__ import annotations

from collections import Counter

import pytest

from ctxopt_core import ContextBudget, ContextRequest, HistoryPolicy, Message, counter_for, fit
from ctxopt_core.conversation.conversation import SYSTEM_SCAN_HEAD, SYSTEM_SCAN_TAIL, CountedConversation
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.conversation.turns import newest_turns
from ctxopt_core.history.strategies.relevant_turns import LOOK_BACK_CHARACTERS
from ctxopt_core.messages.message_views import MessageList


class SpiedViews:
    """A conversation that notes which messages are looked at."""

    def __init__(self, length, system_at=()):
        self.length = length
        self.system_at = frozenset(system_at)
        self.read = Counter()

    def __len__(self):
        return self.length

    def _message(self, index):
        role = "system" if index in self.system_at else "user" if index % 2 == 0 else "assistant"
        return Message(role=role, content=f"message {index} " * 10)

    def __getitem__(self, index):
        self.read[index] += 1
        return self._message(index)

    def plain(self, index):
        self.read[index] += 1
        message = self._message(index)
        return message.role, message.content

    def backwards(self, stop):
        return (self.plain(index) for index in range(stop - 1, -1, -1))

    def system_indices(self, start, stop):
        return [i for i in sorted(self.system_at) if start <= i < stop]


def words(text):
    return len(text.split())


@pytest.mark.parametrize("length", [1_000, 10_000, 100_000])
def test_a_fit_reads_what_fills_the_window_and_not_the_rest(length):
    views = SpiedViews(length)

    fitted = fit(
        ContextRequest(history=views),
        ContextBudget(max_input_tokens=1_000),
        counter=counter_for(words),
        history=HistoryPolicy(strategy="turns"),
    )

    assert not fitted.unchanged
    assert len(views.read) < 120
    assert sum(50 < i < length - 120 for i in views.read) <= 8


@pytest.mark.parametrize("length", [10_000, 100_000])
def test_by_default_a_fit_looks_back_so_many_characters_and_no_further(length):
    views, counted = SpiedViews(length), Counter()

    def counting(text):
        counted[text] += 1
        return words(text)

    fit(ContextRequest(history=views), ContextBudget(max_input_tokens=1_000), counter=counter_for(counting))

    furthest = length - LOOK_BACK_CHARACTERS // len("message 9999 " * 10)
    assert sum(50 < i < furthest - 100 for i in views.read) <= 8
    assert len(counted) < 150


def test_a_text_is_counted_once():
    counted = Counter()

    def counting(text):
        counted[text] += 1
        return words(text)

    fit(ContextRequest(history=SpiedViews(400)), ContextBudget(max_input_tokens=900), counter=counter_for(counting))

    assert max(counted.values()) == 1


def test_the_report_counts_the_whole_input_only_when_it_is_asked():
    views = SpiedViews(5_000)
    fitted = fit(ContextRequest(history=views), ContextBudget(max_input_tokens=1_000), counter=counter_for(words))
    before = len(views.read)

    assert fitted.report.tokens_after <= 1_000
    assert len(views.read) == before
    assert fitted.report.tokens_before > 100_000
    assert len(views.read) == 5_000


def test_h6_system_messages_of_a_very_long_conversation_are_sought_at_its_ends():
    length = SYSTEM_SCAN_HEAD + SYSTEM_SCAN_TAIL + 1_000
    views = SpiedViews(length, system_at=[10, SYSTEM_SCAN_HEAD + 500, length - 20])

    conversation = CountedConversation(views, counter_for(words))
    fitted = fit(ContextRequest(history=views), ContextBudget(max_input_tokens=1_000), counter=counter_for(words))

    assert conversation.systems == (10, length - 20)
    assert fitted.report.history.system_scan_bounded
    assert "system messages" in fitted.report.notes[0]
    assert {10, length - 20} <= set(fitted.history.kept)


def test_turns_are_read_from_the_newest_end_and_only_as_asked():
    views = SpiedViews(1_000)
    turns = newest_turns(CountedConversation(views, counter_for(words)), 1_000)

    assert next(turns)[:2] == (998, 1_000)
    assert next(turns)[:2] == (996, 998)
    assert len(views.read) == 4


def test_message_list_tells_plain_messages_and_system_ones():
    messages = [
        Message(role="system", content="a"),
        Message(role="user", content="b"),
        Message(role="user", content="c", name="Ann"),
    ]
    views = MessageList(messages)

    assert [views.plain(i) for i in range(3)] == [("system", "a"), ("user", "b"), None]
    assert list(views.system_indices(0, 3)) == [0]
    assert views[1] is messages[1]


@pytest.mark.parametrize(
    "message",
    [
        Message(role="user", content="Where is the kiln?"),
        Message(role="user", content="Where is the kiln?", name="Ann"),
        Message(role="assistant", content=" ", name="Bo"),
        Message(role="user", content="", name="Ann"),
        Message(role="tool", content="Here.", name="find", tool_call_id="c"),
    ],
    ids=repr,
)
def test_a_message_with_a_name_is_counted_as_it_is_sent(message):
    counter = counter_for("o200k_base")
    conversation = CountedConversation([message], counter)

    assert conversation.cost(0) == message_tokens(message, counter)
    assert conversation.is_blank(0) == message.empty
    assert conversation.role(0) == message.role
