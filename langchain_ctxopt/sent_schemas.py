"""Tools, response formats and instructions of a call, as the provider's client sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ctxopt_core.adapters import formats_in, schemas_in, tools_in

Schema: TypeAlias = Mapping[str, Any] | str


def schemas_sent(arguments: Mapping[str, Any]) -> tuple[Schema, ...]:
    """Return what the arguments of a call add to its messages.

    Args:
        arguments: The arguments, those in mappings among them included; see `flat_arguments`.
    """
    formats = list(formats_in(arguments))
    choice = list(schemas_in({name: value for name, value in arguments.items() if name == "tool_choice"}))
    instructions = arguments.get("instructions")
    return (
        *map(as_sent, tools_in(arguments)),
        *map(format_as_sent, formats),
        *choice,
        *([instructions] if isinstance(instructions, str) and instructions else []),
    )


def as_sent(schema: object) -> Schema:
    """Return a tool as it is sent: a mapping as it is; a tool, a class or a function as LangChain converts it."""
    if isinstance(schema, (Mapping, str)):
        return schema
    if not callable(schema) and not hasattr(schema, "args_schema"):
        return str(schema)
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return convert_to_openai_tool(schema)  # type: ignore[arg-type]


def format_as_sent(form: object) -> Schema:
    """Return a response format as it is sent: a class as the strict JSON schema that clients make of it."""
    if isinstance(form, (Mapping, str)) or not isinstance(form, type):
        return as_sent(form)
    described: Mapping[str, Any]
    if hasattr(form, "model_json_schema"):
        described = form.model_json_schema()
    else:
        tool: Any = as_sent(form)
        described = tool["function"]["parameters"]
    schema = _strict(described, described, frozenset())
    return {"type": "json_schema", "json_schema": {"name": form.__name__, "schema": schema, "strict": True}}


def _strict(node: Any, root: Mapping[str, Any], within: frozenset[str]) -> Any:
    """Return a schema in its strict form.

    Objects are closed, every property is required, and a reference that has more beside it is replaced by what it
    refers to.
    """
    if isinstance(node, list):
        return [_strict(item, root, within) for item in node]
    if not isinstance(node, Mapping):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str) and len(node) > 1 and reference not in within:
        return _strict({**_referred(reference, root), **_without(node, "$ref")}, root, within | {reference})
    made = {key: _strict(value, root, within) for key, value in node.items()}
    if isinstance(node.get("properties"), Mapping):
        made |= {"additionalProperties": False, "required": list(node["properties"])}
    return made


def _referred(reference: str, root: Any) -> Mapping[str, Any]:
    for part in reference.removeprefix("#/").split("/"):
        root = root.get(part) if isinstance(root, Mapping) else None
    return root if isinstance(root, Mapping) else {}


def _without(node: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != name}
