"""An error says what a request needs at least, and names the settings of the front that raises it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.tools import FunctionTool

from ctxopt_core import ContextBudgetError
from llamaindex_ctxopt import (
    ContextOptimizerMemory,
    ContextOptimizerPostprocessor,
    ContextOptimizerRetriever,
    EngineOptimizer,
    with_optimizer,
)
from made_up_texts import text_of
from node_inputs import FixedRetriever, texts_with_scores
from request_tokens import count_text
from scripted_llms import ScriptedLLM

QUERY = "Which kiln cracked?"


def text_with(tokens: int) -> str:
    return " ".join(["word"] * tokens)


def in_system_prompt(tokens: int, **settings: Any) -> Any:
    optimizer = EngineOptimizer(llm=ScriptedLLM(), system_prompt=text_with(tokens), **settings)
    return optimizer.postprocessor().postprocess_nodes(texts_with_scores(0.5), query_str=QUERY)


def in_engine(tokens: int, **settings: Any) -> Any:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm, **settings)
    engine = ContextChatEngine.from_defaults(
        FixedRetriever(texts_with_scores(0.5)),
        llm=llm,
        memory=optimizer.memory(),
        node_postprocessors=[optimizer.postprocessor()],
        system_prompt=text_with(tokens),
    )
    return optimizer.attach(engine).chat(QUERY)


def in_template(tokens: int, **settings: Any) -> Any:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm, **settings)
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(texts_with_scores(0.5)),
        llm=llm,
        text_qa_template=PromptTemplate(text_with(tokens) + "{context_str} {query_str}"),
        node_postprocessors=[optimizer.postprocessor()],
    )
    return optimizer.attach(engine).query(QUERY)


def in_query(tokens: int, **settings: Any) -> Any:
    optimizer = EngineOptimizer(llm=ScriptedLLM(), **settings)
    return optimizer.postprocessor().postprocess_nodes(texts_with_scores(0.5), query_str=text_with(tokens))


def in_memory(tokens: int, **settings: Any) -> Any:
    memory = ContextOptimizerMemory.from_defaults(
        llm=ScriptedLLM(), chat_history=[ChatMessage(role="user", content=text_with(tokens))], **settings
    )
    return memory.get()


def in_guard(tokens: int, **settings: Any) -> Any:
    return with_optimizer(ScriptedLLM(), **settings).chat([ChatMessage(role="user", content=text_with(tokens))])


def in_condensing(tokens: int, **settings: Any) -> Any:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm, **settings)
    memory = optimizer.memory()
    memory.set([ChatMessage(role="user", content="Was there a kiln?"), ChatMessage(role="assistant", content="Yes.")])
    engine = CondensePlusContextChatEngine.from_defaults(
        FixedRetriever(texts_with_scores(0.5)),
        llm=llm,
        memory=memory,
        node_postprocessors=[optimizer.postprocessor()],
        system_prompt=text_with(tokens),
    )
    return optimizer.attach(engine).chat(QUERY)


FRONTS = [
    pytest.param(in_system_prompt, id="system-prompt"),
    pytest.param(in_engine, id="engine"),
    pytest.param(in_template, id="template"),
    pytest.param(in_query, id="query"),
    pytest.param(in_memory, id="memory"),
    pytest.param(in_guard, id="guard"),
    pytest.param(in_condensing, id="condensing"),
]


@pytest.mark.parametrize("front", FRONTS)
def test_l7_what_is_needed_is_the_real_figure(front: Callable[..., Any]) -> None:
    needed = []
    for tokens in (3_800, 9_000, 60_000):
        with pytest.raises(ContextBudgetError) as caught:
            front(tokens)
        error = caught.value
        assert error.needed is not None
        assert tokens < error.needed < tokens + 1_500
        assert f"{error.needed:,}" in str(error)
        needed.append(error.needed)
    assert needed[1] - needed[0] == 9_000 - 3_800
    assert needed[2] - needed[1] == 60_000 - 9_000


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({}, "an `llm` with a larger context window", id="the-model"),
        pytest.param({"context_window": 2_000}, "a larger `context_window`", id="context_window"),
        pytest.param({"target_tokens": 1_500}, "a larger `target_tokens`", id="target_tokens"),
        pytest.param({"max_input_tokens": 1_500}, "a larger `max_input_tokens`", id="max_input_tokens"),
    ],
)
def test_l7_the_message_names_what_the_user_has_set(
    front: Callable[..., Any], settings: dict[str, Any], named: str
) -> None:
    with pytest.raises(ContextBudgetError) as caught:
        front(9_000, **settings)
    message = str(caught.value)
    others = {"`context_window`", "`target_tokens`", "`max_input_tokens`"} - {
        word for word in named.split() if "`" in word
    }
    assert named in message
    assert not any(other in message for other in others)
    assert "safety_margin" not in message
    assert caught.value.available is not None


def test_l7_the_tools_are_named_where_they_are_the_cost() -> None:
    def look_up(city: str) -> str:
        """Look a city up."""
        return city

    tools = [
        FunctionTool.from_defaults(look_up, name=f"look_up_{n}", description=text_of(f"Tool {n}:", 700))
        for n in range(120)
    ]
    optimizer = EngineOptimizer(llm=ScriptedLLM(context_window=8_000), tools=tools)
    memory = optimizer.memory()
    memory.set([ChatMessage(role="user", content=QUERY)])
    with pytest.raises(ContextBudgetError, match="fewer tools") as caught:
        memory.get()
    assert caught.value.costs["tools"] > 10_000
    with pytest.raises(ContextBudgetError, match="fewer tools") as caught:
        memory.get(QUERY)
    assert caught.value.costs["tools"] > 10_000


@pytest.mark.parametrize(
    ("made", "message"),
    [
        pytest.param(
            EngineOptimizer,
            "give one of `llm`, `context_window`, `max_input_tokens`, `target_tokens`: none says how much fits",
            id="EngineOptimizer",
        ),
        pytest.param(ContextOptimizerMemory.from_defaults, "give one of `llm`, `context_window`", id="memory"),
        pytest.param(ContextOptimizerPostprocessor, "give `max_tokens`, or a `model` or an `llm`", id="postprocessor"),
        pytest.param(
            lambda: ContextOptimizerRetriever(FixedRetriever([])),
            "give `max_tokens`, or a `model` or an `llm`",
            id="retriever",
        ),
        pytest.param(lambda: EngineOptimizer(llm=""), "`llm` must be .* the name of a model", id="blank-name"),
        pytest.param(
            lambda: ContextOptimizerMemory.from_defaults(llm=" ", context_window=4_000),
            "`llm` must be .* the name of a model",
            id="blank-name-of-memory",
        ),
        pytest.param(
            lambda: ContextOptimizerPostprocessor(model=""), "`model` must be the name of a model", id="blank-model"
        ),
        pytest.param(lambda: with_optimizer(None), "`llm` must be a LlamaIndex LLM", id="guard"),  # type: ignore[arg-type]
    ],
)
def test_l7_what_is_missing_is_named_as_the_front_names_it(made: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        made()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"max_tokens": 3}, "a larger `max_tokens`", id="max_tokens"),
        pytest.param({"llm": ScriptedLLM(), "share": 0.1}, "a larger `share`", id="share"),
    ],
)
def test_l7_a_postprocessor_names_its_own_budget(settings: dict[str, Any], named: str) -> None:
    heavy = texts_with_scores(0.5)
    heavy[0].node.metadata["log"] = text_of("Log:", 900)
    for front in (
        lambda: ContextOptimizerPostprocessor(**settings).postprocess_nodes(heavy, query_str=QUERY),
        lambda: ContextOptimizerRetriever(FixedRetriever(heavy), **settings).retrieve(QUERY),
    ):
        with pytest.raises(ContextBudgetError, match="no node fits") as caught:
            front()
        assert named in str(caught.value)
        assert caught.value.needed is not None
        assert caught.value.needed > count_text(heavy[0].node.metadata["log"])


def test_l7_nodes_without_room_are_refused_with_the_figures_of_the_request() -> None:
    heavy = texts_with_scores(0.5)
    heavy[0].node.metadata["log"] = text_of("Log:", 30_000)
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    with pytest.raises(ContextBudgetError, match="no node fits beside the history") as caught:
        optimizer.postprocessor().postprocess_nodes(heavy, query_str=QUERY)
    error = caught.value
    assert error.needed is not None
    assert error.needed > count_text(heavy[0].node.metadata["log"])
    assert error.available == optimizer.budget.input_budget - 500
    assert "an `llm` with a larger context window" in str(error)


def test_l7_what_llamaindex_keeps_free_is_no_setting_of_the_user() -> None:
    with pytest.raises(ContextBudgetError, match="LlamaIndex itself keeps 500 tokens free") as caught:
        EngineOptimizer(llm=ScriptedLLM(context_window=700, num_output=300))
    assert "safety_margin" not in str(caught.value)
    assert (caught.value.needed, caught.value.available) == (501, 400)


@pytest.mark.parametrize("tokens", [3_800, 9_000])
@pytest.mark.parametrize("chats", [False, True], ids=["query-engine", "chat-engine"])
def test_l7_what_is_needed_is_enough_for_the_least_of_one_node_too(tokens: int, chats: bool) -> None:
    def ask(limit: int) -> None:
        llm = ScriptedLLM(context_window=200_000)
        optimizer = EngineOptimizer(llm=llm, max_input_tokens=limit)
        retriever, postprocessors = FixedRetriever(texts_with_scores(0.5)), [optimizer.postprocessor()]
        if chats:
            engine: Any = ContextChatEngine.from_defaults(
                retriever, llm=llm, memory=optimizer.memory(), node_postprocessors=postprocessors
            )
            optimizer.attach(engine).chat(text_with(tokens))
        else:
            engine = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=postprocessors)
            optimizer.attach(engine).query(text_with(tokens))

    with pytest.raises(ContextBudgetError) as caught:
        ask(2_000)
    assert caught.value.needed is not None
    assert f"{caught.value.needed:,} in all" in str(caught.value)
    ask(caught.value.needed)
