"""Sources of summaries: models of both frameworks and functions, known by what they can do."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from counting_summaries import Answer, AwaitedAnswer, AwaitedModel, CountingAnswer, PlainModel
from ctxopt_core.runtime.event_loop import in_worker
from ctxopt_core.summaries.model_summarizer import source_of, text_of_answer

NAME_OF_COUNTING = "counting_summaries.CountingAnswer"


def shout(text):
    return text.upper()


async def shout_awaited(text):
    return text.upper()


def returns_an_awaitable(text):
    return shout_awaited(text)


def fake_chat_models():
    return pytest.importorskip("langchain_core.language_models.fake_chat_models")


def chat_model(*answers):
    messages = pytest.importorskip("langchain_core.messages")
    return fake_chat_models().GenericFakeChatModel(messages=iter([messages.AIMessage(answer) for answer in answers]))


def list_chat_model(*answers):
    return fake_chat_models().FakeListChatModel(responses=list(answers))


def text_model(*answers):
    models = pytest.importorskip("langchain_core.language_models.fake")
    return models.FakeListLLM(responses=list(answers))


def bound_model(*answers):
    return list_chat_model(*answers).with_config(tags=["nostream"])


def llamaindex_model():
    return pytest.importorskip("llama_index.core.llms").MockLLM(max_tokens=2)


MODELS = {
    "langchain_chat": (lambda: chat_model("It is so."), "It is so."),
    "langchain_chat_in_blocks": (lambda: chat_model([{"type": "text", "text": "It is "}, "so."]), "It is so."),
    "langchain_chat_of_texts": (lambda: list_chat_model("It is so."), "It is so."),
    "langchain_text": (lambda: text_model("It is so."), "It is so."),
    "langchain_bound": (lambda: bound_model("It is so."), "It is so."),
    "llamaindex": (llamaindex_model, "text text"),
    "methods": (PlainModel, "They talked."),
}
AWAITED = {
    "coroutine": (lambda: shout_awaited, "HELLO"),
    "object": (AwaitedAnswer, "They talked."),
    "partial": (lambda: partial(shout_awaited), "HELLO"),
    "returns_an_awaitable": (lambda: returns_an_awaitable, "HELLO"),
    "model": (AwaitedModel, "They talked."),
}


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
@pytest.mark.parametrize(("make", "text"), MODELS.values(), ids=MODELS.keys())
async def test_h16_every_kind_of_model_answers(make, text, awaited):
    source = source_of(make())
    assert source.is_model
    answer = await in_worker(source.answer, "Hello") if awaited else source.answer("Hello")
    assert text_of_answer(answer) == text


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
@pytest.mark.parametrize(
    "make", [shout, CountingAnswer("HELLO"), partial(shout)], ids=["function", "object", "partial"]
)
async def test_h16_every_kind_of_function_answers(make, awaited):
    source = source_of(make)
    assert not source.is_model
    assert (await in_worker(source.answer, "hello") if awaited else source.answer("hello")) == "HELLO"


@pytest.mark.parametrize(("make", "text"), AWAITED.values(), ids=AWAITED.keys())
async def test_h16_what_is_awaited_answers_when_a_loop_waits(make, text):
    source = source_of(make())
    assert text_of_answer(await in_worker(source.answer, "hello")) == text
    with pytest.raises(TypeError, match=r"`source` .* can only be awaited.*`afit` or `ainvoke`"):
        source.answer("hello")


async def test_inherited_coroutines_that_would_block_the_loop_are_not_used():
    base = pytest.importorskip("llama_index.core.llms").MockLLM
    threads = []

    class Plain(base):
        def complete(self, prompt, formatted=False, **kwargs):
            threads.append(threading.current_thread())
            return super().complete(prompt, formatted, **kwargs)

    class Own(Plain):
        async def acomplete(self, prompt, formatted=False, **kwargs):
            return self.complete(prompt, formatted, **kwargs)

    for model, on_loop in ((Plain(max_tokens=1), False), (Own(max_tokens=1), True)):
        threads.clear()
        assert text_of_answer(await in_worker(source_of(model).answer, "hello")) == "text"
        assert [thread is threading.main_thread() for thread in threads] == [on_loop]


async def test_a_plain_model_of_langchain_does_not_run_on_the_loop():
    models = fake_chat_models()
    threads = []

    class Plain(models.FakeListChatModel):
        def _call(self, *args, **kwargs):
            threads.append(threading.current_thread().name)
            return super()._call(*args, **kwargs)

    class Own(Plain):
        async def _agenerate(self, *args, **kwargs):
            return self._generate(*args, **kwargs)

    for model, named in ((Plain(responses=["so"]), "ctxopt"), (Own(responses=["so"]), "MainThread")):
        threads.clear()
        assert (await in_worker(source_of(model).answer, "hello")).content == "so"
        assert [name.startswith(named) for name in threads] == [True]


async def test_an_awaited_answer_runs_on_the_loop_that_waits():
    answer = AwaitedAnswer()
    await in_worker(source_of(answer).answer, "hello")
    assert answer.loops == [asyncio.get_running_loop()]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("text", "text"),
        (Answer(content="text"), "text"),
        (Answer(text="text"), "text"),
        (Answer(content=None, text="text"), "text"),
        (Answer(content=["te", {"type": "text", "text": "xt"}]), "text"),
        (Answer(content=[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "text"}]), "text"),
        (Answer(content=[{"type": "reasoning", "text": "hm"}]), ""),
        (Answer(content=[{"type": "text", "text": None}, 5]), ""),
        (Answer(content=[]), ""),
        (Answer(content=5), None),
        (Answer(text=lambda: "text"), None),
        (Answer(), None),
        (None, None),
        (b"text", None),
        (["text"], None),
        ({"content": "text"}, None),
    ],
)
def test_the_text_of_an_answer(answer, text):
    assert text_of_answer(answer) == text


def test_a_text_of_a_framework_comes_back_as_a_plain_text():
    kind = type("Text", (str,), {})
    assert type(text_of_answer(Answer(content=kind("text")))) is str


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (PlainModel(), "plain-1"),
        (AwaitedModel(), "awaited-1"),
        (shout, f"{__name__}.shout"),
        (partial(shout), f"{__name__}.shout"),
        (str.upper, "str.upper"),
        (CountingAnswer(), NAME_OF_COUNTING),
        (CountingAnswer().__call__, f"{NAME_OF_COUNTING}.__call__"),
    ],
    ids=["model_name", "model", "function", "partial", "builtin", "object", "method"],
)
def test_a_source_is_named_by_its_model_or_function(source, name):
    assert source_of(source).name == name


@pytest.mark.parametrize("model", [" ", 5, None], ids=repr)
def test_a_model_attribute_that_is_no_name_is_none(model):
    source = CountingAnswer()
    source.model = model
    assert source_of(source).name == NAME_OF_COUNTING


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "got NoneType"),
        ("gpt-4o", "got str"),
        (PlainModel, "got the class PlainModel"),
        (object(), "got object"),
        ({}, "got dict"),
    ],
    ids=["none", "name", "class", "object", "dict"],
)
def test_what_is_no_source_is_refused(source, said):
    with pytest.raises(TypeError, match=f"`source` must be an instance of a LangChain or LlamaIndex.*{said}"):
        source_of(source)
