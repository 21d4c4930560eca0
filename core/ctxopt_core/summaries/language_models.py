"""Where summaries come from: a model of either framework, or a function, known by what it can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ctxopt_core.runtime.duck_typing import LANGUAGE_MODELS, CallablePair, function_of, methods_of

_TEXT_KINDS = frozenset({None, "text", "output_text"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SummarySource:
    """The ways in which one model or function answers a prompt.

    1. Its errors come through unchanged.
    2. It is awaited if an event loop waits for the call and it has its own coroutine; otherwise it is called.

    Args:
        name: The name of the model or of the function.
        is_model: Whether it is a model, which needs instructions.
        calls: How it is called.
    """

    name: str
    is_model: bool
    calls: CallablePair

    def answer(self, text: str) -> Any:
        """Return the answer to a prompt, as it is.

        Raises:
            TypeError: It can only be awaited, and no event loop waits for this call.
        """
        return self.calls.call(text, named=f"`source` {self.name}")


def source_of(source: Any) -> SummarySource:
    """Return the ways in which `source` answers a prompt.

    Raises:
        TypeError: It is no model and no function.
    """
    methods = methods_of(source, LANGUAGE_MODELS)
    if methods is not None:
        return SummarySource(name=_name_of(source), is_model=True, calls=methods[0])
    requirement = (
        "`source` must be an instance of a LangChain or LlamaIndex language model, or a function of a string that "
        "returns a string"
    )
    function = function_of(source, requirement)
    return SummarySource(name=_name_of(source), is_model=False, calls=function)


def text_of_answer(answer: Any) -> str | None:
    """Return the text of what a model or function gave: the text itself, or its `content` or `text`.

    Of a content in blocks, the text blocks are joined. None if there is no text.
    """
    content = getattr(answer, "content", None)
    if isinstance(content, (list, tuple)):
        content = "".join(map(_text_of_block, content))
    for found in (answer, content, getattr(answer, "text", None)):
        if isinstance(found, str):
            return str(found)
    return None


def _text_of_block(block: Any) -> str:
    if isinstance(block, Mapping) and block.get("type") in _TEXT_KINDS:
        block = block.get("text")
    return block if isinstance(block, str) else ""


def _name_of(source: Any) -> str:
    for attribute in ("model_name", "model"):
        name = getattr(source, attribute, None)
        if isinstance(name, str) and name.strip():
            return name.strip()
    while isinstance(source, partial):
        source = source.func
    named = source if getattr(source, "__qualname__", None) else type(source)
    module = getattr(named, "__module__", None)
    return f"{module}.{named.__qualname__}" if module else str(named.__qualname__)
