"""The schema that a synthesizer with an `output_cls` sends, which LlamaIndex does not count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.response_synthesizers import BaseSynthesizer


def answer_schemas(synthesizer: BaseSynthesizer) -> tuple[Mapping[str, Any] | str, ...]:
    """Return what a synthesizer sends beside its prompt, so that the answer is an object.

    That is a tool where the model can call one, and an instruction at the end of the prompt where it cannot.
    """
    kind = getattr(synthesizer, "_output_cls", None)
    if kind is None:
        return ()
    if synthesizer._llm.metadata.is_function_calling_model:  # noqa: SLF001
        return (get_function_tool(kind).metadata.to_openai_tool(skip_length_check=True),)
    return (PydanticOutputParser(output_cls=kind).format(""),)
