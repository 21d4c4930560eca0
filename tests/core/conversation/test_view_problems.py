"""Each violation that the checker must see, made by hand once, beside the trimmed requests that it must accept."""

from __future__ import annotations

from typing import Any

import pytest

from independent_recount import problems, recount
from shape_rows import FAMILY, Row, assistant, call, calling, filler, json_text, question, result, system, user

LONG = filler(60)
CUT = "\n[... 50 sentences left out ...]\n"
SHORT = filler(4) + CUT + filler(4)
PLACEHOLDER = user("[4 earlier messages left out]")
OLD_PAIR = [calling(call("a"), call("b")), result("a", LONG), result("b", "lit")]
CUT_PAIR = [OLD_PAIR[0], result("a", SHORT), OLD_PAIR[2]]
CHAT = [system(), user(LONG), *OLD_PAIR, assistant("Seen."), question()]
THOUGHT = {"type": "thinking", "thinking": "Which one is dark?", "signature": "c2lnbmVk"}
CALL = calling(call("t"))
THINKING = {**CALL, "content": [THOUGHT, {"type": "text", "text": LONG}]}
FLOWN = "\ud83d\ude00" * 400
RUN = [system(), question(), CALL, result("t", LONG)]
PENDING = [system(), user(LONG), assistant("Seen."), question(), CALL]
HUGE_CALL = calling(call("h", arguments=json_text({"path": "plate", "text": LONG})))


def _arguments(text: str) -> Row:
    return calling(call("h", arguments=text))


def _unread(text: str) -> list[Row]:
    return [system(), question(), CALL, result("t", text)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([system(), result("x", "lit"), user("")], None, id="what fits comes back as it is"),
        pytest.param(CHAT, [CHAT[0], CHAT[-1]], id="only the question"),
        pytest.param(CHAT, [CHAT[0], PLACEHOLDER, CHAT[-1]], id="a placeholder"),
        pytest.param(CHAT, [CHAT[0], user(SHORT), *CUT_PAIR, *CHAT[-2:]], id="head and tail around a marker"),
        pytest.param(CHAT, [CHAT[0], user(filler(9)), *CUT_PAIR, *CHAT[-2:]], id="a head alone"),
        pytest.param(RUN, _unread(CUT), id="a marker alone for a result"),
        pytest.param(PENDING, [PENDING[0], *PENDING[-2:]], id="a pending call at the end"),
        pytest.param([system(), user("x"), CALL, question()], [system(), question()], id="an unanswered call dropped"),
        pytest.param(
            [system(), user("x"), {**CALL, "content": "I look."}, question()],
            [system(), user("x"), assistant("I look.") | {"tool_calls": []}, question()],
            id="an unanswered call removed from its text",
        ),
        pytest.param(
            [system(), user("x"), HUGE_CALL, result("h", "ok"), question()],
            [system(), user("x"), _arguments('{"text": "[cut]"}'), result("h", "ok"), question()],
            id="old arguments shortened to JSON",
        ),
        pytest.param([system(), question(), user(LONG), question()], [system(), question()], id="the same row twice"),
        pytest.param([assistant(LONG), user(LONG), question()], [question()], id="an input that starts otherwise"),
        pytest.param([system(), user(LONG), user("")], [system(), user("")], id="an empty question"),
        pytest.param(_unread(FAMILY * 90), _unread(FAMILY * 3 + CUT + FAMILY * 2), id="whole emoji"),
        pytest.param(_unread("e" + "\u0301" * 900), _unread("e" + "\u0301" * 90), id="a cluster beyond any budget"),
        pytest.param(_unread("e\u0301" * 90), _unread("e"), id="a code point where not even one cluster fits"),
        pytest.param(_unread(FLOWN), _unread(FLOWN[:20] + CUT), id="whole surrogate pairs"),
        pytest.param(
            [
                system(),
                user([{"type": "image_url", "image_url": {"url": "data:,A"}}, {"type": "text", "text": "lit?"}]),
            ],
            [system(), user([{"type": "text", "text": "[picture]"}, {"type": "text", "text": "lit?"}])],
            id="a picture replaced by a few words",
        ),
    ],
)
def test_a_sound_request_has_no_problems(before: list[Row], after: list[Row] | None) -> None:
    assert problems(before, before if after is None else after, budget=2_000) == []


VIOLATIONS: list[Any] = [
    pytest.param(CHAT, CHAT, {"budget": 300}, "over budget", id="unchanged and over budget"),
    pytest.param(CHAT, CHAT[:1] + CHAT[-1:], {"needles": ["dawn"]}, "needle 0 is not visible", id="needle lost"),
    pytest.param(CHAT, [CHAT[0], *CUT_PAIR[1:], *CHAT[-2:]], {}, "a result without its call", id="call lost"),
    pytest.param(CHAT, [*CHAT[:2], *CUT_PAIR[:2], CHAT[-1]], {}, "a call without all its results", id="result lost"),
    pytest.param(CHAT, [*CHAT[:2], CUT_PAIR[0], CHAT[-1], *CUT_PAIR[1:]], {}, "without its call", id="pair parted"),
    pytest.param(
        CHAT, [*CHAT[:2], calling(call("a")), CUT_PAIR[1], CHAT[-1]], {}, "invented or edited", id="one call taken out"
    ),
    pytest.param(CHAT, [*CHAT[:2], CHAT[5], *CUT_PAIR, CHAT[-1]], {}, "repeated or out of order", id="order changed"),
    pytest.param(CHAT, [CHAT[0], CHAT[-1], CHAT[-1]], {}, "repeated or out of order", id="a row twice"),
    pytest.param(CHAT, [CHAT[0], user("lit " * 400), CHAT[-1]], {}, "invented or edited", id="a long row made up"),
    pytest.param(CHAT, [CHAT[0], user(LONG.upper()), CHAT[-1]], {}, "invented or edited", id="a row reworded"),
    pytest.param(
        CHAT, [CHAT[0], user(filler(9) + filler(1)[9:]), CHAT[-1]], {}, "invented", id="joined without a marker"
    ),
    pytest.param(CHAT, [CHAT[0], PLACEHOLDER, PLACEHOLDER, CHAT[-1]], {}, "more than one placeholder", id="two notes"),
    pytest.param(
        [system(), PLACEHOLDER, user(LONG), question()],
        [system(), PLACEHOLDER, user("[9 earlier messages left out]"), question()],
        {"is_placeholder": lambda row: "left out" in str(row["content"])[:40]},
        "more than one placeholder",
        id="a note beside the one of an earlier trim",
    ),
    pytest.param(
        CHAT,
        [CHAT[0], PLACEHOLDER, CHAT[-1]],
        {"is_placeholder": lambda row: row.get("name") == "note"},
        "invented or edited",
        id="a note that the predicate does not know",
    ),
    pytest.param(CHAT, CHAT[:2], {}, "the last user message is missing", id="question lost"),
    pytest.param(
        CHAT, [*CHAT[:2], *CUT_PAIR, CHAT[5]], {}, "the last user message is missing", id="question lost last"
    ),
    pytest.param(CHAT, [CHAT[0], CHAT[-1], PLACEHOLDER], {}, "not the last row", id="a note behind the question"),
    pytest.param(CHAT, [CHAT[-1]], {}, "system row 0 of the input is lost", id="system lost"),
    pytest.param(CHAT, [CHAT[0], user(""), CHAT[-1]], {}, "row 1 is empty", id="emptied"),
    pytest.param([*CHAT[:2], assistant(""), CHAT[-1]], [CHAT[0], assistant(""), CHAT[-1]], {}, "is empty", id="empty"),
    pytest.param(CHAT, [CHAT[0], *CUT_PAIR, *CHAT[-2:]], {}, "is not a user message", id="starts with a call"),
    pytest.param(RUN, RUN[:2], {}, "the newest exchange", id="unread result lost"),
    pytest.param(PENDING, PENDING[:1] + PENDING[3:4], {}, "the newest exchange", id="pending call lost"),
    pytest.param(RUN, [*RUN[:2], result("t", SHORT)], {}, "a result without its call", id="unread call lost"),
    pytest.param(RUN, [*RUN[:2], CALL, result("u", LONG)], {}, "invented or edited", id="id changed"),
    pytest.param(RUN, [*RUN[:2], CALL, {**RUN[3], "name": "x"}], {}, "invented or edited", id="name added"),
    pytest.param(
        [system(), question(), HUGE_CALL, result("h", "ok")],
        [system(), question(), _arguments('{"text": "[cut]"}'), result("h", "ok")],
        {},
        "arguments of the current exchange",
        id="current arguments edited",
    ),
    pytest.param(
        [system(), user("x"), HUGE_CALL, result("h", "ok"), question()],
        [system(), user("x"), _arguments('{"text": "The lamp'), result("h", "ok"), question()],
        {},
        "invented or edited",
        id="arguments no longer JSON",
    ),
    pytest.param(
        [system(), question(), THINKING, result("t", LONG)],
        [system(), question(), {**CALL, "content": [{**THOUGHT, "thinking": "Which"}]}, result("t", LONG)],
        {},
        "signed thinking",
        id="thinking cut",
    ),
    pytest.param(
        [system(), question(), THINKING, result("t", LONG)],
        [system(), question(), {**CALL, "content": [{"type": "text", "text": SHORT}]}, result("t", LONG)],
        {},
        "signed thinking",
        id="thinking parted from its call",
    ),
    pytest.param(RUN, _unread(filler(1) + "\ufffd" + CUT), {}, "a new U+FFFD", id="replacement character"),
    pytest.param(_unread(FLOWN), _unread(FLOWN[:21] + CUT), {}, "half a surrogate pair", id="half a pair"),
    pytest.param(_unread(FAMILY * 90), _unread(FAMILY[:3] + CUT), {}, "broken grapheme cluster", id="half a family"),
    pytest.param(
        _unread(FAMILY * 90), _unread(FAMILY + CUT + FAMILY[2:]), {}, "broken grapheme cluster", id="a family's tail"
    ),
    pytest.param(_unread("e\u0301" * 90), _unread("e\u0301e"), {}, "broken grapheme cluster", id="an accent lost"),
    pytest.param(
        _unread("निर्भर " * 90), _unread("निर्भर नि"[:-1] + CUT), {}, "broken grapheme cluster", id="half a syllable"
    ),
]


@pytest.mark.parametrize(("before", "after", "options", "finding"), VIOLATIONS)
def test_a_violation_is_found(before: list[Row], after: list[Row], options: dict[str, Any], finding: str) -> None:
    found = problems(before, after, **{"budget": 2_000, **options})
    assert found
    assert any(finding in problem for problem in found)


@pytest.mark.parametrize(
    ("instruction", "room", "lost"),
    [
        pytest.param("Answer briefly.", 6, False, id="no room for it"),
        pytest.param("Answer briefly.", 7, True, id="room for it"),
        pytest.param(LONG, 11, False, id="no room for a part of it"),
        pytest.param(LONG, 12, True, id="room for a part of it"),
    ],
)
def test_the_system_message_may_go_only_where_it_has_no_room(instruction: str, room: int, lost: bool) -> None:
    found = problems([system(instruction), *CHAT[1:]], [question()], budget=recount([question()]) + room)
    assert found == (["system row 0 of the input is lost"] if lost else [])


def test_the_question_may_have_to_be_last_whatever_the_input_was() -> None:
    assert problems(RUN, [*RUN[:2], CALL, result("t", SHORT)], budget=2_000, last_user_last=True)
    assert not problems(RUN, [*RUN[:2], CALL, result("t", SHORT)], budget=2_000, last_user_last=False)
