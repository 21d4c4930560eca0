"""What became of a conversation from its beginning to its end."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, Message, Trimming, counter_for, fit, plan, trim_history
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.fitting.report_builder import message_stretches, stretches, turn_stretches
from ctxopt_core.reports.rows import Stretch
from ctxopt_core.shortening.shorten_message import Shortened
from shown_requests import BUDGET, WORDS, shown_request

STATES = ("kept", "shortened", "summarized", "dropped")


def conversation(roles):
    letters = {"s": "system", "u": "user", "a": "assistant"}
    return CountedConversation([Message(role=letters[letter], content="word") for letter in roles], WORDS)


@pytest.mark.parametrize(
    ("roles", "trimming", "expected"),
    [
        pytest.param("uaua", {"kept": range(4)}, [Stretch(kept=2)], id="all"),
        pytest.param("uauaua", {"kept": (4, 5)}, [Stretch(dropped=2), Stretch(kept=1)], id="newest"),
        pytest.param("uaua", {"kept": (0, 2, 3)}, [Stretch(shortened=1), Stretch(kept=1)], id="part-of-the-first"),
        pytest.param("suua", {"kept": (0, 1)}, [Stretch(kept=1), Stretch(dropped=1)], id="system-is-no-turn"),
        pytest.param("usa", {"kept": (0, 2)}, [Stretch(kept=1)], id="system-inside-a-turn"),
        pytest.param("aua", {"kept": (1, 2)}, [Stretch(dropped=1), Stretch(kept=1)], id="before-the-first-user"),
        pytest.param(
            "uaua",
            {"kept": (0, 1, 2, 3), "shortened": {3: Shortened(texts=("w",), tokens=1)}},
            [Stretch(kept=1), Stretch(shortened=1)],
            id="shortened-message",
        ),
        pytest.param(
            "uaua", {"kept": (2, 3), "summarized": (0, 1)}, [Stretch(summarized=1), Stretch(kept=1)], id="summarized"
        ),
        pytest.param("", {"kept": ()}, [], id="none"),
    ],
)
def test_turns_are_told_oldest_first(roles, trimming, expected):
    views = conversation(roles)

    assert list(turn_stretches(views, Trimming(length=len(views), **trimming))) == expected


def test_messages_are_told_where_the_conversation_is_not_known():
    trimming = Trimming(
        kept=(0, 3, 4), shortened={3: Shortened(texts=("w",), tokens=1)}, summarized=(1,), length=5, tokens=9
    )

    assert [part.state for part in message_stretches(trimming)] == [
        "kept",
        "summarized",
        "dropped",
        "shortened",
        "kept",
    ]


@given(states=st.lists(st.sampled_from(STATES), min_size=20, max_size=300))
def test_stretches_count_every_turn_once_and_are_few(states):
    found = stretches(states)

    assert len(found) <= 48
    for state in STATES:
        assert sum(getattr(part, state) for part in found) == states.count(state)
    assert all(part.size for part in found)


def test_many_short_stretches_become_equal_parts_of_the_whole():
    found = stretches(["kept", "dropped"] * 480)

    assert found == (Stretch(kept=10, dropped=10),) * 48
    assert {part.state for part in found} == {"mixed"}


@given(states=st.lists(st.sampled_from(STATES), max_size=40))
def test_few_stretches_are_told_one_by_one(states):
    assert [part.state for part in stretches(states) for _ in range(part.size)] == states


def test_the_strip_is_read_only_when_it_is_asked_for():
    asked = []

    class Spied(str):
        __slots__ = ()

        def strip(self, *args):
            asked.append(self)
            return super().strip(*args)

    history = [Message(role="user", content=Spied(f"word {i} " * 9)) for i in range(2_000)]
    report = fit(ContextRequest(history=history), BUDGET, counter=counter_for(lambda text: len(text.split()))).report
    before = len(asked)

    assert before < 1_900
    assert sum(part.size for part in report.history_strip) == 2_000
    assert len(asked) > before


def test_m2_the_strip_of_a_report_has_every_turn_once():
    report = plan(shown_request(turns=30), BUDGET, counter=WORDS)

    assert sum(part.size for part in report.history_strip) == 30
    assert sum(part.kept + part.shortened for part in report.history_strip) == report.history.turns
    assert report.to_dict()["history"]["strip"] == json.loads(json.dumps(report.to_dict()))["history"]["strip"]


def test_an_unchanged_conversation_is_one_stretch():
    report = plan(shown_request(turns=3, documents=1), ContextBudget(max_input_tokens=10_000), counter=WORDS)

    assert report.unchanged
    assert report.history_strip == (Stretch(kept=3),)


def test_a_trimming_pickles_with_its_shortened_messages():
    messages = [Message(role="user", content="look"), Message(role="assistant", content="word. " * 400)]
    trimming = trim_history(messages, 60, WORDS)

    assert trimming.shortened
    assert pickle.loads(pickle.dumps(trimming)) == trimming  # noqa: S301
