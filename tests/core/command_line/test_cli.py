"""The command line shows windows and counts, with where the figures come from."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest
from click.testing import CliRunner

from ctxopt_core import cli
from ctxopt_core.command_line import program
from ctxopt_core.command_line.program import commands
from ctxopt_core.formats.request_files import request_in

HELLO = {"role": "user", "content": "hello world"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def run(*arguments, text=None):
    return CliRunner().invoke(commands, list(arguments), input=text)


def figures(*arguments, text=None):
    result = run(*arguments, "--format", "json", text=text)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a17_the_window_of_a_model_is_shown_with_its_source():
    shown = figures("window", "gpt-4")

    assert shown["context_window"] == 8_192
    assert shown["kept_for_the_answer"] == 1_024
    assert shown["input_budget"] == 7_168
    assert (shown["tokenizer"], shown["exact"]) == ("cl100k_base", True)
    assert shown["window_from"] == "catalog"
    assert "litellm" in shown["according_to"]
    assert shown["checked"]
    assert figures("window", "gpt-4", "--context-window", "1000")["according_to"] is None


@pytest.mark.parametrize(
    ("options", "window", "budget", "source"),
    [
        pytest.param([], 8_192, 7_168, "catalog", id="as known"),
        pytest.param(["--context-window", "1000"], 1_000, 875, "explicit", id="a window of one's own"),
        pytest.param(["--output-reserve", "192"], 8_192, 8_000, "catalog", id="a reserve of one's own"),
    ],
)
def test_limits_can_be_given(options, window, budget, source):
    shown = figures("window", "gpt-4", *options)
    assert (shown["context_window"], shown["input_budget"], shown["window_from"]) == (window, budget, source)


def test_a_table_has_a_line_for_each_figure_that_there_is():
    lines = run("window", "gpt-4").stdout.splitlines()
    assert "context window       8,192" in lines
    assert "exact                yes" in lines
    assert not any(line.startswith("input limit") for line in lines)


def test_an_unknown_model_shows_the_smallest_window_and_a_warning():
    result = run("window", "no-such-model-cli")
    assert result.exit_code == 0
    assert "window from          fallback" in result.stdout
    assert result.stderr.count("Warning: the context window of 'no-such-model-cli' is not known") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["window", "no-such-model", "--on-unknown-model", "error"], 1, "is not known", id="unknown model"),
        pytest.param(["window", ""], 1, "must be the id of a model", id="blank model"),
        pytest.param(
            ["window", "gpt-4", "--output-reserve", "9000"], 1, "nothing is left for the input", id="no input"
        ),
        pytest.param(["window", "gpt-4", "--output-reserve", "-1"], 2, "--output-reserve", id="negative reserve"),
        pytest.param(["count", "no-such-file", "-m", "gpt-4"], 2, "no-such-file", id="no such file"),
        pytest.param(["count", "-"], 2, "--model", id="no model"),
        pytest.param(["frobnicate"], 2, "frobnicate", id="no such command"),
    ],
)
def test_exit_codes(arguments, code, said):
    result = run(*arguments, text="")
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.output


def text_of(value):
    return json.dumps(value)


@pytest.mark.parametrize(
    ("text", "tokens", "kind"),
    [
        pytest.param("hello world", 2, "text", id="a text"),
        pytest.param("", 0, "text", id="nothing"),
        pytest.param("<|endoftext|>", 7, "text", id="a special token is text"),
        pytest.param('{"not": "a request"}', 7, "text", id="other JSON"),
        pytest.param("[1, 2]", 6, "text", id="a list of numbers"),
        pytest.param("{broken", 2, "text", id="broken JSON"),
        pytest.param(text_of([HELLO]), 9, "a request of 1 messages", id="a list of messages"),
        pytest.param(text_of({"messages": [HELLO]}), 9, "a request of 1 messages", id="a request"),
        pytest.param(text_of({"messages": [HELLO], "model": "x"}), 9, "a request of 1 messages", id="its model"),
        pytest.param(
            text_of({"system": "hello world", "messages": [HELLO]}), 15, "a request of 1 messages", id="Anthropic"
        ),
    ],
)
def test_a_text_or_a_request_is_counted(text, tokens, kind):
    shown = figures("count", "-", "-m", "gpt-4", text=text)
    assert (shown["tokens"], shown["counted_as"], shown["fits"]) == (tokens, kind, True)


@pytest.mark.parametrize(
    ("options", "budget", "tokenizer"),
    [
        pytest.param(["-m", "gpt-4"], 7_168, "cl100k_base", id="a model"),
        pytest.param(["-m", "gpt-4", "--context-window", "1000"], 875, "cl100k_base", id="a window of one's own"),
        pytest.param(["-m", "gpt-4", "--tokenizer", "o200k_base"], 7_168, "o200k_base", id="another tokenizer"),
        pytest.param(["-m", "gpt-4", "--target-tokens", "50"], 50, "cl100k_base", id="a limit of one's own"),
        pytest.param(["--max-input-tokens", "50"], 50, "o200k_base", id="a limit alone"),
        pytest.param(["--tokenizer", "o200k_base"], None, "o200k_base", id="a tokenizer alone"),
    ],
)
@pytest.mark.parametrize("text", ["hello world", text_of([HELLO])], ids=["a text", "a request"])
def test_count_takes_the_options_of_fit(options, budget, tokenizer, text):
    shown = figures("count", "-", *options, text=text)
    assert (shown.get("input_budget"), shown["tokenizer"]) == (budget, tokenizer)
    assert shown.get("fits") is (None if budget is None else True)


def test_the_model_that_a_request_names_counts_it():
    shown = figures("count", "-", text=text_of({"messages": [HELLO], "model": "gpt-4", "max_tokens": 192}))
    assert (shown["tokenizer"], shown["input_budget"]) == ("cl100k_base", 8_000)


def test_an_unknown_model_can_be_an_error_of_count():
    result = run("count", "-", "-m", "no-such-model", "--on-unknown-model", "error", text="x")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is not known" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["no-such-model-2"], "or use --on-unknown-model error", id="a warning"),
        pytest.param(
            ["no-such-model", "--on-unknown-model", "error"],
            "is not known; pass --context-window\n",
            id="an unknown model",
        ),
        pytest.param(["gpt-4", "--output-reserve", "9000"], "--output-reserve", id="nothing left"),
    ],
)
def test_messages_name_the_options_and_not_the_arguments_of_the_library(arguments, said):
    stderr = run("window", *arguments).stderr
    assert said in stderr
    assert "`" not in stderr


def test_tools_are_counted_with_the_request():
    alone = figures("count", "-", "-m", "gpt-4", text=text_of({"messages": [HELLO]}))
    with_tools = figures("count", "-", "-m", "gpt-4", text=text_of({"messages": [HELLO], "tools": [TOOL]}))
    assert with_tools["tokens"] > alone["tokens"]


def test_a_file_is_read_and_what_is_over_the_budget_is_said(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("word " * 8_000, encoding="utf-8")
    shown = figures("count", str(path), "-m", "gpt-4")
    assert shown["fits"] is False
    assert shown["tokens"] > shown["input_budget"] == 7_168


def test_a_file_of_anything_is_counted(tmp_path):
    path = tmp_path / "bytes.bin"
    path.write_bytes(bytes(range(256)))
    assert figures("count", str(path), "-m", "gpt-4")["tokens"] > 50


def test_a_message_of_no_known_shape_is_a_plain_error():
    result = run("count", "-", "-m", "gpt-4", text=text_of({"messages": [{"role": 5}]}))
    assert result.exit_code == 1
    assert "Error: " in result.stderr
    assert "Traceback" not in result.output


def test_anthropic_blocks_are_known_without_a_system_prompt():
    result = {"type": "tool_result", "tool_use_id": "a", "content": "hello world"}
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    rows = [HELLO, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]

    request = request_in(text_of(rows))

    assert request is not None
    assert request.request.history[2].tool_results[0].call_id == "a"


def test_the_help_names_the_usual_commands_first_and_each_in_a_whole_sentence():
    listed = re.findall(r"^  ([a-z]+)  +(.+)$", run("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert [name for name, _ in listed] == ["fit", "plan", "explain", "count", "window"]
    assert all(sentence.endswith(".") and not sentence.endswith("...") for _, sentence in listed)


def test_without_its_library_the_command_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    monkeypatch.delitem(sys.modules, "ctxopt_core.command_line.program")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "pip install 'ctxopt-core[cli]'" in capsys.readouterr().err


def test_the_version_is_shown_where_nothing_is_installed(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(program, "version", missing)
    assert program.release() == "not installed"
    assert run("--version").exit_code == 0


def test_the_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "ctxopt_core", "window", "gpt-4", "--format", "json"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["context_window"] == 8_192
