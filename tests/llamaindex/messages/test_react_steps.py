"""The scratchpad of a ReAct agent is seen as calls and results, though it is sent as messages of assistant and user."""

from __future__ import annotations

import copy

import pytest
from llama_index.core.llms import ChatMessage, MessageRole

from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, FittedContext, HistoryPolicy, fit
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.conversation.turns import last_user_message, units_of
from ctxopt_core.counting.counters import counter_for
from ctxopt_core.shortening.shorten_message import Shortened
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, kept_messages
from llamaindex_requests import sent_tokens
from react_runs import QUESTION, react_run, stored_run

COUNTER = counter_for("cl100k_base")
ROLES = [MessageRole.USER, MessageRole.TOOL, MessageRole.FUNCTION]
EARLIER = (
    ChatMessage(content="Who lit them?"),
    ChatMessage(role="assistant", content="The lamplighter."),
    ChatMessage(content="When?"),
    stored_run(2),
)


def kinds(messages: list[ChatMessage]) -> list[tuple[str, tuple[int, ...]]]:
    conversation = CountedConversation(LlamaIndexMessages(messages), COUNTER)
    units = units_of(conversation, 0, len(messages))
    assert not units.orphans
    return [(unit.kind, unit.indices) for unit in units.kept]


def fitted(messages: list[ChatMessage], budget: int, **policy: object) -> tuple[list[ChatMessage], FittedContext]:
    before = copy.deepcopy(messages)
    request = ContextRequest(history=LlamaIndexMessages(messages))
    history = HistoryPolicy(**policy)  # type: ignore[arg-type]
    budgeted = ContextBudget(max_input_tokens=budget)
    found = fit(request, budgeted, counter=COUNTER, history=history, protect={"query"})
    kept = kept_messages(messages, found.history)
    assert messages == before
    return kept, found


@pytest.mark.parametrize("role", ROLES)
def test_h7_an_observation_answers_the_action_before_it(role: MessageRole) -> None:
    messages = react_run(2, role=role)
    assert kinds(messages) == [("user", (1,)), ("exchange", (2, 3)), ("exchange", (4, 5))]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("thought", ["I must look.", "I must\nlook", "", "Action: look?", "look ", "見る。"])
def test_t2_a_step_is_counted_as_it_is_sent(role: MessageRole, thought: str) -> None:
    messages = react_run(3, role=role, thought=thought, history=EARLIER)
    assert sum(message_tokens(view, COUNTER) for view in LlamaIndexMessages(messages)) + 3 == sent_tokens(messages)


def test_h1_the_question_of_the_user_stays_the_query() -> None:
    messages = react_run(3, history=EARLIER)
    question = last_user_message(CountedConversation(LlamaIndexMessages(messages), COUNTER))
    assert question is not None
    assert messages[question].content == QUESTION


def test_h7_an_action_at_the_very_end_is_pending() -> None:
    assert kinds(react_run(1, pending=True))[-1] == ("pending", (4,))


def test_h7_a_stored_run_is_what_the_assistant_said() -> None:
    assert kinds(list(EARLIER)) == [("user", (0,)), ("assistant", (1,)), ("user", (2,)), ("assistant", (3,))]
    follow_up = [*EARLIER, ChatMessage(content="Observation: it is dark. Why?")]
    assert kinds(follow_up)[-1] == ("user", (4,))


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([("user", "Observation: it is dark. Why?")], id="nothing before"),
        pytest.param([("assistant", "I see."), ("user", "Observation: it is dark. Why?")], id="no action before"),
        pytest.param([("assistant", "Action: look"), ("user", "What is an Observation: line?")], id="elsewhere"),
        pytest.param([("assistant", "Action: look\nAnswer: lit"), ("user", "Observation: no")], id="answered"),
        pytest.param([("user", "Action: look"), ("user", "Observation: lit")], id="the user acts"),
        pytest.param([("user", "Lit?"), ("assistant", "Action: Orla must light them")], id="words at the end"),
        pytest.param([("assistant", "Action: look"), ("user", "Lit?"), ("user", "Observation: no")], id="not directly"),
    ],
)
def test_what_only_looks_like_a_step_is_read_as_it_is(messages: list[tuple[str, str]]) -> None:
    seen = [
        (kind, indices) for kind, indices in kinds([ChatMessage(role=role, content=text) for role, text in messages])
    ]
    assert seen == [(role, (index,)) for index, (role, _) in enumerate(messages)]


def test_h9_an_observation_is_shortened_in_content_like_any_result() -> None:
    messages = react_run(6, history=EARLIER[:2])
    kept, found = fitted(messages, 1_400)
    assert sent_tokens(kept) <= 1_400
    assert kept[-1] is messages[-1]
    assert len(found.history.shortened) >= 2
    for index in found.history.shortened:
        left = kept[found.history.kept.index(index)].content or ""
        assert left.startswith(f"Observation: Lantern {index // 2 - 2} is lit.")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("pending", [False, True])
def test_h20_every_budget_holds_and_no_step_loses_a_half(role: MessageRole, pending: bool) -> None:
    messages = react_run(3, role=role, tokens=60, history=EARLIER, pending=pending, thought="I must look. " * 9)
    full = sent_tokens(messages)
    refused = 0
    for budget in (*range(1, full, 7), full - 1, full, full + 1):
        try:
            kept, found = fitted(messages, budget)
        except ContextBudgetError:
            refused += 1
            continue
        assert sent_tokens(kept) <= budget
        assert found.unchanged is (budget >= full)
        _check_steps(kept, pending=pending)
    assert 2 < refused < full // 28


def _check_steps(kept: list[ChatMessage], *, pending: bool) -> None:
    texts = [message.content or "" for message in kept]
    assert QUESTION in texts
    steps = texts[texts.index(QUESTION) + 1 :]
    assert len(steps) >= 1 + (not pending)
    for action, observation in zip(steps[::2], steps[1::2], strict=False):
        assert "Action:" in action
        assert observation.startswith("Observation:")
    assert len(steps) % 2 == pending
    units = kinds(kept)
    assert [kind for kind, _ in units if kind in ("exchange", "pending")] == ["exchange"] * (len(steps) // 2) + (
        ["pending"] * pending
    )


@pytest.mark.parametrize("strategy", ["turns", "sliding_window", "relevance"])
def test_a14_what_was_fitted_is_still_seen_as_steps(strategy: str) -> None:
    messages = react_run(8, tokens=90, history=EARLIER)
    for budget in range(200, sent_tokens(messages), 97):
        kept, _ = fitted(messages, budget, strategy=strategy)
        again, found = fitted(kept, budget)
        assert found.unchanged
        assert again == kept


def test_a_step_of_which_only_marks_are_left_is_still_one() -> None:
    messages = react_run(1, pending=True)
    views = LlamaIndexMessages(messages)
    for index, left in ((2, ""), (4, "I…")):
        action = views.shortened(index, Shortened(texts=(left,), tokens=1))
        assert (action.content or "").startswith(left + "Action: inspect\nAction Input: {'lantern': ")
        messages[index] = action
    messages[3] = views.shortened(3, Shortened(texts=("",), tokens=1))
    assert messages[3].content == "Observation:"
    assert kinds(messages) == [("user", (1,)), ("exchange", (2, 3)), ("pending", (4,))]
