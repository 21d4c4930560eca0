"""A provider's compaction is the start of what is kept, whatever its age and the strategy."""

from __future__ import annotations

import copy

import pytest

from ctxopt_core import (
    CallableCounter,
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    HistoryPolicy,
    HistoryView,
    Message,
    fit,
    summarizer,
    trim_history,
)
from ctxopt_core.formats.anthropic_messages import AnthropicMessages, fitted_anthropic
from ctxopt_core.formats.responses.messages import ResponsesMessages, fitted_responses

WORDS = CallableCounter(lambda words: len(words.split()))


def newest(view: HistoryView) -> list[int]:
    return [i for turn in view.turns[-2:] for i in turn]


def _summary(text: str) -> str:
    return "what was said"


POLICIES = {
    "auto": HistoryPolicy(),
    "turns": HistoryPolicy(strategy="turns"),
    "no first message": HistoryPolicy(strategy="turns", keep_first_user_message=False),
    "sliding_window": HistoryPolicy(strategy="sliding_window"),
    "window of messages": HistoryPolicy(strategy="sliding_window", max_messages=6),
    "relevance": HistoryPolicy(strategy="relevance"),
    "stable": HistoryPolicy(strategy="turns", stable_prefix=True),
    "summarize": HistoryPolicy(strategy="summarize", summarizer=summarizer(_summary)),
    "hybrid": HistoryPolicy(strategy="hybrid", summarizer=summarizer(_summary)),
    "custom": HistoryPolicy(strategy=newest),
}
COMPACTION = {"type": "compaction", "content": "so far " * 10}


def said(role: str, words: str) -> dict[str, object]:
    return {"role": role, "content": words}


def turns(count: int, name: str) -> list[dict[str, object]]:
    return [said(role, f"{name}{n} " + "w " * 12) for n in range(count) for role in ("user", "assistant")]


def compacted(*beside: object) -> dict[str, object]:
    return {"role": "assistant", "content": [COMPACTION, {"type": "text", "text": "Compacted."}, *beside]}


def chat(before: int, after: int) -> list[dict[str, object]]:
    rows = [*turns(before, "a"), said("user", "Go on."), compacted(), *turns(after, "b")]
    return [*rows, said("user", "And now?")]


def fitted(rows, most, policy, system=()):
    given = copy.deepcopy(rows)
    request = ContextRequest(history=AnthropicMessages(rows), system=system)
    found = fit(request, ContextBudget(max_input_tokens=most), counter=WORDS, history=policy)
    left = fitted_anthropic(rows, found.history)
    assert found.report.tokens_after <= most
    assert rows == given
    return left, found


@pytest.mark.parametrize("most", [120, 200, 300])
@pytest.mark.parametrize("name", POLICIES)
def test_l19_a_compaction_is_never_too_old(name, most):
    rows = chat(10, 30)
    left, found = fitted(rows, most, POLICIES[name])

    assert left[0] is rows[21]
    assert left[-1] is rows[-1]
    assert not any(row is old for row in left for old in rows[:21])
    assert len(left) > 2
    assert {found.history.reason(i) for i in range(21)} == {"compacted"}
    again, refit = fitted(left, most, POLICIES[name])
    assert again == left
    assert refit.unchanged


@pytest.mark.parametrize("name", POLICIES)
def test_l19_what_was_said_before_a_compaction_goes_first(name):
    rows = chat(10, 2)
    left, _ = fitted(rows, 150, POLICIES[name])

    assert left == rows[21:]


@pytest.mark.parametrize("name", POLICIES)
def test_l19_a_compaction_inside_the_current_turn_stays_with_its_calls(name):
    rows = [said("user", "The task.")]
    for n in range(20):
        call = {"type": "tool_use", "id": f"t{n}", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "w " * 40}
        rows += [
            compacted(call) if n == 8 else {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    left, _ = fitted(rows, 300, POLICIES[name])

    assert left[0] is rows[0]
    assert left[1] is rows[17]
    assert left[2]["content"][0]["tool_use_id"] == "t8"
    assert left[-1]["content"][0]["tool_use_id"] == "t19"
    assert not any(row is old for row in left for old in rows[1:17])


def test_l19_only_the_last_compaction_counts_and_systems_stay():
    rows = [*turns(3, "a"), compacted(), *turns(3, "b"), compacted(), *turns(20, "c"), said("user", "And now?")]
    left, _ = fitted(rows, 150, POLICIES["auto"], system="Be brief.")

    assert left[0] is rows[13]
    assert compacted() == left[0]
    messages = [Message(role="system", content="s"), Message(role="user", content="w " * 90)]
    messages += [
        Message(role="assistant", verbatim=("so far",), compacts=True),
        Message(role="user", content="x " * 90),
    ]
    assert trim_history(messages, 120, WORDS).kept[:2] == (0, 2)


def test_l19_a_compaction_that_failed_is_none():
    rows = chat(10, 10)
    rows[21] = {
        "role": "assistant",
        "content": [{"type": "compaction", "content": None}, {"type": "text", "text": "-"}],
    }
    left, _ = fitted(rows, 250, POLICIES["turns"])

    assert left[0] is rows[0]


def test_l19_a_compaction_that_does_not_fit_is_an_error():
    rows = [*turns(2, "a"), {"role": "assistant", "content": [{**COMPACTION, "content": "w " * 500}]}, *turns(2, "b")]
    rows.append(said("user", "And now?"))
    with pytest.raises(ContextBudgetError):
        fitted(rows, 300, POLICIES["auto"])


@pytest.mark.parametrize("name", POLICIES)
def test_l19_a_compaction_item_of_the_responses_api_stays_first(name):
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2Vh" * 200}
    items = [*turns(10, "a"), item, *turns(30, "b"), said("user", "And now?")]
    request = ContextRequest(history=ResponsesMessages(items))
    found = fit(request, ContextBudget(max_input_tokens=400), counter=WORDS, history=POLICIES[name])
    left = fitted_responses(items, found.history)

    assert left[0] is item
    assert left[-1] is items[-1]
    assert 2 < len(left) < len(items)
    assert not any(one is old for one in left for old in items[:20])


@pytest.mark.parametrize("at", [0, 60], ids=["first", "near_the_beginning"])
@pytest.mark.parametrize("name", ["auto", "turns", "sliding_window"])
def test_l19_a_compaction_at_the_beginning_of_a_very_long_conversation_stays_first(name, at):
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2Vh" * 200}
    items = [*turns(30, "a")[:at], item, *turns(2600, "b"), said("user", "And now?")]
    trimming = trim_history(ResponsesMessages(items), 400, WORDS, policy=POLICIES[name])

    assert fitted_responses(items, trimming)[0] is item
