"""What holds for every Anthropic-shaped conversation and every budget."""

from __future__ import annotations

import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anthropic_chats import anthropic_chats, broken_anthropic_chats
from anthropic_rows import anthropic_problems, anthropic_tokens, fit_anthropic, pairing_problems
from ctxopt_core import ContextBudgetError, counter_for, trim_history
from ctxopt_core.formats.anthropic_messages import AnthropicMessages, fitted_anthropic
from drawn_examples import examples

O200K = counter_for("o200k_base")

THOROUGH = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(rows, budget):
    full = anthropic_tokens(rows)
    before = copy.deepcopy(rows)
    try:
        after, fitted = fit_anthropic(rows, budget)
    except ContextBudgetError:
        assert budget < full
        return

    assert rows == before
    assert fitted.unchanged is (budget >= full)
    if after is not rows:
        assert list(anthropic_problems(rows, after, budget)) == []
        assert fitted.report.tokens_after >= anthropic_tokens(after)
        assert fit_anthropic(after, budget)[0] is after
    assert fit_anthropic(rows, budget)[0] == after


@THOROUGH
@given(anthropic_chats(), st.data())
def test_i8_a_chat_ends_within_any_budget_with_whole_pairs_and_its_question(rows, data):
    check(rows, data.draw(st.integers(1, anthropic_tokens(rows) + 2)))


@THOROUGH
@given(broken_anthropic_chats(), st.data())
def test_i8_a_chat_with_missing_parts_is_mended_when_it_is_cut(rows, data):
    check(rows, data.draw(st.integers(1, anthropic_tokens(rows) + 2)))


@THOROUGH
@given(broken_anthropic_chats(), st.data())
def test_i8_a_history_alone_is_trimmed_within_any_budget_with_whole_pairs(rows, data):
    budget = data.draw(st.integers(0, anthropic_tokens(rows)))
    trimming = trim_history(AnthropicMessages(rows), budget, O200K)
    after = fitted_anthropic(rows, trimming)

    assert anthropic_tokens(after) - 3 <= trimming.tokens <= budget
    if len(after) < len(rows):
        assert list(pairing_problems(rows, after)) == []
