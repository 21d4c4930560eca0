"""What a LangChain model object says about itself: name, window, answer reserve, bound tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    found, bound = _find(model, {}, {})
    if found is None:
        message = (
            f"`model` must be a model name or a LangChain language model, got {type(model).__name__}; "
            "give a limit in tokens instead"
        )
        raise TypeError(message)
    profile = _mapping(getattr(found, "profile", None))
    # The window that a model is configured with, but no more than its profile says.
    windows = (_first_tokens(found, _WINDOW_ATTRIBUTES), token_limit(profile.get("max_input_tokens")))
    sent = {**_mapping(getattr(found, "model_kwargs", None)), **bound}
    return ModelInfo(
        kind=type(model).__name__,
        name=first_name(getattr(found, attribute, None) for attribute in _NAME_ATTRIBUTES),
        max_input_tokens=min((window for window in windows if window is not None), default=None),
        max_output_tokens=token_limit(profile.get("max_output_tokens")),
        answer_tokens=_first_tokens(found, ANSWER_LIMITS),
        schemas=tuple(map(as_sent, schemas_in(sent))),
    ).called_with(bound)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first_tokens(model: object, attributes: Iterable[str]) -> int | None:
    return first_tokens(getattr(model, attribute, None) for attribute in attributes)


def _find(
    step: object, bound: Mapping[str, Any], config: RunnableConfig
) -> tuple[BaseLanguageModel[Any] | None, Mapping[str, Any]]:
    """Return the first language model inside a runnable, and the arguments that the bindings add to each call of it.

    Outer arguments and configurations win over inner ones.
    """
    if isinstance(step, BaseLanguageModel):
        return step, bound
    if isinstance(step, RunnableBindingBase):
        return _find(step.bound, {**step.kwargs, **bound}, merge_configs(step.config, config))
    if isinstance(step, RunnableWithFallbacks):
        return _find(step.runnable, bound, config)
    if isinstance(step, DynamicRunnable):
        runnable, prepared = step.prepare(config)
        return _find(runnable, bound, prepared)
    inside: Iterable[object] = ()
    if isinstance(step, RunnableSequence):
        inside = step.steps
    elif isinstance(step, RunnableParallel):
        inside = step.steps__.values()
    candidates = (_find(inner, bound, config) for inner in inside)
    return next((found for found in candidates if found[0] is not None), (None, bound))


def as_sent(schema: object) -> Mapping[str, Any] | str:
    """Return a schema as it is sent: a mapping as it is; a tool, a class or a function as LangChain converts it."""
    if isinstance(schema, (Mapping, str)):
        return schema
    if not callable(schema) and not hasattr(schema, "args_schema"):
        return str(schema)
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return convert_to_openai_tool(schema)  # type: ignore[arg-type]
