"""ctxopt for LangChain: fit a request into the model's context window, inside a chain.

The classes are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

try:
    import langchain_core as _langchain_core  # noqa: F401
except ImportError as error:
    _missing = "langchain_ctxopt needs LangChain; install it with: pip install 'ctxopt-core[langchain]'"
    raise ImportError(_missing, name="langchain_core") from error

TYPE_CHECKING = False  # `import typing` would be most of what importing this package costs
if TYPE_CHECKING:
    from typing import Any

    from langchain_ctxopt.agents.middleware import ContextOptimizerMiddleware
    from langchain_ctxopt.agents.omitted_content_tool import omitted_content_tool
    from langchain_ctxopt.agents.pre_model_hook import pre_model_hook
    from langchain_ctxopt.chat_model import with_optimizer
    from langchain_ctxopt.compressor import ContextOptimizerCompressor
    from langchain_ctxopt.errors import RequestOverflowError
    from langchain_ctxopt.message_input import replay
    from langchain_ctxopt.optimizer import ContextOptimizer, OptimizedInput

__all__ = [
    "ContextOptimizer",
    "ContextOptimizerCompressor",
    "ContextOptimizerMiddleware",
    "OptimizedInput",
    "RequestOverflowError",
    "omitted_content_tool",
    "pre_model_hook",
    "replay",
    "with_optimizer",
]

_HOMES = {
    "ContextOptimizer": "langchain_ctxopt.optimizer",
    "ContextOptimizerCompressor": "langchain_ctxopt.compressor",
    "ContextOptimizerMiddleware": "langchain_ctxopt.agents.middleware",
    "OptimizedInput": "langchain_ctxopt.optimizer",
    "RequestOverflowError": "langchain_ctxopt.errors",
    "omitted_content_tool": "langchain_ctxopt.agents.omitted_content_tool",
    "pre_model_hook": "langchain_ctxopt.agents.pre_model_hook",
    "replay": "langchain_ctxopt.message_input",
    "with_optimizer": "langchain_ctxopt.chat_model",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
