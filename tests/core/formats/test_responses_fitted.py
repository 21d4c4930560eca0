"""Groups of items come back with shorter texts, and nothing else in them is touched."""

from __future__ import annotations

import pytest

from ctxopt_core.formats.responses.messages import fitted_responses
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.shortening.shorten_message import Shortened
from responses_items_made import IMAGE, call, clicked, output, reasoning, reference, said, searched, written

ASKED = said("user", [{"type": "input_text", "text": "Hours?"}, IMAGE])
MARK = "[attachment omitted]"


def shortened(items, *texts, **cut):
    """Return items whose first group is shortened."""
    trimming = Trimming(kept=(0,), tokens=0, length=1, shortened={0: Shortened(texts=texts, tokens=0, **cut)})
    return fitted_responses(items, trimming)


@pytest.mark.parametrize(
    ("items", "texts", "left"),
    [
        pytest.param([said("user", "Hours?")], ["H"], [said("user", "H")], id="a text"),
        pytest.param([written("Nine hours.")], ["Nine"], [written("Nine")], id="a part"),
        pytest.param([output("a", "lit")], ["l"], [output("a", "l")], id="a result"),
        pytest.param(
            [reasoning(), written("I look."), call("a"), written("Now.")],
            ["I", "Now."],
            [reasoning(), written("I"), call("a"), written("Now.")],
            id="one of two messages",
        ),
        pytest.param([written("I look."), call("a")], [""], [call("a")], id="a message that is gone"),
        pytest.param(
            [reasoning(), written("I look."), call("a")],
            [""],
            [reasoning(), written(""), call("a")],
            id="after reasoning",
        ),
        pytest.param(
            [reference("rs_1"), said("assistant", "I look."), call("a")],
            [""],
            [reference("rs_1"), said("assistant", ""), call("a")],
            id="after a reference",
        ),
        pytest.param(
            [reasoning(), {**written(""), "content": written("I look.")["content"] * 2}, call("a")],
            ["", ""],
            [reasoning(), written(""), call("a")],
            id="two parts after reasoning",
        ),
        pytest.param([searched(), written("Nine.")], ["N"], [searched(), written("N")], id="after a search"),
    ],
)
def test_texts_stand_where_they_stood(items, texts, left):
    assert shortened(items, *texts) == left


@pytest.mark.parametrize(
    ("items", "left"),
    [
        pytest.param(
            [call("a", '{"at": "the pier"}'), call("b")], [call("a", '{"at": "p"}'), call("b")], id="a function"
        ),
        pytest.param(
            [written("I look."), call("a", "{}")], [written("I look."), call("a", '{"at": "p"}')], id="after words"
        ),
        pytest.param(
            [{"type": "custom_tool_call", "call_id": "a", "name": "shout", "input": "the pier"}],
            [{"type": "custom_tool_call", "call_id": "a", "name": "shout", "input": '{"at": "p"}'}],
            id="a custom tool",
        ),
    ],
)
def test_arguments_are_replaced_in_the_call_that_they_are_of(items, left):
    texts = ["I look."] if "role" in items[0] else []
    assert shortened(items, *texts, arguments={0: '{"at": "p"}'}) == left


@pytest.mark.parametrize(
    ("item", "texts", "left"),
    [
        pytest.param(
            ASKED,
            ["Hours?"],
            said("user", [ASKED["content"][0], {"type": "input_text", "text": MARK}]),
            id="a question",
        ),
        pytest.param(
            output("a", [IMAGE, IMAGE]), [], output("a", [{"type": "input_text", "text": MARK}]), id="a result"
        ),
        pytest.param(said("user", "Hours?"), ["Hours?"], said("user", "Hours?"), id="none to leave out"),
    ],
)
def test_one_text_of_this_api_stands_for_what_is_left_out(item, texts, left):
    assert shortened([item], *texts, attachments_omitted=True) == [left]


def test_items_that_are_kept_are_the_very_ones():
    items = [ASKED, *clicked("a"), written("Nine.")]
    left = fitted_responses(items, Trimming(kept=(0, 1, 2, 3), tokens=0, length=4))
    assert all(one is other for one, other in zip(left, items, strict=True))


def test_a_note_stands_behind_the_group_that_it_follows():
    items = [ASKED, reasoning(), call("a"), output("a"), ASKED]
    trimming = Trimming(
        kept=(0, 3), tokens=0, length=4, placeholder="[2 earlier messages omitted]", placeholder_after=0
    )
    assert fitted_responses(items, trimming) == [ASKED, said("assistant", "[2 earlier messages omitted]"), ASKED]
