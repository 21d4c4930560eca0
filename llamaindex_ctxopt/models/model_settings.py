"""Reads name, window and answer limit from a LlamaIndex model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import llama_index.core
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.constants import DEFAULT_NUM_OUTPUTS
from llama_index.core.llms import LLM
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.response_synthesizers.refine import DEFAULT_RESPONSE_PADDING_SIZE

from ctxopt_core.adapters import (
    ANSWER_LIMITS,
    SERVER_STATE,
    BudgetSettings,
    ModelInfo,
    answer_limit,
    first_tokens,
    flat_arguments,
    reject_server_state,
)

# Tokens: the `num_output` of a model whose answers have no limit. LlamaIndex plans with `DEFAULT_NUM_OUTPUTS` then.
UNLIMITED_ANSWER = -1
_UNNAMED = frozenset({"", "unknown"})
_NAME_ATTRIBUTES = ("model", "model_name")
_ANSWER_FIELDS = (*ANSWER_LIMITS, "num_output", "max_new_tokens")
# What the metadata of integrations raise for a name that is not in their table, and for a server that does not answer.
_NOT_KNOWN = (ValueError, LookupError, OSError, RuntimeError)
NO_LIMITS = BudgetSettings()
"""The limits of a user who has set none."""
# Where models keep what makes a server add what it holds; some integrations keep it in a private attribute.
_STATE_ATTRIBUTES = {**{name: name for name in SERVER_STATE}, "_previous_response_id": "previous_response_id"}


def chosen_tokenizer() -> Callable[[str], Any] | None:
    """Return the function that the user has set as LlamaIndex's tokenizer; None where there is none.

    LlamaIndex sets one by itself as soon as it counts something, whatever the model, and even when
    `Settings.tokenizer` is read. That one is not returned.
    """
    tokenizer = llama_index.core.global_tokenizer
    by_itself = isinstance(tokenizer, partial) and tokenizer.keywords == {"allowed_special": "all"}
    return None if by_itself else tokenizer


def settings_of(llm: object, limits: BudgetSettings = NO_LIMITS) -> ModelInfo:
    """Return what a LlamaIndex model says about itself: its `metadata`, by which LlamaIndex repacks documents.

    Integrations raise when the name of a model is newer than they are; such a model is known by its name alone. Where
    `limits` say how much fits, the metadata are not asked for: some integrations ask a server for them.

    Args:
        llm: The model.
        limits: The limits of the user.

    Raises:
        TypeError: `llm` is no LlamaIndex model.
        ServerStateError: The model is called with what its server holds.
    """
    if not isinstance(llm, LLM):
        message = (
            f"`llm` must be a LlamaIndex LLM, got {type(llm).__name__}; give a limit in tokens, such as "
            "`context_window`, instead"
        )
        raise TypeError(message)
    held = ((name, getattr(llm, attribute, None)) for attribute, name in _STATE_ATTRIBUTES.items())
    reject_server_state({name: value for name, value in held if value})
    attributes = (getattr(llm, attribute, None) for attribute in _NAME_ATTRIBUTES)
    own_name = next((name for name in attributes if isinstance(name, str) and name not in _UNNAMED), None)
    metadata = None if gives_window(limits) else metadata_of(llm)
    sent = sent_answer_of(llm)
    further = getattr(llm, "additional_kwargs", None) or {}
    if metadata is None:
        return ModelInfo(
            kind=type(llm).__name__,
            name=own_name,
            answer_tokens=sent or answer_tokens_of(llm),
            answer_is_sent=sent is not None,
            schemas=schemas_of_answer(llm),
        ).called_with(further)
    info = ModelInfo(
        kind=type(llm).__name__,
        name=own_name if metadata.model_name in _UNNAMED else metadata.model_name,
        max_input_tokens=metadata.context_window,
        answer_tokens=sent or (metadata.num_output if metadata.num_output > 0 else None),
        answer_is_sent=sent is not None,
        schemas=schemas_of_answer(llm),
    )
    return info.called_with(further)


def sent_answer_of(llm: LLM) -> int | None:
    """Return the answer limit that a model sends with each request, in tokens; None where it only reports one."""
    inner = llm.llm if isinstance(llm, StructuredLLM) else llm
    own = {name: getattr(inner, name, None) for name in (*ANSWER_LIMITS, "additional_kwargs")}
    return answer_limit(flat_arguments({**own, "generation_config": getattr(inner, "_generation_config", None)}))


def schemas_of_answer(llm: LLM) -> tuple[dict[str, Any], ...]:
    """Return the schema that a `StructuredLLM` sends with each request; none for other models."""
    return (get_function_tool(llm.output_cls).metadata.to_openai_tool(),) if isinstance(llm, StructuredLLM) else ()


def gives_window(limits: BudgetSettings) -> bool:
    """Return whether limits of the user say how much fits, so that the model need not say it."""
    return limits.context_window is not None or limits.max_input_tokens is not None


def answer_tokens_of(llm: LLM) -> int | None:
    """Return the most tokens of an answer by the fields of a model; None where they do not say it."""
    inner = llm.llm if isinstance(llm, StructuredLLM) else llm
    return first_tokens(getattr(inner, name, None) for name in _ANSWER_FIELDS)


def optional_settings(llm: object, limits: BudgetSettings = NO_LIMITS) -> ModelInfo | None:
    """Return what a model name or a LlamaIndex model says, or a `ModelInfo` as it is; None for None.

    Args:
        llm: One of these.
        limits: The limits of the user.

    Raises:
        TypeError: `llm` is none of these.
        ValueError: It is a blank string.
    """
    if llm is None or isinstance(llm, ModelInfo):
        return llm
    if isinstance(llm, str) and not llm.strip():
        message = f"`llm` must be a LlamaIndex LLM or the name of a model, for example 'gpt-4o', got {llm!r}"
        raise ValueError(message)
    return ModelInfo(kind=f"the model {llm!r}", name=llm) if isinstance(llm, str) else settings_of(llm, limits)


def metadata_of(llm: LLM) -> LLMMetadata | None:
    """Return the metadata of a model; None where its integration cannot say them.

    A guarded model has the limits of its settings in its `metadata`, which would count twice here. Those that it would
    have without are returned, and what its settings say where the integration cannot.
    """
    limits = limits_of_guard(llm)
    if limits is None:
        return _asked(llm, "metadata")
    plain = plain_metadata_of(llm)
    return assumed_metadata(llm, limits) if plain is None and gives_window(limits) else plain


def described(llm: LLM | None) -> LLM | None:
    """Return a model whose metadata can be read, as LlamaIndex does wherever it renders; None for any other."""
    return None if llm is None or _asked(llm, "metadata") is None else llm


def is_chat_model(llm: LLM) -> bool:
    """Return whether a model is sent messages, and not one string.

    A guard that has a limit does not ask its model, whose class decides then.
    """
    if isinstance(llm, CustomLLM):
        return False
    limits = limits_of_guard(llm)
    metadata = None if limits is not None and gives_window(limits) else metadata_of(llm)
    return isinstance(llm, FunctionCallingLLM) if metadata is None else metadata.is_chat_model


def limits_of_guard(llm: LLM) -> BudgetSettings | None:
    """Return the limits in the settings of a guarded model; None for any other model."""
    if not hasattr(type(llm), "plain_metadata"):
        return None
    limits: BudgetSettings = type(llm).fit_settings.limits  # type: ignore[attr-defined]
    return limits


def plain_metadata_of(llm: LLM) -> LLMMetadata | None:
    """Return the metadata of a guarded model without the limits of its settings; None where it cannot say them."""
    return _asked(llm, "plain_metadata")


def assumed_metadata(llm: LLM, limits: BudgetSettings) -> LLMMetadata:
    """Return metadata for a model that is not asked: the limits of the user, and what its class and its fields say.

    Args:
        llm: The model.
        limits: The limits of the user, which give a window, an input limit or a target.
    """
    inner = llm.llm if isinstance(llm, StructuredLLM) else llm
    answer = limits.output_reserve if limits.output_reserve is not None else answer_tokens_of(inner)
    window = limits.context_window
    if answer is None:
        answer = DEFAULT_NUM_OUTPUTS
    if window is None:
        # As large as it must be at least, with what a synthesizer keeps free for itself.
        window = (
            (limits.max_input_tokens or limits.target_tokens or 0)
            + answer
            + limits.safety_margin
            + DEFAULT_RESPONSE_PADDING_SIZE
        )
    return LLMMetadata(
        context_window=window,
        num_output=min(answer, window // 2),
        is_chat_model=not isinstance(inner, CustomLLM),
        is_function_calling_model=isinstance(inner, FunctionCallingLLM),
        model_name=settings_of(inner, limits).name or "unknown",
    )


def _asked(llm: LLM, attribute: str) -> LLMMetadata | None:
    try:
        metadata: LLMMetadata = getattr(llm, attribute)
    except _NOT_KNOWN:
        return None
    return metadata
