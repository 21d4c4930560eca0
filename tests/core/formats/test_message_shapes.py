"""Every shape that is known to go wrong elsewhere, through the core."""

from __future__ import annotations

import copy

import pytest

from ctxopt_core import ContextBudgetError
from fitted_rows import fit_rows, is_note
from message_shapes import MESSAGE_SHAPES, MessageShape
from view_problems import problems


@pytest.mark.parametrize("shape", MESSAGE_SHAPES, ids=lambda shape: shape.name)
def test_shape_ends_within_budget_with_the_question_and_whole_exchanges(shape: MessageShape):
    """It fits with everything that must stay, or a typed error says that it cannot."""
    rows, tools = shape.messages, shape.tools
    before = copy.deepcopy(rows)
    try:
        after, fitted = fit_rows(rows, shape.max_tokens, tools=tools)
    except ContextBudgetError as error:
        assert shape.infeasible
        assert error.costs["fixed"] >= 0
        return

    assert rows == before
    assert (after is rows) is fitted.unchanged
    assert fitted.unchanged or not shape.unchanged
    found = problems(before, after, budget=shape.max_tokens, tools=tools, needles=shape.needles, is_placeholder=is_note)
    assert found == []


@pytest.mark.parametrize("shape", [s for s in MESSAGE_SHAPES if not s.infeasible], ids=lambda shape: shape.name)
def test_a16_a_fitted_shape_fits_and_stays_as_it_is(shape: MessageShape):
    """A second fit changes nothing, so no second placeholder can come about."""
    once, _ = fit_rows(shape.messages, shape.max_tokens, tools=shape.tools)
    twice, fitted = fit_rows(once, shape.max_tokens, tools=shape.tools)

    assert fitted.unchanged
    assert twice is once
    assert sum(map(is_note, twice)) <= 1
