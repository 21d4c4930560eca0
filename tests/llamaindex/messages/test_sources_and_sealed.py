"""Citable blocks are cut, images go one by one, and sealed content is counted, in LlamaIndex's messages."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    CitableBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, fit
from ctxopt_core.conversation.message_tokens import message_tokens
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, kept_messages, view_of
from shape_rows import SENTENCE

WORDS = CallableCounter(lambda words: len(words.split()))
SEALED = "c2Vh" * 1_000
SEALED_TOKENS = 750


def page(number: int, pieces: int = 1) -> CitableBlock:
    content = [TextBlock(text=f"{number}: {SENTENCE * 10}") for _ in range(pieces)]
    return CitableBlock(title=f"Page {number}", source=f"{number}.txt", content=content)


def fitted(messages: list[ChatMessage], most: int) -> list[ChatMessage]:
    before = [message.model_copy(deep=True) for message in messages]
    found = fit(
        ContextRequest(history=LlamaIndexMessages(messages)), ContextBudget(max_input_tokens=most), counter=WORDS
    )
    left = kept_messages(messages, found.history)
    again = fit(ContextRequest(history=LlamaIndexMessages(left)), ContextBudget(max_input_tokens=most), counter=WORDS)
    assert found.report.tokens_after <= most
    assert again.unchanged
    assert messages == before
    return left


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("most", [100, 400])
def test_l18_citable_blocks_of_a_result_are_cut(most: int, pieces: int) -> None:
    call = ToolCallBlock(tool_call_id="a", tool_name="look", tool_kwargs={})
    messages = [
        ChatMessage("Which lantern?"),
        ChatMessage(role="assistant", blocks=[call]),
        ChatMessage(role="tool", blocks=[page(n, pieces) for n in range(20)], additional_kwargs={"tool_call_id": "a"}),
    ]
    left = fitted(messages, most)

    blocks: list[Any] = left[2].blocks
    assert [block.title for block in blocks] == [f"Page {n}" for n in range(len(blocks))]
    assert 1 <= len(blocks) < 20
    assert all(nested.text.strip() for block in blocks for nested in block.content)


def test_l18_a_citable_block_beside_the_question_is_cut_before_it() -> None:
    messages = [ChatMessage(role="user", blocks=[page(1), TextBlock(text="Which lantern is broken?")])]
    (left,) = fitted(messages, 60)

    assert left.blocks[-1] is messages[0].blocks[-1]
    assert left.blocks[0].title == "Page 1"


@pytest.mark.parametrize(("most", "kept"), [(600, 0), (1_000, 1), (2_000, 2), (2_900, 3)])
def test_l18_images_of_a_message_go_one_by_one_and_the_newest_last(most: int, kept: int) -> None:
    images = [ImageBlock(url=f"https://l.example/{n}.png") for n in range(3)]
    messages = [ChatMessage(role="user", blocks=[*images, TextBlock(text="Which?")])]
    (left,) = fitted(messages, most)

    assert [block for block in left.blocks if isinstance(block, ImageBlock)] == images[3 - kept :]


@pytest.mark.parametrize(
    "message",
    [
        ChatMessage(role="assistant", blocks=[ThinkingBlock(content="", additional_information={"signature": SEALED})]),
        ChatMessage(
            role="assistant", blocks=[ThinkingBlock(content="", additional_information={"encrypted_content": SEALED})]
        ),
        ChatMessage(role="assistant", content="lit", additional_kwargs={"thought_signatures": [None, SEALED]}),
        ChatMessage(role="assistant", content="lit", additional_kwargs={"thought_signatures": [b"\0" * 3_000]}),
    ],
    ids=["thought", "reasoning", "gemini", "bytes"],
)
def test_l13_sealed_content_is_counted_by_its_length(message: ChatMessage) -> None:
    assert SEALED_TOKENS <= message_tokens(view_of(message), WORDS) <= SEALED_TOKENS + 10


def test_l13_small_signatures_cost_nothing() -> None:
    thought = ThinkingBlock(content="I see", additional_information={"signature": "c2ln" * 100})

    assert message_tokens(view_of(ChatMessage(role="assistant", blocks=[thought])), WORDS) == 4 + 2
