"""In the Responses API a call is whatever an output answers; Anthropic answers some calls itself."""

from __future__ import annotations

import copy
from collections import Counter

import pytest

from anthropic_rows import fit_anthropic, result, server_problems, text, use
from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, HistoryPolicy, fit, summarizer
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.formats.responses.messages import ResponsesMessages, fitted_responses
from responses_items_made import reasoning, said, written
from shape_rows import SENTENCE

CHARACTERS = CallableCounter(len)
SHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
STRATEGIES = ["auto", "turns", "sliding_window", "relevance"]
POLICIES = {
    **{strategy: HistoryPolicy(strategy=strategy) for strategy in STRATEGIES},
    "stable": HistoryPolicy(strategy="turns", stable_prefix=True),
    "summarize": HistoryPolicy(strategy="summarize", summarizer=summarizer(lambda _: "what was said")),
    "hybrid": HistoryPolicy(strategy="hybrid", summarizer=summarizer(lambda _: "what was said")),
    "custom": HistoryPolicy(strategy=lambda view: [i for turn in view.turns for i in turn if i % 3]),
}


def pair(kind, n, *, key="call_id", answered="call_id", ending="_call", output=SENTENCE):
    name = f"c{n}"
    call = {"type": f"{kind}{ending}", "id": f"i{n}", key: name, "action": {"at": SENTENCE}}
    return [call, {"type": f"{kind}{ending}_output", answered: name, "output": output}]


PAIRS = {
    "function": lambda n: pair("function", n),
    "custom": lambda n: pair("custom_tool", n),
    "computer": lambda n: pair("computer", n, output=SHOT),
    "shell": lambda n: pair("shell", n, output=[{"stdout": SENTENCE, "outcome": {"type": "exit"}}]),
    "local shell": lambda n: pair("local_shell", n),
    "local shell by its id": lambda n: pair("local_shell", n, key="id", answered="id"),
    "apply_patch": lambda n: pair("apply_patch", n),
    "of tomorrow": lambda n: pair("crystal_ball", n),
    "tool search": lambda n: [
        {"type": "tool_search_call", "call_id": f"c{n}", "execution": "client", "arguments": {"query": SENTENCE}},
        {"type": "tool_search_output", "call_id": f"c{n}", "execution": "client", "tools": [{"name": SENTENCE}]},
    ],
    "approval": lambda n: [
        {"type": "mcp_approval_request", "id": f"c{n}", "name": "look", "arguments": SENTENCE},
        {"type": "mcp_approval_response", "approval_request_id": f"c{n}", "approve": True},
    ],
}


def fitted(items, most, strategy="auto"):
    given = copy.deepcopy(items)
    request, budget = ContextRequest(history=ResponsesMessages(items)), ContextBudget(max_input_tokens=most)
    found = fit(request, budget, counter=CHARACTERS, history=HistoryPolicy(strategy=strategy))
    left = fitted_responses(items, found.history)
    again = fit(ContextRequest(history=ResponsesMessages(left)), budget, counter=CHARACTERS)
    assert found.report.tokens_after <= most
    assert again.unchanged
    assert items == given
    return left


def ids_in(items):
    called, answered = Counter(), Counter()
    for item in items:
        kind = item.get("type", "message")
        name = item.get("call_id") or item.get("approval_request_id") or item.get("id")
        if kind.endswith(("_output", "_response")):
            answered[name] += 1
        elif kind.endswith(("_call", "_request")):
            called[name] += 1
    return called, answered


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("is_run", [True, False], ids=["one turn", "turns"])
def test_l10_every_pair_of_items_is_whole(kind, strategy, is_run):
    items = [said("user", "The task.")]
    for n in range(12):
        items += [] if is_run or not n else [written("Seen."), said("user", f"{n}? {SENTENCE}")]
        items += [reasoning(), *PAIRS[kind](n)]
    items += [] if is_run else [written("Seen."), said("user", "And now?")]
    conversation = CountedConversation(ResponsesMessages(items), CHARACTERS)
    whole = sum(conversation.cost(i) for i in range(len(conversation)))
    for most in (whole * 4 // 10, whole * 6 // 10):
        left = fitted(items, most, strategy)
        called, answered = ids_in(left)
        assert called == answered
        assert called
        assert len(called) < 12 or kind in ("function", "custom")
        for position, item in enumerate(left):
            if item.get("type") == "reasoning":
                assert ids_in(left[position + 1 : position + 2])[0]


@pytest.mark.parametrize("kind", sorted(PAIRS.keys() - {"approval", "local shell by its id"}))
def test_l10_a_call_without_its_output_goes_unless_it_waits_for_it(kind):
    call, _ = PAIRS[kind](1)
    old = [item for n in range(9) for item in (said("user", f"{n} {SENTENCE * 3}"), written(SENTENCE * 3))]
    assert ids_in(fitted([*old, call, said("user", "So?"), *old, said("user", "And now?")], 5_200)) == (Counter(),) * 2
    assert fitted([*old, said("user", "Look."), call], 1_500)[-1] is call


def test_l10_an_output_that_may_not_be_shortened_stays_as_it_is():
    items = [said("user", "Click."), *(item for n in range(9) for item in PAIRS["computer"](n))]
    for item in fitted(items, 4_000):
        assert any(item is old for old in items) or item["role"] == "assistant"


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("shape", ["one row", "beside a call", "paused"])
def test_l9_what_the_provider_called_and_found_stays_together(shape, policy):
    rows = []
    for n in range(8):
        call = {"type": "server_tool_use", "id": f"s{n}", "name": "web_search", "input": {"query": "lit"}}
        page = {
            "type": "web_search_result",
            "title": "Lit",
            "url": "https://l.example",
            "encrypted_content": "c2Vh" * 200,
        }
        found = {"type": "web_search_tool_result", "tool_use_id": f"s{n}", "content": [page]}
        rows.append({"role": "user", "content": f"{n}? {SENTENCE * 2}"})
        if shape == "one row":
            rows.append({"role": "assistant", "content": [call, found, text(SENTENCE)]})
        elif shape == "paused":
            rows += [
                {"role": "assistant", "content": [text("I look."), call]},
                {"role": "assistant", "content": [found, text(SENTENCE)]},
            ]
        else:
            rows += [
                {"role": "assistant", "content": [call, use(f"t{n}")]},
                {"role": "user", "content": [result(f"t{n}", SENTENCE * 3)]},
                {"role": "assistant", "content": [found, text(SENTENCE)]},
            ]
    rows.append({"role": "user", "content": "And now?"})
    for most in (500, 900, 1_400):
        after, _ = fit_anthropic(rows, most, history=policy)
        assert list(server_problems(rows, after)) == []
        assert len(after) < len(rows)
        assert "And now?" in str(after[-1]["content"])


def test_l13_what_a_search_found_is_counted_by_its_length():
    page = {"type": "web_search_result", "title": "Lit", "url": "https://l.example", "encrypted_content": "c2Vh" * 750}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [page] * 10}
    call = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "lit"}}
    turn = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [call, found]}]

    _, fitted_rows = fit_anthropic([*turn * 12, {"role": "user", "content": "So?"}], 20_000)

    # 30,000 characters hold 22,500 bytes, which are 5,625 tokens of English.
    assert fitted_rows.report.tokens_before > 12 * 5_625
    assert fitted_rows.report.tokens_after <= 20_000
