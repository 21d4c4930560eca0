"""What a run of an optimized model tells: its inputs are what the caller gave, and what is sent is what fits."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tracers.base import BaseTracer

from langchain_ctxopt import RequestOverflowError, with_optimizer
from langchain_requests import sent_tokens
from run_listener import RunListener
from scripted_model import PAGE, ScriptedModel

CHAT: list[Any] = [
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]
TURNS = 14


class Tracer(BaseTracer):
    """Keeps the inputs of finished runs, as a tracer stores them."""

    def __init__(self) -> None:
        super().__init__(_schema_format="original+chat")
        self.inputs: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        self.inputs.append(run.inputs)


class WithoutRunManager(ScriptedModel):
    """Its method takes no run manager, by which LangChain decides how to call it."""

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        assert "run_manager" not in options
        return super()._generate(messages, *rest, **options)


class AsynchronousModel(ScriptedModel):
    """Has asynchronous methods of its own."""

    async def _agenerate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        return self._generate(messages, *rest, **options)

    async def _astream(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> Any:
        for chunk in self._stream(messages, *rest, **options):
            yield chunk


class OwnGenerate(ScriptedModel):
    """Goes round LangChain's `generate` to its provider."""

    def generate(self, messages: list[list[BaseMessage]], *rest: Any, **options: Any) -> Any:
        from langchain_core.outputs import LLMResult

        options = {name: value for name, value in options.items() if name in ("stop", "tools")}
        return LLMResult(generations=[self._generate(one, **options).generations for one in messages])


def silent(model: BaseChatModel) -> ScriptedModel:
    """Return a model that cannot stream."""

    class Silent(ScriptedModel):
        _stream = BaseChatModel._stream

    return Silent(**{name: getattr(model, name) for name in ("window", "max_tokens")})


def conversation(model: Any) -> tuple[RunnableWithMessageHistory, InMemoryChatMessageHistory]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both are deprecated, and still used
        history = InMemoryChatMessageHistory()
        return RunnableWithMessageHistory(model, lambda session_id: history), history


CONFIG: Any = {"configurable": {"session_id": "one"}}


async def one_turn(chain: Any, way: str, message: HumanMessage) -> None:
    if way == "invoke":
        chain.invoke([message], config=CONFIG)
    elif way == "ainvoke":
        await chain.ainvoke([message], config=CONFIG)
    elif way == "stream":
        list(chain.stream([message], config=CONFIG))
    elif way == "astream":
        [chunk async for chunk in chain.astream([message], config=CONFIG)]
    elif way == "batch":
        chain.batch([[message]], config=CONFIG)
    else:
        await chain.abatch([[message]], config=CONFIG)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"])
async def test_l12_a_stored_conversation_has_every_message(way: str) -> None:
    double = ScriptedModel(window=500, answers=[AIMessage(PAGE * 2)])
    chain, history = conversation(with_optimizer(double))
    for turn in range(TURNS):
        await one_turn(chain, way, HumanMessage(f"Question {turn}? {PAGE}"))
    assert len(history.messages) == 2 * TURNS
    assert [message.text[:11] for message in history.messages[::2]] == [f"Question {i}?"[:11] for i in range(TURNS)]
    assert double.refused == []
    assert len(double.heard[-1]) < 2 * TURNS - 1


async def asked(model: Any, way: str, listener: BaseCallbackHandler) -> None:
    config: Any = {"callbacks": [listener]}
    if way == "invoke":
        model.invoke(CHAT, config)
    elif way == "ainvoke":
        await model.ainvoke(CHAT, config)
    elif way == "stream":
        list(model.stream(CHAT, config))
    elif way == "astream":
        [chunk async for chunk in model.astream(CHAT, config)]
    elif way == "batch":
        model.batch([CHAT], config)
    elif way == "abatch":
        await model.abatch([CHAT], config)
    elif way == "generate":
        model.generate([CHAT], callbacks=[listener])
    elif way == "agenerate":
        await model.agenerate([CHAT], callbacks=[listener])
    elif way == "events":
        [event async for event in model.astream_events(CHAT, config, version="v2")]
    else:
        assert model.stream_events(CHAT, config, version="v3").output.text == "Done."


WAYS = ["invoke", "ainvoke", "stream", "astream", "batch", "abatch", "generate", "agenerate", "events"]
if hasattr(BaseChatModel, "stream_events"):
    WAYS.append("events v3")
KINDS = [
    pytest.param(ScriptedModel, id="streams"),
    pytest.param(WithoutRunManager, id="without a run manager"),
    pytest.param(AsynchronousModel, id="asynchronous methods"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_l12_a_run_begins_with_what_was_given_and_sends_what_fits_once(kind: Any, way: str) -> None:
    reports: list[Any] = []
    double = kind(window=700)
    listener, tracer = RunListener(), Tracer()
    model = with_optimizer(double, on_report=reports.append)
    model.callbacks = [tracer]
    await asked(model, way, listener)
    assert [message.content for message in listener.started[0]] == [message.content for message in CHAT]
    assert len(tracer.inputs[0]["messages"][0]) == len(CHAT)
    assert len(reports) == len(double.heard) == 1
    assert reports[0].tokens_after == sent_tokens(double.heard[0]) <= 600 < reports[0].tokens_before
    assert double.refused == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_l12_a_model_that_cannot_stream_still_cannot(way: str) -> None:
    double = silent(ScriptedModel(window=700))
    model = with_optimizer(double)
    listener = RunListener()
    assert not model._should_stream(async_api=False, stream=True)
    await asked(model, way, listener)
    assert len(listener.started) == len(double.heard) == 1


def test_l12_a_model_that_goes_round_langchains_methods_is_fitted_too() -> None:
    double = OwnGenerate(window=700)
    with_optimizer(double).invoke(CHAT)
    assert double.refused == []
    assert len(double.heard[0]) < len(CHAT)


@pytest.mark.parametrize("way", ["invoke", "stream"])
async def test_l12_an_overflow_ends_the_run_that_began(way: str) -> None:
    listener = RunListener()
    model = with_optimizer(ScriptedModel(window=200))
    with pytest.raises(RequestOverflowError):
        getattr(model, way)(PAGE * 60, {"callbacks": [listener]}) if way == "invoke" else list(
            model.stream(PAGE * 60, {"callbacks": [listener]})
        )
    assert [type(error) for error in listener.failed] == [RequestOverflowError]


def test_l12_a_retry_sends_the_same_again() -> None:
    class Flaky(ScriptedModel):
        def _answer(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
            answer = super()._answer(messages, options)
            if len(self.heard) == 1:
                raise ConnectionError
            return answer

    double = Flaky(window=700)
    chain = with_optimizer(double).with_retry(retry_if_exception_type=(ConnectionError,), wait_exponential_jitter=False)
    chain.invoke(CHAT)
    assert double.heard[0] == double.heard[1]


def test_l12_messages_that_fit_are_the_identical_objects() -> None:
    double = ScriptedModel(window=700)
    given = [HumanMessage("Hi"), AIMessage("Hello."), HumanMessage("Where?")]
    with_optimizer(double).invoke(given)
    assert [a is b for a, b in zip(double.heard[0], given, strict=True)] == [True] * 3
