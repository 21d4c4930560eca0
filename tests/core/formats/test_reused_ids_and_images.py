"""Ids of calls that come again in a later exchange, and images of earlier user messages beside current ones."""

from __future__ import annotations

import pytest

from ctxopt_core import HistoryPolicy, counter_for
from fitted_rows import fit_rows

WORDS = counter_for(lambda text: len(text.split()))


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def call(*ids):
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(identity, text):
    return {"role": "tool", "tool_call_id": identity, "content": text}


FIRST = [call("a"), result("a", "one")]
LATER = {
    "both whole": ([call("a"), result("a", "two")], [0, 1, 2, 3]),
    "the later one is not answered": ([call("a")], [0, 1]),
    "the later one lacks a result": ([call("a", "b"), result("a", "two")], [0, 1]),
    "two results for the later call": ([call("a"), result("a", "two"), result("a", "three")], [0, 1, 2, 3]),
    "the later result has no call": ([result("a", "two")], [0, 1]),
}


@pytest.mark.parametrize(("later", "kept"), LATER.values(), ids=LATER)
@pytest.mark.parametrize("strategy", ["auto", "turns", "relevance", "sliding_window"])
def test_h7_an_id_that_comes_again_belongs_to_its_own_exchange(strategy, later, kept):
    exchanges = [*FIRST, *later]
    rows = [user("old " * 80), assistant("fine"), user("look"), *FIRST, assistant("one it is"), user("again"), *later]
    rows += [assistant("done"), user("so what?")]

    after, _ = fit_rows(rows, 90, counter=WORDS, history=HistoryPolicy(strategy=strategy))

    assert [row for row in after if row.get("tool_calls") or row["role"] == "tool"] == [exchanges[n] for n in kept]
    assert after[-1] is rows[-1]


def test_h7_the_first_of_two_exchanges_of_one_id_goes_without_the_second():
    rows = [user("look"), *FIRST, assistant("x " * 60), user("again"), call("a"), result("a", "two"), user("so what?")]

    after, _ = fit_rows(rows, 40, counter=WORDS, history=HistoryPolicy(strategy="sliding_window"))

    assert after == rows[4:]


def image(name):
    return {"type": "image_url", "image_url": {"url": f"https://example.org/{name}.png"}}


def text(words):
    return {"type": "text", "text": words}


@pytest.mark.parametrize("budget", [950, 1_000, 1_100, 1_145, 1_200, 1_500, 1_700])
@pytest.mark.parametrize("strategy", ["auto", "turns", "relevance"])
def test_h11_an_earlier_image_gives_way_to_the_current_one(strategy, budget):
    rows = [
        user([text("Look at this pier."), image("earlier")]),
        assistant("A pier."),
        user([text("And at this one?"), image("current")]),
    ]

    after, _ = fit_rows(rows, budget, counter=WORDS, history=HistoryPolicy(strategy=strategy))

    assert after[0] == user([text("Look at this pier."), text("[attachment omitted]")])
    assert after[1:] == rows[1:]
    assert after[2] is rows[2]
    assert rows[0]["content"][1] == image("earlier")


@pytest.mark.parametrize("budget", range(880, 960, 10))
def test_h11_where_the_current_image_fits_at_all_it_is_kept(budget):
    rows = [
        user([text("Look at this pier."), image("earlier")]),
        assistant("A pier."),
        user([text("And at this one?"), image("current")]),
    ]

    after, _ = fit_rows(rows, budget, counter=WORDS)

    assert after[-1] is rows[-1]
    assert "earlier.png" not in str(after)
