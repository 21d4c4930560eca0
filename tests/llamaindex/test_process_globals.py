"""Nothing of LlamaIndex's process-wide settings is set, made or read in a way that makes it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import llama_index.core
import pytest
from llama_index.core import Settings
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import TextNode

from chat_engine_runs import FIVE, ScriptedRetriever, preset_history
from llamaindex_ctxopt import ContextOptimizerMemory, ContextOptimizerPostprocessor, EngineOptimizer, with_optimizer
from scripted_llms import ScriptedLLM

QUESTION = "Which lantern is broken?"
OF_SETTINGS = ("_llm", "_embed_model", "_tokenizer", "_node_parser", "_prompt_helper", "_transformations")


def words(text: str) -> list[str]:
    return text.split()


def use_everything(llm: Any) -> None:
    optimizer = EngineOptimizer(llm=llm, context_window=4_000, system_prompt="Be brief.", tools=[{"name": "inspect"}])
    memory, postprocessor = optimizer.memory(), optimizer.postprocessor()
    memory.set([ChatMessage(content="{context_str}"), *preset_history(60)])
    retriever = optimizer.retriever(ScriptedRetriever(FIVE))
    real = ScriptedLLM(real_window=100_000)
    optimizer.attach(ContextChatEngine.from_defaults(retriever, llm=real, memory=memory))
    postprocessor.postprocess_nodes(list(FIVE), query_str=QUESTION)
    memory.get(input=QUESTION)
    memory.get()
    retriever.retrieve(QUESTION)
    optimizer.guard(real).chat(preset_history(60))
    with_optimizer(real, protect=()).complete("word " * 9_000)
    assert optimizer.fits_one_call(FIVE[:1], QUESTION)
    alone = ContextOptimizerMemory.from_defaults(llm=llm, context_window=900, chat_history=preset_history(60))
    pickle.loads(pickle.dumps(alone)).get(input=QUESTION)  # noqa: S301
    ContextOptimizerPostprocessor(max_tokens=400).postprocess_nodes(list(FIVE), query_str=QUESTION)


@pytest.mark.parametrize("llm", [ScriptedLLM(), "gpt-4o", None], ids=["model", "name", "limit"])
@pytest.mark.parametrize("directory", [None, "", "/nowhere"], ids=["unset", "empty", "wrong"])
def test_i7_the_globals_of_llamaindex_are_left_alone(
    llm: Any, directory: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_index.core, "global_tokenizer", None)
    for name in OF_SETTINGS:
        monkeypatch.setattr(Settings, name, None)
    if directory is None:
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    else:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", directory)
    before = dict(os.environ)
    use_everything(llm)
    assert llama_index.core.global_tokenizer is None
    assert [getattr(Settings, name) for name in OF_SETTINGS] == [None] * len(OF_SETTINGS)
    assert dict(os.environ) == before


def test_i7_what_the_user_has_set_stays_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_index.core, "global_tokenizer", words)
    use_everything(ScriptedLLM())
    assert llama_index.core.global_tokenizer is words
    long = TextNode(text="abracadabra " * 100)
    counter = EngineOptimizer(context_window=4_000)._planner.plan.model_budget.counter
    assert counter.count(long.text) == 100


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda: Settings.tokenizer, 200, id="read by LlamaIndex"),
        pytest.param(lambda: llama_index.core.set_global_tokenizer(words), 100, id="chosen by the user"),
        pytest.param(lambda: None, 200, id="none"),
    ],
)
def test_i7_a_tokenizer_that_llamaindex_set_by_itself_is_nobodys_choice(
    call: Callable[[], object], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_index.core, "global_tokenizer", None)
    monkeypatch.setattr(Settings, "_tokenizer", None)
    call()
    counter = EngineOptimizer(llm="gpt-4o")._planner.plan.model_budget.counter
    assert counter.count("Quillmere " * 100) >= expected
    assert (counter.count("Quillmere " * 100) == 100) is (expected == 100)
