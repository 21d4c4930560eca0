"""The search for the choice of items that is worth most within a budget, and the bounds that keep it short."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter

_FRACTION_BITS = 32
_MOST_TANGENTS = 24
_ALIKE = 8
_EXACT_STEPS = 100_000
_FINEST_BITS = 30
_MOST_BITS = 900
_SAFETY = 2
_SCATTER = 2_654_435_761

State = tuple[int, int, int, int]
Tangent = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that may be taken.

    Args:
        index: Where it stands in the caller's list.
        value: Its value as a whole number, at equal value the larger the fewer tokens.
        cost: What it costs, in tokens, at least 1.
    """

    index: int
    value: int
    cost: int

    def density(self, price: int = 0) -> int:
        """Return its value beyond a price, per token, as a fixed-point number that is rounded up."""
        return -((price - self.value << _FRACTION_BITS) // self.cost)


def best_beyond(known: list[Item], items: Sequence[Item], budget: int) -> list[Item]:
    """Return the best choice of items, which is the known one if none is worth more.

    Args:
        known: A good choice.
        items: All items, by value per token; not all of them fit together.
        budget: Tokens that may be spent.
    """
    least = sum(item.value for item in known)
    most = bisect_right(list(accumulate(sorted(item.cost for item in items))), budget)
    fewest = 1 + bisect_right(list(accumulate(sorted((item.value for item in items), reverse=True))), least)
    if fewest > most:
        return known
    price, count = _price(items, budget, fewest, most)
    return _Search(items, budget, least, price, count).run() or known


class _Search:
    """The search for a choice of items that is worth more than the best known.

    A state is a choice: its cost, its value negated, its value beyond the price with the refund, and a bit for each
    item in which it differs from the first one.
    """

    def __init__(self, items: Sequence[Item], budget: int, known: int, price: int, count: int) -> None:
        self._budget = budget
        self._known = known
        self._best: int | None = None
        self._steps = 0
        self._flipped: list[Item] = []
        ranked = _ranked(items, price)
        room, cut = budget, 0
        while cut < len(ranked) and ranked[cut][0] > 0 and ranked[cut][2].cost <= room:
            room -= ranked[cut][2].cost
            cut += 1
        self._first = [item for _, _, item in ranked[:cut]]
        reach = price * count + sum(value for _, value, _ in ranked[:cut])
        self._states: list[State] = [(budget - room, -sum(item.value for item in self._first), reach, 0)]
        slope = max(0, ranked[cut][0]) if cut < len(ranked) else 0
        least = known - reach - _SAFETY

        def matters(sign: int, value: int, item: Item) -> bool:
            return sign * value + ((room - sign * item.cost) * slope >> _FRACTION_BITS) > least

        self._left = [entry for entry in ranked[:cut] if matters(-1, *entry[1:])]
        self._right = [entry for entry in reversed(ranked[cut:]) if matters(1, *entry[1:])]

    def run(self) -> list[Item] | None:
        """Return the best choice; None if it is the known one."""
        self._prune(self._states)
        while self._states and (self._left or self._right):
            if self._right and (len(self._flipped) % 2 or not self._left):
                (_, reach, item), sign = self._right.pop(), 1
            else:
                (_, reach, item), sign = self._left.pop(), -1
            self._prune(sorted([*self._states, *self._flip(sign * item.cost, sign * item.value, sign * reach)]))
            self._flipped.append(item)
        if self._best is None:
            return None
        flipped = {item.index: item for n, item in enumerate(self._flipped) if self._best >> n & 1}
        first = {item.index: item for item in self._first}
        return [(first | flipped)[index] for index in first.keys() ^ flipped.keys()]

    def _flip(self, more_cost: int, more_value: int, more_reach: int) -> list[State]:
        bit = 1 << len(self._flipped)
        return [
            (cost + more_cost, negated - more_value, reach + more_reach, flips | bit)
            for cost, negated, reach, flips in self._states
        ]

    def _prune(self, states: list[State]) -> None:
        """Keep the states, given by cost, that no other one dominates and that may lead beyond the best known."""
        gain = max(0, self._right[-1][0]) if self._right else 0
        loss = self._left[-1][0] - 1 if self._left else None
        self._steps += len(states)
        ignored = self._known >> _FINEST_BITS if self._steps > _EXACT_STEPS else 0
        lowest = 1
        kept: list[State] = []
        for state in states:
            cost, negated, reach, flips = state
            if negated >= lowest:
                continue
            lowest = negated
            room = self._budget - cost
            if room >= 0 and -negated > self._known:
                self._known, self._best = -negated, flips
            slope = gain if room >= 0 else loss
            if slope is not None and reach + (room * slope >> _FRACTION_BITS) > self._known + ignored:
                kept.append(state)
        self._states = kept


def _ranked(items: Sequence[Item], price: int) -> list[tuple[int, int, Item]]:
    """Return items by density beyond a price: that, the value beyond it, and the item.

    Among equal densities those that are near each other without a price stay together but are scattered there, so that
    neighbors differ in cost and few of them add up to any room.
    """
    ranked = [
        (item.density(price), position // _ALIKE if price else 0, item.index * _SCATTER % 2**32, item)
        for position, item in enumerate(items)
    ]
    ranked.sort(key=lambda entry: (-entry[0], *entry[1:3]))
    return [(density, item.value - price, item) for density, _, _, item in ranked]


def _price(items: Sequence[Item], budget: int, fewest: int, most: int) -> tuple[int, int]:
    """Return the price per item for which the bound is lowest, and the number of items for which it is refunded.

    Whatever is worth more than the best known has from `fewest` to `most` items. The price is 0 where that does not
    help.
    """
    if max(item.value for item in items).bit_length() > _MOST_BITS:
        return 0, 0
    _, _, start = _tangent(items, budget, 0.0, 0)
    count = most if start < -most else fewest if start > -fewest else 0
    if not count:
        return 0, 0
    top = float(max(item.value for item in items))
    ends = (0.0, top) if count == most and start < -most else (-top * max(item.cost for item in items), 0.0)
    low, high = (_tangent(items, budget, price, count) for price in ends)
    for _ in range(_MOST_TANGENTS):
        if low[2] >= 0.0 or high[2] <= 0.0:
            break
        crossing = (high[1] - low[1] + low[2] * low[0] - high[2] * high[0]) / (low[2] - high[2])
        if not low[0] < crossing < high[0]:
            break
        middle = _tangent(items, budget, crossing, count)
        low, high = (middle, high) if middle[2] < 0.0 else (low, middle)
    return round(min(low, high, key=itemgetter(1))[0]), count


def _tangent(items: Sequence[Item], budget: int, price: float, count: int) -> Tangent:
    """Return a price, the bound that it gives, and how fast the bound changes with it."""
    ranked = sorted((((item.value - price) / item.cost, item.cost) for item in items), reverse=True)
    room, bound, taken = budget, price * count, 0.0
    for density, cost in ranked:
        if density <= 0.0 or room <= 0:
            break
        part = min(cost, room)
        bound += density * part
        taken += part / cost
        room -= part
    return price, bound, count - taken
