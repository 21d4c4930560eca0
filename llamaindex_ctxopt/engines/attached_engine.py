"""Reads model and prompts from an engine of LlamaIndex.

Most of them are private attributes: LlamaIndex has no public way to what its engines build their requests from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.indices.prompt_helper import DEFAULT_PADDING
from llama_index.core.llms import LLM
from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import Accumulate, BaseSynthesizer, Refine, SimpleSummarize
from llama_index.core.schema import NodeWithScore

from llamaindex_ctxopt.engines.engine_prompts import EnginePrompts, Preamble, context_prompts, joined_as_repacked

_WITH_DOCUMENTS = ("text_qa_template", "refine_template", "summary_template")


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
    """

    llm: LLM
    answering: LLM | None = None
    preamble: Preamble
    documents: EnginePrompts | None = None
    history: EnginePrompts | None = None
    schemas: tuple[Mapping[str, Any] | str, ...] = ()


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
    prompts = context_prompts(templates, preamble, engine._llm)  # noqa: SLF001
    return AttachedEngine(llm=engine._llm, preamble=preamble, documents=prompts, history=prompts)  # noqa: SLF001


def _condense_plus_context(engine: Any) -> AttachedEngine:
    preamble = Preamble(system_prompt=engine._system_prompt or "")  # noqa: SLF001
    templates = (engine._context_prompt_template, engine._context_refine_prompt_template)  # noqa: SLF001
    condense = None if engine._skip_condense else engine._condense_prompt_template  # noqa: SLF001
    prompts = context_prompts(templates, preamble, engine._llm, condense)  # noqa: SLF001
    return AttachedEngine(llm=engine._llm, preamble=preamble, documents=prompts, history=prompts)  # noqa: SLF001


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
    filled = tuple(prompts[name] for name in _WITH_DOCUMENTS if name in prompts)
    padding = synthesizer._response_padding_size if isinstance(synthesizer, Refine) else DEFAULT_PADDING  # noqa: SLF001
    listed = isinstance(synthesizer, SimpleSummarize)
    documents = EnginePrompts(
        sent=filled,
        bounding=filled,
        padding=padding,
        join=_as_list if listed else joined_as_repacked,
        strips=not listed,
        split=split,
        one_by_one=type(synthesizer) in (Accumulate, Refine),
        helper=synthesizer._prompt_helper,  # noqa: SLF001
    )
    return AttachedEngine(
        llm=llm,
        preamble=Preamble(),
        documents=documents if filled else None,
        schemas=_answer_schemas(getattr(synthesizer, "_output_cls", None), llm),
    )


_READERS: dict[type, Callable[[Any], AttachedEngine]] = {
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
    if llm.metadata.is_function_calling_model:
        return (get_function_tool(kind).metadata.to_openai_tool(skip_length_check=True),)
    return (PydanticOutputParser(output_cls=kind).format(""),)
