"""What a LangChain model object says about itself: name, window, answer reserve, bound tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

_SCHEMA_ARGUMENTS = ("tools", "functions", "response_format")
_NAME_ATTRIBUTES = ("model_name", "model", "model_id", "deployment_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What is known of a model object.

    Args:
        name: Its model id; None where it tells none.
        max_input_tokens: The input limit of its profile, in tokens.
        max_output_tokens: The longest answer of its profile, in tokens.
        answer_tokens: The answer limit that it is configured with, in tokens.
        schemas: Tool schemas and the response format that are bound to it.
    """

    name: str | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    answer_tokens: int | None = None
    schemas: tuple[Mapping[str, Any] | str, ...] = ()


def settings_of(model: object) -> ModelSettings:
    """Read a model object, through bindings, fallbacks and sequences around it.

    Raises:
        TypeError: There is no language model in it.
    """
    found, bound = _unwrap(model)
    profile = getattr(found, "profile", None)
    profile = profile if isinstance(profile, Mapping) else {}
    return ModelSettings(
        name=_name(found, bound),
        max_input_tokens=_tokens(profile.get("max_input_tokens")),
        max_output_tokens=_tokens(profile.get("max_output_tokens")),
        answer_tokens=_tokens(bound.get("max_tokens")) or _tokens(getattr(found, "max_tokens", None)),
        schemas=tuple(_schemas(bound)),
    )


def _unwrap(model: object) -> tuple[BaseLanguageModel[Any], dict[str, Any]]:
    bound: dict[str, Any] = {}
    while not isinstance(model, BaseLanguageModel):
        if isinstance(model, RunnableBinding):
            bound = {**model.kwargs, **bound}
            model = model.bound
        elif isinstance(model, RunnableWithFallbacks):
            model = model.runnable
        elif isinstance(model, DynamicRunnable):
            model = model.default
        elif isinstance(model, RunnableSequence):
            model = _first_with_model(model.steps)
        else:
            message = (
                f"`model` must be a model name or a LangChain language model, got {type(model).__name__}; "
                "give `context_window` or `max_input_tokens` instead"
            )
            raise TypeError(message)
    return model, bound


def _first_with_model(steps: Sequence[Runnable[Any, Any]]) -> object:
    kinds = (BaseLanguageModel, RunnableBinding, RunnableWithFallbacks, DynamicRunnable)
    return next((step for step in steps if isinstance(step, kinds)), None)


def _name(model: BaseLanguageModel[Any], bound: Mapping[str, Any]) -> str | None:
    candidates = [bound.get("model"), *(getattr(model, attribute, None) for attribute in _NAME_ATTRIBUTES)]
    return next((name.strip() for name in candidates if isinstance(name, str) and name.strip()), None)


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _schemas(bound: Mapping[str, Any]) -> list[Mapping[str, Any] | str]:
    found: list[Mapping[str, Any] | str] = []
    for argument in _SCHEMA_ARGUMENTS:
        value = bound.get(argument)
        if isinstance(value, Mapping):
            found.append(value)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            found.extend(tool if isinstance(tool, Mapping) else str(tool) for tool in value)
    return found
