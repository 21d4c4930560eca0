"""`--resume` goes on with the options and the file of the run before, or not at all."""

from __future__ import annotations

import json

import pytest

from command_runs import chat, lines_in, run, stored_lines
from ctxopt_core.command_line.request_input import Line
from ctxopt_core.command_line.run_record import MOST_LINES, RunRecord

VALUES = [chat(9, seed=number) for number in range(6)]
LIMIT = ("--target-tokens", 200)


@pytest.fixture
def begun(tmp_path):
    """A file of six requests, the last of which is still to be done."""
    path = stored_lines(tmp_path / "in.jsonl", VALUES[:5])
    run("fit", path, *LIMIT, "--protect", "query", "--protect", "system", "--out", tmp_path / "out.jsonl")
    return stored_lines(path, VALUES)


def resumed(path, *options):
    return run("fit", path, "--out", path.parent / "out.jsonl", "--resume", *options)


@pytest.mark.parametrize("first", ["query", "system"])
def test_a_file_that_has_grown_is_gone_on_with(begun, first):
    second = {"query": "system", "system": "query"}[first]
    done = resumed(begun, *LIMIT, "--protect", first, "--protect", second)
    assert done.exit_code == 0
    assert "5 done before; 1 requests" in done.stderr
    assert [json.loads(line)["seed"] for line in lines_in(begun.parent / "out.jsonl")] == list(range(6))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param([*LIMIT], "--protect is not as then", id="nothing is protected"),
        pytest.param(["--target-tokens", 300], "--protect and --target-tokens are not as then", id="another limit"),
        pytest.param([*LIMIT, "-m", "gpt-4"], "--model and --protect are not", id="another model"),
        pytest.param([*LIMIT, "--strategy", "turns"], "--protect and --strategy are", id="another strategy"),
        pytest.param([*LIMIT, "--shares", "25,25,25,25"], "--protect and --shares are", id="other shares"),
        pytest.param([*LIMIT, "--tokenizer", "cl100k_base"], "--protect and --tokenizer", id="another tokenizer"),
        pytest.param([*LIMIT, "--report", "reports.jsonl"], "--protect and --report", id="reports"),
    ],
)
def test_other_options_are_refused(begun, monkeypatch, options, named):
    monkeypatch.chdir(begun.parent)
    before = lines_in(begun.parent / "out.jsonl")
    done = resumed(begun, *options)
    assert done.exit_code == 1
    assert f"--resume needs the options of the run before, but {named}" in done.stderr
    assert "leave out --resume to begin anew" in done.stderr
    assert lines_in(begun.parent / "out.jsonl") == before


OTHER_FILES = {
    "other lines": [chat(9, seed=number) for number in range(10, 16)],
    "another third line": [*VALUES[:2], chat(2, seed=9), *VALUES[3:]],
}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        pytest.param(OTHER_FILES["other lines"], "line 1 is not the one that was fitted then", id="other lines"),
        pytest.param(OTHER_FILES["another third line"], "line 3 is not the one", id="another third line"),
        pytest.param(VALUES[:3], "there are 5 results already, and only 3 requests", id="fewer lines"),
    ],
)
def test_another_file_is_refused(begun, values, said):
    before = lines_in(begun.parent / "out.jsonl")
    done = resumed(stored_lines(begun, values), *LIMIT, "--protect", "query", "--protect", "system")
    assert done.exit_code == 1
    assert said in done.stderr
    assert lines_in(begun.parent / "out.jsonl") == before


@pytest.mark.parametrize(
    ("record", "said"),
    [
        pytest.param(None, "is not there", id="no record"),
        pytest.param(b"", "cannot be read", id="an empty one"),
        pytest.param(b"[]\n", "cannot be read", id="a list"),
        pytest.param(b"\xff\xfe\n", "cannot be read", id="bytes"),
    ],
)
def test_results_of_which_nothing_is_known_are_not_gone_on_with(begun, record, said):
    path = begun.parent / "out.jsonl.run"
    path.unlink()
    if record is not None:
        path.write_bytes(record)
    done = resumed(begun, *LIMIT)
    assert done.exit_code == 1
    assert f"out.jsonl.run {said}, which is the record of the results so far" in done.stderr


@pytest.mark.parametrize("written", ["one line\nhalf a line", "half a line", "one\ntwo\nthree\n"])
def test_files_that_are_named_by_mistake_stay_as_they_are(begun, written):
    named = [begun.parent / name for name in ("notes.txt", "reports.txt", "rejected.txt")]
    for path in named:
        path.write_text(written, "utf-8")
    out, reports, rejected = named
    options = ("--out", out, "--report", reports, "--rejected", rejected)

    done = run("fit", begun, *LIMIT, "--resume", *options)

    assert done.exit_code == 1
    assert "notes.txt.run is not there" in done.stderr
    assert {path.read_text("utf-8") for path in named} == {written}


@pytest.mark.parametrize("option", ["--rejected", "--report"])
def test_results_in_other_files_are_refused(tmp_path, option):
    path = stored_lines(tmp_path / "in.jsonl", [VALUES[0], b"{broken", VALUES[1]])
    out = ("--out", tmp_path / "out.jsonl")
    run("fit", path, *LIMIT, *out, option, tmp_path / "first.txt")
    before = (tmp_path / "out.jsonl").read_bytes()

    done = run("fit", path, *LIMIT, *out, option, tmp_path / "second.txt", "--resume")

    assert done.exit_code == 1
    assert f"but {option} is not as then" in done.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert not (tmp_path / "second.txt").exists()


def test_the_record_holds_digests_and_no_content(begun):
    text = (begun.parent / "out.jsonl.run").read_text("utf-8")
    assert text.count("\n") == 6
    assert "lamp" not in text.lower()
    assert "gpt" not in text


def test_results_that_go_elsewhere_have_no_record(begun, monkeypatch):
    monkeypatch.chdir(begun.parent)
    for arguments in ((), ("--out", "/dev/null")):
        assert run("fit", begun, *LIMIT, "-q", *arguments).exit_code == 0
    assert sorted(path.name for path in begun.parent.iterdir()) == ["in.jsonl", "out.jsonl", "out.jsonl.run"]


def test_the_first_lines_alone_are_recorded(tmp_path):
    lines = [Line(number=number, content=b"%d" % number, size=9) for number in range(1, MOST_LINES + 6)]
    record = RunRecord(tmp_path / "run", {"target_tokens": 5})
    record.begin()
    for line in lines:
        record.note(line)
    assert len(lines_in(tmp_path / "run")) == 1 + MOST_LINES

    again = RunRecord(tmp_path / "run", {"target_tokens": 5})
    again.resume(len(lines))
    for line in (*lines[:MOST_LINES], Line(number=101, content=b"other", size=6)):
        again.check(line)
    again.note(lines[-1])
    assert len(lines_in(tmp_path / "run")) == 1 + MOST_LINES
