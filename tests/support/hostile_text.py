"""Hypothesis strategies of hostile text, plausible chats and document sets."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from hypothesis import strategies as st

from shape_rows import FAMILY, SCRIPTS, SENTENCE, SPECIAL, Row, json_text

HOSTILE_FRAGMENTS: tuple[str, ...] = (
    *("", " ", "  ", "\n", "\r\n", "\t", "\x00", "\u00a0", "\u2028", "\u200b", "\u200d", "\ufeff", "\u202e", "\ufffd"),
    *("\ud800", "\udfff", "\ud83d\ude00", "\u0301", "e\u0301", "\U0001f1f3\U0001f1f5", "\U0001f44d\U0001f3fd"),
    *(
        "{lantern}",
        "{{0}}",
        "%s",
        "```\n",
        "<|endoftext|>",
        "a",
        "'ll",
        "/",
        ";\n\n//",
        "6",
        "६",
        "९१०",
        "٣",
        "７",
        "।",
    ),
    *("Dr. Orla paid 3.50.", "Lit? Yes!", "終。", "「灯」", FAMILY, SPECIAL, SENTENCE, *SCRIPTS.values()),
)

HOSTILE_SAMPLES: tuple[str, ...] = (
    *HOSTILE_FRAGMENTS,
    *(fragment * 40 for fragment in HOSTILE_FRAGMENTS if fragment),
    "६" + "९१०" * 100,
    "e" + "\u0301" * 2_000,
    FAMILY[:-1] + FAMILY * 30,
    "q" * 5_000,
    "UklNRVJPQ0s" * 400,
    " " * 5_000 + "x",
    "1\n" * 2_000,
    SENTENCE + "\n\n" + SENTENCE * 3 + "\r\n- row one\n- row two\n```\ncode(1)\n```\n" + SENTENCE,
)

NAMES = (None, None, None, "Orla", "<|endoftext|>")
ARGUMENTS = ("{}", '{"lantern": 7}', json_text({"text": SENTENCE * 6}), '{"text": "', "", "null", None, {"lantern": 7})
ID_POOL = ("call_0", "call_1", "", "<|endoftext|>", "a\ud800")


@cache
def hostile_text(max_pieces: int = 12) -> st.SearchStrategy[str]:
    """Draw a text of fragments, runs of one fragment and free characters, surrogates among them."""
    free = st.text(st.characters(codec=None), max_size=12)
    fragment = st.sampled_from(HOSTILE_FRAGMENTS)
    run = st.builds(lambda piece, count: piece * count, fragment, st.integers(1, 30))
    return st.lists(st.one_of(fragment, run, free), max_size=max_pieces).map("".join)


@cache
def _texts() -> st.SearchStrategy[str]:
    prose = st.builds(
        lambda count, tail: SENTENCE * count + tail, st.integers(0, 8), st.sampled_from(HOSTILE_FRAGMENTS)
    )
    return st.one_of(prose, hostile_text(6))


@cache
def _part() -> st.SearchStrategy[Row]:
    media: list[Row] = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBO" * 500}},
        {"type": "input_audio", "input_audio": {"data": "UklG" * 500, "format": "wav"}},
        {"type": "file", "file": {"file_data": "JVBE" * 500}},
    ]
    return st.one_of(_texts().map(lambda text: {"type": "text", "text": text}), st.sampled_from(media))


@cache
def _content() -> st.SearchStrategy[Any]:
    return st.one_of(_texts(), _texts(), st.none(), st.lists(_part(), max_size=3))


def _joined(groups: list[list[Row]]) -> list[Row]:
    """Return the rows of all groups as new dictionaries, so that no drawn row is shared."""
    return [dict(row) for group in groups for row in group]


def _named(row: Row, name: str | None) -> Row:
    return row if name is None else {**row, "name": name}


@cache
def _plain_rows(role: str) -> st.SearchStrategy[list[Row]]:
    make = lambda text, name: [_named({"role": role, "content": text}, name)]  # noqa: E731
    return st.builds(make, _content(), st.sampled_from(NAMES))


@cache
def _exchange(*, whole: bool) -> st.SearchStrategy[list[Row]]:
    """Draw a row that calls and its results; unless `whole`, results may be missing or out of order."""
    answered_call = st.tuples(st.sampled_from(ID_POOL), st.sampled_from(ARGUMENTS), _texts())
    calls = st.lists(answered_call, min_size=1, max_size=4)
    return st.builds(_exchange_rows, calls, st.one_of(st.none(), _texts()), st.just(9) if whole else st.integers(-4, 4))


def _exchange_rows(calls: list[tuple[str, Any, str]], text: str | None, answered: int) -> list[Row]:
    """Build an exchange with at most `answered` results; a negative number takes them from the end, reversed."""
    called = [
        {"id": key, "type": "function", "function": {"name": "inspect", "arguments": arguments}}
        for key, arguments, _ in calls
    ]
    results: list[Row] = [{"role": "tool", "tool_call_id": key, "content": answer} for key, _, answer in calls]
    kept = results[:answered] if answered >= 0 else results[::-1][:-answered]
    return [{"role": "assistant", "content": text, "tool_calls": called}, *kept]


@cache
def _legacy_exchange() -> st.SearchStrategy[list[Row]]:
    return st.builds(_legacy_rows, st.sampled_from(ARGUMENTS), _texts())


def _legacy_rows(arguments: Any, answer: str) -> list[Row]:
    called = {"role": "assistant", "content": None, "function_call": {"name": "inspect", "arguments": arguments}}
    return [called, {"role": "function", "name": "inspect", "content": answer}]


@cache
def _stray_row() -> st.SearchStrategy[list[Row]]:
    orphan = _texts().map(lambda text: [{"role": "tool", "tool_call_id": "nowhere", "content": text}])
    nameless = _texts().map(lambda text: [{"role": "tool", "content": text}])
    return st.one_of(orphan, nameless, _plain_rows("critic"), _exchange(whole=False))


@cache
def _turn(*, well_formed: bool) -> st.SearchStrategy[list[Row]]:
    steps = [_exchange(whole=True), _plain_rows("assistant"), _legacy_exchange()]
    steps += [] if well_formed else [_stray_row(), _plain_rows("system"), _plain_rows("developer"), _plain_rows("user")]
    rest = st.lists(st.one_of(*steps), max_size=3).map(_joined)
    return st.builds(lambda asked, answered: asked + answered, _plain_rows("user"), rest)


@cache
def openai_messages(*, max_turns: int = 4, well_formed: bool = False) -> st.SearchStrategy[list[Row]]:
    """Draw a chat of up to `max_turns` turns that ends with a question, results or a pending call.

    Unless `well_formed`, orphans, ids used twice, system rows midway, blank rows and unknown roles occur.
    """
    nothing: st.SearchStrategy[list[Row]] = st.just([])
    opening = st.one_of(nothing, _plain_rows("system"))
    odd_start = nothing if well_formed else st.one_of(nothing, _plain_rows("assistant"), _stray_row())
    turns = st.lists(_turn(well_formed=well_formed), max_size=max_turns)
    asked = _texts().map(lambda text: [{"role": "user", "content": f"{text} lit?"}])
    tail = st.one_of(nothing, nothing, _exchange(whole=True), _exchange(whole=well_formed))
    groups = st.builds(lambda a, b, c, d, e: [a, b, *c, d, e], opening, odd_start, turns, asked, tail)
    return groups.map(_joined)


@cache
def documents(max_documents: int = 8) -> st.SearchStrategy[list[Row]]:
    """Draw documents whose ids and texts may repeat and whose scores may be missing, NaN, infinite or negative."""
    odd = st.sampled_from([None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1, -3])
    row = st.fixed_dictionaries(
        {
            "id": st.one_of(st.integers(0, 5).map(str), st.none()),
            "title": st.sampled_from(["", "Lanterns", SENTENCE]),
            "text": st.one_of(_texts(), st.sampled_from(["", " ", None, SENTENCE, SENTENCE * 9])),
            "score": st.one_of(odd, st.floats(-10, 10)),
        }
    )
    return st.lists(row, max_size=max_documents)


def huge_samples() -> dict[str, str]:
    """Build the texts of a million characters, by name."""
    million = 1_000_000
    return {
        "letters": "a" * million,
        "spaces": " " * million,
        "spaces_and_a_letter": " " * million + "x",
        "tabs": "\t" * million,
        "ideographic_spaces": "\u3000" * million + "x",
        "newlines": "\n" * million,
        "equals_signs": "=" * million,
        "base64": "UklNRVJPQ0s" * (million // 11),
        "zero_width_joiners": "\u200d" * million,
        "combining_marks": "e" + "\u0301" * million,
    }
