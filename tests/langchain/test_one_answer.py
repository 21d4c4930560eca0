"""A model has one window, one reserve and one budget, whether its name or its object is given."""

import pytest
from langchain_openai import ChatOpenAI

from langchain_ctxopt import ContextOptimizer


@pytest.mark.parametrize("name", ["gpt-5", "gpt-4o", "gpt-4.1", "o3"])
def test_u8_a_name_and_an_object_have_the_same_budget(name):
    by_name = ContextOptimizer(model=name)._model_budget.budget
    by_object = ContextOptimizer(model=ChatOpenAI(model=name, api_key="none"))._model_budget.budget

    figures = ("context_window", "output_reserve", "input_budget")
    assert [getattr(by_name, figure) for figure in figures] == [getattr(by_object, figure) for figure in figures]
