"""The optimizer as a LangChain Runnable: every way of calling it, and what a chain around it can rely on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableConfig, RunnablePassthrough
from pydantic import ValidationError

from ctxopt_core import ContextBudgetError
from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import sent_tokens

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
CHAT: list[BaseMessage] = [
    SystemMessage("Answer briefly."),
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(SENTENCE * 3))),
    HumanMessage("Which lantern is lit?"),
]
OPTIMIZER = ContextOptimizer(max_input_tokens=200)
FITTED = OPTIMIZER.invoke(CHAT)


def given_in_chunks() -> Iterator[list[BaseMessage]]:
    yield CHAT[:20]
    yield CHAT[20:]


async def given_in_async_chunks() -> AsyncIterator[list[BaseMessage]]:
    yield CHAT[:20]
    yield CHAT[20:]


def test_i1_invoke_cuts_to_the_budget() -> None:
    assert 150 < sent_tokens(FITTED) <= 200 < sent_tokens(CHAT)
    assert FITTED[0] is CHAT[0]
    assert FITTED[-1] is CHAT[-1]


def test_i1_batch_keeps_the_order_of_its_inputs() -> None:
    assert OPTIMIZER.batch([CHAT, CHAT[-1:], CHAT]) == [FITTED, CHAT[-1:], FITTED]


def test_i1_batch_as_completed_gives_every_result_with_its_index() -> None:
    assert dict(OPTIMIZER.batch_as_completed([CHAT, CHAT[-1:]])) == {0: FITTED, 1: CHAT[-1:]}


def test_i1_batch_can_return_the_errors_among_the_results() -> None:
    fitted, failed = OPTIMIZER.batch([CHAT, {"a": 1}], return_exceptions=True)
    assert fitted == FITTED
    assert isinstance(failed, ValueError)


def test_i1_stream_gives_one_chunk() -> None:
    assert list(OPTIMIZER.stream(CHAT)) == [FITTED]


def test_i1_transform_adds_up_the_chunks_of_its_input() -> None:
    assert list(OPTIMIZER.transform(given_in_chunks())) == [FITTED]


async def test_i1_every_asynchronous_call_gives_what_invoke_gives() -> None:
    assert await OPTIMIZER.ainvoke(CHAT) == FITTED
    assert await OPTIMIZER.abatch([CHAT, CHAT]) == [FITTED, FITTED]
    assert [chunk async for chunk in OPTIMIZER.astream(CHAT)] == [FITTED]
    assert [chunk async for chunk in OPTIMIZER.atransform(given_in_async_chunks())] == [FITTED]


async def test_i10_what_fits_is_the_identical_object_in_both_worlds() -> None:
    assert OPTIMIZER.invoke(CHAT[-1:]) == await OPTIMIZER.ainvoke(CHAT[-1:])
    short = CHAT[-1:]
    assert OPTIMIZER.invoke(short) is short
    assert await OPTIMIZER.ainvoke(short) is short


async def test_i10_both_worlds_raise_the_same_error() -> None:
    with pytest.raises(RequestOverflowError) as sync:
        OPTIMIZER.with_changes(max_input_tokens=5).invoke(CHAT)
    with pytest.raises(RequestOverflowError) as asynchronous:
        await OPTIMIZER.with_changes(max_input_tokens=5).ainvoke(CHAT)
    assert str(sync.value) == str(asynchronous.value)
    assert (sync.value.needed, sync.value.costs) == (asynchronous.value.needed, asynchronous.value.costs)


def test_i1_a_chain_still_streams_the_tokens_of_its_model() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("three lanterns are lit")]))
    chain = ChatPromptTemplate.from_messages([("human", "{question}")]) | OPTIMIZER | model | StrOutputParser()
    assert list(chain.stream({"question": SENTENCE * 40})) == ["three", " ", "lanterns", " ", "are", " ", "lit"]


async def test_i1_a_chain_still_streams_asynchronously() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("all dark")]))
    chain = ChatPromptTemplate.from_messages([("human", "{question}")]) | OPTIMIZER | model | StrOutputParser()
    assert [chunk async for chunk in chain.astream({"question": SENTENCE * 40})] == ["all", " ", "dark"]


def test_i1_a_limit_can_be_configured_for_one_call() -> None:
    limit = ConfigurableField(id="limit", name="Limit")
    configurable = OPTIMIZER.configurable_fields(max_input_tokens=limit)
    assert sent_tokens(configurable.with_config(configurable={"limit": 60}).invoke(CHAT)) <= 60
    assert configurable.invoke(CHAT) == FITTED
    assert OPTIMIZER.max_input_tokens == 200


def test_i1_a_configured_limit_is_validated_like_any_other() -> None:
    configurable = OPTIMIZER.configurable_fields(max_input_tokens=ConfigurableField(id="limit"))
    with pytest.raises(ValidationError, match="max_input_tokens"):
        configurable.invoke(CHAT, {"configurable": {"limit": -1}})


def test_t6_a_configured_model_changes_window_and_tokenizer_together_and_leaves_no_trace() -> None:
    reports: list[Any] = []
    optimizer = ContextOptimizer(model="gpt-4o", on_report=reports.append)
    configurable = optimizer.configurable_fields(model=ConfigurableField(id="model"))
    for config in (None, RunnableConfig(configurable={"model": "gpt-4"}), None):
        configurable.invoke(CHAT, config)
    seen = [(report.model, report.context_window, report.encoding) for report in reports]
    assert seen == [
        ("gpt-4o", 128_000, "o200k_base"),
        ("gpt-4", 8_192, "cl100k_base"),
        ("gpt-4o", 128_000, "o200k_base"),
    ]


def test_i1_a_fallback_for_overflows_of_a_provider_works_for_ours() -> None:
    long = [HumanMessage(SENTENCE)]
    small = ContextOptimizer(max_input_tokens=8, protect=("query",)) | FakeListChatModel(responses=["small"])
    large = ContextOptimizer(max_input_tokens=500) | FakeListChatModel(responses=["large"])
    chain = small.with_fallbacks([large], exceptions_to_handle=(ContextOverflowError,))
    assert chain.invoke(long).content == "large"
    assert chain.invoke([HumanMessage("Hi")]).content == "small"


def test_a12_the_error_names_every_cost_and_is_all_three_kinds_of_error() -> None:
    with pytest.raises(ContextOverflowError) as caught:
        ContextOptimizer(max_input_tokens=10, protect=("query",)).invoke([HumanMessage(SENTENCE * 9)])
    error = caught.value
    assert isinstance(error, RequestOverflowError)
    assert isinstance(error, ContextBudgetError)
    assert isinstance(error, ValueError)
    assert error.available == 10
    assert error.needed == sent_tokens([HumanMessage(SENTENCE * 9)])
    assert set(error.costs) == {"fixed", "system", "query", "documents", "history"}
    assert "lamplighter" not in str(error)


def test_i1_arguments_at_a_call_are_rejected_with_a_remedy() -> None:
    with pytest.raises(TypeError, match=r"takes no arguments at a call, got foo; .*with_changes"):
        OPTIMIZER.bind(foo=1).invoke(CHAT)


async def test_i1_arguments_at_an_asynchronous_call_are_rejected_too() -> None:
    with pytest.raises(TypeError, match="got foo"):
        await OPTIMIZER.bind(foo=1).ainvoke(CHAT)
    with pytest.raises(TypeError, match="got foo"):
        OPTIMIZER.batch([CHAT], foo=1)


@pytest.mark.parametrize("schema", ["input_schema", "output_schema"])
def test_i1_schemas_can_be_asked_for(schema: str) -> None:
    chain = RunnablePassthrough() | OPTIMIZER | FakeListChatModel(responses=["x"])
    assert getattr(OPTIMIZER, schema).model_json_schema()["title"].startswith("ContextOptimizer")
    assert getattr(chain, schema).model_json_schema()["title"]


def test_i1_the_config_schema_names_a_configurable_field() -> None:
    configurable = OPTIMIZER.configurable_fields(max_input_tokens=ConfigurableField(id="limit"))
    schema = configurable.config_schema().model_json_schema()
    assert "limit" in schema["$defs"]["Configurable"]["properties"]


def test_i1_the_graph_of_a_chain_shows_the_optimizer() -> None:
    chain = ChatPromptTemplate.from_messages([("human", "{q}")]) | OPTIMIZER | FakeListChatModel(responses=["x"])
    graph = chain.get_graph()
    assert "ContextOptimizer" in graph.draw_mermaid()
    assert "ContextOptimizer" in [node.name for node in graph.nodes.values()]
    assert OPTIMIZER.get_name() == "ContextOptimizer"
    assert ContextOptimizer(max_input_tokens=9, name="fit").get_name() == "fit"


def test_m4_a_plan_is_the_report_of_the_fit_and_reports_to_nobody() -> None:
    reports: list[Any] = []
    optimizer = OPTIMIZER.with_changes(on_report=reports.append)
    planned = optimizer.plan(CHAT)
    assert reports == []
    optimizer.invoke(CHAT)
    assert [report.to_dict() for report in reports] == [planned.to_dict()]
    assert planned.tokens_after == sent_tokens(FITTED)
    assert planned.tokens_before == sent_tokens(CHAT)
