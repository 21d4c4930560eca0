"""Message shapes about the size and form of arguments, results and tool schemas."""

from __future__ import annotations

from typing import Any

from shape_rows import (
    SCRIPTS,
    SPECIAL,
    MessageShape,
    Row,
    assistant,
    call,
    calling,
    filler,
    json_text,
    question,
    result,
    system,
    turns,
    user,
)


def _after_a_pair(*pair: Row) -> list[Row]:
    return [system(), user(filler(10)), *pair, assistant("Written."), question()]


def _unread(text: Any, name: str = "inspect") -> list[Row]:
    return [system(), question("run it"), calling(call("u", name)), result("u", text)]


def _hundred_parallel_calls() -> list[Row]:
    ids = [f"c{number}" for number in range(100)]
    answers = [result(call_id, f"{call_id}: {filler(4)}") for call_id in ids]
    return [system(), question("collect all"), calling(*(call(call_id) for call_id in ids)), *answers]


def _listing() -> str:
    return "\n".join(f"/attic/shelf-{number:06}/lantern.txt" for number in range(20_000))


def _records() -> str:
    return json_text([{"lantern": number, "state": "lit", "keeper": "Orla"} for number in range(1_000)])


def _huge_arguments(call_id: str, sentences: int) -> Row:
    return call(call_id, "engrave", json_text({"path": "plate.txt", "text": filler(sentences)}))


def _legacy(arguments: Any) -> Row:
    return {"role": "assistant", "content": None, "function_call": {"name": "inspect", "arguments": arguments}}


def _legacy_result(text: str) -> Row:
    return {"role": "function", "name": "inspect", "content": text}


def _schemas(count: int, description: str) -> list[Row]:
    parameters = {"type": "object", "properties": {"lantern": {"type": "integer", "description": "its number"}}}
    return [
        {"type": "function", "function": {"name": f"tool_{n}", "description": description, "parameters": parameters}}
        for n in range(count)
    ]


TOOL_PAYLOAD_SHAPES = (
    MessageShape(name="hundred_parallel_calls", build=_hundred_parallel_calls, max_tokens=4000),
    MessageShape(
        name="hundred_parallel_calls_midway",
        build=lambda: [*_hundred_parallel_calls(), assistant("Collected."), question("and now?")],
        max_tokens=1000,
    ),
    MessageShape(name="result_of_a_huge_listing", build=lambda: _unread(_listing()), max_tokens=2000),
    MessageShape(name="result_of_a_thousand_records", build=lambda: _unread(_records()), max_tokens=500),
    MessageShape(name="result_of_counting_lines", build=lambda: _unread("7\n" * 30_000), max_tokens=500),
    MessageShape(
        name="result_without_text",
        build=lambda: [*_after_a_pair(calling(call("v")), result("v", ""))[:-1], *turns(6), question()],
    ),
    MessageShape(
        name="empty_result_last", build=lambda: [system(), *turns(8), question(), calling(call("v")), result("v", "")]
    ),
    MessageShape(
        name="call_with_huge_arguments",
        build=lambda: _after_a_pair(calling(_huge_arguments("a", 100)), result("a", "ok")),
    ),
    MessageShape(
        name="parallel_calls_with_huge_arguments",
        build=lambda: _after_a_pair(
            calling(_huge_arguments("a", 50), _huge_arguments("b", 50)), result("a", "ok"), result("b", "ok")
        ),
        max_tokens=600,
    ),
    MessageShape(
        name="arguments_none_or_an_object",
        build=lambda: _after_a_pair(
            calling(call("a", arguments=None), call("b", arguments={"text": filler(8)})),
            *(result("a", filler(6)), result("b", filler(6))),
        ),
    ),
    MessageShape(
        name="arguments_that_are_not_json",
        build=lambda: _after_a_pair(calling(call("a", arguments='{"text": "' + filler(30))), result("a", "bad call")),
    ),
    MessageShape(
        name="arguments_that_are_not_an_object",
        build=lambda: _after_a_pair(calling(call("a", arguments=json_text([filler(30), 7, None]))), result("a", "ok")),
    ),
    MessageShape(
        name="arguments_in_chinese",
        build=lambda: _after_a_pair(
            calling(call("a", arguments=json_text({"文": SCRIPTS["chinese"] * 40}))), result("a", "好")
        ),
    ),
    MessageShape(
        name="legacy_function_pair",
        build=lambda: _after_a_pair(_legacy(json_text({"text": filler(12)})), _legacy_result(filler(12))),
    ),
    MessageShape(
        name="legacy_function_arguments_object",
        build=lambda: _after_a_pair(_legacy({"text": filler(12)}), _legacy_result(filler(12))),
    ),
    MessageShape(
        name="legacy_function_pending_last",
        build=lambda: [system(), *turns(8), question(), _legacy('{"lantern": 7}')],
    ),
    MessageShape(
        name="legacy_function_result_without_a_call",
        build=lambda: [system(), user(filler(10)), _legacy_result(filler(12)), *turns(4), question()],
    ),
    MessageShape(
        name="special_tokens_in_names_and_ids",
        build=lambda: _after_a_pair(
            calling(call(f"id-{SPECIAL}", SPECIAL, json_text({SPECIAL: SPECIAL}))),
            result(f"id-{SPECIAL}", f"{SPECIAL} {filler(20)}"),
        ),
    ),
    MessageShape(
        name="schemas_near_the_budget",
        build=lambda: [system(), *turns(10), question()],
        build_tools=lambda: _schemas(20, "Look at one lantern of the bridge. " * 6),
        max_tokens=1800,
    ),
    MessageShape(
        name="schemas_in_chinese",
        build=lambda: [system(), *turns(10), question()],
        build_tools=lambda: _schemas(10, SCRIPTS["chinese"] * 3),
        max_tokens=1200,
    ),
    MessageShape(
        name="schemas_over_the_budget",
        build=lambda: [system(), *turns(2), question()],
        build_tools=lambda: _schemas(20, "Look at one lantern of the bridge. " * 6),
        max_tokens=400,
        infeasible=True,
    ),
    MessageShape(
        name="schemas_of_a_chat_that_fits",
        build=lambda: [system(), *turns(2, 1), question()],
        build_tools=lambda: _schemas(2, "Look at one lantern."),
        unchanged=True,
    ),
)
