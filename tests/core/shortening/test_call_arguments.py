"""Arguments of calls made shorter: within the budget by recount, valid JSON of the same kind, keys and numbers kept."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxopt_core import Attachment, CallableCounter, Message, TiktokenCounter, ToolCall
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.fitting.fitted_context import shortened_message
from ctxopt_core.shortening.call_arguments import shorten_arguments, shortest_arguments, tokens_in_arguments
from ctxopt_core.shortening.shorten_message import shorten_message

O200K = TiktokenCounter("o200k_base")
LETTERS = CallableCounter(len, name="letters")
SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow. "
LONG = SENTENCE * 60
FILE = {"path": "harbour/log.md", "content": LONG, "line": 7, "overwrite": True, "owner": None}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def is_marked(value: Any) -> bool:
    """A list that keeps its ends around a mark."""
    mark = value[1] if isinstance(value, list) and len(value) == 3 else None
    return isinstance(mark, str) and (mark == "…" or mark.endswith("left out ...]"))


def shapes_match(before: Any, after: Any) -> bool:
    """Keys, numbers and kinds are the same; strings are the same or shorter; lists keep both of their ends."""
    if isinstance(before, str):
        return isinstance(after, str) and (after == before or "…" in after or "left out" in after)
    if isinstance(before, dict):
        same = isinstance(after, dict) and list(before) == list(after)
        return same and all(shapes_match(before[key], after[key]) for key in before)
    if isinstance(before, list) and len(before) > 2 and is_marked(after):
        return shapes_match([before[0], before[-1]], [after[0], after[2]])
    if isinstance(before, list):
        return isinstance(after, list) and len(before) == len(after) and all(map(shapes_match, before, after))
    return type(before) is type(after) and before == after


@settings(deadline=None)
@example(value=[None, {"": None, "0": None, "00": None}, None], budget=7, spaced=False, counter=O200K)
@given(
    value=VALUES,
    budget=st.integers(min_value=0, max_value=120),
    spaced=st.booleans(),
    counter=st.sampled_from([O200K, LETTERS]),
)
def test_h10_the_result_is_within_the_budget_and_valid(value: Any, budget: int, spaced: bool, counter: Any) -> None:
    arguments = json.dumps(value, ensure_ascii=False, separators=None if spaced else (",", ":"))
    found = shorten_arguments(arguments, budget, counter)
    lowest = shortest_arguments(ToolCall(arguments=arguments), counter)
    assert (found is None) == (budget < lowest)
    if found is not None:
        assert counter.count(found) <= budget
        assert shapes_match(value, json.loads(found))
        assert found == shorten_arguments(arguments, budget, counter)
        assert found == arguments or counter.count(found) < counter.count(arguments)


@pytest.mark.parametrize("budget", range(30, 900, 60))
def test_h10_what_is_sent_as_a_mapping_counts_the_same(budget: int) -> None:
    found = shorten_arguments(json.dumps(FILE, ensure_ascii=False), budget, O200K)
    assert found is not None
    assert O200K.count(json.dumps(json.loads(found), ensure_ascii=False)) == O200K.count(found) <= budget


def test_h10_a_long_string_keeps_head_and_tail_and_everything_else_stays() -> None:
    found = shorten_arguments(json.dumps(FILE), 100, O200K)
    assert found is not None
    left = json.loads(found)
    assert left["content"].startswith("The lamplighter polishes")
    assert "characters left out" in left["content"]
    assert left["content"].rstrip().endswith("first snow.")
    assert {**left, "content": LONG} == FILE
    assert list(left) == list(FILE)
    assert O200K.count(found) > 80


@pytest.mark.parametrize(
    ("given", "budget", "expected"),
    [
        pytest.param('{"a": "' + "b" * 50 + '"}', 20, '{"a": "' + "b" * 10 + '…"}', id="a string without borders"),
        pytest.param('{"a":"' + "b" * 50 + '"}', 20, '{"a":"' + "b" * 11 + '…"}', id="written close"),
        pytest.param('{"a": "' + "b" * 50 + '"}', 10, '{"a": "…"}', id="the floor"),
        pytest.param('{"a": "' + "b" * 50 + '"}', 9, None, id="under the floor"),
        pytest.param(json.dumps("b" * 50), 12, '"' + "b" * 9 + '…"', id="a string alone"),
        pytest.param(
            json.dumps(list(range(100))), 40, '[0, "[... 98 items left out ...]", 99]', id="a list of numbers"
        ),
        pytest.param("[1, 2, 3]", 8, None, id="a short list has nothing to win"),
        pytest.param('{"big": 1.00000000000000000001e400}', 5, None, id="numbers are the floor"),
        pytest.param("not JSON " * 200, 40, '{"_omitted": "1,800 characters"}', id="no JSON"),
        pytest.param('{"a": ' + "[" * 100_000, 40, '{"_omitted": "100,006 characters"}', id="far too deep"),
        pytest.param("not JSON " * 200, 20, None, id="no room for the note"),
        pytest.param("", 0, "", id="none"),
    ],
)
def test_h10_arguments_in_letters(given: str, budget: int, expected: str | None) -> None:
    assert shorten_arguments(given, budget, LETTERS) == expected


def test_h10_numbers_and_escapes_stay_as_they_are_written() -> None:
    given = '{"id": 12345678901234567890123, "rate": 1.10, "none": null, "mark": "\\ud83d", "text": "' + "b" * 99 + '"}'
    found = shorten_arguments(given, 110, LETTERS)
    assert found is not None
    assert found.startswith(given[: given.index("bb") + 2])
    assert found.encode("utf-8").endswith('…"}'.encode())


def test_h10_nested_lists_are_cut_where_strings_do_not_suffice() -> None:
    edits = [{"line": i, "old": f"lantern {i}", "new": SENTENCE} for i in range(200)]
    found = shorten_arguments(json.dumps({"edits": edits}), 80, O200K)
    assert found is not None
    first, mark, last = json.loads(found)["edits"]
    assert (first["line"], mark, last["line"]) == (0, "[... 198 items left out ...]", 199)
    few = [{**edit, "new": SENTENCE * 5} for edit in edits[:4]]
    enough = shorten_arguments(json.dumps({"edits": few}), 260, O200K)
    assert [edit["line"] for edit in json.loads(enough or "")["edits"]] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"content": LONG * 250}, id="one string"),
        pytest.param({"rows": list(range(150_000))}, id="numbers"),
        pytest.param({"rows": [SENTENCE] * 15_000}, id="strings"),
        pytest.param({f"key-{i}": "value" for i in range(50_000)}, id="keys"),
        pytest.param({"content": "b" * 1_000_000}, id="one word"),
    ],
)
@pytest.mark.parametrize("budget", [100, 10_000])
def test_h10_a_megabyte_takes_reasonable_time(value: Any, budget: int) -> None:
    arguments = json.dumps(value)
    start = time.perf_counter()
    found = shorten_arguments(arguments, budget, O200K)
    assert time.perf_counter() - start < 10
    assert found is None or O200K.count(found) <= budget


def calling(*arguments: str, **fields: Any) -> Message:
    calls = tuple(ToolCall(id=f"c{i}", name="write", arguments=text) for i, text in enumerate(arguments))
    return Message(role="assistant", tool_calls=calls, **fields)


def shorten(message: Message, target: int, **options: Any) -> Any:
    return shorten_message(message, message_tokens(message, O200K), target, O200K, **options)


def test_h10_arguments_go_only_where_that_is_allowed_and_texts_do_not_suffice() -> None:
    message = calling(json.dumps(FILE), '{"line": 7}', content=SENTENCE * 10)
    whole = message_tokens(message, O200K)
    texts_alone = shorten(message, whole - 50, arguments_may_go=True)
    assert dict(texts_alone.arguments) == {}
    assert shorten(message, 150) is None
    cut = shorten(message, 150, arguments_may_go=True)
    assert set(cut.arguments) == {0}
    assert message_tokens(shortened_message(message, cut), O200K) == cut.tokens <= 150
    assert [call.id for call in shortened_message(message, cut).tool_calls] == ["c0", "c1"]
    assert message.tool_calls[0].arguments == json.dumps(FILE)


@pytest.mark.parametrize("target", range(10, 700, 30))
def test_h10_the_longest_arguments_are_cut_first(target: int) -> None:
    message = calling(json.dumps(FILE), json.dumps({"text": SENTENCE * 10}), '{"line": 7}')
    whole, most = message_tokens(message, O200K), tokens_in_arguments(message, O200K)
    cut = shorten(message, target, arguments_may_go=True)
    assert (cut is None) == (target < whole - most)
    if cut is not None:
        left = [call.arguments for call in shortened_message(message, cut).tool_calls]
        assert O200K.count(left[0]) >= O200K.count(left[1]) >= 1
        assert json.loads(left[2]) == {"line": 7} or target < whole - most + 20


@pytest.mark.parametrize(
    "sealed",
    [
        pytest.param(calling(json.dumps(FILE), verbatim=("I think.",)), id="reasoning"),
        pytest.param(calling(json.dumps(FILE), attachments=(Attachment(fixed=True),)), id="sealed reasoning"),
        pytest.param(
            replace(calling(), tool_calls=(ToolCall(id="a", arguments=json.dumps(FILE), fixed=True),)), id="a signature"
        ),
    ],
)
def test_h8_arguments_beside_reasoning_are_never_edited(sealed: Message) -> None:
    assert tokens_in_arguments(sealed, O200K) == 0
    assert shorten(sealed, 200, arguments_may_go=True) is None
