"""What goes with a call beside its messages is counted at least as it is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.tools import FunctionTool

from ctxopt_core.providers.tool_schemas import schema_texts
from llamaindex_ctxopt.models.call_schemas import as_sent, schemas_of_call, settings_of_call
from scripted_llms import ScriptedLLM

SCHEMA = {"name": "page", "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}}}


class Log(BaseModel):
    """The log of the harbour."""

    pages: list[int]


@dataclass
class Entry:
    """One entry of the log."""

    pages: list[int]


class Unknown:
    """Nothing that has a schema."""


def page(pages: int) -> str:
    """Return one page."""
    return str(pages)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        pytest.param(FunctionTool.from_defaults(page), ("page", "pages", "Return one page."), id="a tool"),
        pytest.param(page, ("page", "pages", "Return one page."), id="a function"),
        pytest.param(Log, ("Log", "pages", "The log of the harbour."), id="a model"),
        pytest.param(Entry, ("Entry", "pages"), id="a dataclass"),
        pytest.param(Unknown, ("Unknown",), id="another class"),
        pytest.param(Log(pages=[1, 2]), ("pages", "[1,2]"), id="an object of a provider's package"),
        pytest.param(7, ("7",), id="anything else"),
    ],
)
def test_schemas_of_any_form_say_what_a_provider_is_told(schema: Any, told: tuple[str, ...]) -> None:
    [text] = schema_texts([as_sent(schema)])
    assert [part for part in told if part not in text] == []


@pytest.mark.parametrize("schema", [SCHEMA, json.dumps(SCHEMA)])
def test_what_is_in_a_providers_form_already_is_counted_as_it_is(schema: Any) -> None:
    assert as_sent(schema) is schema


def test_the_schema_of_a_class_is_made_once() -> None:
    assert as_sent(Log) is as_sent(Log)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({}, 0),
        ({"tools": None, "response_format": None}, 0),
        ({"tools": [SCHEMA, SCHEMA], "response_format": Log}, 3),
        ({"functions": (SCHEMA,), "format": "json"}, 2),
        ({"tools": SCHEMA}, 1),
        ({"tool_choice": "auto", "temperature": 0.5}, 0),
    ],
)
def test_the_arguments_of_a_call_that_hold_schemas_are_found(arguments: dict[str, Any], count: int) -> None:
    assert len(schemas_of_call(ScriptedLLM(), arguments)) == count


@pytest.mark.parametrize(
    ("arguments", "name", "window", "answer"),
    [
        ({}, "gpt-4-scripted", 4_000, 256),
        ({"max_tokens": 9}, "gpt-4-scripted", 4_000, 9),
        ({"max_tokens": None, "max_output_tokens": 8}, "gpt-4-scripted", 4_000, 8),
        ({"model": "gpt-4-scripted"}, "gpt-4-scripted", 4_000, 256),
        ({"model": "gpt-4o"}, "gpt-4o", None, 256),
        ({"model": "a new one"}, "a new one", 4_000, 256),
    ],
)
def test_a_call_may_name_another_model_or_another_answer_limit(
    arguments: dict[str, Any], name: str, window: int | None, answer: int
) -> None:
    settings = settings_of_call(ScriptedLLM(), arguments)
    assert (settings.name, settings.max_input_tokens, settings.answer_tokens) == (name, window, answer)
