"""What a LangChain model object says about itself: name, window, answer reserve, bound tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import RunnableConfig, RunnableParallel, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

from ctxopt_core.adapters import ANSWER_LIMITS, ModelInfo, first_name, first_tokens, schemas_in, token_limit

_NAME_ATTRIBUTES = ("model_name", "model", "model_id", "deployment_name")
# The window that a model which runs locally is loaded with: Ollama's and llama.cpp's names for it.
_WINDOW_ATTRIBUTES = ("num_ctx", "n_ctx")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A model, and the arguments that the bindings around it add to each call."""

    model: BaseLanguageModel[Any]
    bound: Mapping[str, Any] = field(default_factory=dict)


def optional_settings(model: object) -> ModelInfo | None:
    """Return what a model name or a model object says; None where there is neither.

    Raises:
        TypeError: `model` is neither.
    """
    if isinstance(model, str):
        return ModelInfo(kind=f"the model {model!r}", name=model)
    return None if model is None else settings_of(model)


def settings_of(model: object) -> ModelInfo:
    """Read a model object, through bindings, retries, fallbacks, alternatives and sequences around it.

    Of a model with fallbacks the first one is read, of configurable alternatives the one that is configured.

    Raises:
        TypeError: There is no language model in it.
    """
    found = _find(model, {}, {})
    if found is None:
        message = (
            f"`model` must be a model name or a LangChain language model, got {type(model).__name__}; "
            "give a limit in tokens instead"
        )
        raise TypeError(message)
    own = replace(_own_settings(found.model), kind=type(model).__name__, schemas=tuple(_schemas(found)))
    return own.called_with(found.bound)


def _own_settings(model: object) -> ModelInfo:
    profile = getattr(model, "profile", None)
    profile = profile if isinstance(profile, Mapping) else {}
    return ModelInfo(
        name=first_name(getattr(model, attribute, None) for attribute in _NAME_ATTRIBUTES),
        max_input_tokens=_window(model, profile),
        max_output_tokens=token_limit(profile.get("max_output_tokens")),
        answer_tokens=first_tokens(getattr(model, attribute, None) for attribute in ANSWER_LIMITS),
    )


def _window(model: object, profile: Mapping[str, Any]) -> int | None:
    """Return the window that a model is configured with, but no more than its profile says."""
    configured = first_tokens(getattr(model, attribute, None) for attribute in _WINDOW_ATTRIBUTES)
    known = token_limit(profile.get("max_input_tokens"))
    return min((limit for limit in (configured, known) if limit is not None), default=None)


def _find(step: object, bound: Mapping[str, Any], config: RunnableConfig) -> _Found | None:
    """Return the first language model inside a runnable; outer arguments and configurations win over inner ones."""
    if isinstance(step, BaseLanguageModel):
        return _Found(model=step, bound=bound)
    if isinstance(step, RunnableBindingBase):
        return _find(step.bound, {**step.kwargs, **bound}, merge_configs(step.config, config))
    if isinstance(step, RunnableWithFallbacks):
        return _find(step.runnable, bound, config)
    if isinstance(step, DynamicRunnable):
        return _find(*_prepared(step, bound, config))
    inside = _steps(step)
    return next((found for inner in inside if (found := _find(inner, bound, config)) is not None), None)


def _prepared(
    step: DynamicRunnable[Any, Any], bound: Mapping[str, Any], config: RunnableConfig
) -> tuple[object, Mapping[str, Any], RunnableConfig]:
    runnable, prepared = step.prepare(config)
    return runnable, bound, prepared


def _steps(step: object) -> Iterable[object]:
    if isinstance(step, RunnableSequence):
        return step.steps
    return step.steps__.values() if isinstance(step, RunnableParallel) else ()


def _schemas(found: _Found) -> list[Mapping[str, Any] | str]:
    own = getattr(found.model, "model_kwargs", None)
    return [as_sent(schema) for schema in schemas_in({**(own if isinstance(own, Mapping) else {}), **found.bound})]


def as_sent(schema: object) -> Mapping[str, Any] | str:
    """Return a schema as it is sent: a mapping as it is; a tool, a class or a function as LangChain converts it."""
    if isinstance(schema, (Mapping, str)):
        return schema
    if not callable(schema) and not hasattr(schema, "args_schema"):
        return str(schema)
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return convert_to_openai_tool(schema)  # type: ignore[arg-type]
