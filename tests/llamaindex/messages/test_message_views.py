"""What the core sees of a LlamaIndex message: role, calls once wherever they stand, results, and the quick view."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, overload

import pytest
from llama_index.core.base.llms.types import ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole

from ctxopt_core import ContextBudget, ContextRequest, fit
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.messages.message import Message
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, placeholder_message, view_of
from llamaindex_messages import PNG, call_object
from request_tokens import count_text
from shape_rows import call

COUNTER = counter_for("o200k_base")
FRAMING = 4
ARGUMENTS = '{"lantern": 7}'
CALL_TOKENS = count_text("inspect") + count_text(ARGUMENTS) + count_text("call_7")
BLOCK = ToolCallBlock(tool_call_id="call_7", tool_name="inspect", tool_kwargs={"lantern": 7})
RAW = call("call_7")
FLAT = {"name": "inspect", "input": {"lantern": 7}}
LEGACY = {"name": "inspect", "arguments": ARGUMENTS}


def message(role: str, *blocks: Any, **extra: Any) -> ChatMessage:
    texts = [TextBlock(text=block) if isinstance(block, str) else block for block in blocks]
    return ChatMessage(role=role, blocks=texts, additional_kwargs=extra)


def cost(given: ChatMessage) -> int:
    return message_tokens(view_of(given), COUNTER)


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        ("system", "system"),
        ("developer", "developer"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("chatbot", "assistant"),
        ("model", "assistant"),
        ("tool", "tool"),
        ("function", "function"),
    ],
)
def test_i6_every_role_is_understood(role: str, seen: str) -> None:
    views = LlamaIndexMessages([message(role, "lit")])
    assert views[0].role == seen
    assert bool(views.system_indices(0, 1)) is (role in ("system", "developer"))


def test_a_role_that_was_assigned_as_text_is_understood() -> None:
    given = message("user", "lit")
    given.role = "model"  # type: ignore[assignment]
    assert view_of(given).role == "assistant"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(message("assistant", BLOCK), id="block"),
        pytest.param(message("assistant", tool_calls=[RAW]), id="mapping"),
        pytest.param(message("assistant", tool_calls=[call_object(RAW)]), id="object"),
        pytest.param(message("assistant", tool_calls=[{**FLAT, "id": "call_7"}]), id="flat mapping"),
        pytest.param(message("assistant", tool_calls=[{**FLAT, "toolUseId": "call_7"}]), id="mapping of Bedrock"),
        pytest.param(message("assistant", tool_calls=[SimpleNamespace(id="call_7", **FLAT)]), id="flat object"),
        pytest.param(message("assistant", tool_calls=[call("call_7", arguments={"lantern": 7})]), id="arguments read"),
        pytest.param(message("assistant", BLOCK, tool_calls=[RAW]), id="block and mapping"),
        pytest.param(message("assistant", BLOCK, tool_calls=[call_object(RAW)]), id="block and object"),
        pytest.param(message("assistant", BLOCK, tool_calls=[call(None)]), id="block and a mapping without an id"),
        pytest.param(message("assistant", BLOCK, function_call=LEGACY), id="block and function_call"),
        pytest.param(message("assistant", tool_calls=[RAW], function_call=LEGACY), id="mapping and function_call"),
        pytest.param(message("model", BLOCK), id="another name of the assistant"),
    ],
)
def test_t2_a_call_is_counted_once_wherever_it_stands(given: ChatMessage) -> None:
    assert cost(given) == FRAMING + CALL_TOKENS
    assert [found.id for found in view_of(given).tool_calls] == ["call_7"]


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [(None, ""), ({}, "{}"), ({"lantern": 7}, ARGUMENTS), (ARGUMENTS, ARGUMENTS), ('{"lan', '{"lan'), ("", "")],
)
@pytest.mark.parametrize("form", [dict, call_object])
def test_t2_pr23104_arguments_of_every_type_are_counted(arguments: Any, counted: str, form: Any) -> None:
    given = message("assistant", tool_calls=[form(call("call_7", arguments=arguments))])
    assert [found.arguments for found in view_of(given).tool_calls] == [counted]


def test_t2_a_legacy_function_call_has_no_id_and_its_result_a_name() -> None:
    calling = message("assistant", function_call={"name": "inspect", "arguments": ARGUMENTS, "id": "no"})
    assert [(found.id, found.name) for found in view_of(calling).tool_calls] == [(None, "inspect")]
    assert view_of(message("function", "all lit", name="inspect")).name == "inspect"


def test_t2_calls_of_all_places_are_added_up() -> None:
    other = ToolCallBlock(tool_call_id="call_8", tool_name="inspect")
    given = message("assistant", BLOCK, other, tool_calls=[call("call_9"), RAW], function_call={"name": "count"})
    assert [found.id for found in view_of(given).tool_calls] == ["call_7", "call_8", "call_9", None]


def test_t2_of_two_places_of_one_call_the_longer_arguments_are_counted() -> None:
    bare = ToolCallBlock(tool_name="inspect")
    seen = view_of(message("assistant", bare, tool_calls=[{**RAW, "signature": "s"}])).tool_calls
    assert [(found.id, found.name, found.arguments, found.fixed) for found in seen] == [
        ("call_7", "inspect", ARGUMENTS, True)
    ]
    assert view_of(message("assistant", BLOCK, tool_calls=[call("call_7", arguments=None)])).tool_calls == (
        view_of(message("assistant", BLOCK)).tool_calls
    )


def test_t2_what_others_than_the_assistant_call_is_text() -> None:
    seen = view_of(message("user", "lit?", BLOCK))
    assert seen.tool_calls == ()
    assert cost(message("user", "lit?", BLOCK)) == FRAMING + count_text("lit?") + CALL_TOKENS


def test_h7_a_result_names_its_call_and_a_direct_answer_does_not() -> None:
    result = view_of(message("tool", "all lit", tool_call_id="call_7"))
    assert (result.role, result.tool_call_id) == ("tool", "call_7")
    answer = view_of(message("assistant", "all lit", tool_call_id="call_7"))
    assert answer == Message(role="assistant", content="all lit")
    assert view_of(message("tool", "all lit", tool_call_id="")).tool_call_id is None


def test_t2_what_is_sent_beside_the_blocks_is_counted_and_the_rest_is_not() -> None:
    plain = cost(message("assistant", "lit"))
    assert cost(message("assistant", "lit", refusal="never")) == plain + count_text("never")
    assert cost(message("assistant", "lit", reasoning_content="I see")) == plain + count_text("I see")
    assert cost(message("assistant", "lit", session_id="x" * 999, logprobs=[1] * 999)) == plain


def test_h8_reasoning_beside_the_blocks_seals_the_calls() -> None:
    def is_sealed(*blocks: Any, **extra: Any) -> list[bool]:
        return [found.fixed for found in view_of(message("assistant", *blocks, **extra)).tool_calls]

    assert is_sealed(BLOCK) == [False]
    assert is_sealed(BLOCK, tool_calls=[call("call_8")], thought_signatures=["s"]) == [True, True]
    assert is_sealed(ThinkingBlock(content="I see"), tool_calls=[RAW]) == [True]
    assert is_sealed(tool_calls=[{**RAW, "signature": "s"}]) == [True]
    assert is_sealed(tool_calls=[SimpleNamespace(id="1", signature="s", **LEGACY)]) == [True]


def test_i6_issue_21950_calls_thoughts_and_results_of_a_history_are_all_counted() -> None:
    long = "lantern " * 1_000
    calling = ToolCallBlock(tool_call_id="call_7", tool_name="write", tool_kwargs={"text": long})
    history = [message("user", "lit?"), message("assistant", ThinkingBlock(content=long), calling)]
    history.append(message("tool", long, tool_call_id="call_7"))
    assert sum(map(cost, history)) > 3_000


class Spoken(ChatMessage):
    """A message class of an application."""

    volume: int = 11


@pytest.mark.parametrize(
    "given",
    [
        Spoken(content="lit"),
        message("user", "lit"),
        message("assistant", "lit"),
        message("system", "lit"),
        message("user", ""),
        message("model", "lit"),
        message("user", "lit", "dark"),
        message("user", "lit", name="Orla"),
        message("assistant", "[3 earlier messages omitted]"),
        message("assistant", "[not a placeholder"),
        message("assistant", "Action: none"),
        message("user", "Observation: none"),
        message("assistant", "lit", BLOCK),
        message("user", ImageBlock(image=PNG)),
        ChatMessage(role="user"),
    ],
)
def test_t2_the_quick_view_of_a_message_says_what_the_full_one_says(given: ChatMessage) -> None:
    views = LlamaIndexMessages([given, given])
    plain, full = views.plain(0), views[0]
    if plain is not None:
        assert plain == (full.role, full.content or "") or plain[1] == ""
        assert full.plain or full.empty
    assert list(views.backwards(2)) == [plain, plain]


def test_most_messages_have_a_quick_view() -> None:
    views = LlamaIndexMessages([message("user", "lit?"), message("assistant", "lit"), message("system", "Be brief.")])
    assert [views.plain(i) for i in range(3)] == [("user", "lit?"), ("assistant", "lit"), ("system", "Be brief.")]


def test_h6_system_messages_of_every_kind_are_found() -> None:
    roles = ["user", "system", "developer", "assistant", "tool", "system"]
    views = LlamaIndexMessages([message(role, "lit") for role in roles])
    assert list(views.system_indices(0, 6)) == [1, 2, 5]
    assert list(views.system_indices(2, 5)) == [2]


@pytest.mark.parametrize(
    ("given", "synthetic"),
    [
        (placeholder_message("[3 earlier messages omitted]"), True),
        (message("model", "[1,200 earlier messages omitted]"), True),
        (message("user", "[3 earlier messages omitted]"), False),
        (message("assistant", "[3 earlier messages omitted] Really?"), False),
        (message("assistant", "[3 earlier messages omitted]", "Really?"), False),
    ],
)
def test_a16_a_placeholder_of_an_earlier_fit_is_recognized(given: ChatMessage, synthetic: bool) -> None:
    assert view_of(given).synthetic is synthetic


def test_h12_a_placeholder_has_no_additional_arguments_since_prompts_print_them() -> None:
    made = placeholder_message("[3 earlier messages omitted]")
    assert (made.role, made.content, made.additional_kwargs) == (
        MessageRole.ASSISTANT,
        "[3 earlier messages omitted]",
        {},
    )


@pytest.mark.parametrize("stranger", ["lit?", {"role": "user", "content": "lit?"}, None])
def test_an_item_that_is_no_message_is_named(stranger: Any) -> None:
    views = LlamaIndexMessages([message("user", "lit?"), stranger])
    expected = f"item 1 of the messages must be a ChatMessage, got {type(stranger).__name__}"
    with pytest.raises(TypeError, match=expected):
        views[1]
    with pytest.raises(TypeError, match=expected):
        views.system_indices(0, 2)
    with pytest.raises(TypeError, match=expected):
        fit(ContextRequest(history=views), ContextBudget(max_input_tokens=100))


class Watched(Sequence[ChatMessage]):
    """Messages that remember which of them were looked at."""

    def __init__(self, messages: list[ChatMessage]) -> None:
        self.messages, self.seen = messages, set[int]()

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> ChatMessage: ...
    @overload
    def __getitem__(self, index: slice) -> list[ChatMessage]: ...
    def __getitem__(self, index: Any) -> Any:
        self.seen.add(index)
        return self.messages[index]


def test_s3_a_scan_looks_at_no_more_messages_than_it_is_asked_for() -> None:
    watched = Watched([message("user" if i % 2 == 0 else "assistant", "lit " * 90) for i in range(999)])
    views = LlamaIndexMessages(watched)
    found = views.backwards(999)
    next(found)
    assert watched.seen == {998}
    assert views[500].role == "user"
    assert watched.seen == {998, 500}
