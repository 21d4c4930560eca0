"""What tool schemas and response formats cost, as the provider of a model counts them.

* OpenAI: functions as the text of `typescript_schemas` and the frame around it; where a function refers to definitions,
  its JSON counts if it is larger, since it is not known how those are sent. Response formats and tools of other kinds
  as compact JSON, which is more than what was reported for them.
* Anthropic: compact JSON, and the system prompt that the API adds when there are tools, by the table "Tool use system
  prompt token count" of the page "Tool use with Claude" (the dearer tool choice; of its editions the dearer one).
* Anyone else: compact JSON, counted one by one and as one list, whichever is more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ctxopt_core.providers.anthropic_media import claude_version
from ctxopt_core.providers.typescript_schemas import declaration, namespace

Tools: TypeAlias = Sequence[str | Mapping[str, Any]]
Count: TypeAlias = Callable[[str], int]
WITH_SYSTEM = "."
"""A system text beside which schemas cost least."""


_REFERENCE = '"$ref"'
_FRAME = 9
_SYSTEM_SAVES = 4
_CHOICES = {"none": 1, "auto": 0}
_ANY_CHOICE, _NAMED_CHOICE = 2, 7
_JOINS_A_LINE_BREAK = (".", "?", "!", ":", ";", ")", '"', ",", "]", "}")
_CLAUDE_PROMPTS: tuple[tuple[tuple[int, int], int], ...] = (((4, 5), 530), ((4, 7), 589), ((4, 8), 804), ((5, 0), 410))
_CLAUDE_5, _NEWEST_CLAUDE = 474, 804
RESPONSE_FORMATS = ("response_format", "format")
SCHEMA_LISTS = ("tools", "functions")
TOOL_CHOICE = "tool_choice"
_USUAL_CHOICES = (None, False, "auto")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorted:
    """Tools by how they are counted: functions as JSON, the choice of a tool, and anything else as JSON."""

    functions: tuple[str, ...]
    choices: tuple[object, ...]
    others: tuple[str, ...]


def json_tokens(tools: Tools, count: Count) -> int:
    """Return the tokens of schemas as compact JSON: one by one or as one list, whichever is more."""
    texts = schema_texts(tools)
    if not texts:
        return 0
    return max(sum(map(count, texts)), count(f"[{','.join(texts)}]"))


def openai_schema_tokens(tools: Tools, count: Count, system: str | None) -> int:
    """Return the tokens of schemas as OpenAI counts them.

    Args:
        tools: Functions in any of OpenAI's forms, other tools, response formats, and the choice of a tool.
        count: Counts a text.
        system: The first system message, which the functions are added to; None where there is none, so that they
            come in a message of their own.
    """
    found = _sorted(tools)
    tokens = json_tokens(found.others, count) + sum(_choice_tokens(choice, count) for choice in found.choices)
    if not found.functions:
        return tokens
    declarations = tuple(map(declaration, found.functions))
    tokens += count(namespace(declarations)) + _FRAME
    for function, declared in zip(found.functions, declarations, strict=True):
        if _REFERENCE in function:
            tokens += max(0, count(function) - count(declared))
    if not system:
        return tokens
    # A line break follows the system text; it costs nothing where it is one token with the mark before it.
    return tokens - _SYSTEM_SAVES + (not system.endswith(_JOINS_A_LINE_BREAK))


def anthropic_schema_tokens(tools: Tools, count: Count, name: str) -> int:
    """Return the tokens of schemas as Anthropic counts them.

    Args:
        tools: The tools.
        count: Counts a text.
        name: The bare id of the model in its unified spelling.
    """
    return json_tokens(tools, count) + (_claude_prompt(name) if tools else 0)


def schema_texts(tools: Tools) -> tuple[str, ...]:
    """Return each tool schema as the compact JSON that is sent."""
    return tuple(tool if isinstance(tool, str) else _compact(tool) for tool in tools)


def _sorted(tools: Tools) -> _Sorted:
    functions, choices, others = list[str](), list[object](), list[str]()
    for tool in tools:
        mapping = tool if isinstance(tool, Mapping) else _mapping_of(tool)
        if mapping is not None and mapping.keys() == {TOOL_CHOICE}:
            choices.append(mapping[TOOL_CHOICE])
        elif mapping is not None and (function := _function(mapping)):
            functions.append(_compact(function))
        else:
            others.append(tool if isinstance(tool, str) else _compact(tool))
    return _Sorted(functions=tuple(functions), choices=tuple(choices), others=tuple(others))


def _mapping_of(text: str) -> Mapping[str, Any] | None:
    """Return the mapping that a text is the JSON of; None for any other text."""
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return name, description and parameters of a function in any of its forms; None for any other tool."""
    nested = tool.get("function")
    kind = tool.get("type", "function")
    found = nested if isinstance(nested, Mapping) else tool
    if kind != "function" or not isinstance(found.get("name"), str):
        return None
    parameters = next((found[key] for key in ("parameters", "input_schema") if key in found), None)
    return {"name": found["name"], "description": found.get("description"), "parameters": parameters}


def _choice_tokens(choice: object, count: Count) -> int:
    if isinstance(choice, str) and choice in _CHOICES:
        return _CHOICES[choice]
    name = next(_names_in(choice), None)
    return _ANY_CHOICE if name is None else _NAMED_CHOICE + count(name)


def _names_in(choice: object) -> Iterator[str]:
    """Yield the name of the function that must be called."""
    if isinstance(choice, Mapping):
        for mapping in (choice, choice.get("function")):
            if isinstance(mapping, Mapping) and isinstance(mapping.get("name"), str):
                yield mapping["name"]
    elif isinstance(choice, str) and choice not in ("required", "any"):
        yield choice


def _claude_prompt(name: str) -> int:
    version = claude_version(name)
    if version is None or version > (5, 0):
        return _NEWEST_CLAUDE
    return next((tokens for below, tokens in _CLAUDE_PROMPTS if version < below), _CLAUDE_5)


def _compact(tool: Mapping[str, Any]) -> str:
    return json.dumps(tool, separators=(",", ":"), ensure_ascii=False, default=str)


def schemas_in(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tools, functions and response formats among the arguments of a call, as they are given.

    A choice of a tool is sent as well, where it is not left to the model.
    """
    for argument in SCHEMA_LISTS:
        value = arguments.get(argument)
        if isinstance(value, Sequence) and not isinstance(value, str):
            yield from value
        elif value is not None:
            yield value
    yield from (arguments[argument] for argument in RESPONSE_FORMATS if arguments.get(argument) is not None)
    choice = arguments.get(TOOL_CHOICE)
    if choice not in _USUAL_CHOICES:
        yield {TOOL_CHOICE: choice}
