"""An LLM that fits its own requests, in every way of calling it."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import pytest
from llama_index.core.base.llms.types import CitableBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.tools import FunctionTool

from ctxopt_core import ContextBudgetError
from ctxopt_core.conversation.message_tokens import TOKENS_PER_REQUEST
from ctxopt_core.providers.rules import rules_for
from ctxopt_core.reports.fit_report import FitReport
from llamaindex_chats import ENCODING, faults, long_chat
from llamaindex_ctxopt.guard.llm import OptimizedLLM, with_optimizer
from llamaindex_requests import sent_tokens
from made_up_texts import text_of
from request_tokens import count_text
from scripted_llms import Scripted, ScriptedCompletionLLM, ScriptedLLM, calling

CHAT = long_chat()
PROMPT = text_of("Summarize this:", 5_000)
WINDOW = 2_000
LIMIT = WINDOW - 256


class Count(BaseModel):
    """How many lanterns there are."""

    lanterns: int


def page(number: int) -> str:
    """Return one page of the log of the harbour, as the keeper wrote it."""
    return str(number)


def schema_tokens(schemas: Any, system: str | None = None) -> int:
    """What the provider of the scripted model charges for schemas."""
    return rules_for("gpt-4").schema_tokens(schemas, lambda text: count_text(text, ENCODING), system)


async def chat_of(llm: LLM, **arguments: Any) -> None:
    llm.chat(CHAT, **arguments)


async def achat_of(llm: LLM, **arguments: Any) -> None:
    await llm.achat(CHAT, **arguments)


async def stream_chat_of(llm: LLM, **arguments: Any) -> None:
    assert list(llm.stream_chat(CHAT, **arguments))[-1].message.content


async def astream_chat_of(llm: LLM, **arguments: Any) -> None:
    chunks = [chunk async for chunk in await llm.astream_chat(CHAT, **arguments)]
    assert chunks[-1].message.content


async def complete_of(llm: LLM, **arguments: Any) -> None:
    llm.complete(PROMPT, **arguments)


async def acomplete_of(llm: LLM, **arguments: Any) -> None:
    await llm.acomplete(PROMPT, **arguments)


async def stream_complete_of(llm: LLM, **arguments: Any) -> None:
    assert list(llm.stream_complete(PROMPT, **arguments))[-1].text


async def astream_complete_of(llm: LLM, **arguments: Any) -> None:
    chunks = [chunk async for chunk in await llm.astream_complete(PROMPT, **arguments)]
    assert chunks[-1].text


CHATS = [chat_of, achat_of, stream_chat_of, astream_chat_of]
COMPLETIONS = [complete_of, acomplete_of, stream_complete_of, astream_complete_of]
MODELS: list[Callable[[], Scripted]] = [
    pytest.param(lambda: ScriptedLLM(context_window=WINDOW), id="chat model"),
    pytest.param(lambda: ScriptedLLM(context_window=WINDOW, completes_by_chat=True), id="completes by chat"),
    pytest.param(lambda: ScriptedCompletionLLM(context_window=WINDOW), id="completion model"),
]  # type: ignore[list-item]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("ask", [*CHATS, *COMPLETIONS])
async def test_i4_every_way_of_asking_is_fitted_once(ask: Any, make: Callable[[], Scripted]) -> None:
    reports: list[FitReport] = []
    double = make()
    llm = with_optimizer(double, protect=(), on_report=reports.append)
    with pytest.raises(ValueError, match="maximum context length"):
        await ask(double)
    double.calls.clear()
    await ask(llm)
    [call] = double.calls
    assert LIMIT - 150 < call.tokens <= LIMIT
    assert [report.unchanged for report in reports] == [False]
    assert llm.last_report is reports[0]
    assert call.tokens <= reports[0].tokens_after <= LIMIT == reports[0].input_budget


@pytest.mark.parametrize("ask", CHATS)
async def test_h20_h22_a_long_chat_keeps_system_query_and_newest_turns_and_stays_as_it_is(ask: Any) -> None:
    double, before = ScriptedLLM(context_window=WINDOW), [message.model_copy(deep=True) for message in CHAT]
    await ask(with_optimizer(double))
    [call] = double.calls
    assert faults(CHAT, call, LIMIT) == []
    assert before == CHAT
    assert call.given[0] is CHAT[0]
    assert [message for message in call.given if message is CHAT[-1] or message is CHAT[-2]] == CHAT[-2:]


@pytest.mark.parametrize("double", [ScriptedLLM(), ScriptedLLM(completes_by_chat=True), ScriptedCompletionLLM()])
async def test_i4_what_fits_is_sent_as_it_is(double: Scripted) -> None:
    llm = with_optimizer(double)
    messages, prompt = long_chat(2), "How many lanterns are there?"
    llm.complete(prompt)
    await llm.acomplete(prompt, formatted=True)
    texts = [call.given if isinstance(call.given, str) else call.given[0].content for call in double.calls]
    assert texts == [prompt, prompt]
    double.calls.clear()
    llm.chat(messages)
    await llm.achat(messages)
    if isinstance(double, ScriptedLLM):
        assert [call.given is messages for call in double.calls] == [True, True]
    else:
        assert [call.given == double.messages_to_prompt(messages) for call in double.calls] == [True, True]
    assert llm.last_report is not None
    assert llm.last_report.unchanged


async def test_i10_requests_are_fitted_in_a_worker_thread_and_alike() -> None:
    threads: list[int] = []
    double = ScriptedLLM(context_window=WINDOW)
    llm = with_optimizer(double, on_report=lambda _: threads.append(get_ident()))
    await llm.achat(CHAT)
    llm.chat(CHAT)
    assert threads[0] != get_ident() == threads[1]
    assert double.calls[0].rows == double.calls[1].rows


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"tools": [FunctionTool.from_defaults(page).metadata.to_openai_tool()] * 9}, id="openai dicts"),
        pytest.param({"tools": [FunctionTool.from_defaults(page)] * 9}, id="tools"),
        pytest.param({"functions": [{"name": text_of("log", 400), "parameters": {}}]}, id="functions"),
        pytest.param({"tools": [{"name": "page", "input_schema": {"about": PROMPT[:3000]}}]}, id="anthropic dicts"),
        pytest.param({"tools": {"toolConfig": {"tools": [{"toolSpec": {"text": PROMPT[:3000]}}]}}}, id="one dict"),
        pytest.param({"response_format": {"type": "json_schema", "schema": PROMPT[:3000]}}, id="response format"),
        pytest.param({"tools": [Count] * 9}, id="classes"),
        pytest.param({"response_format": Count}, id="a class as format"),
    ],
)
@pytest.mark.parametrize("ask", [chat_of, astream_chat_of])
async def test_i4_what_goes_with_the_messages_is_counted(ask: Any, arguments: dict[str, Any]) -> None:
    double = ScriptedLLM(context_window=WINDOW)
    llm = with_optimizer(double)
    await ask(llm, **arguments)
    [call] = double.calls
    assert call.options == arguments
    assert call.schemas
    assert faults(CHAT, call, LIMIT) == []
    assert llm.count_tokens([], **arguments) >= TOKENS_PER_REQUEST + schema_tokens(call.schemas)


def test_i4_schemas_that_the_model_adds_itself_are_counted() -> None:
    class Configured(ScriptedLLM):
        additional_kwargs: dict[str, Any]

    own = {"tools": [{"name": PROMPT[:3000]}], "max_tokens": 500}
    llm = with_optimizer(Configured(context_window=WINDOW, additional_kwargs=own))
    llm.chat(CHAT)
    assert llm.last_report is not None
    assert llm.last_report.fixed > count_text(PROMPT[:3000], ENCODING)
    assert llm.last_report.input_budget == WINDOW - 500


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [({}, 1_744), ({"max_tokens": 500}, 1_500), ({"max_completion_tokens": 1}, 1_999), ({"model": "gpt-4"}, 7_936)],
)
def test_i4_the_arguments_of_a_call_decide_its_budget(arguments: dict[str, Any], budget: int) -> None:
    llm = with_optimizer(ScriptedLLM(context_window=WINDOW))
    llm.chat([ChatMessage(content="Hi")], **arguments)
    assert llm.last_report is not None
    assert llm.last_report.input_budget == budget


@pytest.mark.parametrize("double", [ScriptedLLM(context_window=WINDOW), ScriptedCompletionLLM(context_window=WINDOW)])
def test_i4_a_prompt_is_the_query_and_is_not_cut_by_default(double: Scripted) -> None:
    llm = with_optimizer(double)
    with pytest.raises(ContextBudgetError, match=r"the query.*prompt.* `protect=\(\)` cuts it to its head") as at:
        llm.complete(PROMPT)
    assert at.value.available == LIMIT
    assert at.value.costs["query"] > LIMIT
    assert double.calls == []
    assert llm.last_report is None
    llm.with_changes(protect=()).complete(PROMPT)
    [call] = double.calls
    assert call.text.startswith(PROMPT[:1_000])
    assert call.text.endswith(PROMPT[-1_000:])
    assert "characters left out" in call.text


def test_i4_what_may_not_be_cut_raises_before_the_model_is_called() -> None:
    double = ScriptedLLM(context_window=WINDOW)
    llm = with_optimizer(double)
    with pytest.raises(ContextBudgetError, match=r"needs .* tokens and the input budget is 1,744"):
        llm.chat([ChatMessage(role="user", content=PROMPT)])
    with pytest.raises(ContextBudgetError):
        llm.chat([ChatMessage(content="Hi")], tools=[{"name": PROMPT}])
    assert double.calls == []


def test_i11_count_tokens_and_within_budget_say_what_a_call_would_count() -> None:
    llm = with_optimizer(ScriptedLLM(context_window=WINDOW))
    tools = [FunctionTool.from_defaults(page).metadata.to_openai_tool()]
    assert llm.count_tokens(CHAT) == sent_tokens(CHAT)
    assert llm.count_tokens(CHAT, tools=tools) == sent_tokens(CHAT) + schema_tokens(tools, CHAT[0].content)
    assert llm.count_tokens(PROMPT) == sent_tokens([ChatMessage(content=PROMPT)])
    assert not llm.within_budget(CHAT)
    assert llm.within_budget(CHAT[:12])
    assert not llm.within_budget(CHAT[:12], max_tokens=1_000)
    assert llm.last_report is None


def test_i11_a_completion_model_counts_the_text_that_it_is_sent() -> None:
    double = ScriptedCompletionLLM(context_window=WINDOW, completion_to_prompt=lambda text: f"[INST]{text}[/INST]")
    llm = with_optimizer(double)
    assert llm.count_tokens(PROMPT, formatted=True) == count_text(PROMPT, ENCODING)
    assert llm.count_tokens(PROMPT) == count_text(f"[INST]{PROMPT}[/INST]", ENCODING)
    assert llm.count_tokens(CHAT) >= count_text(double.messages_to_prompt(CHAT), ENCODING)


@pytest.mark.parametrize("overhead", [0, 1, 2_000])
async def test_i4_a_completion_model_with_a_prompt_format_of_its_own_is_fitted(overhead: int) -> None:
    def formatted(messages: Any) -> str:
        return "\n".join(f"<|{message.role.value}|>{' |' * overhead}{message.content}</s>" for message in messages)

    double = ScriptedCompletionLLM(context_window=WINDOW + 4 * overhead, messages_to_prompt=formatted)
    llm = with_optimizer(double)
    for ask in CHATS:
        await ask(llm)
    assert [call.over for call in double.calls] == [False] * 4
    assert all(call.given.endswith(f"{CHAT[-1].content}</s>") for call in double.calls)


def test_i11_other_settings_make_another_llm_and_optimizing_again_replaces_them() -> None:
    double = ScriptedLLM(context_window=WINDOW)
    llm = with_optimizer(double, target_tokens=1_000)
    smaller, again = llm.with_changes(target_tokens=500), with_optimizer(llm, target_tokens=700)
    for made, target in ((llm, 1_000), (smaller, 500), (again, 700)):
        made.chat(CHAT)
        assert made.last_report is not None
        assert made.last_report.input_budget == target
        assert double.calls[-1].tokens <= target
    assert again.plain_class is ScriptedLLM


@pytest.mark.parametrize("given", ["gpt-4o", None, FunctionTool.from_defaults(page)])
def test_i4_what_is_no_llm_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="`llm` must be a LlamaIndex LLM, got"):
        with_optimizer(given)


def test_i4_settings_are_checked_when_the_llm_is_made() -> None:
    with pytest.raises(TypeError, match="with_optimizer has no setting `window`"):
        with_optimizer(ScriptedLLM(), window=7)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="`target_tokens`"):
        with_optimizer(ScriptedLLM(), target_tokens=-1)
    with pytest.raises(ValueError, match="nothing is left for the input"):
        with_optimizer(ScriptedLLM(context_window=100, num_output=0), output_reserve=100)
    assert isinstance(with_optimizer(ScriptedLLM()), OptimizedLLM)


@pytest.mark.parametrize("issue", ["#21950", "PR#22000", "#21951", "#23146"])
def test_issues_blocks_that_are_no_text_count_and_are_kept_in_pairs(issue: str) -> None:
    blocks = {
        "#21950": [ToolCallBlock(tool_call_id="c", tool_name="page", tool_kwargs={"about": text_of("call", 300)})],
        "PR#22000": [ThinkingBlock(content=text_of("Thinking", 300)), TextBlock(text="Well.")],
        "#21951": [CitableBlock(title="Log", source="log", content=[TextBlock(text=text_of("cited", 300))])],
        "#23146": [ThinkingBlock(content=text_of("More", 300)), *calling(("page", {"n": 1}), start=9).blocks],
    }[issue]
    chat = CHAT[:1]
    for _ in range(9):
        chat = [*chat, ChatMessage(role="user", content="Go on."), ChatMessage(role="assistant", blocks=blocks)]
        answers = [block.tool_call_id for block in blocks if isinstance(block, ToolCallBlock)]
        chat += [ChatMessage(role="tool", content="Read.", additional_kwargs={"tool_call_id": id_}) for id_ in answers]
    double = ScriptedLLM(context_window=WINDOW)
    with_optimizer(double).chat([*chat, CHAT[-1]])
    assert faults([*chat, CHAT[-1]], double.calls[0], LIMIT) == []
    assert double.calls[0].tokens < sent_tokens([*chat, CHAT[-1]])
