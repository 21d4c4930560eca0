"""The sources of summaries: a language model of either framework, found by its methods, or a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ctxopt_core.runtime.call_or_await import call_or_await, is_coroutine_function
from ctxopt_core.runtime.duck_typing import has_own_coroutines, method_of

_TEXT_KINDS = frozenset({None, "text", "output_text"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SummarySource:
    """How one model or function is called with a string.

    1. Its errors are not caught.
    2. It is awaited if an event loop waits for the call and it has a coroutine of its own; else it is called.

    Args:
        name: The name of the model or of the function, which distinguishes it from others.
        is_model: Whether it is a model, which needs instructions.
        plain: The function that is called.
        awaited: The coroutine function that is awaited.
    """

    name: str
    is_model: bool
    plain: Callable[[str], Any] | None = None
    awaited: Callable[[str], Awaitable[Any]] | None = None

    def answer(self, text: str) -> Any:
        """Return what it returns for a string, unchanged.

        Raises:
            TypeError: It can only be awaited, and no event loop waits for this call.
        """
        return call_or_await(self.plain, self.awaited, text, named=f"`source` {self.name}")


@dataclass(frozen=True, slots=True)
class _Interface:
    """How a framework calls its methods: first the one that is used, then those by which subclasses change it."""

    plain: tuple[str, ...]
    awaited: tuple[str, ...]


_INTERFACES = (
    _Interface(("invoke", "_generate", "_call"), ("ainvoke", "_agenerate", "_acall")),
    _Interface(("complete",), ("acomplete",)),
)


def source_of(source: Any) -> SummarySource:
    """Return how `source` is called with a string.

    Raises:
        TypeError: It is no model and no function.
    """
    if not isinstance(source, type):
        for interface in _INTERFACES:
            found = _by_methods(source, interface)
            if found is not None:
                return found
        if callable(source):
            if is_coroutine_function(source):
                return SummarySource(name=_name_of(source), is_model=False, awaited=source)
            return SummarySource(name=_name_of(source), is_model=False, plain=source)
    what = f"the class {source.__name__}" if isinstance(source, type) else type(source).__name__
    message = (
        "`source` must be an instance of a LangChain or LlamaIndex language model, or a function of a string "
        f"that returns a string, got {what}"
    )
    raise TypeError(message)


def text_of_answer(answer: Any) -> str | None:
    """Return the text of the answer of a model or function: the answer itself, or its `content` or `text`.

    The text blocks of a content in blocks are joined. None if there is no text.
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


def _by_methods(model: Any, interface: _Interface) -> SummarySource | None:
    plain, awaited = method_of(model, interface.plain[0]), method_of(model, interface.awaited[0])
    if plain is None and awaited is None:
        return None
    if plain is not None and not has_own_coroutines(model, interface.awaited, interface.plain):
        awaited = None
    return SummarySource(name=_name_of(model), is_model=True, plain=plain, awaited=awaited)


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
