"""The replay of sessions, the memory of results, the verdict and the tables of histories, on items made up for it."""

from __future__ import annotations

import types
from pathlib import Path

import pytest
from history_evaluation import replay
from history_evaluation.outcomes import Cell, Outcome, Results
from history_evaluation.references import newest_groups, step_window, unlimited
from history_evaluation.requests import Request, total
from history_evaluation.sessions import Session, chat_session, tool_session
from history_evaluation.tables import report
from history_evaluation.verdict import demands
from result_memory import ResultMemory


def run_of(number):
    call = {"id": f"c{number}", "type": "function", "function": {"name": "light", "arguments": '{"lamp": "L7"}'}}
    return {
        "messages": [
            {"role": "system", "content": f"System {number}."},
            {"role": "user", "content": f"Light lamp L7, please, it is night {number}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "name": "light", "content": "It burns."},
            {"role": "assistant", "content": "Done."},
        ],
        "checkpoints": [{"at": 2, "values": [{"value": "L7"}]}],
    }


CHAT = {
    "messages": [
        {
            "id": f"m{i}",
            "role": "assistant" if i % 2 else "user",
            "content": f"Line {i} on lamps.",
            "name": "Ann" if i % 2 else "Ben",
        }
        for i in range(40)
    ],
    "questions": [{"evidence": ["m0"]}, {"evidence": ["m2", "m30"]}, {"evidence": ["gone"]}],
}


def test_runs_are_joined_under_one_system_message():
    session = tool_session([run_of(1), run_of(2)])

    assert [row["role"] for row in session.rows] == ["system", *("user", "assistant", "tool", "assistant") * 2]
    assert session.rows[0]["content"] == "System 1."
    assert session.requests == [2, 4, 6, 8]
    assert sorted(session.values) == [2, 6]


def test_questions_on_what_was_said_last_count():
    session = chat_session(CHAT)

    assert session.requests == list(range(1, 40, 2))
    assert session.questions == [[0], [2, 30]]
    assert session.asked(1, 4_000) == [[0]]
    assert session.asked(39, 4_000) == [[0], [2, 30]]
    assert Session(rows=[{"role": "user", "content": "lamp " * 1_500}] * 3, requests=[3], questions=[[0], [2]]).asked(
        3, 1_000
    ) == [[2]]


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        pytest.param("", "abc", 0, id="first request"),
        pytest.param("abc", "abcde", 3, id="grown"),
        pytest.param("abc", "bcd", 0, id="moved"),
        pytest.param("sabc", "sbcd", 1, id="moved behind a system message"),
        pytest.param("abc", "ab", 2, id="shorter"),
    ],
)
def test_whole_messages_repeat_the_start_of_the_request_before(before, now, same):
    rows = {letter: {"role": "user", "content": letter} for letter in "sabcde"}

    found = replay.repeated([dict(rows[letter]) for letter in before], [rows[letter] for letter in now])

    assert len(found) == same


@pytest.fixture
def sessions(monkeypatch):
    metrics = types.SimpleNamespace(
        value_survival=lambda item, text: (float(all(v["value"] in text for v in item["values"])), 0.0)
    )
    monkeypatch.setattr(replay, "load_data", lambda: metrics)
    found = {"tools_small": tool_session([run_of(i) for i in range(30)]), "chat": chat_session(CHAT)}
    monkeypatch.setattr(replay, "session_of", lambda name, number, window=0: found[name])
    return found


def test_a_replay_counts_what_is_sent_and_what_is_repeated(sessions):
    everything = replay.run("tools_small", 0, "3000", unlimited).figures
    rows = sessions["tools_small"].rows
    ends = sessions["tools_small"].requests

    assert everything["requests"] == 60
    assert everything["sent"] == sum(total(rows[:end]) for end in ends)
    assert everything["cached"] == sum(total(rows[:end]) for end in ends[:-1])
    assert everything["evidence"] == everything["probes"] == 30


def test_steps_repeat_more_than_sliding_and_lose_what_is_older(sessions):
    sliding, steps = (replay.run("tools_small", 0, "300", fit).figures for fit in (newest_groups, step_window))

    assert sliding["over"] == steps["over"] == sliding["pairs"] == steps["pairs"] == 0
    assert steps["sent"] < sliding["sent"]
    assert steps["cached"] / steps["sent"] > sliding["cached"] / sliding["sent"] + 0.2


def test_a_failure_sends_nothing_and_counts(sessions, capsys):
    def fails(request, budget):
        raise LookupError(len(request.rows))

    outcome = replay.run("chat", 0, "4000", fails)

    assert outcome.failed
    assert (outcome.figures["failed"], outcome.figures["sent"], outcome.figures["evidence"]) == (20, 0, 0)
    assert "LookupError" in capsys.readouterr().err


def test_evidence_of_a_chat_is_in_whole_messages(sessions):
    request = Request(rows=sessions["chat"].rows[:39])
    kept = newest_groups(request, 300)

    assert replay.evidence(sessions["chat"], request, 300, kept) == [0.0, 0.5]
    assert replay.evidence(sessions["chat"], request, 300, None) == [0.0, 0.0]


def outcomes(part_budgets, first, /, **figures):
    return [
        Outcome(number=number, budget=budget, figures={"over": 0.0, **figures, **first}, ms=2.0)
        for number in range(3)
        for budget in part_budgets
    ]


WINDOWS = ("1000", "2000", "4000", "8000")
SHARES = ("15%", "30%", "50%", "70%")


def conversation_results(**recalls):
    more = {"complete": 0.0, "tail": 1.0, "used": 0.99, "larger": 1.0}
    return Results(
        outcomes={
            Cell(candidate=name, set=of_set): outcomes(WINDOWS, {"recall": recall}, **more)
            for of_set in ("conv_locomo", "conv_qmsum")
            for name, recall in recalls.items()
        }
    )


def verdict_of(part, results):
    return {demand.wanted: demand.reached for demand in demands(part, results)}


@pytest.mark.parametrize(
    ("relevance", "embedding", "expected"),
    [(0.84, 0.88, [True, True, True]), (0.81, 0.83, [True, False, False]), (0.79, 0.9, [False, False, True])],
    ids=str,
)
def test_the_verdict_on_conversations(relevance, embedding, expected):
    found = verdict_of(
        "conversations",
        conversation_results(
            ours=0.8, ours_relevance=relevance, ours_relevance_embedding=embedding, recent_bm25=0.8, oracle=1.0
        ),
    )

    assert list(found.values())[:3] == expected
    assert found["`ours`: evidence recall at least that of recent_bm25 in every cell"]
    assert found["`ours`: the newest messages, a tenth of the budget, are kept whole"]
    assert found["`ours`: at most 25 ms of CPU for a question on a warm history (median)"]


def test_the_verdict_on_tool_runs():
    figures = {"value": 0.9, "complete": 0.0, "system": 1.0, "last": 1.0, "pairs": 0.0}

    def results(net, used, question):
        return Results(
            outcomes={
                Cell(candidate=name, set=of_set): outcomes(
                    SHARES, {"net": value}, used=used, question=question, **figures
                )
                for of_set in ("traj_tau_airline", "traj_bfcl_long")
                for name, value in (("ours", net), ("newest_groups", 0.95))
            }
        )

    assert list(verdict_of("trajectories", results(1.0, 0.95, 1.0)).values()) == [True] * 6
    assert list(verdict_of("trajectories", results(0.9, 0.8, 0.5)).values()) == [False, False, False, True, False, True]


@pytest.mark.parametrize(
    ("cached", "evidence", "expected"),
    [(90.0, 1.0, [True, True]), (75.0, 1.0, [False, False]), (90.0, 0.98, [True, False])],
    ids=str,
)
def test_the_verdict_on_a_stable_prefix(cached, evidence, expected):
    def figures(cached, evidence):
        fixed = {"requests": 10.0, "probes": 1.0, "pairs": 0.0, "failed": 0.0}
        return {"sent": 100.0, "cached": cached, "evidence": evidence, **fixed}

    found = {"ours_stable": figures(cached, evidence), "newest_groups": figures(30.0, 1.0)}
    cells = {Cell(candidate=n, set="tools_large"): outcomes(("64000",), f) for n, f in found.items()}
    # The candidate is there as soon as the core has the option.
    from history_evaluation import demand, verdict

    known = {name: types.SimpleNamespace(group="ours" if name == "ours_stable" else "reference") for name in found}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demand, "BY_NAME", known)
        patch.setattr(verdict, "BY_NAME", known)
        checked = [d for d in demands("replay", Results(outcomes=cells)) if "chats" not in d.wanted]

    assert [d.reached for d in checked[:2]] == expected
    assert checked[2].figures == "0 violations, 0 broken, 0 failures in 30 runs"


def test_the_tables_hold_the_figures():
    text = report("conversations", conversation_results(ours=0.8, ours_relevance=0.9, newest=0.1))

    assert "| ours_relevance | 0.90 0.00 1.00 |" in text
    assert "| newest | +80.0 [+80.0, +80.0] |" in text
    assert text.startswith("### Reached or not")


def test_the_replay_is_compared_with_sliding():
    def cell(name, cached):
        figures = {"sent": 100.0, "cached": cached, "requests": 4.0, "evidence": 1.0, "probes": 2.0}
        return Cell(candidate=name, set="tools_large"), outcomes(("64000",), figures, pairs=0.0, failed=0.0)

    text = report("replay", Results(outcomes=dict([cell("newest_groups", 50.0), cell("unlimited", 100.0)])))

    assert "### tools_large, window 64,000 (12 requests)" in text
    assert "| newest_groups | 0.500 | 1.000 | 5.500 | 1.000 | 0.500 | +0.000 | 0 | 0 | 0 | 2.0 |" in text


def test_what_failed_is_not_remembered(tmp_path):
    def memory():
        return ResultMemory(folder=tmp_path, place=lambda cell: Path(f"{cell}.jsonl"), read=lambda row: Outcome(**row))

    memory().add(
        "cell", [Outcome(number=1, budget="15%", figures={"net": 1.0}), Outcome(number=2, budget="15%", failed=True)]
    )

    assert memory().outcomes("cell") == {(1, "15%"): Outcome(number=1, budget="15%", figures={"net": 1.0})}
