"""What holds for every list of LlamaIndex messages and every budget, counted without the code under test."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import CacheControl, CachePoint, CitableBlock, ThinkingBlock
from llama_index.core.llms import ChatMessage, MessageRole

from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, FittedContext, fit
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.counting.counters import counter_for
from drawn_examples import examples
from fitted_rows import is_note
from hostile_text import hostile_text, openai_messages
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, kept_messages
from llamaindex_ctxopt.models.framework_tokens import framework_tokens
from llamaindex_messages import CALL_FORMS, MEDIA_TOKENS, rows_of_parts, to_messages
from react_runs import react_run
from view_problems import problems

COUNTER = counter_for("o200k_base")
THOROUGH = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
POINT = CachePoint(cache_control=CacheControl(type="ephemeral"))


@st.composite
def chats(draw: st.DrawFn) -> list[ChatMessage]:
    """Draw a chat in which calls stand anywhere, with blocks among it that may not be cut."""
    messages = to_messages(draw(openai_messages()), draw(st.sampled_from(CALL_FORMS)))
    for message in messages:
        added = draw(st.sampled_from(["", "", "", "thought", "point", "cited", "refusal"]))
        if added == "thought" and message.role == MessageRole.ASSISTANT:
            message.blocks.insert(
                0, ThinkingBlock(content=draw(hostile_text(3)), additional_information={"signature": "s"})
            )
        elif added == "point" and message.blocks:
            message.blocks.append(POINT)
        elif added == "cited" and message.role == MessageRole.TOOL:
            message.blocks.append(CitableBlock(title="Lit", source="", content=draw(hostile_text(3))))
        elif added == "refusal" and message.role == MessageRole.ASSISTANT:
            message.additional_kwargs["refusal"] = "Never."
    return messages


@st.composite
def runs(draw: st.DrawFn) -> list[ChatMessage]:
    """Draw a chat and, after its question, the scratchpad of a ReAct agent."""
    history = to_messages(draw(openai_messages(max_turns=1, well_formed=True)))
    role = draw(st.sampled_from([MessageRole.USER, MessageRole.TOOL]))
    steps, pending, thought = draw(st.integers(0, 3)), draw(st.booleans()), draw(hostile_text(3))
    return react_run(steps, tokens=60, role=role, history=tuple(history), pending=pending, thought=thought)


def counted(messages: list[ChatMessage]) -> list[int]:
    return [message_tokens(view, COUNTER) for view in LlamaIndexMessages(messages)]


def fitted(messages: list[ChatMessage], budget: int) -> tuple[list[ChatMessage], FittedContext] | None:
    """Return what is left, and see that nothing that was given is changed; None where the error says why not."""
    before = copy.deepcopy(messages)
    request = ContextRequest(history=LlamaIndexMessages(messages))
    try:
        found = fit(request, ContextBudget(max_input_tokens=budget), counter=COUNTER)
    except ContextBudgetError:
        return None
    finally:
        assert messages == before
    kept = kept_messages(messages, found.history)
    assert messages == before
    return kept, found


def check_copies(messages: list[ChatMessage], kept: list[ChatMessage], found: FittedContext) -> None:
    """What is whole is the identical object; what is shortened counts what the core said."""
    tokens = counted(kept)
    note = found.history.placeholder
    real = [n for n, message in enumerate(kept) if note is None or message.content != note]
    assert len(real) == len(found.history.kept)
    for n, index in zip(real, found.history.kept, strict=True):
        cut = found.history.shortened.get(index)
        if cut is None:
            assert kept[n] is messages[index]
        else:
            assert tokens[n] == cut.tokens
            assert kept[n].role == messages[index].role


@THOROUGH
@given(chats(), st.data())
def test_a13_every_budget_holds_or_the_error_says_why(messages: list[ChatMessage], data: Any) -> None:
    full = sum(counted(messages)) + 3
    budget = data.draw(st.integers(1, full + 2))
    rows = rows_of_parts(messages)
    outcome = fitted(messages, budget)
    if outcome is None:
        assert budget < full
        return
    kept, found = outcome
    assert found.unchanged is (budget >= full)
    left = rows_of_parts(kept)
    assert problems(rows, left, budget=budget, is_placeholder=is_note, media=MEDIA_TOKENS) == []
    check_copies(messages, kept, found)
    assert found.unchanged or sum(counted(kept)) + 3 <= budget


@settings(THOROUGH, max_examples=examples(60))
@given(runs(), st.data())
def test_h20_every_budget_of_a_react_run_holds_and_no_step_loses_a_half(messages: list[ChatMessage], data: Any) -> None:
    full = sum(counted(messages)) + 3
    budget = data.draw(st.integers(1, full + 2))
    outcome = fitted(messages, budget)
    if outcome is None:
        assert budget < full
        return
    kept, found = outcome
    check_copies(messages, kept, found)
    assert found.unchanged or sum(counted(kept)) + 3 <= budget
    views = LlamaIndexMessages(kept)
    steps = [
        view
        for view in views
        if view.verbatim in (("Observation:",),) or any(not call.name for call in view.tool_calls)
    ]
    assert all(bool(view.tool_calls) is (n % 2 == 0) for n, view in enumerate(steps))


@settings(THOROUGH, max_examples=examples(60))
@given(chats())
def test_t5_every_message_is_measured_and_counted(messages: list[ChatMessage]) -> None:
    for message, tokens in zip(messages, counted(messages), strict=True):
        assert tokens >= 4
        assert framework_tokens(message, COUNTER) >= 2
