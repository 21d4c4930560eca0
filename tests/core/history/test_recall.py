"""Recall at the end of a stable prefix: what the question needs of what the cut left out stands right before it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, HistoryPolicy, Message, ToolCall, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.formats.anthropic_messages import AnthropicMessages, fitted_anthropic
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from ctxopt_core.messages.placeholder import is_recalled, recalled_text
from drawn_examples import examples

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
STABLE = HistoryPolicy(stable_prefix=True)
KEYS = ("keeper", "lighthouse", "oil", "lamp", "snow", "\n", "-", "]", "[", "quay")
FILLER = "we spoke of nothing much that day and went on"
SECRET = "The lighthouse keeper is called Marhold."
QUESTION = "What is the lighthouse keeper called?"


def chat(turns: int, *, told: dict[int, str] | None = None, asked: str = QUESTION) -> list[Message]:
    """Return a chat that ends with a question; `told` says what else the user says in which turn."""
    found = []
    for turn in range(turns):
        found.append(Message(role="user", content=(told or {}).get(turn, f"{FILLER} {turn}")))
        found.append(Message(role="assistant", content=f"Indeed, {FILLER}, number {turn}"))
    return [*found, Message(role="user", content=asked)]


def fitted(messages, limit=300, policy=STABLE):
    return fit(ContextRequest(history=messages), ContextBudget(max_input_tokens=limit), counter=WORDS, history=policy)


def recalled(found):
    """Return what is recalled, and the message after it; None and None where nothing is."""
    messages = found.messages()
    for place, message in enumerate(messages):
        if message.synthetic and message.role == "user":
            return message.content, messages[place + 1]
    return None, None


@pytest.mark.parametrize("turn", [3, 10, 20], ids="told-in-turn-{}".format)
def test_h21_what_the_question_needs_is_recalled_before_it(turn):
    found = fitted(chat(40, told={turn: SECRET}))
    text, following = recalled(found)

    assert f"- {2 * turn + 1} user: {SECRET}" in text.removesuffix("]").splitlines()
    assert following.content == QUESTION
    assert 2 * turn in found.history.recalled
    assert found.report.history.recalled == len(found.history.recalled) >= 1
    assert found.report.tokens_after <= 300


@pytest.mark.parametrize(
    ("messages", "policy"),
    [
        pytest.param(
            chat(40, told={3: SECRET}), HistoryPolicy(stable_prefix=True, recall_percent=0), id="zero-percent"
        ),
        pytest.param(chat(40, told={3: SECRET}), HistoryPolicy(strategy="turns", stable_prefix=True), id="turns"),
        pytest.param(chat(40, told={39: SECRET}), STABLE, id="it-is-there"),
        pytest.param(chat(4, told={1: SECRET}), STABLE, id="everything-is-there"),
        pytest.param(chat(40, asked="Zyzzyva quuxly?"), STABLE, id="nothing-is-found"),
    ],
)
def test_h21_nothing_is_recalled(messages, policy):
    found = fitted(messages, policy=policy)

    assert SECRET not in (recalled(found)[0] or "")
    assert not found.history.recalled or SECRET in "".join(str(m.content) for m in found.messages())


def test_h21_what_is_recalled_has_at_most_its_share():
    told = {turn: f"The lighthouse keeper number {turn} is called Marhold the {turn}th." for turn in range(60)}
    for percent in (5, 15, 30, 60):
        text, _ = recalled(
            fitted(chat(80, told=told), 1_000, HistoryPolicy(stable_prefix=True, recall_percent=percent))
        )

        assert 0 < len(text.split()) + 4 <= 1_000 * percent / 100


def test_h21_of_a_long_message_the_best_sentences_are_recalled():
    long = " ".join([f"{FILLER} {n}." for n in range(40)] + [SECRET] + [f"{FILLER} {n}." for n in range(40)])
    text, _ = recalled(fitted(chat(40, told={5: long}), 600))

    assert SECRET in text
    assert len(text.split()) <= 90


def test_h21_with_tool_calls_nothing_is_recalled_and_a_run_repeats_itself():
    run, before = chat(40, told={3: SECRET}), ()
    for number in range(4):
        call = ToolCall(id=f"c{number}", name="look", arguments="{}")
        run.append(Message(role="assistant", tool_calls=(call,)))
        run.append(Message(role="tool", content=f"Nothing in room {number}", tool_call_id=call.id))
        found = fitted(run, 700)
        now = found.messages()
        assert now[: len(before)] == before
        assert not found.history.recalled
        before = now


def test_h21_the_same_messages_give_the_same_request():
    messages = chat(40, told={3: SECRET})

    assert fitted(messages).messages() == fitted(list(messages)).messages()


def test_h21_what_was_recalled_is_no_turn_of_a_stored_request():
    once = list(fitted(chat(40, told={3: SECRET})).messages())
    longer = [*once, Message(role="assistant", content="Marhold."), *chat(30)]
    found = fitted(longer)

    assert sum(is_recalled(str(message.content)) for message in found.messages()) <= 1
    assert "superseded" in found.report.history.reasons


@pytest.mark.parametrize(
    ("role", "following", "is_note"),
    [
        pytest.param("user", "user", True, id="before-a-question"),
        pytest.param("user", "assistant", False, id="a-user-who-writes-like-that"),
        pytest.param("assistant", "user", False, id="an-assistant-who-writes-like-that"),
    ],
)
def test_h21_only_what_stands_before_a_question_was_recalled(role, following, is_note):
    text = recalled_text(2, ["1 user: The keeper.", "2 assistant: Marhold."])
    messages = [*chat(3)[:-1], Message(role=role, content=text, synthetic=role == "user")]
    messages += [Message(role=following, content="So who is the keeper?")]
    messages += chat(30)[1 if following == "user" else 0 :]

    reasons = fitted(messages, 400).report.history.reasons

    assert ("superseded" in reasons) == is_note


def test_h21_dicts_of_both_providers_hold_what_is_recalled():
    rows = [{"role": m.role, "content": m.content} for m in chat(40, told={3: SECRET})]
    budget, policy = ContextBudget(max_input_tokens=300), STABLE

    openai = fit(ContextRequest(history=OpenAIMessages(rows)), budget, counter=WORDS, history=policy).history
    anthropic = fit(ContextRequest(history=AnthropicMessages(rows)), budget, counter=WORDS, history=policy).history
    before_last, last = fitted_openai(rows, openai)[-2:]
    blocks = fitted_anthropic(rows, anthropic)[-1]["content"]

    assert (before_last["role"], last) == ("user", rows[-1])
    assert SECRET in before_last["content"]
    assert [block["type"] for block in blocks] == ["text", "text"]
    assert SECRET in blocks[0]["text"]
    assert blocks[1]["text"] == QUESTION


@settings(deadline=None, max_examples=examples(40))
@given(st.integers(0, 10_000), st.integers(60, 900), st.integers(1, 100))
def test_h21_the_promise_holds_with_what_is_recalled(seed, limit, percent):
    rng = random.Random(seed)
    said = {turn: " ".join(rng.choices(KEYS, k=rng.randint(1, 60))) for turn in range(0, 40, 2)}
    policy = HistoryPolicy(stable_prefix=True, recall_percent=percent)

    found = fitted(chat(rng.randint(1, 50), told=said), limit, policy)
    messages = found.messages()

    assert found.report.tokens_after <= limit
    assert sum(message.synthetic and message.role == "user" for message in messages) <= 1
    assert messages[-1].content == QUESTION


@pytest.mark.parametrize("text", ["", "[Recalled from 2 earlier messages:]", "[Recalled from two:\n- a]", "Recalled"])
def test_h21_other_texts_were_not_recalled(text):
    assert not is_recalled(text)


def test_h21_a_percentage_is_checked():
    with pytest.raises(ValueError, match=r"`recall_percent` must be a percentage from 0 to 100, got 101"):
        HistoryPolicy(stable_prefix=True, recall_percent=101)
