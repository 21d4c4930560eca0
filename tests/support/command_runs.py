"""Runs of the command line in this process, and the files that they read."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager

from click.testing import CliRunner

from ctxopt_core.command_line.program import commands

SENTENCE = "The lamp on the north pier burns for nine hours. "


def run(*arguments, given=None):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments], input=given)


@contextmanager
def interruptible():
    """Start programs as a terminal does: what a shell runs in the background ignores the key, and its children do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def chat(turns, *, words=1, **beside):
    """Return a request: so many earlier turns of numbered sentences, and a question."""
    rows = [{"role": "system", "content": "Answer shortly."}]
    for number in range(turns):
        rows.append({"role": "user", "content": f"Question {number}. " + SENTENCE * words})
        rows.append({"role": "assistant", "content": f"Answer {number}. " + SENTENCE * words})
    rows.append({"role": "user", "content": "How long does the lamp burn?"})
    return {"model": "gpt-4o", "messages": rows, **beside}


def stored(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def stored_lines(path, values):
    """Write a line for each value; bytes are written as they are."""
    lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def lines_in(path):
    return path.read_bytes().splitlines()
