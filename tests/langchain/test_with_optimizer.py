"""A chat model that fits its own requests: it stays the model that it was, in every way of calling it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import ConfigurableField
from pydantic import BaseModel

from langchain_ctxopt import RequestOverflowError, with_optimizer
from langchain_ctxopt.chat_model import OptimizedChatModel
from langchain_requests import sent_tokens
from scripted_model import PAGE, TOOLS, ScriptedModel, calling, faults

CHAT: list[Any] = [
    SystemMessage("Be brief."),
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]


class Count(BaseModel):
    """How many lanterns there are."""

    lanterns: int


def model_and_double(**fields: Any) -> tuple[OptimizedChatModel, ScriptedModel]:
    """Return an optimized model and the model that it was made of; the two share what they hear."""
    double = ScriptedModel(**{"window": 700, **fields})
    return with_optimizer(double), double


def check(double: ScriptedModel, calls: int = 1) -> None:
    assert double.refused == []
    assert len(double.heard) == calls
    for heard, bound in zip(double.heard, double.bound, strict=True):
        assert faults(CHAT, heard, double.limit, bound.get("tools", ())) == []
        assert len(heard) < len(CHAT)


def test_i4_it_is_a_chat_model_of_the_same_class_with_the_same_fields() -> None:
    model, double = model_and_double()
    assert isinstance(model, BaseChatModel)
    assert isinstance(model, ScriptedModel)
    assert (model.model_name, model.window, model.profile) == (double.model_name, double.window, double.profile)
    assert (model.get_name(), model._llm_type) == (double.get_name(), double._llm_type)
    assert dumpd(model) == dumpd(double)
    assert not isinstance(double, OptimizedChatModel)
    with pytest.raises(ContextOverflowError):
        double.invoke(CHAT)


def test_i4_invoke_and_batch_are_fitted() -> None:
    model, double = model_and_double()
    assert model.invoke(CHAT).text == "Done."
    assert [answer.text for answer in model.batch([CHAT, CHAT])] == ["Done.", "Done."]
    assert len(model.generate([CHAT, CHAT]).generations) == 2
    check(double, calls=5)


async def test_i4_asynchronous_calls_are_fitted() -> None:
    model, double = model_and_double()
    assert (await model.ainvoke(CHAT)).text == "Done."
    assert [answer.text for answer in await model.abatch([CHAT, CHAT])] == ["Done.", "Done."]
    assert "".join([chunk.text async for chunk in model.astream(CHAT)]) == "Done."
    check(double, calls=4)


@pytest.mark.parametrize("disable_streaming", [False, True])
def test_i4_streams_are_fitted_once(disable_streaming: bool) -> None:
    reports: list[Any] = []
    double = ScriptedModel(
        window=700, answers=[AIMessage("Forty brass lanterns.")], disable_streaming=disable_streaming
    )
    model = with_optimizer(double, on_report=reports.append)
    chunks = [chunk.text for chunk in model.stream(CHAT)]
    assert "".join(chunks).replace(" ", "") == "Fortybrasslanterns."
    assert (len(chunks) > 2) is not disable_streaming
    check(double)
    assert [report.unchanged for report in reports] == [False]


async def test_i4_events_of_both_versions_are_fitted() -> None:
    model, double = model_and_double()
    seen = [event async for event in model.astream_events(CHAT, version="v2")]
    assert seen[-1]["event"] == "on_chat_model_end"
    if hasattr(BaseChatModel, "stream_events"):
        stream = await model.astream_events(CHAT, version="v3")
        assert (await stream.output).text == "Done."
        assert model.stream_events(CHAT, version="v3").output.text == "Done."
    check(double, calls=len(double.heard))
    assert double.heard


def test_i4_bound_tools_are_counted() -> None:
    model, double = model_and_double(answers=[calling(("read", {"page": 1}))])
    bound = model.bind_tools(TOOLS)
    assert bound.invoke(CHAT).tool_calls[0]["name"] == "read"
    assert any(chunk.tool_call_chunks for chunk in bound.stream(CHAT))
    check(double, calls=2)
    with_tools, alone = model.last_report.fixed, model.optimizer().count_tokens([])
    assert with_tools - alone > 80
    assert bound.last_report is model.last_report


@pytest.mark.parametrize("include_raw", [False, True])
def test_i4_structured_output_works_and_its_schema_is_counted(include_raw: bool) -> None:
    model, double = model_and_double(answers=[calling(("Count", {"lanterns": 40}))])
    answer = model.with_structured_output(Count, include_raw=include_raw).invoke(CHAT)
    assert (answer["parsed"] if include_raw else answer) == Count(lanterns=40)
    check(double)
    assert double.bound[0]["tools"][0]["function"]["name"] == "Count"


def test_i4_other_arguments_reach_the_model_unchanged() -> None:
    model, double = model_and_double()
    model.invoke("Hi", stop=["x"], temperature=0.5)
    model.bind(seed=7).invoke("Hi", config={"tags": ["t"]})
    assert double.bound == [{"temperature": 0.5}, {"seed": 7}]


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [({}, 600), ({"max_tokens": 300}, 400), ({"max_tokens": 1}, 699), ({"model": "other"}, 600)],
)
def test_i4_the_arguments_of_a_call_decide_its_budget(arguments: dict[str, Any], budget: int) -> None:
    model, _ = model_and_double()
    model.bind(**arguments).invoke("Hi")
    assert model.last_report.input_budget == budget


def test_i4_a_call_to_another_known_model_gets_the_window_of_that_model() -> None:
    double = ScriptedModel(model_name="gpt-4.1", window=1_000_000)
    model = with_optimizer(double)
    assert model.optimizer().budget.window.source == "live"
    named = model.optimizer(model="gpt-4").budget.window
    assert (named.model, named.context_window, named.source) == ("gpt-4", 8_192, "catalog")


@pytest.mark.parametrize("given", ["Hi", [HumanMessage("Hi")], [("human", "Hi")], [{"role": "user", "content": "Hi"}]])
def test_i4_what_fits_is_sent_as_it_is(given: Any) -> None:
    model, double = model_and_double()
    model.invoke(given)
    [[heard]] = double.heard
    assert (heard.type, heard.content) == ("human", "Hi")
    if isinstance(given, list) and isinstance(given[0], HumanMessage):
        assert heard is given[0]
    assert model.last_report.unchanged


def test_i4_the_last_report_is_of_the_last_request() -> None:
    model, double = model_and_double()
    assert model.last_report is None
    model.invoke(CHAT)
    first = model.last_report
    assert first.tokens_after == sent_tokens(double.heard[0]) <= 600 < first.tokens_before
    model.with_config(tags=["x"]).invoke("Hi")
    assert model.last_report.unchanged
    assert with_optimizer(double).last_report is None


def test_i4_in_a_chain_it_fits_what_the_prompt_makes() -> None:
    model, double = model_and_double()
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Be brief."), MessagesPlaceholder("history"), ("human", "{q}")]
    )
    chain = prompt | model
    chain.invoke({"history": CHAT[1:-1], "q": CHAT[-1].content})
    check(double)
    with pytest.raises(RequestOverflowError):
        chain.invoke({"history": [], "q": PAGE * 60})


def test_i4_a_fallback_to_a_larger_model_takes_what_does_not_fit() -> None:
    model, double = model_and_double()
    larger = with_optimizer(FakeListChatModel(responses=["large"]), context_window=100_000)
    answer = model.with_fallbacks([larger], exceptions_to_handle=(ContextOverflowError,)).invoke(PAGE * 60)
    assert answer.text == "large"
    assert double.heard == []


def test_i4_cached_answers_are_those_of_the_fitted_request() -> None:
    model, double = model_and_double(cache=InMemoryCache())
    model.invoke(CHAT)
    model.invoke(CHAT)
    check(double)
    model.with_changes(target_tokens=300).invoke(CHAT)
    check(double, calls=2)


def test_i4_copies_and_configurable_fields_keep_fitting() -> None:
    model, double = model_and_double()
    double.heard = model.heard = heard = []
    configurable = model.configurable_fields(max_tokens=ConfigurableField(id="answer"))
    for made in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.model_copy()):  # noqa: S301
        made.heard = heard
        made.invoke(CHAT)
    configurable.with_config(configurable={"answer": 350}).invoke(CHAT)
    assert model.last_report.input_budget == 350
    assert [sent_tokens(messages) <= 600 for messages in heard] == [True] * len(heard)
    assert len(heard) >= 4


def test_i4_optimizing_again_replaces_the_settings() -> None:
    model, double = model_and_double()
    again = with_optimizer(with_optimizer(model, target_tokens=100), target_tokens=300)
    again.invoke(CHAT)
    assert again.last_report.input_budget == 300
    assert again.plain_class is type(double)


@pytest.mark.parametrize(
    "wrapped",
    [
        pytest.param(lambda model: "gpt-4o", id="a name"),
        pytest.param(lambda model: model.bind_tools(TOOLS), id="bound"),
        pytest.param(lambda model: model.with_retry(), id="with retries"),
        pytest.param(lambda model: None, id="nothing"),
    ],
)
def test_i4_what_is_no_chat_model_is_refused_with_the_remedy(wrapped: Any) -> None:
    with pytest.raises(TypeError, match=r"`model` must be a chat model, .*; optimize the model first"):
        with_optimizer(wrapped(ScriptedModel()))


def test_i4_settings_and_window_are_checked_when_the_model_is_made() -> None:
    with pytest.raises(TypeError, match="with_optimizer has no setting `window`"):
        with_optimizer(ScriptedModel(), window=7)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="`target_tokens`"):
        with_optimizer(ScriptedModel(), target_tokens=-1)
    with pytest.raises(ValueError, match="says neither its name nor its window"):
        with_optimizer(FakeListChatModel(responses=["x"]))
