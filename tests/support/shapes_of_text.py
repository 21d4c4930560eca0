"""Message shapes of hostile text: scripts, special tokens, emoji, broken Unicode, a million of one character."""

from __future__ import annotations

from functools import partial

from shape_rows import (
    FAMILY,
    MARK,
    SCRIPTS,
    SPECIAL,
    MessageShape,
    Row,
    assistant,
    call,
    calling,
    filler,
    question,
    result,
    system,
    turns,
    user,
)

MILLION = 1_000_000
RIGHT_TO_LEFT = "\u202b{}\u202c\u200f\u2067{}\u2069"
FLAGS_AND_HANDS = "\U0001f1f3\U0001f1f5\U0001f1f8\U0001f1ea\U0001f44d\U0001f3fd\u2764\ufe0f\u200d\U0001f525"


def _history(text: str) -> list[Row]:
    return [system(), user(text), assistant("Read."), question()]


def _chat_in(text: str) -> list[Row]:
    return [system(), *turns(8, 8, text), question(text)]


def _unread(text: str) -> list[Row]:
    return [system(), question("read it"), calling(call("u", "read")), result("u", text)]


def _special_everywhere() -> list[Row]:
    rows = [{**row, "name": f"n{number}"} for number, row in enumerate(turns(6, 12, SPECIAL + " "))]
    return [system(SPECIAL), *rows, user(f"{MARK} {SPECIAL}")]


def _split_pairs() -> str:
    return "\ud83d\ude00\ud83d\udd25 " * 400


TEXT_SHAPES = (
    MessageShape(name="special_tokens_in_history", build=lambda: _history(f"{SPECIAL} {filler(60)} {SPECIAL}")),
    MessageShape(name="special_tokens_everywhere", build=_special_everywhere),
    MessageShape(
        name="special_tokens_that_fit", build=lambda: [system(SPECIAL), user(f"{MARK} {SPECIAL}")], unchanged=True
    ),
    *(MessageShape(name=f"history_in_{script}", build=partial(_chat_in, text)) for script, text in SCRIPTS.items()),
    *(
        MessageShape(name=f"unread_result_in_{script}", build=partial(_unread, text * 200))
        for script, text in SCRIPTS.items()
    ),
    MessageShape(
        name="right_to_left_marks",
        build=lambda: _unread(RIGHT_TO_LEFT.format(SCRIPTS["arabic"], "7 lanterns") * 100),
    ),
    MessageShape(name="one_long_word", build=lambda: [system(), user("q" * 20_000), question()]),
    MessageShape(name="million_letters", build=lambda: _history("a" * MILLION)),
    MessageShape(name="million_letters_in_a_result", build=lambda: _unread("a" * MILLION)),
    MessageShape(name="million_spaces", build=lambda: _history(f"{filler(1)}{' ' * MILLION}x")),
    MessageShape(name="million_spaces_in_a_result", build=lambda: _unread(f"{filler(1)}{' ' * MILLION}x")),
    MessageShape(name="million_ideographic_spaces", build=lambda: _history("　" * MILLION)),
    MessageShape(
        name="million_spaces_in_arguments",
        build=lambda: [
            *(system(), user("Go."), calling(call("s", arguments='{"pad": "' + " " * MILLION + '"}'))),
            *(result("s", "ok"), assistant("Gone."), question()),
        ],
    ),
    MessageShape(name="newlines_only", build=lambda: _history("\n" * 50_000)),
    MessageShape(name="base64_in_a_text_result", build=lambda: _unread("UklNRVJPQ0tzdHVkeQ" * 12_000)),
    MessageShape(
        name="emoji_families_in_the_question",
        build=lambda: [system(), user(f"{MARK} {FAMILY * 700}")],
        infeasible=True,
    ),
    MessageShape(name="emoji_families_in_a_result", build=lambda: _unread(FAMILY * 300)),
    MessageShape(name="flags_and_skin_tones_in_a_result", build=lambda: _unread(FLAGS_AND_HANDS * 200)),
    MessageShape(name="combining_marks_in_a_result", build=lambda: _unread("e\u0301\u0323o\u0308 " * 1_000)),
    MessageShape(name="one_letter_with_endless_marks", build=lambda: _history("e" + "\u0301" * 20_000)),
    MessageShape(name="lone_surrogates_in_history", build=lambda: _history("dusk\ud800 dawn\udfff " * 300)),
    MessageShape(name="lone_surrogates_in_a_result", build=lambda: _unread("dusk\ud800 dawn\udfff " * 300)),
    MessageShape(
        name="lone_surrogate_in_the_question", build=lambda: [*_history(filler(60)), user(f"{MARK} lit\udc00?")]
    ),
    MessageShape(name="surrogate_pairs_as_two_characters", build=lambda: _unread(_split_pairs())),
    MessageShape(name="replacement_characters_already_there", build=lambda: _unread("dim \ufffd glow " * 400)),
    MessageShape(name="nul_characters", build=lambda: _unread("a\x00b\x00 " * 800)),
    MessageShape(name="full_width_digits", build=lambda: _unread("６７８９０" * 800)),
    MessageShape(name="arabic_digits_in_a_row", build=lambda: _unread("٦" + "٩١٠" * 1_200)),
    MessageShape(name="carriage_returns_and_tabs", build=lambda: _unread("row\r\n\tcell\r\n" * 500)),
    MessageShape(name="braces_and_percent_signs", build=lambda: _unread("{lantern} {0} {{}} %s %(name)d ${x} " * 100)),
)
