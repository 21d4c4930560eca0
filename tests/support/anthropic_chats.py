"""Hypothesis strategies of Anthropic-shaped conversations, well formed or broken."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from anthropic_rows import CACHED, IMAGE, PDF, Row, result, text, thinking, use, words_of
from shape_rows import SENTENCE

PAGE = "c2VhbGVk" * 250  # what a search found, sealed
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "lanterns"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [{"type": "web_search_result", "title": "Lit", "url": "https://l.example", "encrypted_content": PAGE}],
}
SERVED = ({**SEARCH, "id": "srv_2"}, {**FOUND, "tool_use_id": "srv_2"})
REDACTED = {"type": "redacted_thinking", "data": "c2VhbGVk" * 40}
HIT = {
    "type": "search_result",
    "source": "https://l.example",
    "title": "Lit",
    "content": [{"type": "text", "text": SENTENCE * 4}, {"type": "text", "text": SENTENCE}],
    "citations": {"enabled": True},
}
NOTES = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": SENTENCE * 3}}
IDS = ("toolu_a", "toolu_b", "toolu_c")


@cache
def prose(most: int = 12) -> st.SearchStrategy[str]:
    return st.builds(lambda count, head: f"{head} " + SENTENCE * count, st.integers(0, most), st.sampled_from("QRST"))


def _copied(strategy: st.SearchStrategy[Row]) -> st.SearchStrategy[Row]:
    return strategy.map(dict)


@cache
def _said() -> st.SearchStrategy[Row]:
    return st.builds(lambda words, cached: text(words, **(CACHED if cached else {})), prose(), st.booleans())


@cache
def _user_content() -> st.SearchStrategy[Any]:
    media = _copied(st.sampled_from([IMAGE, PDF, NOTES]))
    blocks = st.builds(lambda extra, words: [*extra, words], st.lists(media, max_size=2), _said())
    return st.one_of(prose(), blocks)


@cache
def _thoughts() -> st.SearchStrategy[list[Row]]:
    kinds = st.one_of(prose(3).map(thinking), _copied(st.just(REDACTED)))
    searches = st.sampled_from([[], [], [SEARCH, FOUND]]).map(lambda blocks: [dict(block) for block in blocks])
    return st.builds(lambda a, b: a + b, st.lists(kinds, max_size=2), searches)


@cache
def _result_content() -> st.SearchStrategy[Any]:
    parts = st.lists(st.one_of(_said(), _copied(st.sampled_from([IMAGE, NOTES, HIT]))), max_size=3)
    return st.one_of(prose(40), prose(40), st.none(), parts)


@cache
def _exchange(*, mixed: bool) -> st.SearchStrategy[list[Row]]:
    answers = st.lists(st.tuples(_result_content(), st.booleans()), min_size=1, max_size=3)
    said = st.lists(_said(), max_size=1) if mixed else st.just([])
    return st.builds(_exchange_rows, _thoughts(), st.lists(_said(), max_size=1), answers, said, prose(4))


def _exchange_rows(
    thoughts: list[Row], before: list[Row], answers: list[tuple[Any, bool]], said: list[Row], argument: str
) -> list[Row]:
    named = list(zip(IDS, answers, strict=False))
    calls = [use(identity, where=argument) for identity, _ in named]
    results = [result(identity, content, **(CACHED if cached else {})) for identity, (content, cached) in named]
    return [
        {"role": "assistant", "content": [*thoughts, *before, *calls]},
        {"role": "user", "content": [*results, *said]},
    ]


@cache
def _served() -> st.SearchStrategy[list[Row]]:
    """Draw an exchange during which the provider searches: its result comes after those of the calls beside it."""
    steps = st.lists(_exchange(mixed=False), min_size=1, max_size=2)
    return st.builds(_served_rows, steps, st.lists(_said(), max_size=1))


def _served_rows(steps: list[list[Row]], said: list[Row]) -> list[Row]:
    rows = [row for step in steps for row in step]
    call, found = map(dict, SERVED)
    return [
        {**rows[0], "content": [call, *rows[0]["content"]]},
        *rows[1:],
        {"role": "assistant", "content": [found, *said]},
    ]


@cache
def _turn() -> st.SearchStrategy[list[Row]]:
    """Draw a question, exchanges and a final answer."""
    asked = _user_content().map(lambda content: [{"role": "user", "content": content}])
    steps = st.lists(st.one_of(_exchange(mixed=True), _served()), max_size=3)
    run = steps.map(lambda groups: [row for group in groups for row in group])
    last = st.one_of(prose(), st.builds(lambda a, b: [*a, b], _thoughts(), _said()))
    answered = last.map(lambda content: [{"role": "assistant", "content": content}])
    return st.builds(lambda a, b, c: a + b + c, asked, run, answered)


@cache
def anthropic_chats(max_turns: int = 4) -> st.SearchStrategy[list[Row]]:
    """Draw a chat that the API would take: it ends with a question, with results, or with both."""
    turns = st.lists(_turn(), max_size=max_turns)
    asked = _user_content().map(lambda content: {"role": "user", "content": content})
    tail = st.lists(_exchange(mixed=True), max_size=3)
    return st.builds(lambda a, b, c: [row for group in (*a, [b], *c) for row in group], turns, asked, tail)


@st.composite
def broken_anthropic_chats(draw: st.DrawFn) -> list[Row]:
    """Draw a chat of which rows or blocks are missing; it starts with a row in which the user says something."""
    rows = draw(anthropic_chats())
    starts = [index for index, row in enumerate(rows) if row["role"] == "user" and words_of(row)]
    rows = rows[draw(st.sampled_from(starts)) :]
    for _ in range(draw(st.integers(0, 3)) if len(rows) > 1 else 0):
        index = draw(st.integers(1, len(rows) - 1))
        content = rows[index]["content"]
        if isinstance(content, list) and len(content) > 1 and draw(st.booleans()):
            gone = draw(st.integers(0, len(content) - 1))
            rows[index] = {**rows[index], "content": content[:gone] + content[gone + 1 :]}
        elif len(rows) > 2:
            del rows[index]
    return rows
