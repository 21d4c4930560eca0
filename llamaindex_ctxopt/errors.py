"""The error of parts that would mix two conversations, or that do not belong to the engine that has them."""

from __future__ import annotations

from ctxopt_core import CtxoptError


class EnginePartsError(CtxoptError, ValueError):
    """The parts of an engine do not belong together, or they would serve two conversations.

    It is raised by the second `memory` of an optimizer, by `attach` for an engine with a memory or a postprocessor of
    another optimizer or session, and where an engine is attached twice. Nothing is changed then.

    Example:
        >>> from llamaindex_ctxopt import EngineOptimizer, EnginePartsError
        >>> optimizer = EngineOptimizer(context_window=4_000)
        >>> first = optimizer.memory()
        >>> try:
        ...     second = optimizer.memory()
        ... except EnginePartsError as error:
        ...     print(str(error).partition(": ")[0])
        this optimizer has a memory already
        >>> second = optimizer.session().memory
    """
