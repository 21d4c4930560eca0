"""Reads model and prompts from an engine of LlamaIndex.

Most of them are private attributes: LlamaIndex has no public way to what its engines build their requests from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.multi_modal_condense_plus_context import MultiModalCondensePlusContextChatEngine
from llama_index.core.chat_engine.multi_modal_context import MultiModalContextChatEngine
from llama_index.core.indices.prompt_helper import DEFAULT_PADDING
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.query_engine.multi_modal import SimpleMultiModalQueryEngine
from llama_index.core.response_synthesizers import Accumulate, BaseSynthesizer, Refine, SimpleSummarize
from llama_index.core.schema import NodeWithScore

from llamaindex_ctxopt.engines.engine_prompts import EnginePrompts, Preamble, context_prompts, joined_as_merged
from llamaindex_ctxopt.engines.multimodal_prompts import image_prompts
from llamaindex_ctxopt.models.model_settings import metadata_of
from llamaindex_ctxopt.nodes.node_reading import NodeReading

_WITH_DOCUMENTS = ("text_qa_template", "refine_template", "summary_template")
_WITH_BLOCKS = ("chat_content_qa_template", "chat_content_refine_template", "chat_summary_template")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedEngine:
    """Model and prompts of an engine.

    Args:
        llm: The model that it calls.
        answering: The model of the request with the documents, where that is another one.
        preamble: The messages that it puts before the history.
        documents: The prompts of the request with the documents; None where it has none.
        history: The prompts of the request with the history; identical with `documents` where both are in one request.
            None where the history is sent as it is.
        schemas: The schemas that are sent with the documents.
        history_first: Whether it asks for the history before the documents of the same request.
    """

    llm: LLM
    answering: LLM | None = None
    preamble: Preamble
    documents: EnginePrompts | None = None
    history: EnginePrompts | None = None
    schemas: tuple[Mapping[str, Any] | str, ...] = ()
    history_first: bool = False


def read_engine(engine: object) -> AttachedEngine:
    """Read the model and the prompts of an engine.

    Raises:
        TypeError: The engine is of another class than those that can be read.
    """
    for kind, read in _READERS.items():
        if isinstance(engine, kind):
            return read(engine)
    known = ", ".join(kind.__name__ for kind in _READERS)
    message = (
        f"`engine` must be one of {known}, got {type(engine).__name__}; of an engine around others attach the "
        "inner ones, each to its own optimizer; agents can be attached as well"
    )
    raise TypeError(message)


def _context(engine: Any) -> AttachedEngine:
    messages: Sequence[ChatMessage] = engine._prefix_messages  # noqa: SLF001
    system_prompt = ""
    if messages and messages[0].role == MessageRole.SYSTEM:
        system_prompt, messages = str(messages[0].content), messages[1:]
    preamble = Preamble(system_prompt=system_prompt, messages=tuple(messages))
    templates = (engine._context_template, engine._context_refine_template)  # noqa: SLF001
    prompts = context_prompts(templates, preamble, engine._llm, reading=NodeReading.TEXTS)  # noqa: SLF001
    return AttachedEngine(llm=engine._llm, preamble=preamble, documents=prompts, history=prompts)  # noqa: SLF001


def _condense_plus_context(engine: Any) -> AttachedEngine:
    preamble = Preamble(system_prompt=engine._system_prompt or "")  # noqa: SLF001
    templates = (engine._context_prompt_template, engine._context_refine_prompt_template)  # noqa: SLF001
    condense = None if engine._skip_condense else engine._condense_prompt_template  # noqa: SLF001
    prompts = context_prompts(templates, preamble, engine._llm, condense, NodeReading.TEXTS)  # noqa: SLF001
    read = AttachedEngine(llm=engine._llm, preamble=preamble, documents=prompts, history=prompts)  # noqa: SLF001
    return replace(read, history_first=True)


def _context_with_images(engine: Any) -> AttachedEngine:
    prompts = image_prompts(engine._context_template, engine._system_prompt or "")  # noqa: SLF001
    return _sending_images(engine, prompts)


def _condense_plus_context_with_images(engine: Any) -> AttachedEngine:
    condense = None if engine._skip_condense else engine._condense_prompt_template  # noqa: SLF001
    template = engine._context_prompt_template  # noqa: SLF001
    prompts = image_prompts(template, engine._system_prompt or "", condense=condense)  # noqa: SLF001
    return replace(_sending_images(engine, prompts), history_first=True)


def _simple_with_images(engine: Any) -> AttachedEngine:
    prompts = image_prompts(engine._text_qa_template, None, takes_history=False)  # noqa: SLF001
    return AttachedEngine(llm=engine._multi_modal_llm, preamble=Preamble(), documents=prompts)  # noqa: SLF001


def _sending_images(engine: Any, prompts: EnginePrompts) -> AttachedEngine:
    llm, system_prompt = engine._multi_modal_llm, engine._system_prompt or ""  # noqa: SLF001
    return AttachedEngine(llm=llm, preamble=Preamble(system_prompt=system_prompt), documents=prompts, history=prompts)


def _condense_question(engine: Any) -> AttachedEngine:
    inner = read_engine(engine._query_engine)  # noqa: SLF001
    condense: BasePromptTemplate = engine._condense_question_prompt  # noqa: SLF001
    history = EnginePrompts(sent=(condense,), bounding=(), takes_history=True, condense=condense, padding=0)
    return AttachedEngine(
        llm=engine._llm,  # noqa: SLF001
        answering=inner.llm,
        preamble=Preamble(),
        documents=inner.documents,
        history=history,
        schemas=inner.schemas,
    )


def _simple(engine: Any) -> AttachedEngine:
    return AttachedEngine(
        llm=engine._llm,  # noqa: SLF001
        preamble=Preamble(messages=tuple(engine._prefix_messages)),  # noqa: SLF001
    )


def _citing(engine: Any) -> AttachedEngine:
    return _answering(engine, split=engine._create_citation_nodes)  # noqa: SLF001


def _answering(
    engine: Any, split: Callable[[list[NodeWithScore]], list[NodeWithScore]] | None = None
) -> AttachedEngine:
    synthesizer: BaseSynthesizer = engine._response_synthesizer  # noqa: SLF001
    llm: LLM = synthesizer._llm  # noqa: SLF001
    prompts = synthesizer.get_prompts()
    padding = synthesizer._response_padding_size if isinstance(synthesizer, Refine) else DEFAULT_PADDING  # noqa: SLF001
    in_blocks = getattr(synthesizer, "_multimodal", False)
    filled = tuple(prompts[name] for name in (_WITH_BLOCKS if in_blocks else _WITH_DOCUMENTS) if name in prompts)
    documents = EnginePrompts(
        sent=filled,
        bounding=filled,
        padding=padding,
        split=split,
        one_by_one=type(synthesizer) in (Accumulate, Refine),
        reading=NodeReading.TEXTS,
        helper=synthesizer._prompt_helper,  # noqa: SLF001
    )
    if in_blocks:
        helper = synthesizer._chat_prompt_helper  # noqa: SLF001
        documents = replace(documents, join=joined_as_merged, strips=False, reading=NodeReading.BLOCKS, helper=helper)
    elif isinstance(synthesizer, SimpleSummarize):
        documents = replace(documents, join=_as_list, strips=False)
    return AttachedEngine(
        llm=llm,
        preamble=Preamble(),
        documents=documents if filled else None,
        schemas=_answer_schemas(getattr(synthesizer, "_output_cls", None), llm),
    )


_READERS: dict[type, Callable[[Any], AttachedEngine]] = {
    MultiModalContextChatEngine: _context_with_images,
    MultiModalCondensePlusContextChatEngine: _condense_plus_context_with_images,
    SimpleMultiModalQueryEngine: _simple_with_images,
    CondensePlusContextChatEngine: _condense_plus_context,
    ContextChatEngine: _context,
    CondenseQuestionChatEngine: _condense_question,
    SimpleChatEngine: _simple,
    CitationQueryEngine: _citing,
    RetrieverQueryEngine: _answering,
}


def _as_list(texts: Sequence[str]) -> str:
    """Join documents as `SimpleSummarize` does: its prompt contains a Python list of one string."""
    return str(["\n".join(texts)])


def _answer_schemas(kind: type[BaseModel] | None, llm: LLM) -> tuple[Mapping[str, Any] | str, ...]:
    """Return what a synthesizer sends beside its prompt to get an answer of class `kind`.

    That is a tool where the model can call one, and an instruction at the end of the prompt where it cannot.
    """
    if kind is None:
        return ()
    metadata = metadata_of(llm)
    if isinstance(llm, FunctionCallingLLM) if metadata is None else metadata.is_function_calling_model:
        return (get_function_tool(kind).metadata.to_openai_tool(skip_length_check=True),)
    return (PydanticOutputParser(output_cls=kind).format(""),)
