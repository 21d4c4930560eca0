"""The tool schemas and the response format that an agent binds to its model for one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.structured_output import AutoStrategy, OutputToolBinding, ProviderStrategy, ToolStrategy
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_ctxopt.sent_schemas import Schema, as_sent


def schemas_of_call(tools: Sequence[Any], response_format: Any) -> list[tuple[Schema, ...]]:
    """Return the schemas that may go with a call: one tuple for each way in which the agent may bind them.

    A response format is bound as further tools, or in the provider's own form. Where the strategy is automatic, the
    agent decides after the middleware, so that both are returned.

    Args:
        tools: The tools of the call.
        response_format: The response format of the call: a strategy, a schema, or None.
    """
    if response_format is None:
        return [tuple(map(as_sent, tools))]
    if isinstance(response_format, ToolStrategy):
        return [_as_tools(tools, response_format)]
    if isinstance(response_format, ProviderStrategy):
        return [_as_provider_format(tools, response_format)]
    schema = response_format.schema if isinstance(response_format, AutoStrategy) else response_format
    strategy = ToolStrategy(schema=schema)
    several = len(strategy.schema_specs) > 1  # no provider takes a choice of schemas
    return [_as_tools(tools, strategy), *([] if several else [_as_provider_format(tools, ProviderStrategy(schema))])]


def _as_tools(tools: Sequence[Any], strategy: ToolStrategy[Any]) -> tuple[Schema, ...]:
    outputs = [OutputToolBinding.from_schema_spec(spec).tool for spec in strategy.schema_specs]
    return tuple(map(as_sent, (*tools, *outputs)))


def _as_provider_format(tools: Sequence[Any], strategy: ProviderStrategy[Any]) -> tuple[Schema, ...]:
    return (*map(_strict, tools), strategy.to_model_kwargs()["response_format"])


def _strict(tool: Any) -> Schema:
    """Return the strict form, in which agents send tools beside a provider's response format to some models."""
    if isinstance(tool, Mapping) and tool.get("type") != "function":
        return as_sent(tool)
    return convert_to_openai_tool(tool, strict=True)
