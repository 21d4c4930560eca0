"""What holds for every request and every budget."""

from __future__ import annotations

import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    HistoryPolicy,
    counter_for,
    fit,
    trim_history,
)
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from drawn_examples import examples
from fitted_rows import fit_rows, is_note
from hostile_text import documents, hostile_text, openai_messages
from independent_recount import recount
from view_problems import problems

O200K = counter_for("o200k_base")
THOROUGH = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOOLS = [{"type": "function", "function": {"name": "look", "description": "look it up"}}]


POLICIES = [HistoryPolicy(), HistoryPolicy(strategy="relevance"), HistoryPolicy(strategy="relevance", recent_percent=0)]


def rows_of(fitted, rows):
    texts = [{"role": "system", "content": text} for text in fitted.system if text]
    user = "\n\n".join(part for part in ("\n\n".join(fitted.document_texts()), *fitted.query) if part)
    return [*texts, *fitted_openai(rows, fitted.history), {"role": "user", "content": user}]


@THOROUGH
@given(openai_messages(), st.data())
def test_a13_messages_of_any_kind_end_within_any_budget_or_in_the_typed_error(rows, data):
    full = recount(rows, TOOLS)
    budget = data.draw(st.integers(1, full + 2))
    policy = data.draw(st.sampled_from(POLICIES))
    before = copy.deepcopy(rows)
    try:
        after, fitted = fit_rows(rows, budget, tools=TOOLS, history=policy)
    except ContextBudgetError:
        assert budget < full
        return

    assert rows == before
    assert fitted.unchanged is (budget >= full)
    assert problems(before, after, budget=budget, tools=TOOLS, is_placeholder=is_note) == []
    assert fit_rows(after, budget, tools=TOOLS, history=policy)[0] is after
    assert fit_rows(rows, budget, tools=TOOLS, history=policy)[0] == after


@THOROUGH
@given(
    openai_messages(max_turns=2, well_formed=True),
    documents(),
    hostile_text().filter(str.strip),
    hostile_text(),
    st.data(),
)
def test_a13_whole_requests_end_within_any_budget_or_in_the_typed_error(rows, raw_documents, query, system, data):
    request = ContextRequest(
        system=system,
        query=query,
        history=OpenAIMessages(rows),
        documents=[Document(id=d["id"], text=d["text"], score=d["score"]) for d in raw_documents],
        tools=TOOLS,
    )
    full = fit(request, ContextBudget(max_input_tokens=10**7), counter=O200K).report.tokens_after
    budget = data.draw(st.integers(1, full + 2))
    try:
        policy = data.draw(st.sampled_from(POLICIES))
        fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=O200K, history=policy)
    except ContextBudgetError:
        assert budget < full
        return

    assert recount(rows_of(fitted, rows), TOOLS) <= budget
    assert fitted.report.within_budget
    assert any(text.strip() for text in fitted.query)
    kept = fitted.documents.kept
    assert len(set(kept)) == len(kept)


@THOROUGH
@given(openai_messages(max_turns=8, well_formed=True), st.booleans())
def test_a_larger_history_budget_never_keeps_fewer_whole_turns(rows, keep_first_user_message):
    full = recount(rows)
    policy = HistoryPolicy(keep_first_user_message=keep_first_user_message)
    budgets = range(0, full + 1, max(1, full // 60))
    trimmings = [trim_history(OpenAIMessages(rows), budget, O200K, policy=policy) for budget in budgets]
    kept = [len(rows) if len(t.kept) == len(rows) and not t.shortened else t.whole_turns for t in trimmings]

    assert kept == sorted(kept)
    assert all(t.tokens <= budget for t, budget in zip(trimmings, budgets, strict=True))


@THOROUGH
@given(openai_messages(), documents(), st.integers(1, 400))
def test_m2_what_is_kept_and_what_is_dropped_is_the_input_each_item_once(rows, raw_documents, budget):
    request = ContextRequest(
        history=OpenAIMessages(rows),
        documents=[Document(text=d["text"], score=d["score"]) for d in raw_documents],
    )
    try:
        fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=O200K)
    except ContextBudgetError:
        return

    assert sorted((*fitted.history.kept, *fitted.history.dropped)) == list(range(len(rows)))
    report = fitted.report
    assert report.history.kept + report.history.dropped == len(rows)
    assert sum(report.history.reasons.values()) == report.history.dropped
    assert len(report.documents) == len(raw_documents)
    kept_ids = {i for i, row in enumerate(report.documents) if row.state != "dropped"}
    assert kept_ids == set(fitted.documents.kept)
    assert report.tokens_after <= budget
