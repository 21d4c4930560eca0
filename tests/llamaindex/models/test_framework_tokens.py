"""What LlamaIndex measures of a message is told to the token, and nothing is set, downloaded or raised for it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import llama_index.core
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms import types as block_types
from llama_index.core.base.llms.types import (
    AudioBlock,
    BaseContentBlock,
    CacheControl,
    CachePoint,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.utilities.token_counting import TokenCounter

from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from drawn_examples import examples
from hostile_text import hostile_text
from llamaindex_ctxopt.models.framework_tokens import framework_counter, framework_tokens
from llamaindex_messages import PNG, call_object
from request_tokens import count_text, load_encoding
from shape_rows import SPECIAL, call

ENCODING = "cl100k_base"
COUNTER = TiktokenCounter(ENCODING)
URL = "https://lanterns.invalid/a"
POINT = CachePoint(cache_control=CacheControl(type="ephemeral"))
CITABLE = CitableBlock(title="Lit", source="a.txt", content=[TextBlock(text="all lit"), TextBlock(text="dark")])
CITATION = CitationBlock(title="Lit", source="a.txt", cited_content="all lit", additional_location_info={"page": 3})
KWARGS: Any = [{}, {"lantern": 7}, {"a": {"b": ["é", None, 1.5, True]}}, '{"lantern": 7}', '{"lan', ""]


@contextmanager
def tokenizer_of_the_process(function: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama_index.core, "global_tokenizer", function)
        yield


def measured(message: ChatMessage) -> int:
    """Return what LlamaIndex says, special tokens being ordinary text."""
    encode = load_encoding(ENCODING).encode_ordinary
    with tokenizer_of_the_process(encode):
        return TokenCounter(encode).estimate_tokens_in_messages([message])


def said(*blocks: Any, role: str = "assistant", **extra: Any) -> ChatMessage:
    texts = [TextBlock(text=block) if isinstance(block, str) else block for block in blocks]
    return ChatMessage(role=role, blocks=texts, additional_kwargs=extra)


@pytest.mark.parametrize(
    "message",
    [
        *(pytest.param(said("all lit", role=role.value), id=f"role {role.value}") for role in MessageRole),
        pytest.param(said(), id="nothing"),
        pytest.param(said("first", "", "second"), id="texts"),
        pytest.param(said(SPECIAL), id="special tokens"),
        pytest.param(said("all lit", POINT), id="cache point"),
        pytest.param(said(ThinkingBlock(content="I see")), id="thinking"),
        pytest.param(said(ThinkingBlock(content="I see", num_tokens=90)), id="thinking that was counted"),
        pytest.param(said(ThinkingBlock()), id="no thinking"),
        pytest.param(said(CITABLE, CITATION), id="citable and citation"),
        *(
            pytest.param(said(ToolCallBlock(tool_call_id="1", tool_name="f", tool_kwargs=kwargs)), id=f"call {number}")
            for number, kwargs in enumerate(KWARGS)
        ),
        pytest.param(said(ToolCallBlock(tool_name="f")), id="call without an id"),
        pytest.param(said(tool_calls=[call_object(call("1")), call_object(call("2"))]), id="calls as objects"),
        pytest.param(said(tool_calls=[call("1"), call("2")]), id="calls as mappings"),
        pytest.param(said(tool_calls=[SimpleNamespace(function=None), SimpleNamespace(id="1")]), id="no functions"),
        pytest.param(said(tool_calls=None), id="no calls"),
        pytest.param(said(function_call={"name": "f", "arguments": '{"lantern": 7}'}), id="function_call"),
        pytest.param(said(function_call={}), id="empty function_call"),
        pytest.param(said("lit", role="tool", tool_call_id="1", name="f", session_id="s"), id="other arguments"),
        pytest.param(said(ImageBlock(image=PNG)), id="image"),
        pytest.param(said(DocumentBlock(data=b"%PDF")), id="document"),
        pytest.param(said(AudioBlock(audio=b"RIFF" * 50)), id="audio of no known length"),
        pytest.param(said(VideoBlock(video=b"RIFF" * 50)), id="video of no known length"),
        pytest.param(said(CitableBlock(title="t", source="s", content=[DocumentBlock(data=b"%PDF")])), id="nested"),
    ],
)
def test_t2_a_message_is_measured_as_llamaindex_measures_it(message: ChatMessage) -> None:
    assert framework_tokens(message, COUNTER) == measured(message)


def blocks() -> st.SearchStrategy[Any]:
    texts = hostile_text(4).filter(str.isprintable)
    names = st.sampled_from(["f", "look_up", "é"])
    values = st.recursive(st.none() | st.booleans() | st.integers(-99, 99) | texts, st.lists, max_leaves=4)
    kwargs = st.dictionaries(texts, values, max_size=3) | texts
    return st.one_of(
        texts.map(lambda text: TextBlock(text=text)),
        st.builds(
            lambda text, tokens: ThinkingBlock(content=text, num_tokens=tokens),
            texts | st.none(),
            st.sampled_from([None, 0, 7]),
        ),
        st.builds(lambda text: CitableBlock(title="Lit", source="a.txt", content=text), texts),
        st.builds(
            lambda name, given: ToolCallBlock(tool_call_id="1", tool_name=name, tool_kwargs=given), names, kwargs
        ),
    )


def legacy() -> st.SearchStrategy[dict[str, Any]]:
    arguments = hostile_text(4)
    calls = arguments.map(lambda text: call("1", arguments=text))
    return st.one_of(
        st.just({}),
        st.lists(st.one_of(calls, calls.map(call_object)), max_size=3).map(lambda held: {"tool_calls": held}),
        arguments.map(lambda text: {"function_call": {"name": "f", "arguments": text}}),
    )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(MessageRole)), st.lists(blocks(), max_size=4), legacy())
def test_t2_every_message_is_measured_as_llamaindex_measures_it(role: MessageRole, held: Any, extra: Any) -> None:
    message = ChatMessage(role=role, blocks=held, additional_kwargs=extra)
    assert framework_tokens(message, COUNTER) == measured(message)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        pytest.param(said(tool_calls=[call_object(call("1", arguments=None))]), 3, id="PR 23104: None"),
        pytest.param(
            said(tool_calls=[call_object(call("1", arguments={"lantern": 7}))]),
            3 + count_text('{"lantern": 7}', ENCODING),
            id="PR 19599: a mapping",
        ),
    ],
)
def test_t2_pr23104_arguments_that_are_no_text_are_measured_all_the_same(message: ChatMessage, tokens: int) -> None:
    with pytest.raises(TypeError):
        measured(message)
    expected = 3 + count_text("assistant", ENCODING) + count_text("inspect", ENCODING) + tokens
    assert framework_tokens(message, COUNTER) == expected


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(said(function_call=None), id="function_call is None"),
        pytest.param(said(function_call=SimpleNamespace(name="f", arguments=None)), id="function_call is an object"),
        pytest.param(said(ToolCallBlock(tool_name="f", tool_kwargs={"text": "\ud800"})), id="half a character"),
        pytest.param(said(ToolCallBlock(tool_name="f", tool_kwargs={"text": object()})), id="an object"),
        pytest.param(said(ThinkingBlock(num_tokens=-9)), id="fewer than no tokens"),
    ],
)
def test_t5_nothing_is_raised(message: ChatMessage) -> None:
    assert 4 <= framework_tokens(message, COUNTER) < 60


class Sketch(BaseContentBlock):
    """A kind of block that nobody knows."""

    drawing: bytes = b"0" * 9_000


def test_t13_a_block_of_an_unknown_class_is_charged_like_any_other_attachment() -> None:
    message = said()
    message.blocks = [Sketch()]  # type: ignore[list-item]
    assert framework_tokens(message, COUNTER) == 4 + count_text('{"drawing":""}', ENCODING) + 500


def test_t13_media_are_never_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        message = "media must not be resolved"
        raise AssertionError(message)

    monkeypatch.setattr(block_types, "resolve_binary", never)
    message = said(ImageBlock(url=URL), AudioBlock(url=URL), VideoBlock(url=URL), DocumentBlock(url=URL), ImageBlock())
    assert framework_tokens(message, COUNTER) == 4 + 2125 + 256 + 2048 + 512 + 2125


def test_t7_reading_the_counter_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_index.core, "global_tokenizer", None)
    settings_before = dict(vars(llama_index.core.Settings))
    assert framework_counter() == TiktokenCounter(ENCODING)
    assert framework_counter().count("all lit") == count_text("all lit", ENCODING)
    assert llama_index.core.global_tokenizer is None
    assert vars(llama_index.core.Settings) == settings_before


def test_t7_a_tokenizer_of_the_process_is_what_counts() -> None:
    words: Any = str.split
    with tokenizer_of_the_process(words):
        counter = framework_counter()
        assert counter.count("all lanterns lit") == 3
        assert framework_counter() is counter
    with tokenizer_of_the_process(list):
        assert framework_counter().count("all lit") == 7


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("form", ["encode", "own", "ordinary"])
def test_t5_issue_12863_special_tokens_are_text_whatever_way_tiktoken_was_set(name: str, form: str) -> None:
    encoding = load_encoding(name)
    forms = {
        "encode": encoding.encode,
        "own": functools.partial(encoding.encode, allowed_special="all"),
        "ordinary": encoding.encode_ordinary,
    }
    with tokenizer_of_the_process(forms[form]):
        assert framework_counter() == TiktokenCounter(name)
        assert framework_counter().count(SPECIAL) == count_text(SPECIAL, name)


def test_t5_an_encoding_of_the_users_own_counts_ordinary_text() -> None:
    import tiktoken

    base = load_encoding(ENCODING)
    own = tiktoken.Encoding(
        "lanterns", pat_str=base._pat_str, mergeable_ranks=base._mergeable_ranks, special_tokens={"<|lit|>": 100_300}
    )
    with tokenizer_of_the_process(own.encode):
        counter = framework_counter()
        assert counter.name == "lanterns"
        assert counter.count("<|lit|>") == len(own.encode_ordinary("<|lit|>"))


def test_t7_a_tokenizer_that_cannot_be_called_is_named() -> None:
    not_callable: Any = SimpleNamespace()
    with tokenizer_of_the_process(not_callable), pytest.raises(TypeError, match="`tokenizer` must be"):
        framework_counter()
