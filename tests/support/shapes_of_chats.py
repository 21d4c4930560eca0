"""Message shapes of plain chats: lengths, roles, blank rows, and what does or does not fit."""

from __future__ import annotations

from shape_rows import MARK, RULE, MessageShape, Row, assistant, filler, question, system, turns, user

EARLIER_PLACEHOLDERS = ("[12 earlier messages omitted]", "[1 earlier message omitted]")


def _speakers() -> list[Row]:
    rows = turns(8)
    return [system(), *({**row, "name": ("Orla", "Benno")[i % 2]} for i, row in enumerate(rows)), question()]


def _rules_between_turns() -> list[Row]:
    rules = [f"{RULE}{number} say nothing of oil prices" for number in (1, 2, 3)]
    rows = [system(rules[0]), *turns(4), system(rules[1]), *turns(4, start=4), system(rules[2])]
    return [*rows, question()]


def _blank_rows() -> list[Row]:
    return [system(""), user(""), assistant(""), *turns(6), user(""), assistant(""), question()]


def _rows_without_content() -> list[Row]:
    return [system(), user(None), assistant(None), *turns(6), assistant(None), question()]


def _empty_part_lists() -> list[Row]:
    return [system(), user([]), assistant([]), *turns(6), assistant([{"type": "text", "text": ""}]), question()]


def _unknown_role() -> list[Row]:
    critic = {"role": "critic", "content": f"The answer is dull. {filler(8)}"}
    return [system(), *turns(4), critic, *turns(2, start=4), question()]


def _trimmed_before() -> list[Row]:
    notes = [assistant(text) for text in EARLIER_PLACEHOLDERS]
    return [system(), user("Look after the lanterns."), *notes, *turns(8), question()]


CHAT_SHAPES = (
    MessageShape(name="long_chat_of_long_rows", build=lambda: [system(), *turns(20, 15), question()]),
    MessageShape(name="long_chat_of_short_rows", build=lambda: [*turns(200, 1), question()], max_tokens=500),
    MessageShape(
        name="long_chat_in_a_tight_budget", build=lambda: [system(), *turns(20, 2), question()], max_tokens=40
    ),
    MessageShape(
        name="developer_prompt_first",
        build=lambda: [{"role": "developer", "content": f"{RULE} answer in Welsh"}, *turns(8), question()],
        needles=(MARK, RULE),
    ),
    MessageShape(
        name="developer_prompt_midway",
        build=lambda: [system(), *turns(4), {"role": "developer", "content": RULE}, *turns(4, start=4), question()],
        needles=(MARK, RULE),
    ),
    MessageShape(
        name="system_rules_between_turns",
        build=_rules_between_turns,
        needles=(MARK, f"{RULE}1", f"{RULE}2", f"{RULE}3"),
    ),
    MessageShape(
        name="system_rule_between_two_long_rows",
        build=lambda: [system(), user(filler(40)), system(f"{RULE} be kind"), assistant(filler(40)), question()],
        needles=(MARK, RULE),
    ),
    MessageShape(
        name="two_system_rows_at_the_start",
        build=lambda: [system(f"{RULE}1"), system(f"{RULE}2"), *turns(8), question()],
        needles=(MARK, f"{RULE}1", f"{RULE}2"),
    ),
    MessageShape(
        name="system_rule_after_the_question",
        build=lambda: [system(), *turns(8), question(), system(f"{RULE} one word only")],
        needles=(MARK, RULE),
    ),
    MessageShape(name="blank_rows", build=_blank_rows),
    MessageShape(name="rows_without_content", build=_rows_without_content),
    MessageShape(name="empty_part_lists", build=_empty_part_lists),
    MessageShape(name="nothing_but_the_question", build=lambda: [question()], unchanged=True),
    MessageShape(name="short_chat_that_fits", build=lambda: [system(), *turns(4, 1), question()], unchanged=True),
    MessageShape(
        name="fits_to_the_token", build=lambda: [system(), *turns(6), question()], max_tokens=808, unchanged=True
    ),
    MessageShape(name="one_token_too_many", build=lambda: [system(), *turns(6), question()], max_tokens=807),
    MessageShape(
        name="one_assistant_row_and_no_question",
        build=lambda: [assistant(filler(30))],
        max_tokens=100,
        needles=(),
        infeasible=True,
    ),
    MessageShape(
        name="assistant_speaks_first",
        build=lambda: [system(), assistant(f"Good evening. {filler(4)}"), *turns(8), question()],
    ),
    MessageShape(
        name="question_asked_twice",
        build=lambda: [system(), question("again?"), assistant(filler(25)), question("again?")],
    ),
    MessageShape(
        name="several_user_rows_in_a_row",
        build=lambda: [system(), *turns(4), *(user(f"Also {n}. {filler(3)}") for n in range(5)), question()],
    ),
    MessageShape(
        name="several_assistant_rows_in_a_row",
        build=lambda: [system(), *turns(3), *(assistant(f"And {n}. {filler(3)}") for n in range(6)), question()],
    ),
    MessageShape(name="unknown_role", build=_unknown_role),
    MessageShape(name="named_speakers", build=_speakers),
    MessageShape(
        name="empty_question_last",
        build=lambda: [system(), *turns(8), question(), assistant("7"), user("")],
        needles=(),
    ),
    MessageShape(name="earlier_placeholders_in_a_row", build=_trimmed_before),
    MessageShape(
        name="huge_first_message",
        build=lambda: [user("scrap " * 200), assistant("Noted."), question("What do I owe you?")],
        max_tokens=60,
        needles=(MARK, "Noted."),
    ),
    MessageShape(
        name="huge_message_two_turns_back",
        build=lambda: [
            system(),
            *turns(2, 1),
            user(filler(300)),
            assistant("Read."),
            *turns(2, 1, start=4),
            question(),
        ],
    ),
)

OVERFLOW_SHAPES = (
    MessageShape(
        name="question_over_the_budget", build=lambda: [system(), user(f"{MARK} {filler(160)}")], infeasible=True
    ),
    MessageShape(
        name="question_over_a_tiny_budget",
        build=lambda: [system(), *turns(2), user(f"{MARK} {filler(4)}")],
        max_tokens=24,
        infeasible=True,
    ),
    MessageShape(
        name="question_over_the_budget_midway",
        build=lambda: [system(), user(f"{MARK} {filler(160)}"), assistant("One moment.")],
        infeasible=True,
    ),
    MessageShape(name="system_over_the_budget", build=lambda: [system(filler(160)), question()], infeasible=True),
    MessageShape(
        name="system_and_question_over_the_budget",
        build=lambda: [system(filler(160)), user(f"{MARK} {filler(160)}")],
        infeasible=True,
    ),
    MessageShape(
        name="system_rows_over_the_budget_together",
        build=lambda: [row for n in range(12) for row in (system(f"{RULE}{n} {filler(2)}"), user("ok"))] + [question()],
        infeasible=True,
    ),
    MessageShape(
        name="budget_of_one_token", build=lambda: [system(), *turns(2), question()], max_tokens=1, infeasible=True
    ),
)
