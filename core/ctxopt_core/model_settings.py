"""What a framework's model object says about itself, and the arguments in which schemas go with a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCHEMA_LISTS = ("tools", "functions")
RESPONSE_FORMATS = ("response_format", "format")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What is known of a model object.

    Args:
        kind: What the object is called in messages.
        name: Its model id; None where it tells none.
        max_input_tokens: The window that it tells itself, in tokens.
        max_output_tokens: The longest answer that it could give, in tokens.
        answer_tokens: The answer limit that it is configured with, in tokens.
        schemas: Tool schemas and the response format that are bound to it.
    """

    kind: str = "the model"
    name: str | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    answer_tokens: int | None = None
    schemas: tuple[Mapping[str, Any] | str, ...] = ()


def schemas_in(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tools, functions and response formats among the arguments of a call, as they are given."""
    for argument in SCHEMA_LISTS:
        value = arguments.get(argument)
        if isinstance(value, Sequence) and not isinstance(value, str):
            yield from value
        elif value is not None:
            yield value
    yield from (arguments[argument] for argument in RESPONSE_FORMATS if arguments.get(argument) is not None)
