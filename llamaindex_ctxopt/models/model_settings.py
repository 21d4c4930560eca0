"""Reads name, window and answer limit from a LlamaIndex model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import llama_index.core
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.program.function_program import get_function_tool

from ctxopt_core.adapters import (
    ANSWER_LIMITS,
    SERVER_STATE,
    ModelInfo,
    answer_limit,
    flat_arguments,
    reject_server_state,
)

# Tokens: the `num_output` of a model whose answers have no limit. LlamaIndex plans with `DEFAULT_NUM_OUTPUTS` then.
UNLIMITED_ANSWER = -1
_UNNAMED = frozenset({"", "unknown"})
_NAME_ATTRIBUTES = ("model", "model_name")
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


def settings_of(llm: object) -> ModelInfo:
    """Return what a LlamaIndex model says about itself: its `metadata`, by which LlamaIndex repacks documents.

    Integrations raise when the name of a model is newer than they are; such a model is known by its name alone.

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
    metadata = metadata_of(llm)
    sent = sent_answer_of(llm)
    further = getattr(llm, "additional_kwargs", None) or {}
    if metadata is None:
        return ModelInfo(kind=type(llm).__name__, name=own_name, answer_tokens=sent).called_with(further)
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


def optional_settings(llm: object) -> ModelInfo | None:
    """Return what a model name or a LlamaIndex model says, or a `ModelInfo` as it is; None for None.

    Raises:
        TypeError: `llm` is none of these.
    """
    if llm is None or isinstance(llm, ModelInfo):
        return llm
    return ModelInfo(kind=f"the model {llm!r}", name=llm) if isinstance(llm, str) else settings_of(llm)


def metadata_of(llm: LLM) -> LLMMetadata | None:
    """Return the metadata of a model; None where its integration does not know the model's name."""
    # A guarded model has the limits of its settings in its `metadata`, which would count twice here.
    attribute = "plain_metadata" if hasattr(type(llm), "plain_metadata") else "metadata"
    try:
        metadata: LLMMetadata = getattr(llm, attribute)
    except ValueError:
        # What the integrations of LlamaIndex raise for a name that is not in their table.
        return None
    return metadata


def described(llm: LLM | None) -> LLM | None:
    """Return a model whose metadata can be read, as LlamaIndex does wherever it renders; None for any other."""
    return None if llm is None or metadata_of(llm) is None else llm
