"""What is refused, and what the error says: the least that suffices, the costs by their names, what helps."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    CallableCounter,
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    HistoryPolicy,
    Message,
    ToolCall,
    counter_for,
    fit,
    plan,
)
from ctxopt_core.adapters import count_request
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.counting.counter_wrappers import ScaledCounter
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.openai_messages import OpenAIMessages
from drawn_examples import examples
from hostile_text import documents, openai_messages

LETTERS = CallableCounter(len)
O200K = counter_for("o200k_base")


def tool(properties):
    names = {f"property_{number}": {"type": "string", "description": "what it is"} for number in range(properties)}
    parameters = {"type": "object", "properties": names}
    return {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": parameters}}


def user(text):
    return Message(role="user", content=text)


def refused(request, budget, **options):
    with pytest.raises(ContextBudgetError) as caught:
        fit(request, budget, **options)
    return caught.value


def limit_of(tokens):
    return ContextBudget(max_input_tokens=tokens)


@pytest.mark.parametrize("tokens", [3_800, 9_000, 60_000])
@pytest.mark.parametrize("options", [{}, {"overflow": "empty"}], ids=["error", "empty"])
def test_l7_what_is_needed_is_counted_to_its_end(tokens, options):
    request = ContextRequest(history=[user("word " * tokens)])
    error = refused(request, limit_of(3_644), counter=O200K, protect="query", **options)
    assert tokens <= error.needed <= tokens + 20
    assert tokens <= error.costs["query"] <= tokens + 20
    assert f"needs {error.needed:,} tokens" in str(error)


@pytest.mark.parametrize(("number", "named"), [(0, False), (1, True), (20, True), (120, True)])
def test_l7_the_costs_of_tool_schemas_are_named(number, named):
    request = ContextRequest(history=[user("Hello?" * 2_000)], tools=[tool(5)] * number)
    error = refused(request, ContextBudget.for_model("gpt-4o", target_tokens=1_000), protect="query")
    assert ("tools" in error.costs) is named
    assert error.costs.get("tools", 0) <= error.costs["fixed"] <= error.costs.get("tools", 0) + 10
    assert ("of which tools" in str(error)) is ("tools" in str(error)) is named
    assert ("tools" in error.remedies) is named


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"target_tokens": 40, "context_window": 900}, {"target_tokens"}, id="target"),
        pytest.param({"max_input_tokens": 40, "context_window": 900}, {"max_input_tokens"}, id="input"),
        pytest.param({"context_window": 40}, {"context_window"}, id="window"),
        pytest.param({"context_window": 60, "output_reserve": 20}, {"context_window", "output_reserve"}, id="reserve"),
        pytest.param({"context_window": 60, "safety_margin": 20}, {"context_window", "safety_margin"}, id="margin"),
        pytest.param({"max_input_tokens": 40, "trigger": 0.5}, {"max_input_tokens"}, id="trigger"),
    ],
)
def test_l7_the_message_names_the_settings_that_the_budget_follows_from(settings, named):
    error = refused(ContextRequest(query="q" * 90), ContextBudget(**settings), counter=LETTERS, protect="query")
    assert error.available == 40
    assert "the input budget is 40 " in str(error)
    assert set(error.remedies) == named | {"query"}
    assert all(name in str(error) for name in named - {"context_window"})


def test_l7_a_limit_of_the_model_is_no_setting():
    budget = ContextBudget.for_model("gpt-5")
    assert budget.input_budget == budget.max_input_tokens
    assert budget.binding == ("context_window",)


def test_l7_the_budget_that_is_named_is_the_one_that_was_set():
    request = ContextRequest(history=[user("Hello? " * 9_000)], tools=[tool(12)] * 20)
    error = refused(request, ContextBudget.for_model("gpt-4o", target_tokens=13_500), protect="query")
    assert error.available == 13_500
    assert "the input budget is 13,500 " in str(error)


def test_l7_the_fixed_part_and_what_is_protected_are_remedies_where_they_are_large():
    fixed = refused(ContextRequest(query="q", fixed_tokens=500), limit_of(100), counter=LETTERS)
    assert "a shorter template" in str(fixed)
    system = refused(ContextRequest(query="q", system="s" * 500), limit_of(100), counter=LETTERS, protect="system")
    assert "a shorter system prompt" in str(system)


@pytest.mark.parametrize(
    ("phrases", "expected"),
    [
        pytest.param({}, "too long; use a larger window or fewer tools", id="as they are"),
        pytest.param({"tools": "fewer `tools=`"}, "too long; use a larger window or fewer `tools=`", id="renamed"),
        pytest.param({"tools": ""}, "too long; use a larger window", id="taken away"),
        pytest.param({"tools": "", "context_window": ""}, "too long", id="all taken away"),
        pytest.param({"query": "a shorter one"}, "too long; use a larger window or fewer tools", id="one not named"),
    ],
)
def test_l7_a_front_names_its_own_settings(phrases, expected):
    remedies = {"context_window": "a larger window", "tools": "fewer tools"}
    error = ContextBudgetError("too long", needed=9, available=5, costs={"fixed": 9}, remedies=remedies)
    renamed = error.with_remedies(phrases)
    assert str(renamed) == expected
    assert (renamed.needed, renamed.available, dict(renamed.costs)) == (9, 5, {"fixed": 9})
    assert str(copy.copy(renamed)) == expected


@pytest.mark.parametrize("properties", [0, 1, 40, 200])
@pytest.mark.parametrize("trigger", [1.0, 0.8])
def test_l28_what_counts_as_within_the_budget_is_not_refused_and_not_cut(properties, trigger):
    request = ContextRequest(history=[user("Hello?")], tools=[tool(properties)])
    tokens = count_request(request, counter_of(ContextBudget.for_model("gpt-4o")), ChatRenderer())
    budget = ContextBudget.for_model("gpt-4o", target_tokens=tokens, trigger=trigger)
    assert fit(request, budget).unchanged
    assert plan(request, budget).tokens_after == tokens
    error = refused(
        request, ContextBudget.for_model("gpt-4o", target_tokens=tokens - 1, trigger=trigger), protect="query"
    )
    assert error.needed == tokens


def test_l28_the_room_for_schemas_is_given_up_before_a_request_is_refused():
    request = ContextRequest(
        history=[user("Why? " * 100), Message(role="assistant", content="So. " * 9), user("Hello?")]
    )
    request = ContextRequest(history=request.history, tools=[tool(40)])
    counter = counter_of(ContextBudget.for_model("gpt-4o"))
    least = count_request(ContextRequest(history=[user("Hello?")], tools=[tool(40)]), counter, ChatRenderer())
    fitted = fit(request, ContextBudget.for_model("gpt-4o", target_tokens=least), protect="query")
    assert fitted.report.tokens_after == least
    assert fitted.report.notes == ("nothing is kept free for tool schemas beyond their count",)


@pytest.mark.parametrize("protect", [(), ("query",), ("system",), ("query", "system")], ids=str)
@pytest.mark.parametrize("results", [1, 3])
def test_l28_an_unread_result_needs_its_smallest_form_alone(results, protect):
    calls = [ToolCall(id=f"c{number}", name="read", arguments="{}") for number in range(results)]
    history = [Message(role="system", content="Be kind."), user("Go"), Message(role="assistant", tool_calls=calls)]
    history += [Message(role="tool", content="line 17\n" * 300, tool_call_id=call.id) for call in calls]
    request = ContextRequest(history=history)
    error = refused(request, limit_of(9), counter=O200K, protect=protect)
    assert error.needed < 20 + 20 * results
    assert fit(request, limit_of(error.needed), counter=O200K, protect=protect).report.within_budget
    assert refused(request, limit_of(error.needed - 1), counter=O200K, protect=protect).needed == error.needed


def test_l28_a_call_in_flight_takes_from_question_and_system_prompt_what_it_needs():
    words = "tar and rope " * 300
    calls = [ToolCall(id=f"c{number}", name="read", arguments="{}") for number in range(5)]
    results = [Message(role="tool", content=words, tool_call_id=call.id) for call in calls]
    history = [Message(role="system", content=words), user(words), Message(role="assistant", tool_calls=calls)]
    fitted = fit(ContextRequest(history=[*history, *results]), limit_of(300), counter=O200K)
    assert fitted.history.kept == tuple(range(8))
    assert fitted.report.within_budget


def test_l28_a_refusal_asks_no_scorer_and_no_summarizer():
    asked = []

    def scorer(query, texts):
        asked.append(query)
        return [0.0] * len(texts)

    turns = [user("Why? " * 50), Message(role="assistant", content="So. " * 50)]
    request = ContextRequest(history=[*turns * 4, user("Hello? " * 100)], documents=[Document(text="d " * 99)])
    refused(
        request,
        limit_of(50),
        counter=O200K,
        protect="query",
        history=HistoryPolicy(strategy="relevance", scorer=scorer),
        documents={"scorer": scorer},
    )
    assert asked == []


POLICIES = [HistoryPolicy(), HistoryPolicy(strategy="sliding_window"), HistoryPolicy(stable_prefix=True)]


@pytest.mark.filterwarnings("ignore::ctxopt_core.BudgetWarning")
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(openai_messages(), documents(), st.data())
def test_l28_what_is_needed_is_enough_and_one_token_less_is_not(rows, found, data):
    given = ContextRequest(
        history=OpenAIMessages(rows),
        documents=[Document(text=document["text"], score=document["score"]) for document in found],
        query=data.draw(st.sampled_from(["", "Why?"])) if not found else "Why?",
        system=data.draw(st.sampled_from(["", "Be kind."])),
        tools=data.draw(st.sampled_from([(), (tool(3),)])),
    )
    options = {
        "history": data.draw(st.sampled_from(POLICIES)),
        "protect": data.draw(st.sampled_from([(), ("query",), ("system",), ("query", "system")])),
        "overflow": data.draw(st.sampled_from(["error", "error", "empty"])),
    }
    tokens = data.draw(st.integers(1, 120))
    try:
        fit(given, limit_of(tokens), counter=O200K, **options)
    except ContextBudgetError as error:
        needed = error.needed
    else:
        return
    assert needed > tokens
    assert fit(given, limit_of(needed), counter=O200K, **options).report.tokens_after <= needed
    with pytest.raises(ContextBudgetError) as caught:
        fit(given, limit_of(needed - 1), counter=O200K, **options)
    assert caught.value.needed == needed


@pytest.mark.parametrize(
    "counter",
    [
        counter_for("gemini-3-pro"),
        counter_for("claude-sonnet-4-5"),
        counter_for("mistral-7b"),
        CallableCounter(lambda text: 3 * len(text)),
        ScaledCounter(O200K, 2.5),
    ],
    ids=["gemini", "claude", "small_vocabulary", "three_a_letter", "scaled"],
)
@pytest.mark.parametrize(
    "text", ["7" * 50, "12", "?", ". " * 20, '["a","b"]'], ids=["digits", "two", "one", "signs", "json"]
)
def test_l28_a13_a_counter_with_more_tokens_than_bytes_is_not_taken_to_fit_by_its_bytes(counter, text):
    roles = ("user", "assistant") * 30
    request = ContextRequest(history=[*(Message(role=role, content=text) for role in roles), user("Hello?")])
    tokens = count_request(request, counter, ChatRenderer())
    for limit in range(tokens - tokens // 10, tokens):
        report = fit(request, ContextBudget(max_input_tokens=limit), counter=counter).report
        assert not report.unchanged
        assert report.tokens_after <= limit
