"""Which items to take when each has a value and a cost, and the costs must stay within a budget (0/1 knapsack)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, combinations
from math import gcd
from operator import itemgetter

from ctxopt_core.documents.knapsack_search import Item, best_beyond

_WINDOW = 20

Group = tuple[int, int, tuple[int, ...]]


def by_density(values: Sequence[float], costs: Sequence[int], budget: int) -> tuple[int, ...]:
    """Choose by value per token, then exchange what is taken for what is not as long as that raises the value.

    The highest value per token comes first; ties by value, then fewer tokens, then the earlier one. An exchange is of
    any one for any other, or of up to two for up to two of the 20 nearest to the limit on either side of it. The result
    is never worth less than the best single item that fits.

    Args:
        values: What each is worth, finite. What is worth nothing, or less, is not taken.
        costs: What each costs, in tokens, 0 or more.
        budget: Tokens that may be spent.

    Returns:
        The chosen positions in ascending order.
    """
    items, free = _worthwhile(values, costs, budget)
    return _earliest(items, _improved(items, budget), free)


def most_valuable(values: Sequence[float], costs: Sequence[int], budget: int) -> tuple[int, ...]:
    """Choose the items that are worth most together, exactly.

    Of choices of equal value the one of fewest tokens is taken, and of items of equal value and cost the earlier ones.
    Values are compared as the exact numbers that they are, without rounding. Arguments and result are those of
    `by_density`.

    Choices are extended item by item, outwards from where a fractional solution is cut. One is given up when another
    costs no more and is worth no less, or when a bound shows that it cannot lead beyond the best known. The bound also
    knows how many items can be taken at all, which settles values that are tokens and a constant.

    As a rule this takes little more than sorting. At worst it takes the number of items times the sum of their costs,
    which some made-up values come near: tokens less a constant, tokens rounded up to multiples. After 100,000 steps a
    difference of less than one part in 2**30 of the total counts as none, as rounding errors of floats would otherwise
    be fought over for seconds.
    """
    items, free = _worthwhile(values, costs, budget)
    chosen = _improved(items, budget)
    if len(chosen) < len(items):
        chosen = best_beyond(chosen, items, budget - budget % gcd(*(item.cost for item in items)))
    return _earliest(items, chosen, free)


def _worthwhile(values: Sequence[float], costs: Sequence[int], budget: int) -> tuple[list[Item], list[int]]:
    """Return, by density, the items that are worth something and fit, and the positions of those that cost nothing."""
    usable = [index for index, cost in enumerate(costs) if cost <= budget and values[index] > 0]
    ratios = [values[index].as_integer_ratio() for index in usable]
    scale = max((denominator for _, denominator in ratios), default=1)
    worth_of_value = 1 + sum(costs[index] for index in usable)
    items = [
        Item(index=index, value=numerator * (scale // denominator) * worth_of_value - costs[index], cost=costs[index])
        for index, (numerator, denominator) in zip(usable, ratios, strict=True)
        if costs[index]
    ]
    items.sort(key=lambda item: (-item.density(), -item.value, item.index))
    return items, [index for index in usable if not costs[index]]


def _earliest(items: Iterable[Item], chosen: Iterable[Item], free: Iterable[int]) -> tuple[int, ...]:
    """Return the positions of the chosen items, of like ones the earliest, and the free ones."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item in sorted(items, key=lambda item: -item.index):
        alike[item.value, item.cost].append(item.index)
    return tuple(sorted([*free, *(alike[item.value, item.cost].pop() for item in chosen)]))


def _improved(items: Sequence[Item], budget: int) -> list[Item]:
    """Return a good choice of items, which are given by density."""
    taken = _greedy(items, budget)
    best = max(range(len(items)), key=lambda position: items[position].value, default=0)
    if taken and items[best].value > sum(items[position].value for position in taken):
        taken = {best, *_greedy(items, budget - items[best].cost, best)}
    while True:
        inside = [position for position in range(len(items)) if position in taken]
        outside = [position for position in range(len(items)) if position not in taken]
        room = budget - sum(items[position].cost for position in inside)
        exchange = _best_exchange(items, inside, outside, 1, room) or _best_exchange(
            items, inside[-_WINDOW:], outside[:_WINDOW], 2, room
        )
        if exchange is None:
            return [items[position] for position in inside]
        taken = taken.difference(exchange[0]).union(exchange[1])


def _greedy(items: Sequence[Item], room: int, without: int | None = None) -> set[int]:
    taken: set[int] = set()
    for position, item in enumerate(items):
        if item.cost <= room and position != without:
            taken.add(position)
            room -= item.cost
    return taken


def _best_exchange(
    items: Sequence[Item], inside: Sequence[int], outside: Sequence[int], most: int, room: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return which positions to remove and to add, at most so many, for the largest gain; None when there is none."""
    additions = sorted(_groups(items, outside, most), key=itemgetter(0))
    costs = [cost for cost, _, _ in additions]
    best_within = list(accumulate(additions, _more_valuable))
    most_gain, exchange = 0, None
    for cost, value, removed in _groups(items, inside, most):
        _, gained, added = best_within[bisect_right(costs, room + cost) - 1]
        if gained - value > most_gain:
            most_gain, exchange = gained - value, (removed, added)
    return exchange


def _groups(items: Sequence[Item], positions: Sequence[int], most: int) -> list[Group]:
    """Return the groups of no, one and, if `most` is 2, two of the positions: cost, value and positions of each."""
    singles: list[Group] = [(items[position].cost, items[position].value, (position,)) for position in positions]
    pairs = combinations(singles, 2) if most > 1 else ()
    return [(0, 0, ()), *singles, *((one[0] + two[0], one[1] + two[1], one[2] + two[2]) for one, two in pairs)]


def _more_valuable(one: Group, other: Group) -> Group:
    return other if other[1] > one[1] else one
