"""What of a message's blocks is counted, and what is left of them when texts are shorter."""

from __future__ import annotations

import json
from typing import Any

import pytest
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
from llama_index.core.llms import ChatMessage

from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened
from llamaindex_ctxopt.messages.blocks import put_blocks_together, take_apart_blocks
from llamaindex_ctxopt.messages.message_views import view_of
from llamaindex_messages import PNG
from request_tokens import count_text

COUNTER = counter_for("o200k_base")
FRAMING = 4
URL = "https://lanterns.invalid/a"
POINT = CachePoint(cache_control=CacheControl(type="ephemeral"))
CALL = ToolCallBlock(tool_call_id="call_7", tool_name="inspect", tool_kwargs={"lantern": 7})
CALL_TOKENS = count_text("inspect") + count_text('{"lantern": 7}') + count_text("call_7")
CITED = count_text("Lit") + count_text("a.txt") + count_text("all lit")
LOCATION = {"page": 3}


class Loud(TextBlock):
    """A block class of an application."""

    volume: int = 11


class Sketch(BaseContentBlock):
    """A kind of block that nobody knows."""

    block_type: str = "sketch"
    caption: str = "all lit"
    drawing: bytes | None = None
    url: str | None = None


def cost(*blocks: Any) -> int:
    message = ChatMessage(role="assistant")
    message.blocks = list(blocks)
    return message_tokens(view_of(message), COUNTER) - FRAMING


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        pytest.param(TextBlock(text="all lit"), count_text("all lit"), id="text"),
        pytest.param(Loud(text="all lit"), count_text("all lit"), id="text of an application"),
        pytest.param(TextBlock(text=""), 0, id="empty text"),
        pytest.param(POINT, 0, id="cache point"),
        pytest.param(ThinkingBlock(content="I see"), count_text("I see"), id="thinking"),
        pytest.param(ThinkingBlock(content="I see", num_tokens=90), 90, id="thinking that was counted"),
        pytest.param(ThinkingBlock(num_tokens=90), 90, id="thinking that is hidden"),
        pytest.param(ThinkingBlock(content="I see", num_tokens=0), count_text("I see"), id="thinking counted as none"),
        pytest.param(ThinkingBlock(), 0, id="no thinking"),
        pytest.param(CALL, CALL_TOKENS, id="call"),
        pytest.param(
            ToolCallBlock(tool_name="inspect", tool_kwargs='{"lantern": '),
            count_text("inspect") + count_text('{"lantern": '),
            id="call with broken arguments",
        ),
        pytest.param(CitableBlock(title="Lit", source="a.txt", content="all lit"), CITED, id="citable"),
        pytest.param(
            CitableBlock(title="Lit", source="a.txt", content=[TextBlock(text="all lit"), DocumentBlock(url=URL)]),
            CITED + 1000,
            id="citable with a document",
        ),
        pytest.param(
            CitationBlock(title="Lit", source="a.txt", cited_content="all lit", additional_location_info=LOCATION),
            CITED,
            id="citation",
        ),
        pytest.param(ImageBlock(image=PNG), 850, id="image"),
        pytest.param(ImageBlock(url=URL), 850, id="image by address"),
        pytest.param(ImageBlock(), 850, id="image that is not there"),
        pytest.param(AudioBlock(url=URL), 500, id="audio"),
        pytest.param(VideoBlock(url=URL), 500, id="video"),
        pytest.param(DocumentBlock(data=b"%PDF" * 5_000), 1000, id="document"),
        pytest.param(DocumentBlock(), 1000, id="document that is not there"),
    ],
)
def test_t2_a_block_is_counted_as_what_is_sent_of_it(
    block: BaseContentBlock, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_types, "resolve_binary", _never)
    assert cost(block) == tokens


def _never(*_: Any, **__: Any) -> None:
    message = "media must not be resolved"
    raise AssertionError(message)


def test_t13_a_block_of_an_unknown_class_is_counted_without_its_bytes() -> None:
    told = {"block_type": "sketch", "caption": "all lit", "drawing": ""}
    expected = count_text(json.dumps(told | {"url": None}, separators=(",", ":"))) + 500
    assert cost(Sketch(drawing=b"0" * 9_000)) == expected
    assert cost(Sketch(url="x" * 9_000)) < 600


def test_an_item_that_is_no_block_is_named() -> None:
    with pytest.raises(TypeError, match="`blocks` must hold content blocks, got str; wrap strings in TextBlock"):
        cost("all lit")


def test_h8_thinking_seals_the_calls_beside_it() -> None:
    assert take_apart_blocks([CALL]).calls[0].fixed is False
    assert take_apart_blocks([ThinkingBlock(content="I see"), CALL]).calls[0].fixed is True
    assert take_apart_blocks([CALL, ThinkingBlock()]).calls[0].fixed is True


def shortened(*texts: str, **changes: Any) -> Shortened:
    return Shortened(texts=texts, tokens=1, **changes)


def left(blocks: list[Any], cut: Shortened) -> list[Any]:
    before = [block.model_copy(deep=True) for block in blocks]
    found = put_blocks_together(blocks, cut.texts, cut)
    assert blocks == before
    return found


def test_a_text_that_is_as_it_was_is_the_identical_block() -> None:
    first, second = TextBlock(text="first"), TextBlock(text="second")
    found = left([first, POINT, second, CALL], shortened("first", "sec"))
    assert [found[0], found[1], found[3]] == [first, POINT, CALL]
    assert found[0] is first
    assert found[1] is POINT
    assert found[3] is CALL
    assert found[2] == TextBlock(text="sec")


def test_a_shortened_text_keeps_its_class_and_fields() -> None:
    assert left([Loud(text="all lit", volume=3)], shortened("all")) == [Loud(text="all", volume=3)]


def test_h13_a_text_of_which_nothing_is_left_goes_and_a_cache_point_keeps_its_place() -> None:
    blocks = [TextBlock(text="first"), POINT, TextBlock(text="second")]
    assert left(blocks, shortened("", "second")) == [POINT, blocks[2]]
    assert left(blocks, shortened("first", "")) == [blocks[0], POINT]


def test_h11_attachments_leave_one_text_that_says_so() -> None:
    text = TextBlock(text="Look.")
    blocks = [text, ImageBlock(image=PNG), AudioBlock(url=URL), VideoBlock(url=URL), DocumentBlock(url=URL)]
    assert left(blocks, shortened("Look.", attachments_omitted=True)) == [text, TextBlock(text=ATTACHMENT_OMITTED)]
    assert left(blocks, shortened("Look.")) == blocks


@pytest.mark.parametrize(
    "block",
    [
        ThinkingBlock(content="I see", additional_information={"signature": "s"}),
        CitableBlock(title="Lit", source="a.txt", content=[ImageBlock(image=PNG)]),
        CitationBlock(title="Lit", source="a.txt", cited_content="all lit", additional_location_info=LOCATION),
        Sketch(drawing=b"0"),
    ],
)
def test_h8_what_may_not_be_edited_stays_the_identical_block(block: BaseContentBlock) -> None:
    found = left([block, TextBlock(text="second")], shortened("", attachments_omitted=True))
    assert len(found) == 1
    assert found[0] is block


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"text": "lit " * 90}, {"text": "…"}, id="a mapping stays a mapping"),
        pytest.param('{"text": "lit lit lit"}', '{"text": "…"}', id="a text stays a text"),
    ],
)
def test_h10_shorter_arguments_go_back_in_their_own_form(given: Any, expected: Any) -> None:
    whole = ToolCallBlock(tool_call_id="call_8", tool_name="write", tool_kwargs={"text": "short"})
    blocks = [whole, ToolCallBlock(tool_call_id="call_9", tool_name="write", tool_kwargs=given)]
    found = left(blocks, shortened(arguments={1: '{"text": "…"}'}))
    assert found[0] is whole
    assert found[1] == blocks[1].model_copy(update={"tool_kwargs": expected})
