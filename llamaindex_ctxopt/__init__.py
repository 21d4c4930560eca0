"""The LlamaIndex adapter of ctxopt. It is not there yet: this package only reserves the name.

Until it is, call `ctxopt_core` directly; it takes plain values and needs no framework.
"""

from __future__ import annotations

import importlib.util

__all__: list[str] = []


def _llama_index_is_installed() -> bool:
    try:
        return importlib.util.find_spec("llama_index.core") is not None
    except ModuleNotFoundError:
        return False


if not _llama_index_is_installed():
    _message = "`llamaindex_ctxopt` needs llama-index-core; install it with: pip install 'ctxopt-core[llamaindex]'"
    raise ModuleNotFoundError(_message, name="llama_index.core")
