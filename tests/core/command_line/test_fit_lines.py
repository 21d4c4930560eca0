"""`fit` over a file of lines: in order, nothing lost, nothing done twice, whatever is on a line."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import pytest

from command_runs import chat, lines_in, run, stored_lines
from ctxopt_core.command_line import batch
from ctxopt_core.command_line.run_record import keep_lines

BAD = b"{broken"
TOO_BIG = {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": "word " * 400}]}
LIMIT = ("--target-tokens", 200)


def numbers(path):
    return [json.loads(line)["seed"] for line in lines_in(path)]


@pytest.fixture
def good(tmp_path):
    return stored_lines(tmp_path / "in.jsonl", [chat(number % 25, seed=number) for number in range(30)])


@pytest.fixture
def mixed(tmp_path):
    values = [chat(9, seed=0), BAD, b"", chat(30, seed=1), TOO_BIG, b"\xff\xfe", chat(30, seed=2)]
    return stored_lines(tmp_path / "mixed.jsonl", values)


def test_every_line_comes_out_in_its_place_and_fits(good, tmp_path):
    done = run("fit", good, *LIMIT, "--out", tmp_path / "out.jsonl")

    assert (done.exit_code, done.stdout) == (0, "")
    assert "30 requests: " in done.stderr
    assert "0 rejected" in done.stderr
    assert numbers(tmp_path / "out.jsonl") == list(range(30))
    assert not (tmp_path / "out.jsonl.rejected").exists()
    for line in lines_in(tmp_path / "out.jsonl"):
        counted = run("count", "-", "-m", "gpt-4o", "--format", "json", given=line)
        assert json.loads(counted.stdout)["tokens"] <= 200


def test_lines_go_to_the_standard_output_where_no_file_is_named(good):
    done = run("fit", "-", "--jsonl", *LIMIT, given=good.read_bytes())
    assert [json.loads(line)["seed"] for line in done.stdout.splitlines()] == list(range(30))


def test_a_line_that_fits_comes_out_byte_for_byte(tmp_path):
    odd = b'{ "messages":[{"content":"caf\\u00e9 \\ud83d", "role":"user"}] ,"n":1.0 }'
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + odd + b"\r\n" + odd)
    assert run("fit", path, "-m", "gpt-4", "-q").stdout_bytes == odd + b"\n" + odd + b"\n"


def test_bad_lines_are_named_and_kept_and_the_others_go_on(mixed, tmp_path):
    done = run("fit", mixed, *LIMIT, "--out", tmp_path / "out.jsonl")

    assert done.exit_code == 3
    assert numbers(tmp_path / "out.jsonl") == [0, 1, 2]
    assert lines_in(tmp_path / "out.jsonl.rejected") == [BAD, json.dumps(TOO_BIG).encode(), b"\xff\xfe"]
    assert re.findall(r"^line (\d+): ", done.stderr, re.MULTILINE) == ["2", "5", "6"]
    assert "3 rejected; they are in" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param({"response_format": True}, id="a response format"),
        pytest.param({"response_format": [None]}, id="a list of response formats"),
        pytest.param({"tools": [{"type": "function", "function": {"name": "look"}}, 5]}, id="the second tool"),
        pytest.param({"messages": [{"role": [], "content": "x"}]}, id="a role"),
        pytest.param({"messages": [{"role": "assistant", "tool_calls": True}]}, id="tool calls"),
        pytest.param({"documents": [{"text": "x", "score": "high"}]}, id="a score"),
    ],
)
def test_a_part_of_a_wrong_type_does_not_end_the_run(tmp_path, beside):
    path = stored_lines(tmp_path / "in.jsonl", [chat(30, seed=0) | beside, chat(30, seed=1)])

    done = run("fit", path, *LIMIT, "--out", tmp_path / "out.jsonl")

    assert done.exit_code == 3
    assert numbers(tmp_path / "out.jsonl") == [1]
    assert done.stderr.startswith("line 1: ")


def test_bad_lines_are_named_where_there_is_no_file_for_them(mixed):
    done = run("fit", mixed, *LIMIT)
    assert done.exit_code == 3
    assert re.findall(r"^line (\d+): ", done.stderr, re.MULTILINE) == ["2", "5", "6"]


def test_a_file_for_bad_lines_can_be_named_and_is_begun_anew(mixed, tmp_path):
    rejected = tmp_path / "bad.jsonl"
    rejected.write_bytes(b"of an earlier run\n")
    run("fit", mixed, *LIMIT, "--out", tmp_path / "out.jsonl", "--rejected", rejected)
    assert len(lines_in(rejected)) == 3
    assert not (tmp_path / "out.jsonl.rejected").exists()


def written(folder):
    """Return what lies in a folder, by the names of the files."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("fitted", [0, 1, 2, 3])
@pytest.mark.parametrize("rest", [b"", b'{"mess'], ids=["whole lines", "half a line"])
def test_an_interrupted_run_is_resumed_as_if_it_had_not_been(mixed, tmp_path, fitted, rest):
    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.mkdir()
    part.mkdir()
    run("fit", mixed, *LIMIT, "--out", whole / "out.jsonl", "--report", whole / "reports.jsonl")
    rejected_by_then = [0, 1, 3, 3][fitted]
    for name, most in (
        ("out.jsonl", fitted),
        ("out.jsonl.rejected", rejected_by_then),
        ("reports.jsonl", fitted + 1),
        ("out.jsonl.run", fitted + rejected_by_then + 2),
    ):
        lines = (whole / name).read_bytes().splitlines(keepends=True)[:most]
        (part / name).write_bytes(b"".join(lines) + rest)

    done = run("fit", mixed, *LIMIT, "--out", part / "out.jsonl", "--resume", "--report", part / "reports.jsonl")

    assert written(part) == written(whole)
    assert done.exit_code == 3
    before = f", {rejected_by_then} of them rejected" if rejected_by_then else ""
    assert f"{fitted + rejected_by_then} done before{before}; " in done.stderr or not fitted + rejected_by_then


def test_resuming_a_run_that_has_not_begun_begins_it(good, tmp_path):
    run("fit", good, *LIMIT, "--out", tmp_path / "out.jsonl", "--resume")
    assert numbers(tmp_path / "out.jsonl") == list(range(30))


def test_a_report_of_each_request_names_its_line(mixed, tmp_path):
    run("fit", mixed, *LIMIT, "--out", tmp_path / "out.jsonl", "--report", tmp_path / "reports.jsonl")
    reports = list(map(json.loads, lines_in(tmp_path / "reports.jsonl")))
    assert [report["line"] for report in reports] == [1, 4, 7]
    assert all(report["within_budget"] for report in reports)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--resume"], "--resume needs --out", id="resuming the standard output"),
        pytest.param(["--out", "in.jsonl"], "different files", id="over its input"),
        pytest.param(["--out", "out.jsonl", "--rejected", "out.jsonl"], "different files", id="twice the same"),
        pytest.param(["--out", "out.jsonl", "--report", "./in.jsonl"], "different files", id="the report over it"),
    ],
)
def test_a_file_is_never_written_over_while_it_is_read(good, monkeypatch, arguments, said):
    monkeypatch.chdir(good.parent)
    before = good.read_bytes()
    done = run("fit", "in.jsonl", *LIMIT, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert good.read_bytes() == before


def test_limits_that_leave_nothing_end_the_run_before_a_file_is_touched(good, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"dear\n")
    done = run("fit", good, "--context-window", 10, "--output-reserve", 10, "--out", out)
    assert done.exit_code == 1
    assert out.read_bytes() == b"dear\n"


def test_each_line_has_the_window_of_the_model_that_it_names(tmp_path):
    path = stored_lines(tmp_path / "in.jsonl", [{**chat(1), "model": name} for name in ("gpt-4", "gpt-4o", "gpt-4")])
    run("fit", path, "--out", tmp_path / "out.jsonl", "--report", tmp_path / "reports.jsonl")
    windows = [json.loads(line)["context_window"] for line in lines_in(tmp_path / "reports.jsonl")]
    assert windows == [8_192, 128_000, 8_192]


def test_a_bar_is_drawn_on_a_terminal_only(good, tmp_path, monkeypatch):
    quiet = run("fit", good, *LIMIT, "--out", tmp_path / "out.jsonl", "-q")
    monkeypatch.setattr(batch, "is_terminal", lambda: True)
    shown = run("fit", good, *LIMIT, "--out", tmp_path / "out.jsonl", "-q")
    assert quiet.stderr == ""
    assert "fitting" in shown.stderr


def test_a_run_that_is_killed_has_written_what_it_did_and_can_be_resumed(tmp_path):
    lines = [json.dumps(chat(20, seed=number)).encode() + b"\n" for number in range(3)]
    command = [
        sys.executable,
        "-m",
        "ctxopt_core",
        "fit",
        "-",
        "--jsonl",
        "--target-tokens",
        "200",
        "--out",
        "out.jsonl",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdin.write(b"".join(lines[:2]))
        running.stdin.flush()
        while not (tmp_path / "out.jsonl").exists() or len(lines_in(tmp_path / "out.jsonl")) < 1:
            assert running.poll() is None
        running.send_signal(signal.SIGKILL)

    done = run("fit", "-", "--jsonl", *LIMIT, "--out", tmp_path / "out.jsonl", "--resume", given=b"".join(lines))

    assert done.exit_code == 0
    assert numbers(tmp_path / "out.jsonl") == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "most", "lines", "left"),
    [
        pytest.param(b"", None, 0, b"", id="nothing"),
        pytest.param(b"a\nb\n", None, 2, b"a\nb\n", id="whole lines"),
        pytest.param(b"a\nb", None, 1, b"a\n", id="half a line"),
        pytest.param(b"ab", None, 0, b"", id="half a line alone"),
        pytest.param(b"a\nb\nc\n", 2, 2, b"a\nb\n", id="more than wanted"),
        pytest.param(b"a\n", 2, 1, b"a\n", id="fewer than wanted"),
        pytest.param(b"a\nb\n", 0, 0, b"", id="none wanted"),
        pytest.param((b"x" * 999_999 + b"\n") * 3 + b"y", None, 3, (b"x" * 999_999 + b"\n") * 3, id="long lines"),
        pytest.param((b"x" * 999_999 + b"\n") * 3, 2, 2, (b"x" * 999_999 + b"\n") * 2, id="long lines, some wanted"),
    ],
)
def test_a_file_is_cut_to_its_whole_lines(tmp_path, content, most, lines, left):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert (keep_lines(path, most), path.read_bytes() == left) == (lines, True)


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert keep_lines(tmp_path / "none") == 0
