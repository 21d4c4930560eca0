"""A catalogue of one's own is asked before the built-in one."""

from __future__ import annotations

import pytest

from llamaindex_ctxopt import ContextOptimizer, ContextOptimizerMemory


def test_t16_a_window_of_ones_own_catalogue_is_the_models():
    optimizer = ContextOptimizer(llm="house-model", catalogue={"house-model": 3_000})
    assert (optimizer.budget.context_window, optimizer.budget.window.source) == (3_000, "user catalogue")


def test_t16_what_is_no_catalogue_is_refused():
    with pytest.raises(TypeError, match="`catalogue` must be a mapping or a function"):
        ContextOptimizerMemory.from_defaults(llm="gpt-4", catalogue=5)
