"""Every Python block of the README runs as it stands, and the first one does what it says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.memory import ChatMemoryBuffer

from ctxopt_core import counter_for
from page_blocks import PYTHON_BLOCK, run_blocks
from page_links import anchors_of, links_of
from readers_application import QUESTION, WINDOW, CountingLLM, readers_names, readers_request

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
LINES_OF_ONE_SCREEN = 45
TOKENS = counter_for("gpt-4o")


def tokens_of(texts: Iterable[str]) -> int:
    return sum(map(TOKENS.count, texts))


# LlamaIndex's agents look at attributes of their own that pydantic and its workflows warn of.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect", "ignore:is_running called from within a step")
def test_the_python_blocks_of_the_readme_run_in_order(capsys):
    run_blocks(README, readers_names())

    printed = capsys.readouterr().out
    assert "Lantern 19." in printed
    assert "input budget" in printed


def test_every_link_of_the_readme_leads_somewhere():
    for path, anchor in links_of(README):
        assert (ROOT / path).exists(), path
        assert not anchor or anchor in anchors_of(ROOT / path), f"{path} has no heading #{anchor}"


@pytest.fixture(scope="module")
def first_block() -> dict[str, Any]:
    given = readers_names()
    return {**run_blocks(README, given, most=1), "whole_retriever": given["retriever"]}


def test_the_first_block_is_in_the_first_screen():
    text = README.read_text("utf-8")
    block = PYTHON_BLOCK.search(text)

    assert block is not None
    assert text.count("\n", 0, block.end()) < LINES_OF_ONE_SCREEN


def test_the_chain_of_the_first_block_sends_what_fits(first_block):
    request, model = readers_request(), first_block["model"]
    joined = "\n\n".join(document.page_content for document in request["context"])
    whole = first_block["prompt"].invoke({**request, "context": joined}).to_messages()

    assert first_block["chain"].invoke(request).content == "Lantern 39."
    assert tokens_of(message.text for message in whole) > WINDOW
    assert 0 < tokens_of(message.text for message in model.received) < WINDOW
    assert model.received[-1].content == QUESTION


def test_the_retriever_of_the_first_block_returns_at_most_2000_tokens(first_block):
    found = first_block["whole_retriever"].invoke(QUESTION)
    kept = first_block["retriever"].invoke(QUESTION)

    assert tokens_of(document.page_content for document in found) > 2_000
    assert 0 < tokens_of(document.page_content for document in kept) <= 2_000


def test_the_engine_of_the_first_block_calls_its_model_once_for_a_turn(first_block):
    without = CountingLLM(max_tokens=50)
    memory = ChatMemoryBuffer.from_defaults(llm=without)
    other = first_block["index"].as_chat_engine(chat_mode="context", llm=without, memory=memory)
    for _ in range(12):
        first_block["engine"].chat(f"{QUESTION} " * 80)
        other.chat(f"{QUESTION} " * 80)

    assert first_block["llm"].calls == 12
    assert without.calls > 12
