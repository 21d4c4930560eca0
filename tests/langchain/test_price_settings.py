"""Prices, allowances and what to do about unknown models are settings of the adapter, too."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage
from pydantic import ValidationError

from chat_model_doubles import NamedModel
from ctxopt_core import UnknownModelError
from langchain_ctxopt import ContextOptimizer, with_optimizer

LONG = [HumanMessage("Which lantern burns longest? " * 5) for _ in range(400)]


def test_t15_a_price_of_ones_own_is_in_the_report():
    optimizer = ContextOptimizer(model="gpt-4", max_input_tokens=1_000, prices={"gpt-4": 10.0})
    report = optimizer.fit(LONG).report

    assert report.cost is not None
    assert report.cost.input == pytest.approx(report.tokens_after * 10 / 1_000_000)
    assert report.cost.saved == pytest.approx(report.tokens_saved * 10 / 1_000_000)


def test_t15_a_model_that_is_optimized_has_its_price():
    reports = []
    model = NamedModel(model_name="gpt-4")
    guarded = with_optimizer(model, max_input_tokens=500, prices={"gpt-4": 1.0}, on_report=reports.append)
    guarded.invoke(LONG)

    assert reports[0].cost.input == pytest.approx(reports[0].tokens_after / 1_000_000)


def test_t13_an_allowance_of_ones_own_is_what_an_image_costs():
    image = HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.com/lantern.png"}}])
    cheap, dear = (
        ContextOptimizer(max_input_tokens=9_000, attachment_tokens={"image": tokens}).count_tokens([image])
        for tokens in (100, 1_100)
    )
    assert dear - cheap == 1_000


def test_t9_an_unknown_model_is_an_error_where_that_is_wanted():
    with pytest.raises(UnknownModelError, match="no-such-model-here"):
        ContextOptimizer(model="no-such-model-here", on_unknown_model="error")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prices": {"gpt-4": "free"}}, "gpt-4"),
        ({"prices": {"": 1.0}}, "`prices` must map model ids"),
        ({"attachment_tokens": {"smell": 5}}, "`attachment_tokens` must map kinds"),
        ({"on_unknown_model": "guess"}, "on_unknown_model"),
    ],
    ids=str,
)
def test_settings_out_of_their_range_are_named(settings, said):
    with pytest.raises((ValueError, ValidationError), match=said):
        ContextOptimizer(model="gpt-4", **settings)
