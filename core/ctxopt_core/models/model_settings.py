"""What a framework's model object says about itself, and what the arguments of a call change in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ctxopt_core.errors import ServerStateError
from ctxopt_core.models.catalog import builtin_index
from ctxopt_core.validation import is_whole_number

NAME_ARGUMENTS = ("model", "model_name")
ANSWER_LIMITS = (
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens_to_sample",
    "max_new_tokens",
    "num_predict",
    "maxTokens",
    "maxOutputTokens",
)
LOADED_WINDOWS = ("num_ctx", "n_ctx")
"""The window that a server loads a model with: Ollama's and llama.cpp's names for it."""

ARGUMENT_MAPPINGS = (
    "model_kwargs",
    "additional_kwargs",
    "options",
    "generation_config",
    "inference_config",
    "inferenceConfig",
    "additional_model_request_fields",
    "extra_body",
)
"""Arguments of clients that hold further arguments of the call."""

SERVER_STATE: Mapping[str, str] = {
    "previous_response_id": "send the messages instead of it",
    "use_previous_response_id": "set it to False, so that the messages are sent",
    "track_previous_responses": "set it to False, so that the messages are sent",
    "conversation": "send the messages instead of it",
    "previous_interaction_id": "send the messages instead of it",
    "cached_content": "send that content in the messages",
    "prompt": "send its text in the messages",
}
"""What makes a server add what it holds to a request, by the argument that asks for it, and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What is known of a model object.

    Args:
        kind: The name of the object in messages.
        name: Its model id; None if it has none.
        max_input_tokens: The window that it reports, in tokens.
        max_output_tokens: The longest answer that it reports, in tokens.
        answer_tokens: The longest answer that a request asks for, in tokens.
        answer_is_sent: Whether that limit goes with the request, so that providers check both together. One that is
            only reported may be as large as the window.
        schemas: Tool schemas and the response format that are bound to it.
        loaded_tokens: The window that its server loads it with, in tokens. No more is used, whatever the model could
            take.
        loaded_by_default: Whether nothing sets that window, so that it is the one that the server takes by itself.
    """

    kind: str = "the model"
    name: str | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    answer_tokens: int | None = None
    answer_is_sent: bool = True
    schemas: tuple[Mapping[str, Any] | str, ...] = ()
    loaded_tokens: int | None = None
    loaded_by_default: bool = False

    @property
    def window_tokens(self) -> int | None:
        """The window that the object itself tells, in tokens; None where it tells none."""
        return min((limit for limit in (self.loaded_tokens, self.max_input_tokens) if limit is not None), default=None)

    def called_with(self, arguments: Mapping[str, Any]) -> ModelInfo:
        """Return the settings of a call, whose arguments may name another model, window or answer limit.

        The window that the object reports is not used for another model whose own window is known.

        Raises:
            ServerStateError: The call refers to what the server holds.
        """
        sent = flat_arguments(arguments)
        reject_server_state(sent)
        loaded = first_tokens(sent.get(argument) for argument in LOADED_WINDOWS)
        answer = answer_limit(sent)
        called = replace(
            self,
            answer_tokens=answer or self.answer_tokens,
            answer_is_sent=self.answer_is_sent or answer is not None,
            loaded_tokens=loaded or self.loaded_tokens,
            loaded_by_default=self.loaded_by_default and loaded is None,
        )
        name = first_name(sent.get(argument) for argument in NAME_ARGUMENTS)
        if name is None or name == self.name:
            return called
        if builtin_index().find(name) is None:
            return replace(called, name=name)
        return replace(called, name=name, max_input_tokens=None, max_output_tokens=None)


def flat_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, with those that stand in mappings among them, which win."""
    found = dict(arguments)
    for name in ARGUMENT_MAPPINGS:
        inner: Any = arguments.get(name)
        if hasattr(inner, "model_dump"):
            inner = inner.model_dump(exclude_none=True)
        if isinstance(inner, Mapping):
            found |= {key: value for key, value in flat_arguments(inner).items() if value is not None}
    return found


def answer_limit(arguments: Mapping[str, Any]) -> int | None:
    """Return the largest limit of the answer among arguments, in tokens; None where there is none."""
    limits = (token_limit(arguments.get(argument)) for argument in ANSWER_LIMITS)
    return max((limit for limit in limits if limit is not None), default=None)


def reject_server_state(arguments: Mapping[str, Any]) -> None:
    """Refuse a call for which the server adds what it holds: that is not counted, so that nothing can be promised.

    Args:
        arguments: The arguments of the call, or the fields of a model that go with each call.

    Raises:
        ServerStateError: One of them refers to what the server holds.
    """
    for name, remedy in SERVER_STATE.items():
        held = arguments.get(name)
        if name == "prompt" and not isinstance(held, Mapping):
            continue  # a string of that name is what is sent
        if held:
            message = (
                f"`{name}` makes the server add what it holds to the request, which cannot be counted here, got "
                f"{held!r:.80}; {remedy}"
            )
            raise ServerStateError(message)


def first_name(candidates: Iterable[object]) -> str | None:
    """Return the first string that is not blank."""
    return next((name.strip() for name in candidates if isinstance(name, str) and name.strip()), None)


def first_tokens(candidates: Iterable[object]) -> int | None:
    """Return the first whole number above 0."""
    return next((limit for limit in map(token_limit, candidates) if limit is not None), None)


def token_limit(value: object) -> int | None:
    """Return a value that is a positive number of tokens, or None."""
    return value if is_whole_number(value, minimum=1) else None
