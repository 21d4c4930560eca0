"""A role that no provider takes is an error, in every shape, in Python and on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from ctxopt_core import Message, fit_messages
from ctxopt_core.command_line.program import commands

UNKNOWN = ["usr", "USER", "User", " user", "asistant", "bot", "me", "", "toool", "no role at all"]
KNOWN = ["system", "developer", "user", "assistant", "human", "ai"]
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "x"}


def rows(role: Any) -> dict[str, list[dict[str, Any]]]:
    """Return messages with a role, in each shape and at each place."""
    said, asked = {"role": role, "content": "x"}, {"role": "user", "content": "Why?"}
    return {
        "first": [said, asked],
        "last": [asked, said],
        "parts": [{"role": role, "content": [{"type": "text", "text": "x"}]}, asked],
        "named": [{**said, "name": "ann"}, asked],
        "items": [said, ITEM, RESULT, asked],
    }


@pytest.mark.parametrize("place", list(rows("user")))
@pytest.mark.parametrize("role", UNKNOWN)
def test_u7_an_unknown_role_is_an_error_in_python(role: str, place: str) -> None:
    with pytest.raises(ValueError, match=r"must be one of .*assistant.*user"):
        fit_messages(rows(role)[place], "gpt-5")


@pytest.mark.parametrize("command", ["fit", "plan", "explain", "count"])
@pytest.mark.parametrize("place", list(rows("user")))
def test_u7_an_unknown_role_is_an_error_on_the_command_line(command: str, place: str) -> None:
    ran = CliRunner().invoke(commands, [command, "-", "--model", "gpt-5"], input=json.dumps(rows("usr")[place]))

    assert ran.exit_code != 0
    assert "'usr'" in ran.stderr
    assert "did you mean 'user'?" in ran.stderr
    assert "Traceback" not in ran.output


@pytest.mark.parametrize("role", UNKNOWN)
def test_u7_an_unknown_role_of_a_message_is_an_error(role: str) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        Message(role=role, content="x")


@pytest.mark.parametrize("role", [None, 1, ["user"]])
def test_u7_a_role_that_is_no_string_is_an_error(role: Any) -> None:
    with pytest.raises(TypeError, match="must be a"):
        fit_messages(rows(role)["first"], "gpt-5")


@pytest.mark.parametrize("role", KNOWN)
def test_u7_a_known_role_passes(role: str) -> None:
    assert fit_messages(rows(role)["first"], "gpt-5").unchanged
