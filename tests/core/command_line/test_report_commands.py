"""`explain` says why each part is kept or dropped."""

from __future__ import annotations

import json

import pytest

from command_runs import SENTENCE, chat, run, stored

SECRET = "Zanzibar"
REQUEST = {
    **chat(12, words=3),
    "documents": [{"id": f"d{i}", "text": f"Lamp {i} {SECRET}. {SENTENCE * i}", "score": i / 10} for i in range(9)],
}


@pytest.fixture
def request_file(tmp_path):
    return stored(tmp_path / "request.json", REQUEST)


def explained(path, *options):
    done = run("explain", path, "--format", "json", *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("limit", [80, 200, 500, 1_000, 9_000])
@pytest.mark.parametrize("strategy", ["auto", "turns", "sliding_window", "relevance"])
def test_m2_every_document_and_message_is_in_exactly_one_part(request_file, limit, strategy):
    parts = explained(request_file, "--target-tokens", limit, "--strategy", strategy)["parts"]

    documents = [part["start"] for part in parts if part["kind"] == "document"]
    assert documents == list(range(9))
    messages = [i for part in parts if part["kind"] != "document" for i in range(part["start"], part["stop"])]
    assert messages == list(range(len(REQUEST["messages"])))
    assert all(part["why"] for part in parts)
    assert all(part["after"] <= part["before"] for part in parts if part["outcome"] != "kept")
    assert all((part["after"] == 0) == (part["outcome"] == "dropped") for part in parts if part["before"])


def test_what_is_kept_of_the_parts_is_what_the_report_says(request_file):
    options = ("--target-tokens", 500, "--selection", "score")
    parts = explained(request_file, *options)["parts"]
    report = json.loads(run("plan", request_file, *options, "--format", "json").stdout)

    states = [part["outcome"] for part in parts if part["kind"] == "document"]
    assert states == [row["state"] for row in report["documents"]]
    assert report["history"]["dropped"] == sum(
        part["stop"] - part["start"] for part in parts if part["outcome"] == "dropped" and part["kind"] == "turn"
    )


@pytest.mark.parametrize(
    ("documents", "options", "name", "outcome", "why"),
    [
        pytest.param(["a", "b"], ["--target-tokens", "900"], "0", "kept", "the whole request fits", id="it fits"),
        pytest.param(["", SENTENCE * 20], [], "0", "dropped", "it holds no text", id="blank"),
        pytest.param([SENTENCE * 20, SENTENCE * 20], [], "1", "dropped", "is said by one that is kept", id="twice"),
        pytest.param(
            [{"id": "x", "text": "Otters " * 90, "score": 9}, {"text": "A lamp.", "score": 1}],
            ["--selection", "optimal"],
            "x",
            "dropped",
            "do not fit in what better ones leave",
            id="too big",
        ),
        pytest.param([SENTENCE * 20], ["--shares", "10,40,0,50"], "0", "dropped", "may take no tokens", id="no share"),
    ],
)
def test_a_document_has_its_reason(tmp_path, documents, options, name, outcome, why):
    path = stored(tmp_path / "r.json", {"documents": documents, "query": "How long does the lamp burn?"})
    found = explained(path, "--target-tokens", 60, *options)["parts"]
    parts = {part["name"]: part for part in found if part["kind"] == "document"}
    assert parts[name]["outcome"] == outcome
    assert why in parts[name]["why"]


@pytest.mark.parametrize(
    ("strategy", "kept", "dropped"),
    [
        ("turns", "among the newest that fit in the", "newer ones take the"),
        ("relevance", "what says most about the question", "what says more about the question"),
        ("sliding_window", "among the newest messages", "newer messages take the window"),
    ],
)
def test_a_turn_has_the_reason_of_its_strategy(tmp_path, strategy, kept, dropped):
    path = stored(tmp_path / "r.json", chat(30, words=2))
    parts = [
        part
        for part in explained(path, "--target-tokens", 400, "--strategy", strategy)["parts"]
        if part["kind"] == "turn"
    ]
    assert [part["name"] for part in parts] == [str(number) for number in range(1, 32)]
    assert kept in parts[-2]["why"]
    assert dropped in parts[5]["why"]
    assert parts[-1]["why"] == "the question, and what follows it, is always sent"


def test_a_result_without_its_call_says_so(tmp_path):
    rows = chat(1)["messages"]
    rows.insert(1, {"role": "tool", "tool_call_id": "gone", "content": SENTENCE * 20})
    found = explained(stored(tmp_path / "r.json", rows), "--target-tokens", 100, "-m", "gpt-4o")["parts"][1]
    assert (found["start"], found["stop"], found["outcome"]) == (1, 2, "dropped")
    assert found["why"] == "a call without its result, or a result without its call"


def test_own_system_prompt_and_query_are_explained(tmp_path):
    content = {"system": SENTENCE * 9, "query": "How long? " * 20, "documents": [SENTENCE * 9]}
    parts = explained(stored(tmp_path / "r.json", content), "--target-tokens", 80)["parts"]
    assert parts[0]["outcome"] == "partial"
    assert [part["kind"] for part in parts] == ["system", "document", "query"]


@pytest.mark.parametrize("form", ["table", "json", "html"])
@pytest.mark.parametrize("limit", [200, 9_000])
def test_m3_content_is_shown_only_where_it_is_asked_for(request_file, form, limit):
    options = ("--target-tokens", limit, "--format", form)
    assert SECRET not in run("explain", request_file, *options).stdout
    assert SECRET in run("explain", request_file, *options, "--show-content").stdout
    assert SECRET not in run("plan", request_file, *options).stdout


def test_a_table_has_a_line_for_each_part(request_file):
    lines = run("explain", request_file, "--target-tokens", 300).stdout.splitlines()
    assert lines[0].endswith("tokens, at most 300")
    assert sum(line.startswith("document d") for line in lines) == 9
    assert sum(line.startswith("turn ") for line in lines) == 13
