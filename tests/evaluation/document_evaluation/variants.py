"""Ours with one of its weights changed: what a choice of weights is compared with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType

from ctxopt_core import DocumentPolicy
from ctxopt_core.documents import second_hop, unit_scores
from document_evaluation.candidate import Candidate, Pack, pack_with
from document_evaluation.cases import Case
from document_evaluation.survival import Kept

FACTORS = (0.5, 1.5)
WEIGHTS = (
    (unit_scores, "_PHRASE_WEIGHT"),
    (unit_scores, "_CONTEXT"),
    (unit_scores, "_DOCUMENT_WEIGHT"),
    (unit_scores, "_RANK_WEIGHT"),
    (unit_scores, "_WORTH_SHARE"),
    (unit_scores, "_SUBJECT_WEIGHT"),
    (unit_scores, "_LINK_WEIGHT"),
    (unit_scores, "_LEAD_WEIGHT"),
    (unit_scores, "_LINKED_LEAD_WEIGHT"),
    (second_hop, "_LEAST_RARITY"),
)


def _variant(module: ModuleType, weight: str, factor: float) -> Candidate:
    name = f"{weight.strip('_').lower()} x {factor}"
    return Candidate(name=name, group="ours", make=lambda: _with(module, weight, factor))


def _with(module: ModuleType, weight: str, factor: float) -> Pack:
    value = min(1.0, getattr(module, weight) * factor)

    def pack(case: Case, budget: int) -> Kept:
        with _set_to(module, weight, value):
            return pack_with(DocumentPolicy(), case, budget)

    return pack


@contextlib.contextmanager
def _set_to(module: ModuleType, weight: str, value: float) -> Iterator[None]:
    before = getattr(module, weight)
    setattr(module, weight, value)
    try:
        yield
    finally:
        setattr(module, weight, before)


VARIANTS = tuple(_variant(module, weight, factor) for module, weight in WEIGHTS for factor in FACTORS)
