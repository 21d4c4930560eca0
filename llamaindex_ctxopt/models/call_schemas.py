"""What goes with a call beside its messages: tool schemas, a response format, and arguments that decide its budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel, TypeAdapter
from llama_index.core.llms import LLM
from llama_index.core.tools import BaseTool, FunctionTool

from ctxopt_core.adapters import ModelInfo, schema_texts, schemas_in
from llamaindex_ctxopt.models.model_settings import settings_of

_CLASSES_REMEMBERED = 256


def settings_of_call(llm: LLM, arguments: Mapping[str, Any]) -> ModelInfo:
    """Return what is known of the model that a call goes to.

    Args:
        llm: The model.
        arguments: The arguments of the call, which may name another model or another answer limit.
    """
    return settings_of(llm).called_with(_sent_with(llm, arguments))


def schemas_of_call(llm: LLM, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any] | str, ...]:
    """Return tools, functions and response formats as they are sent with a call."""
    return sent_schemas(schemas_in(_sent_with(llm, arguments)))


def sent_schemas(schemas: Iterable[object]) -> tuple[Mapping[str, Any] | str, ...]:
    """Return schemas as they are sent; see `as_sent`."""
    return tuple(map(as_sent, schemas))


def as_sent(schema: object) -> Mapping[str, Any] | str:
    """Return a schema as it is sent.

    A mapping is sent as it is, whatever the provider's form for it. Tools, classes and functions are sent in one form
    or another by the integration of the provider; they are taken in OpenAI's, which is the longest.
    """
    if isinstance(schema, (Mapping, str)):
        return schema
    if isinstance(schema, BaseTool):
        return schema.metadata.to_openai_tool(skip_length_check=True)
    if isinstance(schema, type):
        return _text_of_class(schema)
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
def _text_of_class(schema: type[Any]) -> str:
    """Return a class as the response format that it is sent as; its schema is slow to make, so it is remembered."""
    described = {"name": schema.__name__, "schema": _json_schema(schema), "strict": True}
    return schema_texts([{"type": "json_schema", "json_schema": described}])[0]


def _json_schema(schema: type[Any]) -> Mapping[str, Any]:
    """Return the schema of a model or of a dataclass; any other class is sent by its name at the most."""
    if issubclass(schema, BaseModel):
        return schema.model_json_schema()
    return TypeAdapter(schema).json_schema() if is_dataclass(schema) else {}
