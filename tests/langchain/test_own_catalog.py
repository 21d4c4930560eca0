"""A catalog of one's own is asked before the built-in one, by both ways to make an optimizer."""

from __future__ import annotations

import pytest

from chat_model_doubles import NamedModel
from langchain_ctxopt import ContextOptimizer, with_optimizer


def asked(model):
    return {"context_window": 3_000} if model == "house-model" else None


@pytest.mark.parametrize("catalog", [{"house-model": 3_000}, asked], ids=["mapping", "function"])
@pytest.mark.parametrize("model", ["house-model", NamedModel(model_name="house-model")], ids=["name", "object"])
def test_t16_a_window_of_ones_own_catalog_is_the_models(catalog, model):
    budget = ContextOptimizer(model=model, catalog=catalog).budget
    assert (budget.context_window, budget.window.source) == (3_000, "user catalog")


def test_t16_a_model_that_is_optimized_is_looked_up_there_at_each_call():
    windows = {"house-model": 3_000}
    guarded = with_optimizer(NamedModel(model_name="house-model"), catalog=windows)
    assert guarded.optimizer().budget.context_window == 3_000
    windows["house-model"] = 5_000
    assert guarded.optimizer().budget.context_window == 5_000


def test_t16_what_is_no_catalog_is_refused():
    with pytest.raises(TypeError, match="`catalog` must be a mapping or a function"):
        ContextOptimizer(model="gpt-4", catalog=5)
