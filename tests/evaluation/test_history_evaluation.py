"""The requests, the references, the peers and the measures of conversations and tool runs, on items made up for it."""

from __future__ import annotations

import pytest
from history_evaluation import by_question, conversations, ours, peers, references, trajectories
from history_evaluation.candidates import BY_NAME, CANDIDATES
from history_evaluation.requests import (
    NOTE,
    Kept,
    Request,
    cost,
    groups,
    pairs_whole,
    total,
    visible_text,
    whole,
    whole_places,
)

from ctxopt_core import HistoryPolicy, Message, ToolCall, counter_for
from ctxopt_core.conversation.message_tokens import message_tokens


def call(number, city="Oslo"):
    function = {"name": "weather", "arguments": f'{{"city": "{city}"}}'}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def result(number, text):
    return {"role": "tool", "tool_call_id": f"call_{number}", "name": "weather", "content": text}


def user(text, **more):
    return {"role": "user", "content": text, **more}


def said(text):
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "Answer briefly."}
LONG = "Lanterns burn at the harbour. " * 60
AGENT = Request(
    rows=[
        SYSTEM,
        user("Which harbour has lanterns?"),
        call(1),
        result(1, LONG),
        said("Oslo has them."),
        user("And is it windy there?"),
        call(2, "Bergen"),
        result(2, "Wind of 7 knots."),
        call(3, "Tromsø"),
        result(3, "Wind of 9 knots. " * 40),
    ],
    tools=[{"type": "function", "function": {"name": "weather", "parameters": {}}}],
)
CHAT = Request(
    rows=[
        user("The blue kettle stands in the attic.", name="Ann"),
        said("Good to know."),
        *(user(f"Line {i} about gardens and paths." * 4) for i in range(20)),
        said("Bye."),
    ],
    question="Where is the blue kettle?",
    evidence=(0,),
)


@pytest.mark.parametrize(
    "row", [SYSTEM, user("Hello", name="Ann"), call(1), result(1, "Seven.")], ids=lambda r: r["role"]
)
def test_messages_are_counted_as_ours_counts_them(row):
    calls = [
        ToolCall(id=c["id"], name=c["function"]["name"], arguments=c["function"]["arguments"])
        for c in row.get("tool_calls", ())
    ]
    message = Message(
        role=row["role"],
        content=row["content"] or "",
        name=row.get("name"),
        tool_calls=tuple(calls),
        tool_call_id=row.get("tool_call_id"),
    )

    assert cost(row) == message_tokens(message, counter_for("o200k_base"))


def test_a_call_and_its_results_are_one_group():
    assert groups(AGENT.rows) == [[1], [2, 3], [4], [5], [6, 7], [8, 9]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([call(1), result(1, "a")], True, id="pair"),
        pytest.param([call(1), result(1, "a"), call(1), result(1, "b")], True, id="an id twice"),
        pytest.param([result(1, "a")], False, id="result alone"),
        pytest.param([call(1)], False, id="call alone"),
        pytest.param([call(1), user("?"), result(1, "a")], False, id="something between"),
    ],
)
def test_broken_pairs_are_seen(rows, expected):
    assert pairs_whole(rows) is expected


@pytest.mark.parametrize(
    ("name", "expected"), [("traj_tau_airline", lambda task, rest: (task + rest) // 2), ("traj_long_task", None)]
)
def test_l23_a_long_task_comes_on_top_of_the_share_of_the_rest(name, expected):
    request = Request(rows=[SYSTEM, user("Do it. " * 200), call(1), result(1, "Seven. " * 50)])
    task = cost(request.rows[1])
    rest = sum(map(cost, request.rows[2:]))

    room = trajectories.room_of(name, request, "50%")

    assert room == (task + rest // 2 if expected is None else expected(task, rest))


def test_a_model_reads_names_and_arguments_of_calls():
    assert 'weather {"city": "Bergen"}' in visible_text(AGENT.rows)


def test_a_shortened_message_is_not_whole():
    cut = {**AGENT.rows[3], "content": "Lanterns"}

    assert whole_places(AGENT, Kept(rows=[(1, AGENT.rows[1]), (3, cut), (NOTE, said("[1 omitted]"))])) == [1]


RUN_REFERENCES = [references.newest_groups, references.newest_toolcut, references.step_window]


@pytest.mark.parametrize("fit", RUN_REFERENCES, ids=lambda fit: fit.__name__)
@pytest.mark.parametrize("budget", [60, 150, 400, 1_000])
def test_references_keep_budget_and_pairs(fit, budget):
    kept = fit(AGENT, budget)

    assert kept.counted <= budget
    assert pairs_whole(row for _, row in kept.rows)
    assert kept.rows[0] == (0, SYSTEM)
    assert (5, AGENT.rows[5]) in kept.rows


def test_results_are_cut_to_head_and_tail():
    short = references.cut_result(result(1, "first " + LONG + "last"))

    assert short["content"].startswith("first Lanterns")
    assert short["content"].endswith("last")
    assert cost(short) < 130
    assert references.cut_result(AGENT.rows[7]) is not LONG
    assert references.cut_result(AGENT.rows[7])["content"] == "Wind of 7 knots."


def test_the_step_window_moves_seldom():
    rows = [row for i in range(40) for row in (user(f"Question {i} on lanterns?"), said(f"Answer {i} on harbours."))]
    starts = [references.step_window(Request(rows=rows[:end]), 200).rows[0][0] for end in range(2, len(rows), 2)]

    assert starts == sorted(starts)
    assert 3 <= len(set(starts)) <= len(starts) / 3


BY_QUESTION = [
    references.newest,
    by_question.bm25_messages,
    by_question.bm25_neighbors,
    by_question.recent_bm25,
    by_question.oracle,
]


@pytest.mark.parametrize("fit", BY_QUESTION, ids=lambda fit: fit.__name__)
@pytest.mark.parametrize("budget", [5, 60, 200, 10_000])
def test_what_is_chosen_by_the_question_keeps_the_budget(fit, budget):
    kept = fit(CHAT, budget)

    assert kept.counted <= budget
    assert [place for place, _ in kept.rows] == sorted({place for place, _ in kept.rows})
    if budget == 200 and fit is not references.newest:
        assert whole_places(CHAT, kept)[0] == 0
    if budget == 200 and fit is by_question.bm25_neighbors:
        assert 1 in whole_places(CHAT, kept)


@pytest.mark.parametrize(
    ("kept", "figures"),
    [
        pytest.param(None, (0, 0, 0, 0), id="failed"),
        pytest.param(whole(CHAT, [0, 22]), (1, 1, 1, 0), id="gold and newest"),
        pytest.param(whole(CHAT, [22]), (0, 0, 1, 0), id="newest"),
        pytest.param(Kept(rows=[(0, user("The blue kettle"))]), (0, 0, 0, 0), id="shortened"),
        pytest.param(whole(CHAT, range(23)), (1, 1, 1, 1), id="over"),
    ],
)
def test_what_is_measured_of_a_conversation(kept, figures):
    found = conversations.measure(CHAT, 100, kept)

    assert tuple(found[name] for name in ("recall", "complete", "tail", "over")) == figures
    assert found["larger"] == 1


@pytest.mark.parametrize(
    ("places", "room", "figures"),
    [
        pytest.param(range(10), 10_000, (0.5, 1, 1, 1, 0, 0), id="everything"),
        pytest.param([0, 5, 8, 9], 10_000, (0.5, 1, 1, 1, 0, 0), id="newest"),
        pytest.param([0, 8, 9], 10_000, (0.0, 0, 1, 1, 0, 0), id="no question"),
        pytest.param([0, 5, 9], 10_000, (0.0, 1, 1, 1, 0, 1), id="no call"),
        pytest.param([5, 8, 9], 10_000, (0.5, 1, 0, 1, 0, 0), id="no system message"),
        pytest.param([0, 5], 5, (0.0, 1, 1, 0, 1, 0), id="over"),
    ],
)
def test_what_is_measured_of_a_tool_run(places, room, figures):
    found = trajectories.measure(AGENT, room, whole(AGENT, places), (0.5, 0.0))

    assert tuple(found[name] for name in ("net", "question", "system", "last", "over", "pairs")) == figures
    assert found["value"] == 0.5


def test_ours_gets_the_whole_budget_and_keeps_it():
    for fit in (ours.ours()(), ours.ours(strategy="turns")()):
        for budget in (150, 300, 600, 10_000):
            kept = fit(AGENT, budget)
            assert kept.counted <= budget
            assert pairs_whole(row for _, row in kept.rows)
        assert whole_places(AGENT, kept) == list(range(10))
        assert fit(CHAT, total(CHAT.rows)).rows == whole(CHAT, range(23)).rows


def test_ours_cannot_touch_the_system_messages_that_stand_beside_it():
    kept = ours.ours_beside_system()()(AGENT, 150)

    assert kept.counted <= 150
    assert kept.rows[0] == (0, SYSTEM)
    assert 5 in whole_places(AGENT, kept)


def test_notes_of_ours_are_told_from_messages():
    kept = ours.fit_with(HistoryPolicy(strategy="turns"), CHAT, 150)

    assert any(place == NOTE for place, _ in kept.rows)
    assert all(place == NOTE or row == CHAT.rows[place] for place, row in kept.rows)


def test_peers_are_called_with_the_budget_and_give_back_messages():
    pytest.importorskip("langchain_core")
    kept = peers.trim_messages("human")(AGENT, 400)

    assert kept.counted <= 400
    assert [place for place, _ in kept.rows] == [0, 5, 6, 7, 8, 9]


def test_old_results_are_cleared_until_it_fits():
    pytest.importorskip("langchain.agents")

    cleared = peers.clear_tool_uses(AGENT, 300)
    fitted = peers.clear_then_newest(AGENT, 300)

    assert visible_text(row for _, row in cleared.rows).count("[cleared]") == 0
    assert fitted.counted <= 300
    assert dict(fitted.rows)[3]["content"] == "[cleared]"
    assert AGENT.rows[3]["content"] == LONG


def test_ours_is_in_the_table_with_every_strategy():
    assert {f"ours_{name}" for name in ours.strategies() if name != "summarize"} <= set(BY_NAME)
    assert len(BY_NAME) == len(CANDIDATES)


def test_what_is_not_installed_is_told():
    candidate = BY_NAME["ctx_compact"]

    assert candidate.problem() in {"", "ctx_compact not installed"}
    assert BY_NAME["newest_groups"].problem() == ""
