"""Tool schemas as the TypeScript-like declarations that models of OpenAI read.

OpenAI documents that functions are put into the system message "in a syntax the model has been trained on", and shows
that syntax for gpt-oss in `docs/format.md` of openai/harmony. The details below reproduce the usage figures that were
reported for other models; see the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

_TYPES = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
_RENDERED = frozenset(
    {"type", "description", "enum", "const", "items", "prefixItems", "anyOf", "oneOf", "allOf", "$ref", "nullable"}
)
_SILENT = frozenset({"properties", "required", "$defs", "definitions", "$schema", "default", "strict"})
_DEFINITIONS = ("$defs", "definitions")
# Levels of nesting in a schema. A schema that refers to itself never ends: there, and in one that is deeper, its JSON
# counts. Schemas of tools have a few levels.
_DEEPEST = 40
# References that are followed in one schema: a few definitions that name each other twice stand for 2 to the power of
# their number, so that a larger figure costs time and a smaller one precision.
_MOST_REFERENCES = 500
_REMEMBERED = 1_024  # declarations that are cached; a request has some dozens of tools


def namespace(declarations: Sequence[str]) -> str:
    """Return the namespace that declares all functions."""
    return "\n".join(["namespace functions {", "", *declarations, "} // namespace functions"])


@lru_cache(maxsize=_REMEMBERED)
def declaration(function: str) -> str:
    """Return the declaration of one function, with the blank line after it.

    The function is JSON with `name`, `description` and `parameters`. A schema that refers to itself, or that is far
    larger when its references are resolved, is declared as its JSON.
    """
    described: Mapping[str, Any] = json.loads(function)
    parameters = described.get("parameters")
    schema = _Schema(parameters if isinstance(parameters, Mapping) else {})
    name = described.get("name", "")
    lines = list(_comment(described.get("description")))
    try:
        properties = list(schema.properties(schema.root, 0, 0))
    except _EndlessError:
        properties = [f"// {function}"]
    if properties:
        lines += [f"type {name} = (_: {{", *properties, "}) => any;"]
    else:
        lines.append(f"type {name} = () => any;")
    return "\n".join([*lines, ""])


class _EndlessError(Exception):
    """A schema refers to itself, or to too much."""


class _Schema:
    """One schema whose parts refer to each other."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self._resolved = 0
        self._definitions = {
            f"#/{key}/{name}": definition
            for key in _DEFINITIONS
            if isinstance(root.get(key), Mapping)
            for name, definition in root[key].items()
        }

    def properties(self, schema: Mapping[str, Any], indent: int, depth: int) -> Iterator[str]:
        """Yield the lines of the properties of an object, the braces around them left out."""
        properties, required = schema.get("properties"), schema.get("required")
        required = required if isinstance(required, (list, tuple)) else ()
        blanks = " " * indent
        yield from (blanks + line for line in _rest(schema))
        for name, value in properties.items() if isinstance(properties, Mapping) else ():
            described = value if isinstance(value, Mapping) else {}
            lines = list(_comment(described.get("description")))
            if described.get("type") != "object" and "properties" not in described:  # else they are inside the braces
                lines += _rest(described)
            yield from (blanks + line for line in lines)
            mark = "" if name in required else "?"
            default = described.get("default")
            shown = "" if default is None else f" // default: {default if isinstance(default, str) else _json(default)}"
            yield f"{blanks}{name}{mark}: {self._type(value, indent, depth)},{shown}"

    def _type(self, schema: Any, indent: int, depth: int) -> str:
        if not isinstance(schema, Mapping):
            return "any"
        if depth > _DEEPEST:
            raise _EndlessError
        if "$ref" in schema:
            self._resolved += 1
            if self._resolved > _MOST_REFERENCES:
                raise _EndlessError
            reference = str(schema["$ref"])
            found = self._definitions.get(reference)
            return reference if found is None else self._type(found, indent, depth + 1)
        if isinstance(schema.get("enum"), Sequence):
            return " | ".join(map(_json, schema["enum"]))
        if "const" in schema:
            return _json(schema["const"])
        for key, mark in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
            if isinstance(schema.get(key), Sequence):
                return mark.join(self._type(choice, indent, depth + 1) for choice in schema[key])
        kinds = schema.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        named = " | ".join(self._of_kind(kind, schema, indent, depth + 1) for kind in kinds)
        return f"{named} | null" if schema.get("nullable") is True else named

    def _of_kind(self, kind: object, schema: Mapping[str, Any], indent: int, depth: int) -> str:
        if kind == "array":
            items = schema.get("prefixItems", schema.get("items"))
            if isinstance(items, list):
                return f"[{', '.join(self._type(item, indent, depth) for item in items)}]"
            return f"{self._type(items, indent, depth)}[]"
        if kind == "object" or (kind is None and "properties" in schema):
            lines = list(self.properties(schema, indent + 2, depth))
            return "\n".join(["{", *lines, "}"]) if lines else "object"
        return _TYPES.get(str(kind), "any")


def _comment(description: object) -> Iterator[str]:
    """Yield a description as one comment; the blanks around its lines are not sent."""
    if isinstance(description, str) and description.strip():
        yield "// " + "\n".join(line.strip() for line in description.strip().splitlines())


def _rest(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the other keys of an object, as JSON: it is not known whether they are sent, so they are counted."""
    for key, value in schema.items():
        if key not in _RENDERED and key not in _SILENT and not (key == "additionalProperties" and value is False):
            yield f"// {key}: {_json(value)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
