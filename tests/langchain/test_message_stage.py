"""The stage after the prompt: every kind of input that a chat model takes, the same kind back."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import ChatPromptValue, ChatPromptValueConcrete, ImagePromptValue, StringPromptValue

from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import sent_tokens

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
LONG = SENTENCE * 30
TURNS = [(f"Question {i}? ", SENTENCE * 3) for i in range(20)]
OPTIMIZER = ContextOptimizer(max_input_tokens=150)


def as_messages() -> list[Any]:
    turns = [message for asked, said in TURNS for message in (HumanMessage(asked), AIMessage(said))]
    return [SystemMessage("Be brief."), *turns, HumanMessage("Which is lit?")]


def as_dicts(user: str = "user", assistant: str = "assistant") -> list[Any]:
    turns = [
        message
        for asked, said in TURNS
        for message in ({"role": user, "content": asked}, {"role": assistant, "content": said})
    ]
    return [{"role": "system", "content": "Be brief."}, *turns, {"role": user, "content": "Which is lit?"}]


def as_pairs(user: str = "human", assistant: str = "ai") -> list[Any]:
    turns = [message for asked, said in TURNS for message in ((user, asked), (assistant, said))]
    return [("system", "Be brief."), *turns, (user, "Which is lit?")]


def as_typed_dicts() -> list[Any]:
    return [{"type": role, "content": text} for role, text in as_pairs()]


def as_lists() -> list[Any]:
    return [list(pair) for pair in as_pairs()]


def mixed() -> list[Any]:
    kinds = [as_messages(), as_dicts(), as_pairs(), as_typed_dicts()]
    return [kinds[index % 4][index] for index in range(len(kinds[0]))]


LISTS = [
    pytest.param(as_messages(), id="messages"),
    pytest.param(as_dicts(), id="OpenAI dicts"),
    pytest.param(as_dicts("human", "ai"), id="dicts with LangChain's roles"),
    pytest.param(as_pairs(), id="pairs"),
    pytest.param(as_pairs("user", "assistant"), id="pairs with OpenAI's roles"),
    pytest.param(as_typed_dicts(), id="dicts with a type"),
    pytest.param(as_lists(), id="lists of two"),
    pytest.param(mixed(), id="mixed"),
]


@pytest.mark.parametrize("given", LISTS)
def test_i1_a_list_comes_back_as_a_list_of_the_same_items(given: list[Any]) -> None:
    before = copy.deepcopy(given)
    fitted = OPTIMIZER.invoke(given)
    assert type(fitted) is list
    assert sent_tokens(fitted) <= 150 < sent_tokens(given)
    originals = [item for item in fitted if any(item is original for original in given)]
    assert len(originals) >= len(fitted) - 2
    assert fitted[0] is given[0]
    assert fitted[-1] is given[-1]
    assert given == before


@pytest.mark.parametrize("given", LISTS)
def test_i1_all_forms_of_a_list_are_cut_alike(given: list[Any]) -> None:
    expected = [message.content for message in OPTIMIZER.invoke(as_messages())]
    assert [_text(item) for item in OPTIMIZER.invoke(given)] == expected


@pytest.mark.parametrize("given", LISTS)
def test_a1_a_list_that_fits_is_the_identical_object(given: list[Any]) -> None:
    assert OPTIMIZER.with_changes(max_input_tokens=sent_tokens(given)).invoke(given) is given
    assert OPTIMIZER.with_changes(max_input_tokens=sent_tokens(given) - 1).invoke(given) is not given


@pytest.mark.parametrize("given", LISTS)
def test_a16_fitting_twice_changes_nothing_more(given: list[Any]) -> None:
    once = OPTIMIZER.invoke(given)
    assert OPTIMIZER.invoke(once) is once
    again = OPTIMIZER.with_changes(max_input_tokens=100).invoke(once)
    assert sum("omitted]" in _text(item) for item in again) <= 1


@pytest.mark.parametrize("given", LISTS)
def test_i1_a_tuple_comes_back_as_a_tuple(given: list[Any]) -> None:
    fitted = OPTIMIZER.invoke(tuple(given))
    assert type(fitted) is tuple
    assert list(fitted) == OPTIMIZER.invoke(given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(LONG, id="text"),
        pytest.param(StringPromptValue(text=LONG), id="StringPromptValue"),
        pytest.param(ChatPromptValue(messages=as_messages()), id="ChatPromptValue"),
        pytest.param(ChatPromptValueConcrete(messages=as_messages()), id="ChatPromptValueConcrete"),
        pytest.param(HumanMessage(LONG, id="h", name="Orla"), id="one message of the user"),
        pytest.param(AIMessage(LONG, id="a"), id="one message of the model"),
        pytest.param(SystemMessage(LONG, id="s"), id="one system message"),
        pytest.param(ChatMessage(LONG, role="critic"), id="one message of another role"),
    ],
)
def test_i1_the_kind_of_the_input_is_kept(given: Any) -> None:
    before = copy.deepcopy(given)
    fitted = OPTIMIZER.invoke(given)
    assert type(fitted) is type(given)
    assert 100 < sent_tokens(fitted) <= 150 < sent_tokens(given)
    assert given == before
    assert OPTIMIZER.with_changes(max_input_tokens=9_999).invoke(given) is given


def test_i1_an_image_prompt_that_is_too_big_comes_back_as_a_chat_prompt() -> None:
    image = ImagePromptValue(image_url={"url": "data:image/png;base64," + "iVBO" * 9_000})
    assert ContextOptimizer(max_input_tokens=520).invoke(image) is image
    fitted = ContextOptimizer(max_input_tokens=150).invoke(image)
    assert isinstance(fitted, ChatPromptValue)
    assert [message.content for message in fitted.messages] == [[{"type": "text", "text": "[attachment omitted]"}]]


@pytest.mark.parametrize("empty", ["", [], (), StringPromptValue(text=""), ChatPromptValue(messages=[])])
def test_i1_nothing_is_left_as_it_is(empty: Any) -> None:
    assert OPTIMIZER.invoke(empty) is empty


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        pytest.param({"a": 1}, ValueError, "pass `prompt=` to ContextOptimizer", id="a dict without a prompt"),
        pytest.param({}, ValueError, "pass `prompt=` to ContextOptimizer", id="an empty dict"),
        pytest.param({"role": "user", "content": "x"}, ValueError, "prompt", id="a bare message dict"),
        pytest.param(7, TypeError, "a PromptValue, a list of messages or a string, got int", id="a number"),
        pytest.param(None, TypeError, "got NoneType", id="None"),
        pytest.param(b"text", TypeError, "got bytes", id="bytes"),
        pytest.param(iter(["text"]), TypeError, "got list_iterator", id="an iterator"),
        pytest.param([7], TypeError, "expected a message, .* got int", id="a number in a list"),
        pytest.param([("a", "b", "c")], TypeError, "expected a message, .* got tuple", id="a triple"),
        pytest.param([("a", 7)], TypeError, "expected a message, .* got tuple", id="a pair with a number"),
        pytest.param([{"text": "x"}], TypeError, "`role`", id="a dict without a role"),
        pytest.param(
            [{"role": "user"}], TypeError, "must have `content`, got only 'role'", id="a dict without content"
        ),
        pytest.param([{"role": "user", "content": 7}], TypeError, "`content`", id="a dict with a number"),
        pytest.param([RemoveMessage(id="1")], TypeError, "RemoveMessage .* apply it first", id="a removal"),
        pytest.param(
            [{"role": "remove", "content": "", "id": "1"}], TypeError, "apply it first", id="a removal as dict"
        ),
        pytest.param([("remove", "")], TypeError, "apply it first", id="a removal as pair"),
    ],
)
def test_i1_what_is_no_input_of_a_model_is_refused(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        OPTIMIZER.invoke(given)


@pytest.mark.parametrize("position", [0, 10, 20])
def test_i1_a_removal_is_refused_wherever_it_stands(position: int) -> None:
    given = as_messages()
    given.insert(position, RemoveMessage(id="1"))
    with pytest.raises(TypeError, match="RemoveMessage"):
        OPTIMIZER.invoke(given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(AIMessage(LONG), id="one message"),
        pytest.param([ToolMessage(LONG, tool_call_id="nowhere")], id="an orphan"),
        pytest.param([HumanMessage(" " * 4_000)], id="blanks"),
        pytest.param("<|endoftext|>" * 50, id="text"),
        pytest.param(SystemMessage(LONG), id="a system message"),
    ],
)
def test_a12_when_nothing_fits_nothing_empty_is_sent(given: Any) -> None:
    with pytest.raises(RequestOverflowError):
        ContextOptimizer(max_input_tokens=5).invoke(given)


def test_i1_text_parts_in_a_pair_are_cut_like_text() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/lantern.png"}}
    pair = ("human", [{"type": "text", "text": LONG}, image])
    [(role, content)] = ContextOptimizer(max_input_tokens=950).invoke([pair])
    assert role == "human"
    assert sent_tokens([(role, content)]) <= 950
    assert sent_tokens([pair]) > 950


def _text(item: Any) -> str:
    if isinstance(item, BaseMessage):
        return str(item.content)
    return str(item["content"] if isinstance(item, dict) else item[1])
