"""Message shapes about pairing: which result answers which call, and what is left without a partner."""

from __future__ import annotations

from shape_rows import (
    MARK,
    RULE,
    MessageShape,
    Row,
    assistant,
    call,
    calling,
    filler,
    question,
    result,
    system,
    text_part,
    turns,
    user,
)


def _rounds(count: int, *, ids: str, sentences: int = 4) -> list[Row]:
    """Return `count` calls with one result each; `ids` is a template for the id of a round."""
    rows: list[Row] = []
    for number in range(count):
        call_id = ids.format(number)
        rows += [calling(call(call_id)), result(call_id, f"{number}: {filler(sentences)}")]
    return rows


def _one_id_for_every_round() -> list[Row]:
    rows = [system()]
    for number in range(5):
        rows += [user(f"Round {number}. {filler(6)}"), *_rounds(1, ids="call_1", sentences=16)]
    return [*rows, question()]


def _parallel_midway(texts: tuple[str | None, ...]) -> list[Row]:
    """Return a turn with a parallel call for each text; None leaves the call without its result."""
    ids = [f"p{number}" for number in range(len(texts))]
    answers = [result(call_id, text) for call_id, text in zip(ids, texts, strict=True) if text is not None]
    return [user(filler(10)), calling(*(call(call_id) for call_id in ids)), *answers, assistant("All seen.")]


def _thinking(text: str) -> Row:
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk" * 8}


def _thinking_rounds(count: int) -> list[Row]:
    rows: list[Row] = []
    for number in range(count):
        content = [_thinking(f"Step {number}: {filler(2)}"), text_part("I look.")]
        rows += [calling(call(f"t{number}"), text=content), result(f"t{number}", filler(5))]
    return rows


def _failed_rounds(count: int) -> list[Row]:
    rows = _rounds(count, ids="e{}")
    return [{**row, "status": "error"} if row["role"] == "tool" else row for row in rows]


LONG = filler(50)

TOOL_PAIR_SHAPES = (
    MessageShape(
        name="parallel_calls_midway",
        build=lambda: [system(), *_parallel_midway((LONG, LONG, filler(4))), question()],
    ),
    MessageShape(
        name="unread_results_last",
        build=lambda: [system(), question(), *_parallel_midway((filler(85), filler(85)))[1:-1]],
    ),
    MessageShape(name="pending_call_last", build=lambda: [system(), *turns(8), question(), calling(call("w"))]),
    MessageShape(
        name="parallel_calls_half_answered_last",
        build=lambda: [system(), *turns(6), question(), calling(call("h1"), call("h2")), result("h1", filler(20))],
    ),
    MessageShape(
        name="parallel_call_without_its_result",
        build=lambda: [system(), *_parallel_midway((filler(20), None, filler(4))), question()],
    ),
    MessageShape(
        name="call_never_answered_midway",
        build=lambda: [system(), *turns(2), calling(call("n"), text="I look."), *turns(6), question()],
    ),
    MessageShape(
        name="results_without_calls",
        build=lambda: [
            *(system(), user("Hello."), result("o1", filler(5)), assistant(filler(12)), result("o2", filler(1))),
            *(user(filler(9)), result("o3", "17"), question()),
        ],
    ),
    MessageShape(
        name="orphan_result_first_and_open_call_last_turn",
        build=lambda: [system(), result("zz", filler(30)), user(filler(20)), calling(call("q")), question()],
    ),
    MessageShape(
        name="orphan_result_last",
        build=lambda: [system(), *turns(8), question(), result("gone", filler(20))],
    ),
    MessageShape(name="one_id_for_every_round", build=_one_id_for_every_round),
    MessageShape(
        name="one_id_twice_in_a_parallel_call",
        build=lambda: [
            *(system(), *turns(4), user("Both."), calling(call("call_1"), call("call_1"))),
            *(
                result("call_1", "One. " + filler(12)),
                result("call_1", "Two. " + filler(12)),
                assistant("Both done."),
                question(),
            ),
        ],
    ),
    MessageShape(
        name="one_id_twice_unread_last",
        build=lambda: [
            *(system(), question(), calling(call("call_1"), call("call_1"))),
            *(result("call_1", "One. " + filler(40)), result("call_1", "Two. " + filler(40))),
        ],
    ),
    MessageShape(
        name="result_before_its_call",
        build=lambda: [system(), user(filler(8)), result("r", filler(8)), calling(call("r")), *turns(4), question()],
    ),
    MessageShape(
        name="user_row_inside_a_pair",
        build=lambda: [
            *(system(), user(filler(10)), calling(call("a")), user("Still there?"), result("a", filler(12))),
            *(assistant("Yes."), question()),
        ],
    ),
    MessageShape(
        name="system_rule_inside_a_pair",
        build=lambda: [
            *(system(), user(filler(10)), calling(call("a")), system(RULE), result("a", filler(12))),
            *(assistant("Yes."), question()),
        ],
        needles=(MARK, RULE),
    ),
    MessageShape(
        name="result_without_an_id",
        build=lambda: [
            *(system(), user(filler(10)), calling(call("a")), {"role": "tool", "content": filler(20)}),
            *(assistant("Seen."), question()),
        ],
    ),
    MessageShape(
        name="call_without_an_id",
        build=lambda: [
            *(system(), user(filler(10)), calling(call(None)), {"role": "tool", "content": filler(20)}),
            *(assistant("Seen."), question()),
        ],
    ),
    MessageShape(
        name="agent_run_of_sixty_calls",
        build=lambda: [system(), question("mend them all"), *_rounds(60, ids="c{}")],
        max_tokens=600,
    ),
    MessageShape(
        name="agent_run_with_one_id",
        build=lambda: [system(), question("mend them all"), *_rounds(30, ids="call_0")],
        max_tokens=600,
    ),
    MessageShape(
        name="agent_run_that_has_answered",
        build=lambda: [system(), question("mend them all"), *_rounds(20, ids="c{}"), assistant("All are mended.")],
    ),
    MessageShape(
        name="agent_run_before_a_second_question",
        build=lambda: [system(), user("Mend."), *_rounds(20, ids="c{}"), assistant("Mended."), question()],
    ),
    MessageShape(
        name="interim_and_final_result",
        build=lambda: [
            *(system(), user(filler(10)), calling(call("slow")), result("slow", "still working")),
            *(result("slow", filler(20)), assistant("Done."), question()),
        ],
    ),
    MessageShape(
        name="failed_calls", build=lambda: [system(), user("Try."), *_failed_rounds(10), assistant("No."), question()]
    ),
    MessageShape(
        name="text_beside_a_call",
        build=lambda: [system(), *turns(2), calling(call("x"), text=filler(9)), result("x", filler(9)), question()],
    ),
    MessageShape(
        name="signed_thinking_beside_calls",
        build=lambda: [system(), question("mend them all"), *_thinking_rounds(12)],
        max_tokens=400,
    ),
    MessageShape(
        name="signed_thinking_in_old_turns",
        build=lambda: [system(), user("Mend."), *_thinking_rounds(8), assistant("Mended."), *turns(2), question()],
    ),
)
