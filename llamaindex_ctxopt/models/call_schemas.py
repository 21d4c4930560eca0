"""Reads the arguments of a call: tool schemas, the response format, and those that decide its budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel, TypeAdapter
from llama_index.core.llms import LLM
from llama_index.core.tools import BaseTool, FunctionTool

from ctxopt_core.adapters import BudgetSettings, ModelInfo, schema_texts, schemas_in
from llamaindex_ctxopt.models.model_settings import NO_LIMITS, settings_of

# Classes whose response format is cached, since a schema is slow to make. An application with more such classes would
# make them again at each call; a larger cache keeps more classes alive.
_CLASSES_REMEMBERED = 256


def settings_of_call(llm: LLM, arguments: Mapping[str, Any], limits: BudgetSettings = NO_LIMITS) -> ModelInfo:
    """Return what the model that is called says about itself.

    Args:
        llm: The model.
        arguments: The arguments of the call, which may name another model or another answer limit.
        limits: The limits of the user; where they say how much fits, the model is not asked.
    """
    return settings_of(llm, limits).called_with(_sent_with(llm, arguments))


def schemas_of_call(llm: LLM, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any] | str, ...]:
    """Return tools, functions and response formats as they are sent with a call."""
    return tuple(map(as_sent, schemas_in(_sent_with(llm, arguments))))


def as_sent(schema: object) -> Mapping[str, Any] | str:
    """Return a schema as it is sent.

    A mapping is returned as it is. Tools, classes and functions are sent in one form or another by the integration of
    the provider; they are returned in OpenAI's, which is the longest.
    """
    if isinstance(schema, (Mapping, str)):
        return schema
    if isinstance(schema, BaseTool):
        return schema.metadata.to_openai_tool(skip_length_check=True)
    if isinstance(schema, type):
        return _response_format(schema)
    if isinstance(schema, BaseModel):
        return schema.model_dump(exclude_none=True)
    if callable(schema):
        return FunctionTool.from_defaults(schema).metadata.to_openai_tool(skip_length_check=True)
    return str(schema)


def _sent_with(llm: LLM, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call with those that the model adds to every call."""
    own = getattr(llm, "additional_kwargs", None)
    return {**own, **arguments} if isinstance(own, Mapping) else arguments


@lru_cache(maxsize=_CLASSES_REMEMBERED)
def _response_format(kind: type[Any]) -> str:
    """Return a class as the response format that is sent. One that is neither model nor dataclass has no fields."""
    schema: Mapping[str, Any] = {}
    if issubclass(kind, BaseModel):
        schema = kind.model_json_schema()
    elif is_dataclass(kind):
        schema = TypeAdapter(kind).json_schema()
    described = {"name": kind.__name__, "schema": schema, "strict": True}
    return schema_texts([{"type": "json_schema", "json_schema": described}])[0]
