"""Tools that are named to the optimizer itself, for requests whose model object is not at hand."""

from __future__ import annotations

import json

import pytest
from langchain_core.tools import tool

from independent_recount import recount
from langchain_ctxopt import ContextOptimizer

SCHEMA = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look it up. " * 20,
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    },
}
ROWS = [
    {"role": "user" if i % 2 == 0 else "assistant", "content": f"row {i} of the chat, which is not short. " * 4}
    for i in range(41)
]


@tool
def look(q: str) -> str:
    """Look it up."""
    return q


def test_a10_named_tools_are_counted_with_every_request():
    optimizer = ContextOptimizer(max_input_tokens=400, token_counter="o200k_base", tools=[SCHEMA])

    fitted = optimizer.fit(ROWS)

    assert 300 < recount(fitted.value, [SCHEMA]) <= 400
    assert fitted.report.fixed > 60


@pytest.mark.parametrize("given", [look, SCHEMA, lambda q: q], ids=["tool", "mapping", "function"])
def test_a_tool_is_a_mapping_a_function_or_a_langchain_tool(given):
    if callable(given) and given is not look:
        given.__name__, given.__doc__ = "look", "Look it up."

    optimizer = ContextOptimizer(max_input_tokens=400, token_counter="o200k_base", tools=[given])

    assert optimizer.tools[0]["function"]["name"] == "look"
    assert json.dumps(optimizer.tools[0])


def test_tools_must_be_a_list():
    with pytest.raises(ValueError, match="`tools`"):
        ContextOptimizer(max_input_tokens=400, tools=SCHEMA)
