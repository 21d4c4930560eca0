"""Replay: the requests of a growing conversation, what the cache has of each, what it costs and what it shows."""

from __future__ import annotations

import json
import pickle
import re
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
    Shares,
    counter_for,
    fit,
    plan,
    replay,
)
from ctxopt_core.formats.anthropic_messages import AnthropicMessages
from ctxopt_core.sweeps.replay_rows import ReplayTotal, recommended_total
from made_up_texts import text_of

WORDS = counter_for(lambda text: len(text.split()))
O200K = counter_for("o200k_base")
IN_STEPS = HistoryPolicy(strategy="turns", stable_prefix=True)


def chat(turns: int = 12, words: int = 8) -> list[Message]:
    said = " word" * (words - 2)
    return [
        message
        for n in range(turns)
        for message in (
            Message(role="user", content=f"Question {n}{said}"),
            Message(role="assistant", content=f"Answer {n}{said}"),
        )
    ]


def rows_of_chat(turns: int = 12) -> list[dict[str, str]]:
    return [{"role": message.role, "content": str(message.content)} for message in chat(turns)]


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


@pytest.mark.parametrize(
    "strategies",
    [
        pytest.param({"a": "turns", "b": {"strategy": "turns", "stable_prefix": True}}, id="names"),
        pytest.param({"a": {"history": "turns"}, "b": {"history": IN_STEPS}}, id="with history"),
        pytest.param({"a": HistoryPolicy(strategy="turns"), "b": IN_STEPS}, id="policies"),
    ],
)
def test_u10_settings_are_compared_by_name(strategies):
    found = replay(chat(40), strategies, budget=300, counter=WORDS)

    assert [one.name for one in found.strategies] == ["a", "b"]
    assert [one.history for one in found.strategies] == [HistoryPolicy(strategy="turns"), IN_STEPS]
    assert {row.strategy for row in found.rows_of("b")} == {"b"}
    assert len(found.rows_of("a")) == len(found.rows_of("b")) == 40


@pytest.mark.parametrize("name", ["stable_prefix", "scorer", "strategy"])
def test_u10_a_name_may_be_that_of_a_field(name):
    found = replay(chat(3), {name: IN_STEPS, "newest": "turns"}, budget=300, counter=WORDS)

    assert [one.name for one in found.strategies] == [name, "newest"]


def test_u10_a_mapping_of_fields_is_one_setting():
    found = replay(chat(3), {"strategy": "turns", "stable_prefix": True}, budget=300, counter=WORDS)

    assert [one.name for one in found.strategies] == ["turns(stable_prefix=True)"]


def test_u10_only_the_last_requests_are_replayed_where_that_is_asked_for():
    found = replay(chat(9), ["turns", "auto"], budget=90, counter=WORDS, last_requests=3, evidence="Answer 7")
    whole = replay(chat(9), ["turns", "auto"], budget=90, counter=WORDS)

    assert [row.request for row in found.rows] == [6, 7, 8] * 2
    assert found.rows[0].cached_tokens == 0
    assert [row.tokens_after for row in found.rows_of("auto")] == [
        row.tokens_after for row in whole.rows_of("auto")[6:]
    ]
    assert [row.cached_tokens for row in found.rows[1:3]] == [row.cached_tokens for row in whole.rows[7:9]]


def test_u10_a_setting_may_have_limits_and_options_of_its_own():
    settings = {
        "narrow": {"history": "turns", "target_tokens": 100, "shares": {"history": 60}, "protect": "query"},
        "late": {"history": {"strategy": "turns"}, "trigger": 0.5, "overflow": "empty", "ranking_query": "lamps"},
        "common": "turns",
    }
    found = replay(chat(40), settings, budget=300, counter=WORDS)

    assert [found.rows_of(name)[0].budget for name in settings] == [100, 300, 300]
    assert max(row.tokens_after for row in found.rows_of("narrow")) <= 100
    assert max(row.tokens_after for row in found.rows_of("late")) < 150
    assert found.strategies[0].limits["shares"] == Shares(history=60)


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        pytest.param("Answer 1 ", [None, None, 1, 1, 0], id="string for all"),
        pytest.param(["Question 0 ", "Answer 1 "], [1, 1, 1, 0.5, 0], id="strings for all"),
        pytest.param({4: ["Question 4 ", "Question 0 "]}, [None, None, None, None, 0.5], id="by request"),
        pytest.param({0: "Question 0 ", 2: "Answer 1 "}, [1, None, 1, None, None], id="others by request"),
        pytest.param(lambda fitted: len(fitted.history.kept), [1, 3, 5, 5, 5], id="function"),
    ],
)
def test_u10_evidence_is_for_all_requests_or_by_request(evidence, shown):
    policy = HistoryPolicy(strategy="turns", keep_first_user_message=False, placeholder=False)
    found = replay(chat(5), policy, budget=68, counter=WORDS, evidence=evidence)

    assert [row.evidence for row in found.rows] == shown
    known = [value for value in shown if value is not None]
    assert found.totals[0].evidence == pytest.approx(sum(known) / len(known))


def test_u10_a_request_that_cannot_be_fitted_is_a_row_with_the_reason():
    conversation = [*chat(3), Message(role="user", content="word " * 500), *chat(3)[1:]]
    found = replay(conversation, {"a": {"history": "turns", "protect": "query"}}, budget=100, counter=WORDS)
    failed = [row for row in found.rows if row.error is not None]

    assert [row.request for row in failed] == [3]
    assert failed[0].tokens_after is failed[0].cost is failed[0].cached_tokens is None
    assert (found.totals[0].failed, found.totals[0].requests) == (1, 6)
    assert "1 of 6 requests could not be fitted" in str(found)


def total(name: str, cost: float, evidence: float | None = None, failed: int = 0) -> ReplayTotal:
    return ReplayTotal(
        strategy=name,
        requests=10,
        failed=failed,
        tokens_before=1_000,
        tokens_after=1_000,
        cached_tokens=0,
        cached_share=0.0,
        relative_cost=cost,
        cost=None,
        cost_with_cache=None,
        evidence=evidence,
        seconds=0.0,
    )


@pytest.mark.parametrize(
    ("totals", "margin", "name", "why"),
    [
        pytest.param([total("a", 2), total("b", 1)], 0.02, "b", "nothing says what must survive", id="cost alone"),
        pytest.param([total("a", 2, 0.99), total("b", 1, 0.98)], 0.02, "b", "of the 2 whose", id="within"),
        pytest.param([total("a", 2, 0.99), total("b", 1, 0.9)], 0.02, "a", "it alone is within", id="outside"),
        pytest.param([total("a", 2, 0.99), total("b", 1, 0.9)], 0.1, "b", "within 0.1 of", id="wider margin"),
        pytest.param([total("a", 1, 0.98), total("b", 1, 0.99)], 0.02, "b", "", id="same cost, more evidence"),
        pytest.param([total("a", 1, 0.9), total("b", 1, 0.9)], 0.02, "a", "", id="first of equals"),
        pytest.param([total("a", 1, 0.9, 2), total("b", 3, 0.8, 1)], 0.02, "b", "fail least", id="fewest failures"),
        pytest.param([total("a", 1)], 0.02, "a", "the only one", id="one"),
    ],
)
def test_u10_the_cheapest_of_those_with_the_evidence_is_recommended(totals, margin, name, why):
    found, reason = recommended_total(totals, margin)

    assert found.strategy == name
    assert why in reason


def test_u10_all_of_it_is_plain_data_and_can_be_shown():
    found = replay(chat(20), {"new": "turns", "<b>": IN_STEPS}, budget=200, counter=WORDS, evidence="Answer 3")
    stored = json.loads(json.dumps(found.to_dict()))

    assert [row["tokens_after"] for row in stored["rows"]] == [row.tokens_after for row in found.rows]
    assert stored["recommended"] == {"strategy": found.recommended.strategy, "reason": found.recommended.reason}
    assert [total["strategy"] for total in stored["totals"]] == ["new", "<b>"]
    for text in (str(found), found.table(), found._repr_html_()):
        assert "Replay: 20 requests of a conversation, 2 settings" in text
        assert "word word" not in text
    assert found.recommended.reason in str(found)
    assert "<b>" not in found._repr_html_()
    assert len(found.table().splitlines()) >= 40
    assert len(found.to_frame()) == 40
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # it was just made
    assert replay(chat(20), {"new": "turns", "<b>": IN_STEPS}, budget=200, counter=WORDS, evidence="Answer 3") == found


def test_u10_the_plot_has_a_panel_for_each_setting_and_a_line_of_what_was_paid():
    found = replay(chat(20), {"new": "turns", "_$x$": IN_STEPS}, budget=200, counter=WORDS)
    figure = found.plot()
    first, second, paid = figure.axes

    for axes, name in ((first, "new"), (second, "_$x$")):
        rows = found.rows_of(name)
        cached, sent = (patch.get_data() for patch in axes.patches)
        assert list(cached.values) == list(sent.baseline) == [row.cached_tokens for row in rows]
        assert list(sent.values) == [row.tokens_after for row in rows]
    assert [line.get_ydata()[-1] for line in paid.lines] == pytest.approx([one.relative_cost for one in found.totals])
    assert "new: " in figure.in_words
    figure.savefig("/dev/null", format="svg")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"conversation": "text"}, TypeError, "`conversation` must be a ContextRequest, Messages"),
        ({"conversation": [1]}, TypeError, "got list of int"),
        ({"conversation": []}, ValueError, "`conversation` must hold messages"),
        ({"conversation": {"a": 1}}, ValueError, "`conversation` must hold messages"),
        ({"conversation": [{"role": "user", "content": 3}]}, TypeError, "messages"),
        ({"conversation": ContextRequest()}, ValueError, "at least one message"),
        ({"conversation": [Message(role="assistant", content="Hi")]}, ValueError, "must have a user message"),
        ({"strategies": []}, ValueError, "`strategies` must hold at least one"),
        ({"strategies": {}}, ValueError, "`strategies` must hold at least one"),
        ({"strategies": 3}, TypeError, "`strategies` must be history strategies"),
        ({"strategies": "newest"}, ValueError, "`strategy` must be one of"),
        ({"strategies": {"": "turns"}}, ValueError, "names that are strings and not blank"),
        ({"strategies": {"a": {"strategi": "turns"}}}, ValueError, "HistoryPolicy has no strategi"),
        ({"strategies": {"a": {"history": "turns", "limit": 3}}}, ValueError, "has no limit; it may have"),
        ({"strategies": {"a": {"history": "turns", "protect": "documents"}}}, ValueError, "`protect`"),
        ({"strategies": {"a": {"history": "turns", "trigger": 2}}}, ValueError, "`trigger`"),
        ({"model": 3}, TypeError, "`model` must be a model id"),
        ({"budget": None}, ValueError, "give `model` or `budget`"),
        ({"budget": -1}, ValueError, "budgets"),
        ({"budget": 0}, ValueError, "budgets"),
        ({"evidence": "nowhere"}, ValueError, "`evidence` must be in a request"),
        ({"evidence": {9: "Question"}}, ValueError, "from 0 to 1, got it for 9"),
        ({"evidence": {0: "Answer 1"}}, ValueError, "`evidence` must be in a request"),
        ({"evidence": 3}, TypeError, "`evidence` must be a function"),
        ({"margin": 2}, ValueError, "`margin` must be a part"),
        ({"prices": {"gpt-4o": -1}}, ValueError, "must be a price in USD"),
        ({"last_requests": 0}, ValueError, "`last_requests`"),
        ({"progress": 3}, TypeError, "`progress` must be"),
    ],
)
def test_u10_bad_input_is_a_typed_error(arguments, error, message):
    usual = {"conversation": chat(2), "strategies": "turns", "budget": 100, "counter": WORDS}

    with pytest.raises(error, match=re.escape(message)):
        replay(**(usual | arguments))


def test_u10_progress_is_reported_and_nothing_is_changed_or_logged(caplog):
    messages, seen = rows_of_chat(3), []
    before = json.dumps(messages)
    with caplog.at_level("DEBUG", "ctxopt_core"):
        replay(messages, ["turns", "auto"], budget=50, counter=WORDS, progress=lambda *done: seen.append(done))

    assert seen == [(0, 6), *((n, 6) for n in range(1, 7))]
    assert json.dumps(messages) == before
    assert caplog.records == []


def test_u10_a_part_of_the_conversation_is_a_budget():
    found = replay(chat(20), "turns", budget=0.5, counter=WORDS)

    whole = found.rows[-1].tokens_before + 12  # and the last answer
    assert found.rows[-1].budget == -(-whole // 2)


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
