"""ctxopt for LlamaIndex: one budget for documents, history and model, so that a user turn is one model call.

The classes are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib.util
from importlib import import_module

TYPE_CHECKING = False  # `import typing` would be most of what importing this package costs
if TYPE_CHECKING:
    from typing import Any

    from llamaindex_ctxopt.errors import EnginePartsError
    from llamaindex_ctxopt.events import ContextOptimizedEvent
    from llamaindex_ctxopt.guard.llm import with_optimizer
    from llamaindex_ctxopt.memory import ContextOptimizerMemory
    from llamaindex_ctxopt.message_replay import replay
    from llamaindex_ctxopt.optimizer import EngineOptimizer
    from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
    from llamaindex_ctxopt.retriever import ContextOptimizerRetriever
    from llamaindex_ctxopt.session import EngineSession

__all__ = [
    "ContextOptimizedEvent",
    "ContextOptimizerMemory",
    "ContextOptimizerPostprocessor",
    "ContextOptimizerRetriever",
    "EngineOptimizer",
    "EnginePartsError",
    "EngineSession",
    "replay",
    "with_optimizer",
]

_HOMES = {
    "ContextOptimizedEvent": "llamaindex_ctxopt.events",
    "EngineOptimizer": "llamaindex_ctxopt.optimizer",
    "EnginePartsError": "llamaindex_ctxopt.errors",
    "EngineSession": "llamaindex_ctxopt.session",
    "ContextOptimizerMemory": "llamaindex_ctxopt.memory",
    "ContextOptimizerPostprocessor": "llamaindex_ctxopt.postprocessor",
    "ContextOptimizerRetriever": "llamaindex_ctxopt.retriever",
    "replay": "llamaindex_ctxopt.message_replay",
    "with_optimizer": "llamaindex_ctxopt.guard.llm",
}


def _llama_index_is_installed() -> bool:
    try:
        return importlib.util.find_spec("llama_index.core") is not None
    except ModuleNotFoundError:
        return False


if not _llama_index_is_installed():
    _message = "`llamaindex_ctxopt` needs llama-index-core; install it with: pip install 'ctxopt-core[llamaindex]'"
    raise ModuleNotFoundError(_message, name="llama_index.core")


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
