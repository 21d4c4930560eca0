"""An LLM that fits its own requests is still that LLM: its class, its callbacks, its structured answers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseGen
from llama_index.core.bridge.pydantic import BaseModel, Field, PrivateAttr
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatStartEvent, LLMCompletionStartEvent
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate
from llama_index.core.tools import FunctionTool

from llamaindex_chats import faults, long_chat
from llamaindex_ctxopt.guard.llm import OptimizedLLM, with_optimizer
from made_up_texts import text_of
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM, calling

CHAT = long_chat()
WINDOW = 2_000
LIMIT = WINDOW - 256


class Count(BaseModel):
    """How many lanterns there are."""

    lanterns: int


def page(number: int) -> str:
    """Return one page of the log."""
    return str(number)


class Watcher(BaseEventHandler):
    """Keeps the events of requests."""

    seen: list[Any] = Field(default_factory=list)

    def handle(self, event: Any, **kwargs: Any) -> None:
        if isinstance(event, LLMChatStartEvent | LLMCompletionStartEvent):
            self.seen.append(event)


class WithClient(ScriptedLLM):
    """An LLM with a client, as integrations have."""

    _client: Any = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._client = iter(())  # cannot be copied in depth nor pickled


def guarded(**fields: Any) -> tuple[OptimizedLLM, ScriptedLLM]:
    """Return an optimized LLM and the one that it was made of; they share what they hear."""
    double = ScriptedLLM(**{"context_window": WINDOW, **fields})
    return with_optimizer(double), double


@pytest.fixture
def events() -> Iterator[list[Any]]:
    watcher, root = Watcher(), get_dispatcher()
    root.add_event_handler(watcher)
    yield watcher.seen
    root.event_handlers.remove(watcher)


def test_i4_it_is_an_llm_of_the_same_class_with_the_same_fields() -> None:
    llm, double = guarded()
    assert isinstance(llm, ScriptedLLM)
    assert isinstance(llm, FunctionCallingLLM)
    assert (type(llm).__name__, type(llm).__module__) == ("ScriptedLLM", "scripted_llms")
    assert (llm.class_name(), llm.metadata) == (double.class_name(), double.metadata)
    assert llm.to_dict() == double.to_dict()
    assert llm.to_payload() == double.to_payload()
    assert llm.callback_manager is double.callback_manager
    assert type(double) is ScriptedLLM
    assert not isinstance(double, OptimizedLLM)


def test_i4_clients_and_other_private_attributes_are_shared() -> None:
    double = WithClient(context_window=WINDOW)
    llm = with_optimizer(double)
    assert isinstance(llm, WithClient)
    assert llm._client is double._client
    assert llm.model_copy()._client is double._client


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda llm: llm.model_copy(), id="model_copy"),
        pytest.param(lambda llm: llm.model_copy(update={"context_window": WINDOW}), id="model_copy with a change"),
        pytest.param(copy.copy, id="copy"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(lambda llm: pickle.loads(pickle.dumps(llm)), id="pickle"),  # noqa: S301
    ],
)
def test_i4_copies_keep_fitting(made: Any) -> None:
    llm = made(with_optimizer(ScriptedLLM(context_window=8_000), target_tokens=1_000))
    llm.chat(CHAT)
    [call] = llm.calls
    assert faults(CHAT, call, 1_000) == []
    assert llm.last_report.input_budget == 1_000
    assert llm.with_changes(trigger=0.5).chat(CHAT)
    assert llm.calls[-1].tokens < 500


def test_i4_reports_are_shared_by_copies_and_not_by_other_llms() -> None:
    llm, double = guarded()
    llm.model_copy().chat(CHAT)
    assert llm.last_report is not None
    assert with_optimizer(double).last_report is None


@pytest.mark.parametrize("double", [ScriptedLLM(context_window=WINDOW), ScriptedCompletionLLM(context_window=WINDOW)])
async def test_i4_events_and_callbacks_tell_what_was_sent(double: Any, events: list[Any]) -> None:
    handler = LlamaDebugHandler(print_trace_on_end=False)
    double.callback_manager = CallbackManager([handler])
    llm = with_optimizer(double)
    llm.chat(CHAT)
    await llm.achat(CHAT)
    [chat, achat] = [event for event in events if isinstance(event, LLMChatStartEvent)][-2:]
    assert len(chat.messages) == len(achat.messages) < len(CHAT)
    logged = [
        pair[0].payload[EventPayload.MESSAGES]
        for pair in handler.get_event_pairs(CBEventType.LLM)
        if EventPayload.MESSAGES in pair[0].payload
    ]
    assert {len(messages) for messages in logged} == {len(chat.messages)}
    if isinstance(double, ScriptedLLM):
        assert len(events) == len(logged) == 2
        assert double.calls[0].given == chat.messages == logged[0]


async def test_i4_predict_and_stream_send_the_system_prompt_of_the_llm_within_the_budget() -> None:
    llm, double = guarded(system_prompt=text_of("You keep the log.", 300))
    prompt = ChatPromptTemplate(message_templates=[*CHAT[1:-1], ChatMessage(role="user", content="{question}")])
    llm.predict(prompt, question="How many?")
    await llm.apredict(prompt, question="How many?")
    assert "".join(llm.stream(prompt, question="How many?"))
    assert "".join([token async for token in await llm.astream(prompt, question="How many?")])
    assert len(double.calls) == 4
    for call in double.calls:
        assert not call.over
        assert call.rows[0] == {"role": "system", "content": llm.system_prompt}
        assert call.rows[-1]["content"] == "How many?"


async def test_i4_structured_prediction_works_and_its_schema_is_counted() -> None:
    llm, double = guarded(answers=[calling(("Count", {"lanterns": 40}))] * 4)
    prompt = ChatPromptTemplate(message_templates=CHAT)
    assert llm.structured_predict(Count, prompt) == Count(lanterns=40)
    assert await llm.astructured_predict(Count, prompt) == Count(lanterns=40)
    assert llm.as_structured_llm(Count).chat(CHAT).raw == Count(lanterns=40)
    assert (await llm.as_structured_llm(Count).achat(CHAT)).raw == Count(lanterns=40)
    assert len(double.calls) == 4
    for call in double.calls:
        assert call.schemas[0]["function"]["name"] == "Count"
        assert faults(CHAT, call, LIMIT) == []


def test_i4_a_structured_llm_is_refused_with_the_remedy() -> None:
    structured = ScriptedLLM().as_structured_llm(Count)
    with pytest.raises(TypeError, match=r"with_optimizer\(llm\).as_structured_llm"):
        with_optimizer(structured)


async def test_i4_tools_are_called_as_before() -> None:
    llm, double = guarded(answers=[calling(("page", {"number": 7}))] * 4)
    tools = [FunctionTool.from_defaults(page)]
    assert str(llm.predict_and_call(tools, chat_history=CHAT)) == "7"
    assert str(await llm.apredict_and_call(tools, chat_history=CHAT)) == "7"
    assert llm.get_tool_calls_from_response(llm.chat_with_tools(tools, chat_history=CHAT))[0].tool_name == "page"
    chunks = [chunk async for chunk in await llm.astream_chat_with_tools(tools, chat_history=CHAT)]
    assert llm.get_tool_calls_from_response(chunks[-1])[0].tool_name == "page"
    assert [faults(CHAT, call, LIMIT) for call in double.calls] == [[]] * 4


class LateStream(ScriptedCompletionLLM):
    """A completion model whose stream makes its request when it is first read."""

    def stream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseGen:
        for chunk in self.stream_complete(self.messages_to_prompt(messages), formatted=True, **kwargs):
            yield ChatResponse(message=ChatMessage(role="assistant", content=chunk.text), delta=chunk.delta)


async def test_i4_a_stream_that_asks_late_is_fitted_once() -> None:
    reports: list[Any] = []
    llm = with_optimizer(LateStream(context_window=WINDOW), on_report=reports.append)
    assert list(llm.stream_chat(CHAT))
    assert [chunk async for chunk in await llm.astream_chat(CHAT)]
    assert [call.over for call in llm.calls] == [False, False]
    assert [report.unchanged for report in reports] == [False, False]


async def test_i4_a_stream_that_is_left_early_is_closed() -> None:
    closed: list[str] = []

    class Closing(ScriptedLLM):
        def stream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseGen:
            try:
                yield from super().stream_chat(messages, **kwargs)
            finally:
                closed.append("stream")

        async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
            async def chunks() -> Any:
                try:
                    async for chunk in await super(Closing, self).astream_chat(messages, **kwargs):
                        yield chunk
                finally:
                    closed.append("astream")

            return chunks()

    llm = with_optimizer(Closing(context_window=WINDOW))
    stream = llm.stream_chat(CHAT)
    next(stream)
    stream.close()
    async_stream = await llm.astream_chat(CHAT)
    await anext(async_stream)
    await async_stream.aclose()
    assert closed == ["stream", "astream"]


class Relay(ScriptedLLM):
    """An LLM that asks another one."""

    other: LLM

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.other.chat(messages, **kwargs)


def test_i4_an_llm_that_asks_another_one_does_not_spare_it_from_fitting() -> None:
    inner, double = guarded()
    outer = with_optimizer(Relay(context_window=100_000, other=inner))
    outer.chat(CHAT)
    assert outer.last_report is not None
    assert outer.last_report.unchanged
    assert faults(CHAT, double.calls[0], LIMIT) == []


class Reviewing(ScriptedLLM):
    """An LLM that makes a second request of its own out of the first."""

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        draft = super().chat(messages, **kwargs).message
        if messages[-1].content == "Review that.":
            return ChatResponse(message=draft)
        return self.chat([*CHAT, draft, ChatMessage(role="user", content="Review that.")])


def test_i4_another_request_of_the_same_llm_is_fitted_too() -> None:
    llm = with_optimizer(Reviewing(context_window=WINDOW))
    llm.chat(CHAT)
    assert [call.rows[-1]["content"] for call in llm.calls] == [CHAT[-1].content, "Review that."]
    assert [call.over for call in llm.calls] == [False, False]


def test_i4_llamaindex_own_mock_works() -> None:
    llm = with_optimizer(MockLLM(max_tokens=5), context_window=1_000)
    assert llm.complete("Hi").text == "text text text text text"
    assert llm.chat(CHAT).message.content == "text text text text text"
    assert llm.predict(PromptTemplate("Say {word}."), word="Hi") == "text text text text text"
