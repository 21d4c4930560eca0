"""What a LlamaIndex model says about itself: name, window, answer reserve."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import llama_index.core
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.program.function_program import get_function_tool

from ctxopt_core.adapters import ModelInfo

_UNNAMED = frozenset({"", "unknown"})
_NAME_ATTRIBUTES = ("model", "model_name")


def chosen_tokenizer() -> Callable[[str], Any] | None:
    """Return the function that was set as LlamaIndex's tokenizer; None where nobody chose one.

    LlamaIndex sets one by itself as soon as something is counted, whatever the model, and `Settings.tokenizer` does so
    when it is merely read. That one is nobody's choice.
    """
    tokenizer = llama_index.core.global_tokenizer
    return None if tokenizer is None or _was_set_by_itself(tokenizer) else tokenizer


def _was_set_by_itself(tokenizer: object) -> bool:
    return isinstance(tokenizer, partial) and tokenizer.keywords == {"allowed_special": "all"}


def settings_of(llm: object) -> ModelInfo:
    """Read a LlamaIndex model.

    Its `metadata` is what LlamaIndex itself repacks documents by. A model that does not know its own name there, as
    integrations do with the name of a model that is newer than they are, is known by its name alone.

    Raises:
        TypeError: `llm` is no LlamaIndex model.
    """
    if not isinstance(llm, LLM):
        message = (
            f"`llm` must be a LlamaIndex LLM, got {type(llm).__name__}; give a limit in tokens, such as "
            "`context_window`, instead"
        )
        raise TypeError(message)
    metadata = metadata_of(llm)
    if metadata is None:
        return ModelInfo(kind=type(llm).__name__, name=_own_name(llm))
    named = metadata.model_name not in _UNNAMED
    return ModelInfo(
        kind=type(llm).__name__,
        name=metadata.model_name if named else _own_name(llm),
        max_input_tokens=metadata.context_window,
        answer_tokens=metadata.num_output if metadata.num_output > 0 else None,
        schemas=schemas_of_answer(llm),
    )


def schemas_of_answer(llm: LLM) -> tuple[dict[str, Any], ...]:
    """Return what a model that answers in a structure of its own sends with each request: the schema of that."""
    return (get_function_tool(llm.output_cls).metadata.to_openai_tool(),) if isinstance(llm, StructuredLLM) else ()


def optional_settings(llm: object) -> ModelInfo | None:
    """Return what a model name or a LlamaIndex model says, or what was read of it before; None where there is none.

    Raises:
        TypeError: `llm` is none of these.
    """
    if isinstance(llm, ModelInfo):
        return llm
    if isinstance(llm, str):
        return ModelInfo(kind=f"the model {llm!r}", name=llm)
    return None if llm is None else settings_of(llm)


def metadata_of(llm: LLM) -> LLMMetadata | None:
    """Return what a model itself reports; None of one that does not know its own name."""
    try:
        return _reported(llm)
    except ValueError:
        # What the integrations of LlamaIndex raise for a name that is not in their table.
        return None


def _reported(llm: LLM) -> LLMMetadata:
    # A guarded model has the limits of its settings in its metadata, which would count twice here.
    plain: LLMMetadata | None = getattr(llm, "plain_metadata", None)
    return llm.metadata if plain is None else plain


def described(llm: LLM | None) -> LLM | None:
    """Return a model that can be asked for its metadata, as LlamaIndex does wherever it renders; None for any other."""
    return None if llm is None or metadata_of(llm) is None else llm


def _own_name(llm: Any) -> str | None:
    names = (getattr(llm, attribute, None) for attribute in _NAME_ATTRIBUTES)
    return next((name for name in names if isinstance(name, str) and name not in _UNNAMED), None)
