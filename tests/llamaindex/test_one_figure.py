"""What counts, what fits and what raises use one figure and one budget."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool

from ctxopt_core import ContextBudgetError
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from made_up_texts import text_of
from scripted_llms import ScriptedLLM

QUESTION = "How many lanterns are there?"


def search(text: str, pages: int, deep: bool, words: list[str]) -> str:
    return text


SCHEMA = FunctionTool.from_defaults(search, description="Many words about it. " * 40).metadata.to_openai_tool()
GIVEN = [
    pytest.param([ChatMessage(content="Hello?")], {}, id="a chat"),
    pytest.param([ChatMessage(content="Hello?")], {"tools": [SCHEMA] * 3}, id="a chat with tools"),
    pytest.param("Hello?", {}, id="a prompt"),
    pytest.param("Hello?", {"formatted": True}, id="a formatted prompt"),
]


def guarded(tokens: int) -> Any:
    return with_optimizer(ScriptedLLM(context_window=100_000), target_tokens=tokens)


def ask(llm: Any, given: Any, arguments: dict[str, Any]) -> None:
    (llm.complete if isinstance(given, str) else llm.chat)(given, **arguments)


@pytest.mark.parametrize(("given", "arguments"), GIVEN)
def test_l28_what_counts_as_within_the_budget_is_sent_unchanged(given: Any, arguments: dict[str, Any]) -> None:
    tokens = guarded(90_000).count_tokens(given, **arguments)
    llm = guarded(tokens)
    assert llm.count_tokens(given, **arguments) == tokens
    assert llm.within_budget(given, **arguments)
    ask(llm, given, arguments)
    assert llm.last_report.unchanged
    assert llm.last_report.tokens_after == tokens


@pytest.mark.parametrize(("given", "arguments"), GIVEN)
def test_l28_one_token_less_is_refused_and_says_so(given: Any, arguments: dict[str, Any]) -> None:
    tokens = guarded(90_000).count_tokens(given, **arguments)
    llm = guarded(tokens - 1)
    assert not llm.within_budget(given, **arguments)
    with pytest.raises(ContextBudgetError) as caught:
        ask(llm, given, arguments)
    assert (caught.value.needed, caught.value.available) == (tokens, tokens - 1)
    assert ("of which tools" in str(caught.value)) is ("tools" in arguments)


@pytest.mark.parametrize("history", [[], [ChatMessage(content="Hello"), ChatMessage(role="assistant", content="Hi")]])
def test_l28_nodes_that_fit_into_one_call_come_back_as_they_are(history: list[ChatMessage]) -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM(context_window=3_000))

    def node(tokens: int) -> NodeWithScore:
        return NodeWithScore(node=TextNode(text=text_of("Lanterns:", tokens)), score=0.5)

    sizes = range(100, 3_000, 50)
    fitting = [size for size in sizes if optimizer.fits_one_call([node(size)], QUESTION, history)]
    assert 0 < len(fitting) < len(sizes)
    memory = optimizer.memory()
    memory.set(history)
    for size, unchanged in ((fitting[-1], True), (fitting[-1] + 50, False)):
        given = [node(size)]
        kept = optimizer.postprocessor().postprocess_nodes(given, query_str=QUESTION)
        assert (kept[0] is given[0]) is unchanged
        assert optimizer.fits_one_call(kept, QUESTION, memory.get(QUESTION))
