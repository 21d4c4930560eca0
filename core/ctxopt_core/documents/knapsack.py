"""Which items to take when each has a value and a cost, and the costs must stay within a budget (0/1 knapsack)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate, combinations
from math import gcd
from operator import itemgetter
from typing import NamedTuple

# Items on either side of the limit of which two are exchanged for two. Pairs grow with its square: 20 give 211 groups a
# side, and the choice by density reaches 99.98 % of the optimum (docs/benchmarks).
_WINDOW = 20
_FRACTION_BITS = 32  # bits after the point of a density; fewer make the bounds looser and the search longer
_PRICE_STEPS = 48  # bisections, each of which halves the error of the price; a double has 53 bits
_EXACT_STEPS = 100_000  # states; retrievers' scores need a hundredth of that, rounding errors of floats far more
_FINEST_BITS = 30  # after so many states, gains below 2**-30 of the total are ignored
_LONGEST_FLOAT_BITS = 900  # bits of a value for which prices are computed as floats, which end at 1,024 bits
_SCATTER = 2_654_435_761  # odd, near 2**32 / golden ratio: multiples of it modulo 2**32 are spread evenly (Knuth)
_NEARBY = 8  # neighbors by density that stay together when items of equal priced density are scattered

Group = tuple[int, int, tuple[int, ...]]


class _Item(NamedTuple):
    """Something that may be taken; `value` is a whole number, at equal value the larger the fewer tokens."""

    position: int
    value: int
    cost: int

    def density(self, price: int = 0) -> int:
        """Return the value above a price, per token, as a fixed-point number that is rounded up."""
        return -((price - self.value << _FRACTION_BITS) // self.cost)


def by_density(values: Sequence[float], costs: Sequence[int], budget: int) -> tuple[int, ...]:
    """Choose by value per token, then exchange what is taken for what is not as long as that raises the value.

    The highest value per token comes first; ties by value, then fewer tokens, then the earlier one. An exchange is of
    any one for any other, or of up to two for up to two of the 20 nearest to the limit on either side of it. The result
    never has less value than the best single item that fits. Items with a value of 0 or less are not taken.

    Values are finite; costs are tokens, 0 or more. Return the chosen positions in ascending order.
    """
    items, free = _usable(values, costs, budget)
    return _earliest(items, _improved(items, budget), free)


def most_valuable(values: Sequence[float], costs: Sequence[int], budget: int) -> tuple[int, ...]:
    """Choose the items that have the most value together, exactly.

    Of choices of equal value the one of fewest tokens is taken, and of items of equal value and cost the earlier ones.
    Values are compared as the exact numbers that they are, without rounding. Arguments and result are those of
    `by_density`.

    As a rule this takes little more than sorting. At worst it takes the number of items times the sum of their costs,
    which some made-up values come near: tokens less a constant, tokens rounded up to multiples. After 100,000 states a
    difference of less than one part in 2**30 of the total counts as none, as the search would otherwise compare
    rounding errors of floats for seconds.
    """
    items, free = _usable(values, costs, budget)
    chosen = _improved(items, budget)
    if len(chosen) < len(items):
        chosen = _best(items, budget - budget % gcd(*(item.cost for item in items)), chosen)
    return _earliest(items, chosen, free)


def _usable(values: Sequence[float], costs: Sequence[int], budget: int) -> tuple[list[_Item], list[int]]:
    """Return, by density, the items that have a value and fit, and the positions of those that cost nothing."""
    usable = [index for index, cost in enumerate(costs) if cost <= budget and values[index] > 0]
    ratios = [values[index].as_integer_ratio() for index in usable]
    scale = max((denominator for _, denominator in ratios), default=1)
    # One unit of value outweighs all tokens, so that tokens only decide between choices of equal value.
    unit = 1 + sum(costs[index] for index in usable)
    items = [
        _Item(index, numerator * (scale // denominator) * unit - costs[index], costs[index])
        for index, (numerator, denominator) in zip(usable, ratios, strict=True)
        if costs[index]
    ]
    items.sort(key=lambda item: (-item.density(), -item.value, item.position))
    return items, [index for index in usable if not costs[index]]


def _earliest(items: Iterable[_Item], chosen: Iterable[_Item], free: Iterable[int]) -> tuple[int, ...]:
    """Return the positions of the chosen items, the earliest of those with equal value and cost, and the free ones."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item in sorted(items, key=lambda item: -item.position):
        alike[item.value, item.cost].append(item.position)
    return tuple(sorted([*free, *(alike[item.value, item.cost].pop() for item in chosen)]))


def _improved(items: Sequence[_Item], budget: int) -> list[_Item]:
    """Return a good choice of items, which are given by density."""
    taken = _greedy(items, budget)
    best = max(range(len(items)), key=lambda position: items[position].value, default=0)
    if taken and items[best].value > sum(items[position].value for position in taken):
        taken = {best, *_greedy(items, budget - items[best].cost, best)}
    while True:
        inside = [position for position in range(len(items)) if position in taken]
        outside = [position for position in range(len(items)) if position not in taken]
        left = budget - sum(items[position].cost for position in inside)
        exchange = _best_exchange(items, inside, outside, 1, left) or _best_exchange(
            items, inside[-_WINDOW:], outside[:_WINDOW], 2, left
        )
        if exchange is None:
            return [items[position] for position in inside]
        taken = taken.difference(exchange[0]).union(exchange[1])


def _greedy(items: Sequence[_Item], left: int, without: int | None = None) -> set[int]:
    taken: set[int] = set()
    for position, item in enumerate(items):
        if item.cost <= left and position != without:
            taken.add(position)
            left -= item.cost
    return taken


def _best_exchange(
    items: Sequence[_Item], inside: Sequence[int], outside: Sequence[int], most: int, left: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return which positions to remove and to add, at most so many, for the largest gain; None when there is none."""
    additions = sorted(_groups(items, outside, most), key=itemgetter(0))
    costs = [cost for cost, _, _ in additions]
    best_within = list(accumulate(additions, partial(max, key=itemgetter(1))))  # the earlier one of equal value
    most_gain, exchange = 0, None
    for cost, value, removed in _groups(items, inside, most):
        _, gained, added = best_within[bisect_right(costs, left + cost) - 1]
        if gained - value > most_gain:
            most_gain, exchange = gained - value, (removed, added)
    return exchange


def _groups(items: Sequence[_Item], positions: Sequence[int], most: int) -> list[Group]:
    """Return the groups of no, one and, if `most` is 2, two of the positions: cost, value and positions of each."""
    singles: list[Group] = [(items[position].cost, items[position].value, (position,)) for position in positions]
    pairs = combinations(singles, 2) if most > 1 else ()
    return [(0, 0, ()), *singles, *((one[0] + two[0], one[1] + two[1], one[2] + two[2]) for one, two in pairs)]


def _best(items: Sequence[_Item], budget: int, known: list[_Item]) -> list[_Item]:
    """Return the best choice of items, which is the known one if no other has more value.

    A dynamic program over the choices that no other one dominates (Nemhauser and Ullmann 1969). It starts with the
    items of the fractional solution and flips one item after the other, from its limit outwards (Pisinger 1997). A
    choice is given up when a bound shows that it cannot become better than the best known.
    """
    most_value = sum(item.value for item in known)
    price, count = _price(items, budget, most_value)
    # Items of equal density that are neighbors without a price stay near each other, but scattered, so that neighbors
    # differ in cost and few of them add up to any budget.
    keys = [
        (-item.density(price), position // _NEARBY if price else 0, item.position * _SCATTER % 2**32)
        for position, item in enumerate(items)
    ]
    ranked = [(-key[0], item) for key, item in sorted(zip(keys, items, strict=True))]
    cut, cost = 0, 0
    while cut < len(ranked) and ranked[cut][0] > 0 and cost + ranked[cut][1].cost <= budget:
        cost += ranked[cut][1].cost
        cut += 1
    first = [item for _, item in ranked[:cut]]
    inside, outside = ranked[:cut], list(reversed(ranked[cut:]))
    value = sum(item.value for item in first)
    # A state is a choice: its cost, its value negated, its value above the price with the refund of the price for the
    # number of items, and a bit for each flipped item.
    states = [(cost, -value, value + price * (count - cut), 0)]
    flipped: list[_Item] = []
    best, seen = None, 0
    while states:
        gain = max(0, outside[-1][0]) if outside else 0
        loss = inside[-1][0] - 1 if inside else 0
        seen += len(states)
        ignored = most_value >> _FINEST_BITS if seen > _EXACT_STEPS else 0
        kept, lowest = [], 1
        for state in states:
            cost, negated, reach, flips = state
            if negated >= lowest:
                continue
            lowest = negated
            left = budget - cost
            if left >= 0 and -negated > most_value:
                most_value, best = -negated, flips
            slope = gain if left >= 0 else loss
            if (left >= 0 or inside) and reach + (left * slope >> _FRACTION_BITS) > most_value + ignored:
                kept.append(state)
        if not (inside or outside):
            break
        sign = 1 if outside and (len(flipped) % 2 or not inside) else -1
        _, item = outside.pop() if sign > 0 else inside.pop()
        cost, value, reach, bit = sign * item.cost, sign * item.value, sign * (item.value - price), 1 << len(flipped)
        states = sorted(kept + [(c + cost, v - value, r + reach, flips | bit) for c, v, r, flips in kept])
        flipped.append(item)
    if best is None:
        return known
    changed = {item for n, item in enumerate(flipped) if best >> n & 1}
    return list(changed.symmetric_difference(first))


def _price(items: Sequence[_Item], budget: int, known: int) -> tuple[int, int]:
    """Return a price per item that lowers the bound, and the number of items for which it is refunded.

    A choice of more than the known value has at least as many items as the most valuable ones need to exceed it, and at
    most as many as the cheapest ones that fit. Where the fractional solution has more or fewer, a price per item
    corrects that (Lagrange). It settles values that are tokens and a constant. It is 0 where it does not help.
    """
    top = max(item.value for item in items)
    if top.bit_length() > _LONGEST_FLOAT_BITS:
        return 0, 0
    most = bisect_right(list(accumulate(sorted(item.cost for item in items))), budget)
    fewest = 1 + bisect_right(list(accumulate(sorted((item.value for item in items), reverse=True))), known)
    taken = _fractional_count(items, budget, 0.0)
    if fewest <= taken <= most:
        return 0, 0
    count = most if taken > most else fewest
    low, high = (0.0, float(top)) if taken > most else (-float(top) * max(item.cost for item in items), 0.0)
    for _ in range(_PRICE_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _fractional_count(items, budget, middle) > count else (low, middle)
    return round(high), count


def _fractional_count(items: Sequence[_Item], budget: int, price: float) -> float:
    """Return how many items the fractional solution takes at a price per item."""
    taken = 0.0
    for density, cost in sorted((((item.value - price) / item.cost, item.cost) for item in items), reverse=True):
        if density <= 0.0 or budget <= 0:
            break
        taken += min(cost, budget) / cost
        budget -= cost
    return taken
