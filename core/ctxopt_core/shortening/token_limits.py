"""Shares a token budget among several strings: the longest are cut to one common level."""

from __future__ import annotations

from collections.abc import Sequence


def level_down(counts: Sequence[int], budget: int) -> list[int]:
    """Return the tokens that each string may have, so that the sum is at most `budget`.

    Args:
        counts: The tokens that each string has. Those at or below the common level keep all of them.
        budget: The most that all may have together, in tokens.
    """
    allowed = [0] * len(counts)
    left = max(0, budget)
    for rank, index in enumerate(sorted(range(len(counts)), key=lambda i: counts[i])):
        allowed[index] = min(counts[index], left // (len(counts) - rank))
        left -= allowed[index]
    return allowed
