"""Replay: the requests of a growing conversation, what the cache has of each, what it costs and what it shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    HistoryPolicy,
    Message,
    Replay,
    Section,
    counter_for,
    fit,
    plan,
    replay,
)
from ctxopt_core.formats.anthropic_messages import AnthropicMessages
from made_up_texts import text_of
from replayed_chats import IN_STEPS, WORDS, chat, rows_of_chat

O200K = counter_for("o200k_base")

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"lamp": "L7"}'}}
AGENT_RUN = [
    {"role": "system", "content": "You look after lamps."},
    {"role": "user", "content": "Light lamp L7."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "It burns."},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "And L8?"},
]
CLAUDE_RUN = [
    {"role": "user", "content": "Light lamp L7."},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {"lamp": "L7"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "It burns."}]},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "And L8?"},
]
RESPONSES_RUN = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Light lamp L7."}]},
    {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"lamp": "L7"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "It burns."},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And L8?"}]},
]
TWO_SAID = [Message(role="user", content="One."), Message(role="user", content="Two.")]
GREETING = [Message(role="assistant", content="Hello!"), Message(role="user", content="Is it lit?")]


@pytest.mark.parametrize(
    ("conversation", "lengths"),
    [
        pytest.param(chat(3), [1, 3, 5], id="chat that was answered"),
        pytest.param(chat(3)[:-1], [1, 3, 5], id="chat with an open question"),
        pytest.param(tuple(chat(2)), [1, 3], id="tuple"),
        pytest.param(rows_of_chat(2), [1, 3], id="plain mappings"),
        pytest.param({"messages": rows_of_chat(2), "model": "gpt-4o"}, [1, 3], id="request object"),
        pytest.param({"body": {"messages": rows_of_chat(2)}}, [1, 3], id="line of a batch"),
        pytest.param(AGENT_RUN, [2, 4, 6], id="run of an agent, OpenAI"),
        pytest.param(CLAUDE_RUN, [1, 3, 5], id="run of an agent, Anthropic"),
        pytest.param({"system": "Lamps.", "messages": CLAUDE_RUN}, [1, 3, 5], id="Anthropic request"),
        pytest.param(AnthropicMessages(CLAUDE_RUN), [1, 3, 5], id="lazy views"),
        pytest.param(RESPONSES_RUN, [1, 3, 5], id="items of the Responses API"),
        pytest.param({"input": "Is it lit?", "model": "gpt-4o"}, [1], id="input that is a string"),
        pytest.param(ContextRequest(history=chat(2)), [1, 3], id="ContextRequest"),
        pytest.param(ContextRequest(history=chat(2), query="And now?"), [1, 3, 5], id="with its own query"),
        pytest.param(TWO_SAID, [2], id="two messages of a user are one request"),
        pytest.param(GREETING, [2], id="a greeting was not asked for"),
        pytest.param([*chat(1), chat(2)[-1]], [1], id="messages of the assistant in a row are one answer"),
    ],
)
def test_u10_there_is_a_row_for_each_request_that_was_sent(conversation, lengths):
    found = replay(conversation, ["turns", "sliding_window"], budget=10_000, counter=WORDS)

    assert [row.messages for row in found.rows] == lengths * 2
    assert [row.request for row in found.rows] == [*range(len(lengths))] * 2
    assert [row.strategy for row in found.rows] == ["turns"] * len(lengths) + ["sliding_window"] * len(lengths)
    assert all(row.tokens_before == row.tokens_after for row in found.rows)


@pytest.mark.parametrize("strategy", ["auto", "turns", "sliding_window", "relevance", IN_STEPS])
@pytest.mark.parametrize(
    "conversation",
    [
        pytest.param(ContextRequest(history=chat(20)), id="chat"),
        pytest.param(
            ContextRequest(
                system="You look after lamps.",
                history=chat(20),
                documents=[Document(text="The lamp burns for nine hours.")],
                sections=[Section(name="notes", entries=["Likes tea.", "Lives here."], max_tokens=20)],
                tools=[{"name": "look_up", "description": "Looks up.", "parameters": {}}],
                fixed_tokens=7,
            ),
            id="with all parts",
        ),
        pytest.param(ContextRequest(history=[Message(role="system", content="Be kind."), *chat(20)]), id="system row"),
    ],
)
def test_u10_a_row_has_the_figures_of_a_fit(conversation, strategy):
    budget = ContextBudget(max_input_tokens=160)
    found = replay(conversation, strategy, budget=budget, counter=WORDS, evidence="Answer 3")
    policy = strategy if isinstance(strategy, HistoryPolicy) else HistoryPolicy(strategy=strategy)

    for row in found.rows:
        request = replace(conversation, history=list(conversation.history)[: row.messages])
        report = plan(request, budget, counter=WORDS, history=policy)
        fitted = fit(request, budget, counter=WORDS, history=policy)
        assert (row.tokens_before, row.tokens_after) == (report.tokens_before, report.tokens_after)
        assert row.messages_kept == report.history.kept
        if any("Answer 3" in str(message.content) for message in request.history):
            assert row.evidence == any("Answer 3" in str(message.content) for message in fitted.messages())
        else:
            assert row.evidence is None
        assert 0 <= row.cached_tokens <= row.tokens_after
        assert row.seconds > 0
    assert found.rows[-1].tokens_after < found.rows[-1].tokens_before


def repeated(first: int, second: int) -> list[Message]:
    return [
        Message(role="user", content=text_of("First", first, "o200k_base")),
        Message(role="assistant", content=text_of("Answer", 40, "o200k_base")),
        Message(role="user", content=text_of("Second", second, "o200k_base")),
    ]


@pytest.mark.parametrize(
    ("model", "minimum", "step"),
    [
        pytest.param("gpt-4o", 1_024, 128, id="OpenAI"),
        pytest.param("openai/gpt-5", 1_024, 128, id="OpenAI by a router"),
        pytest.param("claude-sonnet-4-5", 1_024, 1, id="Claude Sonnet"),
        pytest.param("claude-haiku-4-5", 4_096, 1, id="Claude Haiku"),
        pytest.param("claude-opus-4-5", 4_096, 1, id="Claude Opus"),
        pytest.param("gemini-2.5-flash", 2_048, 1, id="Gemini"),
        pytest.param("llama3.1", 0, 1, id="no rules"),
    ],
)
@pytest.mark.parametrize("first", [50, 1_016, 1_040, 1_152, 2_050, 4_200])
def test_u10_the_cache_has_what_the_rules_of_the_provider_allow(model, minimum, step, first):
    (one, two) = replay(repeated(first, 30), "turns", model, budget=20_000, counter=O200K).rows
    common = one.tokens_after - 3  # all of the first request but the tokens that begin the answer

    assert one.cached_tokens == 0
    assert two.cached_tokens == (common - (common - minimum) % step if common >= minimum else 0)


@pytest.mark.parametrize(("model", "partial"), [("llama3.1", True), ("claude-opus-5", False)])
def test_u10_the_start_of_a_message_that_was_cut_counts_where_no_breakpoint_is_needed(model, partial):
    long = text_of("Result", 3_000, "o200k_base")
    run = [
        Message(role="user", content=long),
        Message(role="assistant", content="Read."),
        Message(role="user", content=long[: len(long) // 2] + " and the rest is another."),
    ]
    *_, last = replay(run, _only_the_question, model, budget=3_500, counter=O200K).rows

    assert (last.cached_tokens > 1_000) is partial


def _only_the_question(_view):
    return []


def test_u10_a_price_is_that_of_new_cached_and_written_tokens():
    prices = {"gpt-4o": {"input": 10, "cached": 1, "written": 20}}
    found = replay(repeated(2_000, 30), "turns", "gpt-4o", budget=20_000, counter=O200K, prices=prices)
    one, two = found.rows

    assert found.price_source == "user"
    assert one.cost == one.cost_with_cache == pytest.approx(one.tokens_after * 10e-6)
    new = two.tokens_after - two.cached_tokens
    assert two.cost_with_cache == pytest.approx(new * 10e-6 + two.cached_tokens * 1e-6)
    assert two.full_price_tokens == pytest.approx(new + two.cached_tokens / 10)
    (total,) = found.totals
    assert total.cost_with_cache == pytest.approx(one.cost_with_cache + two.cost_with_cache)
    assert total.relative_cost == pytest.approx(total.cost_with_cache / (total.tokens_before * 10e-6))

    claude = {"claude-sonnet-4-5": {"input": 10, "cached": 1, "written": 20}}
    one, two = replay(repeated(2_000, 30), "turns", "claude-sonnet-4-5", counter=O200K, prices=claude).rows
    assert one.cost_with_cache == pytest.approx(one.tokens_after * 20e-6)
    assert two.cost_with_cache == pytest.approx(
        (two.tokens_after - two.cached_tokens) * 20e-6 + two.cached_tokens * 1e-6
    )


def test_u10_without_a_price_a_cached_token_costs_a_tenth():
    found = replay(repeated(2_000, 30), "turns", budget=20_000, counter=O200K)
    _, two = found.rows

    assert (two.cost, two.cost_with_cache, found.price_source) == (None, None, None)
    assert two.full_price_tokens == pytest.approx(two.tokens_after - 0.9 * two.cached_tokens)
    assert "not known" in str(found)


def test_u10_a_stable_prefix_is_cached_and_a_sliding_window_is_not():
    settings = {"window": "sliding_window", "in steps": IN_STEPS}
    found = replay(chat(40), settings, budget=300, counter=WORDS)
    window, in_steps = found.totals

    assert in_steps.cached_share > 0.7 > 0.3 > window.cached_share
    assert in_steps.relative_cost < window.relative_cost / 2
    assert found.recommended.strategy == "in steps"
    assert found.recommended.history == IN_STEPS


@given(st.integers(1, 12), st.integers(20, 400), st.sampled_from(["auto", "turns", "sliding_window", IN_STEPS]))
def test_u10_what_is_cached_is_the_start_of_what_was_sent(turns, budget, strategy):
    """A slow comparison, message by message, of what `fit` returns for each request."""
    try:
        found: Replay = replay(chat(turns), strategy, budget=budget, counter=WORDS)
    except ContextBudgetError:
        pytest.fail("a request that does not fit is a row")
    policy = strategy if isinstance(strategy, HistoryPolicy) else HistoryPolicy(strategy=strategy)
    before: list[tuple[str, str]] = []
    for row in found.rows:
        if row.error is not None:
            continue
        request = ContextRequest(history=chat(turns)[: row.messages])
        fitted = fit(request, ContextBudget(target_tokens=budget), counter=WORDS, history=policy)
        now = [(message.role, str(message.content)) for message in fitted.messages()]
        same = 0
        while same < min(len(now), len(before)) and now[same] == before[same]:
            same += 1
        least = sum(4 + len(content.split()) for _, content in now[:same])
        most = least + (4 + len(now[same][1].split()) if same < min(len(now), len(before)) else 0)
        assert least <= row.cached_tokens <= most
        before = now
