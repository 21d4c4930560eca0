"""What a LangChain model object says about itself: name, window, answer reserve, bound tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

from ctxopt_core.adapters import (
    ANSWER_LIMITS,
    ARGUMENT_MAPPINGS,
    LOADED_WINDOWS,
    RESPONSE_FORMATS,
    SERVER_STATE,
    ModelInfo,
    first_name,
    flat_arguments,
    token_limit,
)
from langchain_ctxopt.sent_schemas import schemas_sent

# Amazon's models behind an ARN say which model that is in `base_model_id`.
_NAME_ATTRIBUTES = ("base_model_id", "model_name", "model", "model_id", "deployment_name")
# Fields of a model that go with each of its requests.
_SENT_ATTRIBUTES = (
    *ANSWER_LIMITS,
    *LOADED_WINDOWS,
    *ARGUMENT_MAPPINGS,
    *SERVER_STATE,
    *RESPONSE_FORMATS,
    "response_schema",
    "response_json_schema",
    "output_config",
    "instructions",
)
# Tokens: the window that Ollama loads a model with where no `num_ctx` is sent. It was 2,048 and is 4,096 or more in
# newer servers (the parameter `num_ctx` of a Modelfile, and `OLLAMA_CONTEXT_LENGTH`, in Ollama's documentation). Which
# server answers is not known, and one that takes less cuts the front of a request in silence.
_OLLAMA_WINDOW = 2_048
_OLLAMA_OPTIONS = ("num_ctx", "num_predict")
_OLLAMA = "ollama"
# What Amazon's providers call their models, where an ARN does not say it.
_FAMILIES = {"anthropic": "claude"}


def optional_settings(model: object, *, gives_limit: bool = False) -> ModelInfo | None:
    """Return what a model name or a model object says; None where there is neither.

    Args:
        model: The name or the object.
        gives_limit: Whether a limit is given, so that nothing is made in order to ask it for its window.

    Raises:
        TypeError: `model` is neither.
        ServerStateError: The model is called with what its server holds.
    """
    if isinstance(model, str):
        return ModelInfo(kind=f"the model {model!r}", name=model)
    return None if model is None else settings_of(model, gives_limit=gives_limit)


def settings_of(model: object, *, gives_limit: bool = False) -> ModelInfo:
    """Read a model object, through bindings, retries, fallbacks, alternatives and sequences around it.

    Of a model with fallbacks the first one is read; of a configurable one what the run that is going on configures.

    Args:
        model: The object.
        gives_limit: Whether a limit is given; a model that `init_chat_model` would make at a call is not made then.

    Raises:
        TypeError: There is no language model in it.
        ServerStateError: The model is called with what its server holds.
    """
    found, bound = _find(model, {}, ensure_config(), make=not gives_limit)
    if found is None:
        message = (
            f"`model` must be a model name or a LangChain language model, got {type(model).__name__}; "
            "give a limit in tokens instead"
        )
        raise TypeError(message)
    profile = _profile_of(found)
    own = {name: getattr(found, name, None) for name in _SENT_ATTRIBUTES}
    if isinstance(bound.get("options"), Mapping):
        own |= dict.fromkeys(_OLLAMA_OPTIONS)  # Ollama's client sends the options of a call in place of the model's
    own = {name: value for name, value in flat_arguments(own).items() if value is not None}
    by_default = hasattr(found, "num_ctx")
    info = ModelInfo(
        kind=type(model).__name__,
        name=_name_of(found),
        max_input_tokens=token_limit(profile.get("max_input_tokens")),
        max_output_tokens=token_limit(profile.get("max_output_tokens")),
        schemas=schemas_sent({**own, **flat_arguments(bound)}),
        loaded_tokens=_OLLAMA_WINDOW if by_default else None,
        loaded_by_default=by_default,
    )
    return info.called_with(own).called_with(bound)


def is_configurable(model: object) -> bool:
    """Return whether the configuration of a run may decide which model is called."""
    return isinstance(model, Runnable) and not isinstance(model, BaseLanguageModel)


def _name_of(model: object) -> str | None:
    name = first_name(getattr(model, attribute, None) for attribute in _NAME_ATTRIBUTES)
    provider = getattr(model, "provider", None)
    if name is None or not name.startswith("arn:") or not isinstance(provider, str):
        return name
    last = name.rpartition("/")[2]
    # The id of an inference profile does not name the model. How tokens are counted follows from the provider.
    return last if "." in last else f"{provider}.{_FAMILIES.get(provider, provider)}-{last}"


def _profile_of(model: object) -> Mapping[str, Any]:
    """Return the profile of a model; not that of another model whose name a copy or a configured field has replaced."""
    profile = _mapping(getattr(model, "profile", None))
    resolve = getattr(model, "_resolve_model_profile", None)
    if "name" not in profile or resolve is None:
        return profile
    own = _mapping(resolve())
    return own if own and own.get("name") != profile["name"] else profile


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _find(
    step: object, bound: Mapping[str, Any], config: RunnableConfig, *, make: bool = True
) -> tuple[Any, Mapping[str, Any]]:
    """Return the first language model inside a runnable, and the arguments that the bindings add to each call of it.

    Outer arguments and configurations win over inner ones.
    """
    if isinstance(step, BaseLanguageModel):
        return step, bound
    if isinstance(step, RunnableBindingBase):
        return _find(step.bound, {**step.kwargs, **bound}, merge_configs(step.config, config), make=make)
    if isinstance(step, RunnableWithFallbacks):
        return _find(step.runnable, bound, config, make=make)
    if isinstance(step, DynamicRunnable):
        runnable, prepared = step.prepare(config)
        return _find(runnable, bound, prepared, make=make)
    if isinstance(step, Runnable) and "_queued_declarative_operations" in vars(step):
        return _of_init_chat_model(step, bound, config, make=make)
    inside: Iterable[object] = ()
    if isinstance(step, RunnableSequence):
        inside = step.steps
    elif isinstance(step, RunnableParallel):
        inside = step.steps__.values()
    candidates = (_find(inner, bound, config, make=make) for inner in inside)
    return next((found for found in candidates if found[0] is not None), (None, bound))


def _of_init_chat_model(
    step: Any, bound: Mapping[str, Any], config: RunnableConfig, *, make: bool
) -> tuple[Any, Mapping[str, Any]]:
    """Return the model that `init_chat_model` makes at each call, or its parameters where it need not be made."""
    parameters = {**step._default_config, **step._model_params(config)}  # noqa: SLF001 - it has no other way to tell
    if make and parameters.get("model"):
        return _find(step._model(config), bound, config)  # noqa: SLF001
    provider = parameters.get("model_provider") or str(parameters.get("model")).partition(":")[0]
    local = {"num_ctx": None} if provider == _OLLAMA else {}
    for operation, positional, named in step._queued_declarative_operations:  # noqa: SLF001
        bound = {**_bound_by(operation, positional, named), **bound}
    return SimpleNamespace(**{**local, **parameters}), bound


def _bound_by(operation: str, positional: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments that an operation which `init_chat_model` has put off adds to each call."""
    if operation == "bind":
        return named
    given = {**dict(zip(("schema_or_tools",), positional, strict=False)), **named}
    if operation == "bind_tools":
        return {**named, "tools": given.get("tools", given.get("schema_or_tools"))}
    if operation == "with_structured_output":
        return {"response_format": given.get("schema", given.get("schema_or_tools"))}
    return {}
