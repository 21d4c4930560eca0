"""What a framework's model object says about itself, and what the arguments of a call change in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ctxopt_core.models.catalog import builtin_index
from ctxopt_core.validation import is_whole_number

NAME_ARGUMENTS = ("model", "model_name")
ANSWER_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_tokens_to_sample", "num_predict")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What is known of a model object.

    Args:
        kind: The name of the object in messages.
        name: Its model id; None if it has none.
        max_input_tokens: The window that it reports, in tokens.
        max_output_tokens: The longest answer that it reports, in tokens.
        answer_tokens: The answer limit that is configured, in tokens.
        schemas: Tool schemas and the response format that are bound to it.
    """

    kind: str = "the model"
    name: str | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    answer_tokens: int | None = None
    schemas: tuple[Mapping[str, Any] | str, ...] = ()

    def called_with(self, arguments: Mapping[str, Any]) -> ModelInfo:
        """Return the settings of a call, whose arguments may name another model or another answer limit.

        The window that the object reports is not used for another model whose own window is known.
        """
        answer_tokens = first_tokens(arguments.get(argument) for argument in ANSWER_LIMITS) or self.answer_tokens
        name = first_name(arguments.get(argument) for argument in NAME_ARGUMENTS)
        if name is None or name == self.name:
            return replace(self, answer_tokens=answer_tokens)
        if builtin_index().find(name) is None:
            return replace(self, answer_tokens=answer_tokens, name=name)
        return replace(self, answer_tokens=answer_tokens, name=name, max_input_tokens=None, max_output_tokens=None)


def first_name(candidates: Iterable[object]) -> str | None:
    """Return the first string that is not blank."""
    return next((name.strip() for name in candidates if isinstance(name, str) and name.strip()), None)


def first_tokens(candidates: Iterable[object]) -> int | None:
    """Return the first whole number above 0."""
    return next((limit for limit in map(token_limit, candidates) if limit is not None), None)


def token_limit(value: object) -> int | None:
    """Return a value that is a positive number of tokens, or None."""
    return value if is_whole_number(value, minimum=1) else None
