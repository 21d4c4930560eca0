"""A catalog of one's own is asked before the built-in one."""

from __future__ import annotations

import pytest

from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer


def test_t16_a_window_of_ones_own_catalog_is_the_models():
    optimizer = EngineOptimizer(llm="house-model", catalog={"house-model": 3_000})
    assert (optimizer.budget.context_window, optimizer.budget.window.source) == (3_000, "user catalog")


def test_t16_what_is_no_catalog_is_refused():
    with pytest.raises(TypeError, match="`catalog` must be a mapping or a function"):
        ContextOptimizerMemory.from_defaults(llm="gpt-4", catalog=5)
