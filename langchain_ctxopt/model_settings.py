"""What a LangChain model object says about itself: name, window, answer reserve, bound tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import RunnableConfig, RunnableParallel, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

from ctxopt_core.catalogue import builtin_index
from ctxopt_core.model_settings import ModelSettings, schemas_in

_NAME_ARGUMENTS = ("model", "model_name")
_NAME_ATTRIBUTES = ("model_name", "model", "model_id", "deployment_name")
_ANSWER_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_tokens_to_sample", "num_predict")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A model, and the arguments that the bindings around it add to each call."""

    model: BaseLanguageModel[Any]
    bound: Mapping[str, Any] = field(default_factory=dict)


def optional_settings(model: object) -> ModelSettings | None:
    """Return what a model name or a model object says; None where there is neither.

    Raises:
        TypeError: `model` is neither.
    """
    if isinstance(model, str):
        return ModelSettings(kind=f"the model {model!r}", name=model)
    return None if model is None else settings_of(model)


def settings_of(model: object) -> ModelSettings:
    """Read a model object, through bindings, retries, fallbacks, alternatives and sequences around it.

    Of a model with fallbacks the first one counts, of configurable alternatives the one that is configured.

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
    profile = {} if _names_another(found) else getattr(found.model, "profile", None)
    profile = profile if isinstance(profile, Mapping) else {}
    return ModelSettings(
        kind=type(model).__name__,
        name=_name(found),
        max_input_tokens=_tokens(profile.get("max_input_tokens")),
        max_output_tokens=_tokens(profile.get("max_output_tokens")),
        answer_tokens=_answer_tokens(found),
        schemas=tuple(_schemas(found)),
    )


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


def _name(found: _Found) -> str | None:
    return _bound_name(found) or _own_name(found)


def _bound_name(found: _Found) -> str | None:
    return _first_name(found.bound.get(argument) for argument in _NAME_ARGUMENTS)


def _own_name(found: _Found) -> str | None:
    return _first_name(getattr(found.model, attribute, None) for attribute in _NAME_ATTRIBUTES)


def _first_name(candidates: Iterable[object]) -> str | None:
    return next((name.strip() for name in candidates if isinstance(name, str) and name.strip()), None)


def _names_another(found: _Found) -> bool:
    """Tell whether calls go to another known model than the one whose profile the object carries."""
    bound = _bound_name(found)
    return bound is not None and bound != _own_name(found) and builtin_index().find(bound) is not None


def _answer_tokens(found: _Found) -> int | None:
    limits = [_tokens(found.bound.get(name)) for name in _ANSWER_LIMITS]
    limits += [_tokens(getattr(found.model, name, None)) for name in _ANSWER_LIMITS]
    return next((limit for limit in limits if limit is not None), None)


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


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
