"""What is left of LlamaIndex messages: the very originals, shortened copies, and one placeholder."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    CacheControl,
    CachePoint,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.schema import ImageDocument

from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, fit
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.messages.placeholder import is_placeholder
from ctxopt_core.shortening.shorten_message import Shortened
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, kept_messages, shortened_message
from llamaindex_messages import CALL_FORMS, PNG, CallForm, call_object, to_messages
from llamaindex_requests import rows_of, sent_tokens
from shape_rows import assistant, call, calling, filler, result, system, turns, user
from view_problems import problems

COUNTER = counter_for("o200k_base")
SHORT = '{"text": "…"}'
LONG = json.dumps({"text": "lit " * 90})
POINT = CachePoint(cache_control=CacheControl(type="ephemeral"))


class Function(BaseModel):
    """The function of a call, as a client library holds it."""

    name: str = "write"
    arguments: str = LONG


class Call(BaseModel):
    """A call as a client library holds it."""

    id: str = "call_7"
    function: Function = Function()


def fitted(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    before = copy.deepcopy(messages)
    request = ContextRequest(history=LlamaIndexMessages(messages))
    kept = kept_messages(messages, fit(request, ContextBudget(max_input_tokens=budget), counter=COUNTER).history)
    assert messages == before
    return kept


def cut(*texts: str, **changes: Any) -> Shortened:
    return Shortened(texts=texts, tokens=1, **changes)


def test_h22_a_shortened_message_is_a_copy_and_the_original_stays() -> None:
    original = ChatMessage(
        role="tool",
        blocks=[TextBlock(text="first"), POINT, TextBlock(text="second")],
        additional_kwargs={"tool_call_id": "call_7", "session_id": "s"},
    )
    before, blocks = copy.deepcopy(original), original.blocks
    copied = shortened_message(original, cut("first", "sec"))
    assert original == before
    assert original.blocks is blocks
    assert copied.blocks[0] is blocks[0]
    assert [block.block_type for block in copied.blocks] == ["text", "cache", "text"]
    assert (copied.role, copied.content, copied.additional_kwargs) == (
        MessageRole.TOOL,
        "first\nsec",
        original.additional_kwargs,
    )
    copied.additional_kwargs["session_id"] = "t"
    copied.blocks.append(POINT)
    assert original == before


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(call("call_7", "write", LONG), call("call_7", "write", SHORT), id="mapping"),
        pytest.param(
            call("call_7", "write", json.loads(LONG)), call("call_7", "write", {"text": "…"}), id="arguments read"
        ),
        pytest.param(
            {"id": "call_7", "name": "write", "input": json.loads(LONG), "type": "tool_use"},
            {"id": "call_7", "name": "write", "input": {"text": "…"}, "type": "tool_use"},
            id="flat mapping",
        ),
        pytest.param(
            call_object(call("call_7", "write", LONG)), call_object(call("call_7", "write", SHORT)), id="object"
        ),
        pytest.param(Call(), Call(function=Function(arguments=SHORT)), id="model"),
        pytest.param(call("call_7", "write", None), call("call_7", "write", None), id="no arguments"),
        pytest.param(
            SimpleNamespace(id="call_7", tool_name="write", tool_kwargs={"text": LONG}),
            SimpleNamespace(id="call_7", tool_name="write", tool_kwargs={"text": "…"}),
            id="flat object",
        ),
    ],
)
def test_h10_shorter_arguments_stand_wherever_the_message_holds_the_call(raw: Any, expected: Any) -> None:
    block = ToolCallBlock(tool_call_id="call_7", tool_name="write", tool_kwargs=json.loads(LONG))
    other = call("call_8")
    for blocks in ([], [block]):
        given = ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"tool_calls": [raw, other], "more": 1})
        before = copy.deepcopy(given)
        copied = shortened_message(given, cut(arguments={0: SHORT}))
        assert given == before
        assert copied.additional_kwargs == {"tool_calls": [expected, other], "more": 1}
        assert copied.additional_kwargs["tool_calls"][1] is other
        assert [left.tool_kwargs for left in copied.blocks] == [{"text": "…"} for _ in blocks]


def test_h10_a_legacy_function_call_is_shortened_in_its_place() -> None:
    given = ChatMessage(role="assistant", additional_kwargs={"function_call": {"name": "write", "arguments": LONG}})
    copied = shortened_message(given, cut(arguments={0: SHORT}))
    assert copied.additional_kwargs == {"function_call": {"name": "write", "arguments": SHORT}}
    assert given.additional_kwargs["function_call"]["arguments"] == LONG


def test_h11_images_of_old_integrations_do_not_come_back_when_a_message_is_read_again() -> None:
    document = ImageDocument(image="iVBORw0KGgo=")
    given = ChatMessage(content="Look.", additional_kwargs={"images": [document], "more": 1})
    assert len(given.blocks) == 2
    copied = shortened_message(given, cut("Look.", attachments_omitted=True))
    assert copied.content == "Look.\n[attachment omitted]"
    assert copied.additional_kwargs == {"more": 1}
    assert len(given.additional_kwargs) == 2


def test_h12_kept_messages_are_the_originals_with_copies_and_the_placeholder_between() -> None:
    messages = to_messages(turns(6))
    note = "[2 earlier messages omitted]"
    trimming = Trimming(kept=(0, 3, 4, 5), shortened={4: cut("Short.")}, placeholder=note, placeholder_after=0)
    kept = kept_messages(messages, trimming)
    assert [kept[0] is messages[0], kept[2] is messages[3], kept[4] is messages[5]] == [True] * 3
    assert kept[1].content == note
    assert kept[3].content == "Short."
    assert kept_messages(messages, Trimming(kept=range(6))) == messages


@pytest.mark.parametrize("form", CALL_FORMS)
@pytest.mark.parametrize("budget", [100, 200, 400, 800])
def test_h7_issue_13715_a_result_is_never_parted_from_its_call(form: CallForm, budget: int) -> None:
    exchange = [calling(call("1"), call("2"), call("3")), *(result(key, filler(6)) for key in "123")]
    rows = [user("Inspect them."), *exchange, assistant("Done."), user("And now?"), *exchange, user("Lit?")]
    messages = to_messages(rows, form)
    kept = fitted(messages, budget)
    assert problems(rows_of(messages), rows_of(kept), budget=budget) == []


def test_h3_issue_20256_what_is_left_starts_with_a_user() -> None:
    messages = to_messages([*turns(40), user("Lit?")])
    for budget in range(20, 400, 20):
        assert fitted(messages, budget)[0].role == MessageRole.USER


def test_h6_issue_23144_the_system_message_is_never_evicted() -> None:
    messages = to_messages([system(), *turns(40), user("Lit?")])
    for budget in range(40, 400, 20):
        kept = fitted(messages, budget)
        assert kept[0] is messages[0]
        assert kept[-1] is messages[-1]


def test_i6_issue_21950_a_history_of_calls_and_thoughts_is_within_the_window() -> None:
    long = filler(60)
    step = ToolCallBlock(tool_call_id="1", tool_name="write", tool_kwargs={"text": long})
    thought = ThinkingBlock(content=long, additional_information={"signature": "s"})
    done = ChatMessage(role="tool", content=long, additional_kwargs={"tool_call_id": "1"})
    messages = [ChatMessage(content="Write."), ChatMessage(role="assistant", blocks=[thought, step]), done]
    messages += [ChatMessage(role="assistant", blocks=[TextBlock(text="Done.")]), ChatMessage(content="Lit?")]
    kept = fitted(messages, 500)
    assert sent_tokens(kept, encoding="o200k_base") <= 500
    assert kept[-1] is messages[-1]
    assert all(thought in message.blocks for message in kept if step in message.blocks)


def test_h11_pr21529_a_document_in_an_old_message_gives_way() -> None:
    pdf = DocumentBlock(data=b"%PDF" * 50_000, document_mimetype="application/pdf")
    messages = [ChatMessage(blocks=[TextBlock(text="Read this."), pdf, ImageBlock(image=PNG)])]
    messages += [*to_messages([assistant("Read."), *turns(4)]), ChatMessage(content="Lit?")]
    assert fitted(messages, 4_000)[0] is messages[0]
    assert fitted(messages, 1_000)[0].content == "Read this.\n[attachment omitted]"


def test_t5_issue_1206_special_tokens_are_ordinary_text() -> None:
    messages = to_messages([*turns(4, text="<|endoftext|> <|im_start|>"), user("Is <|endoftext|> lit?")])
    kept = fitted(messages, 200)
    assert sent_tokens(kept, encoding="o200k_base") <= 200
    assert kept[-1] is messages[-1]


def test_h13_nothing_is_ever_left_empty() -> None:
    messages = to_messages([*turns(4), assistant(""), user("  "), user("Lit?")])
    full = sent_tokens(messages, encoding="o200k_base")
    sizes = set()
    for budget in range(1, full):
        try:
            kept = fitted(messages, budget)
        except ContextBudgetError:
            assert budget < 15
            continue
        sizes.add(len(kept))
        assert all((message.content or "").strip() for message in kept)
        assert sum(is_placeholder(message.content or "") for message in kept) <= 1
    assert min(sizes) == 1
