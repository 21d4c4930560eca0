"""Whatever JSON stands where something else should, a request is fitted, or refused with a message that says where."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.budget.budget_settings import BudgetSettings
from ctxopt_core.command_line.errors import DoesNotFitError
from ctxopt_core.command_line.fitting_options import FittingChoices
from ctxopt_core.command_line.request_fitter import RequestFitter
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.formats.request_files import fitted_content, read_request
from ctxopt_core.models.resolve_window import UnknownModelWarning
from drawn_examples import examples
from spoiled_requests import SHAPES, WRONG, places_in, spoiled


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_spoiled_request_is_fitted_or_refused_with_its_place(shape, data):
    content = SHAPES[shape]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places_in(content))))
        content = spoiled(content, path, data.draw(st.sampled_from(WRONG)))
    target = data.draw(st.sampled_from([60, 400, 1_500, 100_000]))
    try:
        stored = read_request(json.dumps(content))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownModelWarning)
            fitted = RequestFitter(FittingChoices(limits=BudgetSettings(target_tokens=target))).fit(stored)
    except DoesNotFitError:
        return
    except (TypeError, ValueError) as error:
        assert "`" in str(error), repr(error)
        return
    as_json(fitted_content(stored, fitted))
