"""`fit`, `plan` and `explain` on one request: what comes out where, and how the command ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from command_runs import SENTENCE, chat, run, stored

DOCUMENTS = {
    "documents": [{"id": f"d{i}", "text": f"Lamp {i}. {SENTENCE * 6}", "score": i / 10} for i in range(9)],
    "query": "How long does lamp 3 burn?",
    "messages": chat(6, words=3)["messages"],
    "model": "gpt-4o",
}


@pytest.fixture
def request_file(tmp_path):
    return stored(tmp_path / "request.json", chat(30))


@pytest.fixture
def rich_file(tmp_path):
    return stored(tmp_path / "rich.json", DOCUMENTS)


def test_the_request_goes_to_the_standard_output_and_the_report_to_the_other_stream(request_file):
    done = run("fit", request_file, "--target-tokens", 200)
    assert done.exit_code == 0
    assert len(json.loads(done.stdout)["messages"]) < 62
    assert "input budget      200" in done.stderr


def test_a_request_that_fits_comes_out_byte_for_byte(tmp_path):
    path = tmp_path / "odd.json"
    path.write_bytes(b'\xef\xbb\xbf{ "messages":[\r\n{"content":"hi \\u00e9", "role":"user"}] }\r\n')
    assert run("fit", path, "-m", "gpt-4", "-q").stdout_bytes == path.read_bytes()[3:]


def test_files_are_written_in_place_of_the_streams(request_file, tmp_path):
    out = tmp_path / "out.json"
    done = run("fit", request_file, "--target-tokens", 200, "--out", out, "--report", tmp_path / "report.json")
    assert (done.exit_code, done.output) == (0, "")
    assert len(json.loads(out.read_bytes())["messages"]) < 62
    assert json.loads((tmp_path / "report.json").read_bytes())["within_budget"] is True


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        pytest.param("report.html", b"<!DOCTYPE html>", id="a page"),
        pytest.param("report.txt", b"The request ", id="a text"),
        pytest.param("report", b"{", id="JSON"),
    ],
)
def test_the_name_of_the_report_says_what_it_is(request_file, tmp_path, name, begins):
    run("fit", request_file, "--target-tokens", 200, "--report", tmp_path / name)
    assert (tmp_path / name).read_bytes().lower().startswith(begins.lower())


def test_the_standard_input_is_read():
    done = run("fit", "-", "--target-tokens", 200, "--quiet", given=json.dumps(chat(30)))
    assert len(json.loads(done.stdout)["messages"]) < 62
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("options", "budget"),
    [
        pytest.param([], 128_000 - 4_096, id="the model that the request names"),
        pytest.param(["-m", "gpt-4"], 7_168, id="another model"),
        pytest.param(["--context-window", "1000"], 875, id="a window"),
        pytest.param(["--context-window", "1000", "--output-reserve", "100"], 900, id="a reserve"),
        pytest.param(["--context-window", "1000", "--safety-margin", "75"], 800, id="a margin"),
        pytest.param(["--max-input-tokens", "700"], 700, id="an input limit"),
        pytest.param(["--target-tokens", "300"], 300, id="a target"),
    ],
)
def test_limits_are_taken_from_the_options_and_the_request(request_file, options, budget):
    assert json.loads(run("plan", request_file, "--format", "json", *options).stdout)["input_budget"] == budget


def test_the_answer_that_the_request_asks_for_is_kept_free(tmp_path):
    path = stored(tmp_path / "r.json", chat(1, max_tokens=500))
    assert json.loads(run("plan", path, "--format", "json").stdout)["reserve"] == 500
    bare = stored(tmp_path / "b.json", {"messages": chat(1)["messages"], "max_tokens": 100})
    assert json.loads(run("plan", bare, "--context-window", 1_000, "--format", "json").stdout)["reserve"] == 100


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        pytest.param(["--strategy", "turns"], "strategy", "turns", id="strategy"),
        pytest.param(["--strategy", "sliding_window"], "strategy", "sliding_window", id="sliding window"),
        pytest.param(["--selection", "optimal"], "selection", "optimal", id="selection"),
        pytest.param(["--tokenizer", "cl100k_base"], "encoding", "cl100k_base", id="tokenizer"),
    ],
)
def test_options_say_how_it_is_cut(rich_file, options, key, value):
    done = run("plan", rich_file, "--target-tokens", 400, "--format", "json", *options)
    assert json.loads(done.stdout)[key] == value


def test_shares_and_protection_are_kept(rich_file):
    done = run(
        "plan", rich_file, "--target-tokens", 400, "--shares", "10,15,0,75", "--protect", "query", "--format", "json"
    )
    report = json.loads(done.stdout)
    assert report["components"]["documents"]["after"] == 0
    assert report["components"]["query"]["after"] == report["components"]["query"]["before"]


def test_the_task_is_what_is_ranked_by(tmp_path):
    texts = [f"{animal} live here. {SENTENCE * 8}" for animal in ("Otters", "Herons", "Badgers")]
    path = stored(tmp_path / "r.json", {"documents": texts, "query": "Go on."})
    for number, animal in enumerate(("otters", "herons", "badgers")):
        done = run(
            "fit",
            path,
            "--target-tokens",
            150,
            "--ranking-query",
            f"Where do {animal} live?",
            "--selection",
            "score",
            "-q",
        )
        assert json.loads(done.stdout)["documents"][0] == texts[number]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["--target-tokens", "3"], 4, "what may not be cut needs", id="does not fit"),
        pytest.param(
            ["--target-tokens", "20", "--protect", "system", "--protect", "query"], 4, "needs", id="protected"
        ),
        pytest.param(["-m", "no-such", "--on-unknown-model", "error"], 1, "not known", id="unknown model"),
        pytest.param(["--context-window", "10", "--output-reserve", "10"], 1, "nothing is left", id="no input"),
        pytest.param(["--tokenizer", "no/such.json"], 2, "no/such.json", id="no such tokenizer"),
        pytest.param(["--line", "9"], 1, "no request on line 9", id="no such line"),
        pytest.param(["--shares", "1,2"], 2, "four percentages", id="two shares"),
        pytest.param(["--shares", "a,b,c,d"], 2, "four percentages", id="shares in words"),
        pytest.param(["--shares", "10,15,50,250"], 2, "from 0 to 100", id="a share above 100"),
        pytest.param(["--strategy", "summarize"], 2, "--strategy", id="a strategy that asks a model"),
        pytest.param(["--target-tokens", "0"], 2, "--target-tokens", id="a limit of 0"),
        pytest.param(["--resume"], 2, "--jsonl", id="resuming one request"),
        pytest.param(["--rejected", "x"], 2, "--jsonl", id="rejected lines of one request"),
        pytest.param(["--out", "no/such/folder.json"], 1, "No such file", id="nowhere to write to"),
        pytest.param(["--out", "x", "--report", "./x"], 2, "another file", id="one file for result and report"),
    ],
)
def test_exit_codes(request_file, arguments, code, said):
    done = run("fit", request_file, *arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"", "there is nothing to be read", id="nothing"),
        pytest.param(b"[]", "the list is empty; a request is a list of messages", id="an empty list"),
        pytest.param(b"hello", "not JSON", id="a text"),
        pytest.param(b'{"a": 1}', "a request is a list of messages", id="other JSON"),
        pytest.param(b"\xff\xfe{}", "not UTF-8: byte 0xff at position 0", id="not UTF-8"),
        pytest.param(b"[" * 200_000, "nested too deeply", id="deep"),
        pytest.param(b'{"messages": [{"role": 5}]}', "`messages[0].role` must be a string", id="a role"),
        pytest.param(b'{"messages": [{"role": "user", "content": "x"}]}', "nothing says how much fits", id="no limit"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, content, said):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    done = run("fit", path)
    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_error_shows_no_control_characters(tmp_path):
    path = stored(tmp_path / "r.json", {"messages": [{"role": "user", "content": "x"}], "model": "a\n\x1b[31m\u202eb"})
    done = run("fit", path, "--on-unknown-model", "error")
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert not {"\x1b", "\u202e"} & set(done.stderr)


def test_shares_that_leave_much_over_are_warned_of(request_file):
    done = run("fit", request_file, "--target-tokens", 200, "--shares", "10,10,10,10", "-q")
    assert done.exit_code == 0
    assert done.stderr.startswith("Warning: the shares add up to 40 % only")


def test_a_line_of_a_file_is_picked(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(["{broken", "", json.dumps(chat(2, seed=3))]), encoding="utf-8")
    done = run("fit", path, "--line", 3, "--target-tokens", 4_000, "-q")
    assert json.loads(done.stdout)["seed"] == 3
    assert json.loads(run("count", path, "--line", 3, "-m", "gpt-4", "--format", "json").stdout)["tokens"] > 50
    assert "--line" in run("plan", path).stderr


def test_m4_plan_shows_what_fit_would_do(rich_file):
    before = rich_file.read_bytes()
    planned = run("plan", rich_file, "--target-tokens", 400)
    fitted = run("fit", rich_file, "--target-tokens", 400)
    assert planned.stdout == fitted.stderr
    assert rich_file.read_bytes() == before
    assert (
        run("plan", rich_file, "--target-tokens", 400, "--format", "html").stdout.lower().startswith("<!doctype html>")
    )


def test_the_program_reads_and_writes_bytes_in_any_locale(tmp_path):
    path = stored(tmp_path / "r.json", {"messages": [{"role": "user", "content": "é終\ud800"}], "k": "終\ud800"})
    command = [sys.executable, "-m", "ctxopt_core", "explain", str(path), "--target-tokens", "100", "--show-content"]
    done = subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    )
    assert "é終".encode() in done.stdout
