"""`make demo`: one request that its model rejects, fitted, with nothing but this checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.ai import UsageMetadata

from ctxopt_core import FitReport
from independent_recount import langchain_to_dict, recount

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SOCKET_WAS_USED = 97

# Runs a program as `python program.py` would, except that using a socket ends it at once.
OFFLINE = f"""
import os, runpy, socket, sys

def refuse(*args, **options):
    print("a socket was used", file=sys.stderr, flush=True)
    os._exit({SOCKET_WAS_USED})

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = socket.getaddrinfo = refuse
program = sys.argv[1]
sys.path.insert(0, os.path.dirname(program))
runpy.run_path(program, run_name="__main__")
"""


def run_offline(program: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    # Tracing is switched on from outside, as a user's environment may have it.
    environment = {**os.environ, "LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "none", "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, str(program)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    return run_offline(EXAMPLES / "demo.py", tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def demo_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo

    return demo


@pytest.fixture
def model(demo_module: ModuleType) -> Any:
    return demo_module.WindowedChatModel()


def test_the_demo_keeps_its_promise_offline(demo: subprocess.CompletedProcess[str]) -> None:
    assert (demo.returncode, demo.stderr) == (0, "")


def test_the_offline_wrapper_notices_a_socket(tmp_path: Path) -> None:
    program = tmp_path / "online.py"
    program.write_text("import socket\nsocket.create_connection(('127.0.0.1', 9))\n", encoding="utf-8")
    assert run_offline(program, tmp_path).returncode == SOCKET_WAS_USED


@pytest.mark.parametrize(
    "line",
    [
        r"^Retrieved for it: (3\d|40) of \d+ chunks",
        r"^Before it: a conversation of (6[4-9]|[7-9]\d) turns in \d+ messages\.$",
        r"^Rejected by the model: ContextOverflowError: This model's maximum context length is 8192 tokens\.",
        r"^I received \d+ tokens in \d+ messages\. I can see \d+ chunks: \S+#\d+",
        r"^\(\d{2,} pieces;",
        r"^context window +8,192 ",
        r"^reserve +2,048$",
        r"^input budget +6,144$",
        r"^fixed( +[1-9][\d,]*){2}$",
        r"^system( +[1-9][\d,]*){3}$",
        r"^query( +[1-9][\d,]*){3}$",
        r"^documents( +[1-9][\d,]*){3}$",
        r"^history( +[1-9][\d,]*){3}$",
        r"^messages dropped, by reason: [1-9]\d* budget",
        r"^chunks: \d+ whole, [1-9]\d* in part, \d+ dropped$",
        r"^chunks dropped, by reason: (none|\d+ \w+)",
    ],
)
def test_the_demo_shows(demo: subprocess.CompletedProcess[str], line: str) -> None:
    assert re.search(line, demo.stdout, re.MULTILINE), demo.stdout


def test_the_model_counted_at_most_its_input_limit(demo: subprocess.CompletedProcess[str]) -> None:
    found = re.search(
        r"^The model counted (\d+) tokens \(the report: (\d+)\); its input limit is 6144: kept$",
        demo.stdout,
        re.MULTILINE,
    )
    assert found, demo.stdout
    counted, reported = map(int, found.groups())
    assert reported <= counted <= 6144  # the stand-in counts schemas as JSON, which is more than OpenAI does


def test_a_broken_promise_is_an_error(demo_module: ModuleType, model: Any) -> None:
    report = FitReport(input_budget=6144, fixed=0, reserve=2048, unchanged=False, counted_after=6144)
    usage = UsageMetadata(input_tokens=6145, output_tokens=1, total_tokens=6146)
    assert demo_module.show_promise(model, AIMessage("x", usage_metadata=usage), report) is False


def test_a_request_that_is_not_rejected_is_an_error(demo_module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = demo_module.WindowedChatModel(context_window=100_000)
    monkeypatch.setattr(demo_module, "WindowedChatModel", lambda: wide)
    assert demo_module.main() == 1


def test_the_double_counts_what_an_independent_recount_counts(demo_module: ModuleType, model: Any) -> None:
    messages = demo_module.load_conversation(EXAMPLES / "conversation.json")
    rows = [langchain_to_dict(message) for message in messages]
    tools = model.bind_tools(demo_module.TOOLS[:1]).kwargs["tools"]
    schema = json.dumps(tools[0], separators=(",", ":"), ensure_ascii=False)
    of_schema = recount([{"role": "user", "content": schema}]) - recount([{"role": "user", "content": ""}])
    counted = demo_module.WindowedChatModel(context_window=100_000).bind_tools(demo_module.TOOLS[:1]).invoke(messages)
    assert counted.usage_metadata["input_tokens"] == recount(rows) + of_schema


async def test_the_double_enforces_its_window_in_every_way_of_calling_it(demo_module: ModuleType) -> None:
    text = "word " * 100
    limit = demo_module.WindowedChatModel().invoke(text).usage_metadata["input_tokens"]
    fits = demo_module.WindowedChatModel(context_window=limit + 500, max_tokens=500)
    tight = demo_module.WindowedChatModel(context_window=limit + 499, max_tokens=500)
    chunks = [chunk async for chunk in fits.astream(text)]
    merged = sum(chunks[1:], start=chunks[0])
    assert isinstance(merged, AIMessageChunk)
    assert merged.text == fits.invoke(text).text == (await fits.ainvoke([HumanMessage(text)])).text
    for call in (tight.invoke, lambda given: list(tight.stream(given))):
        with pytest.raises(ContextOverflowError, match="maximum context length"):
            call(text)
    with pytest.raises(ContextOverflowError, match="maximum context length"):
        await tight.ainvoke(text)
