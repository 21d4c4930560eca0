"""Every shell block of the page about the command line runs as it stands, and the page names every command and code."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ctxopt_core.command_line.errors import EXIT_CODES
from ctxopt_core.command_line.program import commands

PAGE = (Path(__file__).parents[3] / "docs" / "command_line.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A folder with the console script, and this interpreter as `python`."""
    folder = tmp_path_factory.mktemp("scripts")
    for name, arguments in (("ctxopt-core", "-m ctxopt_core "), ("python", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return folder


def test_the_blocks_run_one_after_the_other(scripts, tmp_path):
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for block in BLOCKS:
        script = re.sub(r"(?m)^(.+) \|\| (test \$\? -eq \d)$", r"if \1; then false; else \2; fi", block)
        done = subprocess.run(
            ["/bin/sh", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"

    assert (tmp_path / "fitted.jsonl").read_text("utf-8").count("\n") == 3
    assert (tmp_path / "fitted.jsonl.rejected").read_text("utf-8") == "{broken\n"


@pytest.mark.parametrize("command", sorted(commands.commands))
def test_each_command_has_an_example(command):
    assert any(f"ctxopt-core {command} " in block for block in BLOCKS)


def test_the_exit_codes_are_those_of_the_help():
    codes = re.findall(r"^\| (\d+) \| (.+) \|$", PAGE, re.MULTILINE)
    joined = re.sub(r"\n {7}", " ", EXIT_CODES)
    assert codes == re.findall(r"^  (\d+) +(.+)$", joined, re.MULTILINE)
    assert len(codes) == 6
