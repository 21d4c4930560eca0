"""The kept items of a conversation, whatever stands for its messages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Protocol, TypeVar

from ctxopt_core.excerpts import Shortened
from ctxopt_core.trimming import Trimming

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class Indexed(Protocol[Item_co]):
    """Anything that has an item at an index."""

    def __getitem__(self, index: int, /) -> Item_co:
        """Return the item at an index."""


def kept_items(
    originals: Indexed[Item],
    trimming: Trimming,
    *,
    shortened: Callable[[int, Shortened], Item],
    placeholder: Callable[[str, int], Item],
) -> list[Item]:
    """Return what a trimming keeps, in order: the very originals, copies where shortened, and the placeholder.

    Args:
        originals: The conversation that was trimmed.
        trimming: What is kept of it.
        shortened: Returns the copy of the original at an index.
        placeholder: Returns the placeholder of a text; it is told the index of the original that it follows.
    """
    kept = trimming.kept
    found = [originals[i] for i in kept]
    for index, cut in trimming.shortened.items():
        found[bisect_left(kept, index)] = shortened(index, cut)
    after = trimming.placeholder_after
    if trimming.placeholder is not None and after is not None:
        found.insert(bisect_left(kept, after) + 1, placeholder(trimming.placeholder, after))
    return found
