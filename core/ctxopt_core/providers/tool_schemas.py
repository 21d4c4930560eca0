"""What tool schemas and response formats cost, as the provider of a model counts them.

* OpenAI: functions as the text of `typescript_schemas` and the frame around it; where a function refers to definitions,
  its JSON if that is larger, since it is not known how those are sent. Response formats and tools of other kinds as
  compact JSON, which is more than what was reported for them.
* Anthropic: compact JSON, and the system prompt that the API adds when there are tools.
* Mistral: one list of JSON with spaces after commas and colons, between two control tokens.
* Anyone else: compact JSON, one by one or as one list, whichever is more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ctxopt_core.providers.anthropic_media import claude_version
from ctxopt_core.providers.typescript_schemas import declaration, namespace

Tools: TypeAlias = Sequence[str | Mapping[str, Any]]
Count: TypeAlias = Callable[[str], int]
WITH_SYSTEM = "."
"""A system prompt beside which schemas cost least."""
RESPONSE_FORMATS = ("response_format", "format")
_OTHER_FORMATS = ("response_schema", "response_json_schema", "output_format", "guided_json", "structured_outputs")
_PLAIN_TEXT = {"type": "text"}
# Arguments that hold a response format beside settings which cost no tokens, by the keys that it can have there.
_FORMAT_HOLDERS: Mapping[str, tuple[str, ...]] = {
    "text": ("format",),
    "output_config": ("format", "textFormat"),
    "outputConfig": ("format", "textFormat"),
}
SCHEMA_LISTS = ("tools", "functions")
TOOL_CHOICE = "tool_choice"
_USUAL_CHOICES = (None, False, "auto")
_REFERENCE = '"$ref"'

# Tokens that OpenAI adds, as reported usage implies: of 35 reports 24 are met exactly, and none is counted less
# (tests/core/formats/test_reported_usage.py).
_FRAME = 9  # around the functions, in a message of their own
_SYSTEM_SAVES = 4  # of the frame, where the system message carries the functions
_CHOICES = {"none": 1, "auto": 0}
_ANY_CHOICE = 2  # for a `tool_choice` such as `required`
_NAMED_CHOICE = 7  # for a function that must be called, beside its name
_MISTRAL_FRAME = 2  # [AVAILABLE_TOOLS] and [/AVAILABLE_TOOLS] in the templates of mistral-common
_JOINS_A_LINE_BREAK = (".", "?", "!", ":", ";", ")", '"', ",", "]", "}")
# Tokens of the system prompt for tools, by the first version of Claude that has another one: the table "Tool use
# system prompt token count" of the page "Tool use with Claude", November 2026; the dearer tool choice, and of the
# editions of the table the dearer one.
_CLAUDE_PROMPTS: tuple[tuple[tuple[int, int], int], ...] = (((4, 5), 530), ((4, 7), 589), ((4, 8), 804), ((5, 0), 410))
_CLAUDE_5 = 474  # tokens, from the same table
_NEWEST_CLAUDE = 804  # tokens of versions that the table does not have: the most that any of its versions has


def json_tokens(tools: Tools, count: Count) -> int:
    """Return the tokens of schemas as compact JSON: one by one or as one list, whichever is more."""
    texts = schema_texts(tools)
    if not texts:
        return 0
    return max(sum(map(count, texts)), count(f"[{','.join(texts)}]"))


def openai_schema_tokens(tools: Tools, count: Count, system: str | None) -> int:
    """Return the tokens of schemas as OpenAI counts them.

    The functions are added to `system`, the first system message; where it is None they come in a separate message.
    """
    functions, others, tokens = list[str](), list[str](), 0
    for tool in tools:
        mapping = tool if isinstance(tool, Mapping) else _mapping_in(tool)
        if mapping is not None and mapping.keys() == {TOOL_CHOICE}:
            tokens += _choice_tokens(mapping[TOOL_CHOICE], count)
        elif mapping is not None and (function := _function(mapping)):
            functions.append(_compact(function))
        else:
            others.append(tool if isinstance(tool, str) else _compact(tool))
    tokens += json_tokens(others, count)
    if not functions:
        return tokens
    declarations = list(map(declaration, functions))
    tokens += count(namespace(declarations)) + _FRAME
    for given, declared in zip(functions, declarations, strict=True):
        if _REFERENCE in given:
            tokens += max(0, count(given) - count(declared))
    if not system:
        return tokens
    # A line break follows the system message; it costs nothing where it is one token with the mark before it.
    return tokens - _SYSTEM_SAVES + (not system.endswith(_JOINS_A_LINE_BREAK))


def anthropic_schema_tokens(tools: Tools, count: Count, name: str) -> int:
    """Return the tokens of schemas as Anthropic counts them; `name` is the bare id in its unified spelling."""
    if not tools:
        return 0
    version = claude_version(name)
    prompt = _NEWEST_CLAUDE
    if version is not None and version <= (5, 0):
        prompt = next((tokens for below, tokens in _CLAUDE_PROMPTS if version < below), _CLAUDE_5)
    return json_tokens(tools, count) + prompt


def mistral_schema_tokens(tools: Tools, count: Count) -> int:
    """Return the tokens of schemas as the templates of mistral-common write them."""
    if not tools:
        return 0
    texts = (
        tool if found is None else json.dumps(found, ensure_ascii=False, default=str) for tool, found in _read(tools)
    )
    return max(json_tokens(tools, count), count(f"[{', '.join(map(str, texts))}]") + _MISTRAL_FRAME)


def _read(tools: Tools) -> Iterator[tuple[str | Mapping[str, Any], Mapping[str, Any] | None]]:
    return ((tool, _mapping_in(tool) if isinstance(tool, str) else tool) for tool in tools)


def schema_texts(tools: Tools) -> tuple[str, ...]:
    """Return each tool schema as the compact JSON that is sent."""
    return tuple(tool if isinstance(tool, str) else _compact(tool) for tool in tools)


def _mapping_in(text: str) -> Mapping[str, Any] | None:
    """Return the object in a JSON string; None for any other string."""
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
    name = choice if isinstance(choice, str) and choice not in ("required", "any") else None
    if isinstance(choice, Mapping):
        function = choice.get("function")
        nested = function.get("name") if isinstance(function, Mapping) else None
        name = next((name for name in (choice.get("name"), nested) if isinstance(name, str)), None)
    return _ANY_CHOICE if name is None else _NAMED_CHOICE + count(name)


def _compact(tool: Mapping[str, Any]) -> str:
    return json.dumps(tool, separators=(",", ":"), ensure_ascii=False, default=str)


def schemas_in(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tools, functions and response formats among the arguments of a call, as they are given.

    A choice of a tool is sent as well, where it is not left to the model.
    """
    yield from tools_in(arguments)
    yield from formats_in(arguments)
    choice = arguments.get(TOOL_CHOICE)
    if choice not in _USUAL_CHOICES:
        yield {TOOL_CHOICE: choice}


def tools_in(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tools and functions among the arguments of a call, as they are given."""
    for argument in SCHEMA_LISTS:
        value = arguments.get(argument)
        if isinstance(value, Sequence) and not isinstance(value, str):
            yield from value
        elif value is not None:
            yield value


def formats_in(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the response formats among the arguments of a call, as they are given."""
    for argument in (*RESPONSE_FORMATS, *_OTHER_FORMATS):
        if arguments.get(argument) is not None:
            yield arguments[argument]
    for argument, keys in _FORMAT_HOLDERS.items():
        holder = arguments.get(argument)
        if isinstance(holder, Mapping):
            yield from (holder[key] for key in keys if holder.get(key) not in (None, _PLAIN_TEXT))
