"""Overlapping chunks that are read as one text: each goes on where the one before it ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ctxopt_core.overlaps import Stitch, stitch_plan
from ctxopt_core.request import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Stitching:
    """Documents that are kept whole, of which some go on where another one ends.

    Args:
        chains: The stitches of each run of documents, in the order in which they are read.
        texts: What is left of the documents that go on: their texts without the repeated start.
    """

    chains: tuple[tuple[Stitch, ...], ...] = ()
    texts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, documents: Sequence[Document], whole: Collection[int], order: Sequence[int]) -> Stitching:
        """Stitch the documents that are kept whole; `order` has the best one first."""
        if len(whole) < 2:
            return cls()
        chains = stitch_plan(documents, [index for index in order if index in whole])
        texts = {
            stitch.right: (documents[stitch.right].text or "")[stitch.repeated :]
            for chain in chains
            for stitch in chain
        }
        return cls(chains=chains, texts=MappingProxyType(texts))

    def with_chains(self, chains: Sequence[tuple[Stitch, ...]]) -> Stitching:
        """Return the stitching with further chains that are read in one piece."""
        return replace(self, chains=(*self.chains, *chains)) if chains else self

    def in_order(self, kept: Sequence[int]) -> tuple[int, ...]:
        """Return kept documents so that each chain is read in one piece, where the first of its members stood."""
        runs = {index: run for chain in self.chains for run in (_run(chain),) for index in run}
        ordered: dict[int, None] = {}
        for index in kept:
            ordered.update(dict.fromkeys(runs.get(index, (index,))))
        present = frozenset(kept)
        return tuple(index for index in ordered if index in present)


def _run(chain: Sequence[Stitch]) -> tuple[int, ...]:
    return (chain[0].left, *(stitch.right for stitch in chain))
