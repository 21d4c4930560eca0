"""Ours minus another candidate on the same items, with an interval from a paired bootstrap."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from document_evaluation.figures import Results, item_values

RESAMPLES = 2_000
_SEED = 20_261_130
_TAIL = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of means and its 95 % interval."""

    mean: float
    low: float
    high: float


def paired_difference(pairs: Sequence[Sequence[float]]) -> Difference:
    """Return the mean of the means of some groups of differences, with its 95 % interval.

    Args:
        pairs: For each set, the difference on each of its items. Items are drawn again within their set, and every set
            weighs the same.
    """
    drawn = [_resampled_means(tuple(differences)) for differences in pairs]
    totals = sorted(fmean(of_sets) for of_sets in zip(*drawn, strict=True))
    return Difference(
        mean=fmean(fmean(differences) for differences in pairs),
        low=totals[int(_TAIL * RESAMPLES)],
        high=totals[RESAMPLES - 1 - int(_TAIL * RESAMPLES)],
    )


@functools.lru_cache(maxsize=1_024)
def _resampled_means(differences: tuple[float, ...]) -> list[float]:
    size = len(differences)
    return [sum(map(differences.__getitem__, draw)) / size for draw in _draws(size)]


@functools.cache
def _draws(size: int) -> list[list[int]]:
    generator = random.Random(_SEED + size)
    return [generator.choices(range(size), k=size) for _ in range(RESAMPLES)]


def differences(results: Results, ours: str, other: str, mode: str) -> dict[str, Difference]:
    """Return ours minus another, by set and over `all` sets."""
    by_set = {name: _item_differences(results, ours, other, name, mode) for name in results.sets(mode)}
    found = {name: paired_difference([of_set]) for name, of_set in by_set.items()}
    return {**found, "all": paired_difference(list(by_set.values()))}


def _item_differences(results: Results, ours: str, other: str, name: str, mode: str) -> list[float]:
    mine: Mapping[int, float] = item_values(results.of(ours, name, mode))
    theirs = item_values(results.of(other, name, mode))
    return [mine[number] - theirs[number] for number in sorted(mine)]
