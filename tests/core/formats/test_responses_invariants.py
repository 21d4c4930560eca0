"""What holds for every request to OpenAI's Responses API and every budget."""

from __future__ import annotations

import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextBudgetError, fit
from ctxopt_core.budget.model_budget import ModelBudget, counter_of
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.json_values import as_json, parsed
from ctxopt_core.formats.request_files import fitted_content, request_file
from drawn_examples import examples
from responses_items_made import least_tokens, responses_inputs, responses_problems

THOROUGH = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def model_budget(limit):
    budget = ContextBudget(target_tokens=limit)
    return ModelBudget(budget=budget, counter=counter_of(budget))


def counted(content):
    return count_request(request_file(content).request, model_budget(10).counter, ChatRenderer())


def fitted_to(content, limit):
    stored, known = request_file(content), model_budget(limit)
    fitted = fit(stored.request, known.budget, counter=known.counter)
    return fitted_content(stored, fitted), fitted


@THOROUGH
@given(responses_inputs(), st.data())
def test_nothing_is_split_lost_or_reordered_and_what_is_left_fits(items, data):
    content = {"model": "gpt-4o", "input": items, "store": False}
    full, before = counted(content), copy.deepcopy(content)
    assert full >= least_tokens(items)
    limit = data.draw(st.integers(1, full + 2))
    try:
        after, fitted = fitted_to(content, limit)
    except ContextBudgetError:
        assert limit < full
        return

    assert content == before
    assert fitted.unchanged is (limit >= full) is (after is content)
    assert {**after, "input": ()} == {**content, "input": ()}
    assert list(responses_problems(items, after["input"])) == []
    assert least_tokens(after["input"]) <= counted(after) <= limit
    assert parsed(as_json(after).decode()) == after
    assert fitted_to(after, limit)[0] is after


@THOROUGH
@given(responses_inputs(), st.data())
def test_with_items_missing_what_is_left_still_fits(items, data):
    gone = data.draw(st.sets(st.integers(1, len(items)), max_size=4))
    content = {"model": "gpt-4o", "input": [item for index, item in enumerate(items) if index not in gone]}
    limit = data.draw(st.integers(1, counted(content) + 2))
    try:
        after, _ = fitted_to(content, limit)
    except ContextBudgetError:
        return
    assert counted(after) <= limit
