"""`fit --jobs`: what several processes fit is what one fits, byte for byte, and they end when the run does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_runs import chat, interruptible, lines_in, run, stored, stored_lines
from ctxopt_core.command_line.worker_processes import LINES_TOGETHER, WAITING_PER_JOB

BAD = b"{broken"
TOO_BIG = {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": "word " * 400}]}
MORE_THAN_WAIT = 2 * WAITING_PER_JOB * LINES_TOGETHER + 20
OPTIONS = ("--target-tokens", 200, "--out", "out.jsonl", "--report", "reports.jsonl")
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the processes")


def mixed(number):
    return [BAD, TOO_BIG, chat(0, seed=number), b""][number % 7] if number % 7 < 4 else chat(number % 25, seed=number)


def written(folder):
    """Return what a run has written, by the names of the files."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "in.jsonl"}


def fitted_in(folder, monkeypatch, lines, *arguments):
    """Fit lines in a folder of their own, and return what the run said and what it has written."""
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    stored_lines(folder / "in.jsonl", lines)
    done = run("fit", "in.jsonl", *OPTIONS, *arguments)
    return (done.exit_code, done.stdout, done.stderr), written(folder)


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(0, id="no line"),
        pytest.param(1, id="one line, rejected"),
        pytest.param(LINES_TOGETHER + 1, id="two bundles"),
        pytest.param(MORE_THAN_WAIT, id="more than wait at a time"),
    ],
)
def test_several_processes_write_and_say_what_one_does(tmp_path, monkeypatch, count):
    lines = [mixed(number) for number in range(count)]

    alone = fitted_in(tmp_path / "alone", monkeypatch, lines)
    together = fitted_in(tmp_path / "together", monkeypatch, lines, "--jobs", 2)

    assert together == alone


def test_a_run_of_several_processes_continues_after_an_interrupted_one(tmp_path, monkeypatch):
    lines = [mixed(number) for number in range(30)]
    _, whole = fitted_in(tmp_path / "whole", monkeypatch, lines)
    part = tmp_path / "part"
    fitted_in(part, monkeypatch, lines[:14])
    with (part / "out.jsonl").open("ab") as out:
        out.write(b'{"mess')

    fitted_in(part, monkeypatch, lines, "--jobs", 2, "--resume")

    assert written(part) == whole


def test_lines_of_the_standard_input_go_to_the_standard_output_in_their_order():
    given = b"".join(json.dumps(chat(number % 25, seed=number)).encode() + b"\n" for number in range(40))
    alone, together = (
        run("fit", "-", "--jsonl", "--target-tokens", 200, "--jobs", jobs, given=given).stdout_bytes for jobs in (1, 2)
    )
    assert together == alone
    assert together.count(b"\n") == 40


def test_what_each_process_warns_of_is_said_once(tmp_path):
    lines = [{**chat(3), "model": "a-model-of-two-processes"} for _ in range(3 * LINES_TOGETHER)]
    path = stored_lines(tmp_path / "in.jsonl", lines)
    done = run("fit", path, "--out", tmp_path / "out.jsonl", "--jobs", 2)
    assert (done.exit_code, done.stderr.count("Warning: ")) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--jobs", 2], "go with a request on each line", id="one request"),
        pytest.param(["--jsonl", "--jobs", 0], "--jobs", id="no process"),
    ],
)
def test_a_number_of_processes_that_makes_no_sense_is_refused(tmp_path, arguments, said):
    done = run("fit", stored(tmp_path / "request.json", chat(2)), "--target-tokens", 200, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


@contextmanager
def running(folder):
    """Run `fit --jobs 2` on an input that does not end, until it has written something."""
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
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    command += ["--jobs", "2"]
    with interruptible(), subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes) as process:
        for number in range(MORE_THAN_WAIT):
            process.stdin.write(json.dumps(chat(20, seed=number)).encode() + b"\n")
        process.stdin.flush()
        until(lambda: (folder / "out.jsonl").exists() and lines_in(folder / "out.jsonl"))
        yield process


def until(holds):
    """Wait until something holds; a minute is enough for any machine."""
    for _ in range(1_200):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it has not come to that within a minute")


def workers_of(process):
    """Return the ids of the processes that fit; beside them there is one that keeps account of what they share."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_ctrl_c_ends_all_processes_and_the_run_can_be_resumed(tmp_path):
    with running(tmp_path) as process:
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[1]

    assert (process.returncode, said.decode().strip()) == (130, "Stopped.")
    lines = [json.dumps(chat(20, seed=number)).encode() for number in range(MORE_THAN_WAIT)]
    done = run(
        *("fit", "-", "--jsonl", "--target-tokens", 200, "--out", tmp_path / "out.jsonl", "--resume"),
        given=b"\n".join(lines),
    )
    assert done.exit_code == 0
    assert [json.loads(line)["seed"] for line in lines_in(tmp_path / "out.jsonl")] == list(range(MORE_THAN_WAIT))


@needs_proc
def test_a_worker_process_that_is_killed_ends_the_run_with_a_remedy(tmp_path):
    with running(tmp_path) as process:
        os.kill(workers_of(process)[0], signal.SIGKILL)
        said = process.communicate()[1].decode()

    assert process.returncode == 1
    assert "take fewer --jobs" in said
    assert "Traceback" not in said


@needs_proc
def test_worker_processes_end_with_the_one_that_is_killed(tmp_path):
    with running(tmp_path) as process:
        workers = workers_of(process)
        process.kill()

    assert len(workers) == 2
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
