"""How the command line ends where someone gets in its way: a key, a reader that has gone, a disk that is full."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_runs import chat, interruptible, lines_in, run, stored, stored_lines

PROGRAM = [sys.executable, "-m", "ctxopt_core"]
FULL = Path("/dev/full")


def test_a_batch_that_is_stopped_from_the_keyboard_has_written_what_it_did(tmp_path):
    lines = [json.dumps(chat(20, seed=number)).encode() + b"\n" for number in range(3)]
    command = [*PROGRAM, "fit", "-", "--jsonl", "--target-tokens", "200", "--out", "out.jsonl"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with interruptible(), subprocess.Popen(command, cwd=tmp_path, **pipes) as running:
        running.stdin.write(b"".join(lines[:2]))
        running.stdin.flush()
        while not (tmp_path / "out.jsonl").exists() or len(lines_in(tmp_path / "out.jsonl")) < 2:
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()

    assert (running.returncode, said) == (130, b"Stopped.\n")
    done = run(
        "fit",
        "-",
        "--jsonl",
        "--target-tokens",
        200,
        "--out",
        tmp_path / "out.jsonl",
        "--resume",
        given=b"".join(lines),
    )
    assert done.exit_code == 0
    assert "2 done before; 1 requests" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["fit", "in.jsonl", "-q"], id="lines"),
        pytest.param(["fit", "in.json", "-q"], id="one request"),
        pytest.param(["plan", "in.json", "--format", "html"], id="a page"),
        pytest.param(["window", "gpt-4o"], id="figures"),
    ],
)
def test_where_the_reader_has_gone_a_command_ends_without_a_word(tmp_path, arguments):
    stored(tmp_path / "in.json", chat(400))
    stored_lines(tmp_path / "in.jsonl", [chat(400)] * 3)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run([*PROGRAM, *arguments], cwd=tmp_path, stdout=gone, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["fit", "in.json", "--out", FULL], id="a result"),
        pytest.param(["fit", "in.jsonl", "--out", FULL], id="results of lines"),
        pytest.param(["fit", "in.json", "--report", FULL], id="a report"),
    ],
)
def test_a_full_disk_is_one_line(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "in.json", chat(1))
    stored_lines(tmp_path / "in.jsonl", [chat(1)])
    done = run(*arguments)
    assert done.exit_code == 1
    assert done.stderr == "Error: No space left on device\n"


@pytest.mark.parametrize("option", ["--out", "--rejected", "--report"])
def test_a_folder_that_is_not_there_is_named_before_a_line_is_fitted(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    stored_lines(tmp_path / "in.jsonl", [chat(1)])
    done = run("fit", "in.jsonl", "--out", "out.jsonl", option, "none/there.jsonl")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Error: No such file or directory: none/there.jsonl\n"
    assert not list(tmp_path.glob("*.run"))


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("command", ["fit", "plan", "explain", "count"])
def test_a_full_disk_behind_the_standard_output_is_one_line(tmp_path, command, unbuffered):
    stored(tmp_path / "in.json", chat(1))
    started = {"env": {**os.environ, "PYTHONUNBUFFERED": unbuffered}, "cwd": tmp_path, "stderr": subprocess.PIPE}
    with FULL.open("wb") as full:
        done = subprocess.run([*PROGRAM, command, "in.json"], stdout=full, check=False, **started)
    assert (done.returncode, done.stderr) == (1, b"Error: No space left on device\n")


@pytest.mark.parametrize("command", ["fit", "plan", "explain", "count", "window"])
def test_the_help_of_each_command_names_all_exit_codes_in_80_columns(command):
    text = run(command, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert re.findall(r"^ {4}(\d+)  ", text, re.MULTILINE) == ["0", "1", "2", "3", "4", "130"]


@pytest.mark.parametrize("form", ["table", "json", "html"])
@pytest.mark.parametrize("command", ["plan", "explain", "count", "window"])
def test_each_command_that_prints_figures_prints_them_in_each_form(tmp_path, command, form):
    path = stored_lines(tmp_path / "in.jsonl", [chat(1)])
    arguments = ["gpt-4o"] if command == "window" else [path, "--line", 1]
    done = run(command, *arguments, "--format", form)
    assert done.exit_code == 0
    if form == "json":
        assert all(" " not in key and "," not in key for key in json.loads(done.stdout))
    assert done.stdout.startswith("<!DOCTYPE html>") is (form == "html")
