"""How the input budget is divided between the four components: guaranteed shares, then the surplus."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeAlias

from ctxopt_core.displayed import Displayed
from ctxopt_core.validation import exact_percentage

Component: TypeAlias = Literal["system", "query", "documents", "history"]
"""What is measured, budgeted and trimmed."""


COMPONENTS: tuple[Component, ...] = ("system", "query", "documents", "history")
"""The components in the order in which the surplus is handed on."""


Percent: TypeAlias = int | float | Decimal | Fraction
"""A percentage. A float means the decimal number that it is written as: 73.6 is exactly 736 / 1000."""


_NAMES = frozenset(COMPONENTS)
_HUNDRED = 100  # percent: all of it
_LOW_SUM = 90  # percent: shares that add up to less are most often a slip (row A6), so one warning says so


class BudgetWarning(UserWarning):
    """A budget is valid, but probably not what was meant.

    Example:
        >>> import warnings
        >>> from ctxopt_core import BudgetWarning, Shares
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     shares = Shares(system=10, query=10, documents=10, history=10)
        >>> [issubclass(warning.category, BudgetWarning) for warning in caught]
        [True]
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation(Displayed):
    """Tokens that each component may use; `allocation["documents"]` reads one by its name.

    Example:
        >>> from ctxopt_core import Allocation
        >>> allocation = Allocation(system=100, query=150, documents=500, history=250)
        >>> allocation["documents"], allocation.total
        (500, 1000)
    """

    system: int
    query: int
    documents: int
    history: int

    def __getitem__(self, component: Component) -> int:
        if component not in _NAMES:
            raise KeyError(component)
        value: int = getattr(self, component)
        return value

    @property
    def total(self) -> int:
        """All components together, in tokens."""
        return self.system + self.query + self.documents + self.history

    def as_dict(self) -> dict[str, int]:
        """Return the tokens by component."""
        return {name: self[name] for name in COMPONENTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Guaranteed percentages of the input budget that is left after the fixed part.

    A share is a floor, not a ceiling: what one component does not need is handed on to the others. A share of
    0 means that the component is emptied when the request is over budget. Shares of more than 100 in sum are
    scaled to 100. With less than 90 the rest is surplus, and one warning says so.

    Raises:
        ValueError: A share is no number from 0 to 100.

    Example:
        >>> from ctxopt_core import Shares
        >>> Shares(system=10, query=20, documents=35, history=35).split(112).as_dict()
        {'system': 11, 'query': 22, 'documents': 39, 'history': 40}
    """

    system: Percent = 10
    query: Percent = 15
    documents: Percent = 50
    history: Percent = 25
    _parts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _whole: int = field(init=False, repr=False, compare=False)
    _remainder_to: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        exact = [exact_percentage(name, getattr(self, name)) for name in COMPONENTS]
        denominator = math.lcm(*(share.denominator for share in exact))
        parts = tuple(int(share * denominator) for share in exact)
        hundred = _HUNDRED * denominator
        last = max((index for index, part in enumerate(parts) if part), default=-1)
        object.__setattr__(self, "_parts", parts)
        object.__setattr__(self, "_whole", max(sum(parts), hundred))
        object.__setattr__(self, "_remainder_to", last if sum(parts) >= hundred else -1)
        if sum(exact) < _LOW_SUM:
            message = (
                f"the shares add up to {float(sum(exact)):g} % only; the rest goes to the components that "
                f"are short, in the order {', '.join(COMPONENTS)}. Let them add up to 100 to divide all of it"
            )
            warnings.warn(message, BudgetWarning, stacklevel=3)

    def split(self, total: int) -> Allocation:
        """Divide `total` tokens by the shares, exactly, rounding down.

        If the shares add up to 100 or more, the last component with a share gets the remainder, so that
        nothing is lost. A `total` of 0 or less gives zeros.
        """
        system, query, documents, history = self._floors(total)
        return Allocation(system=system, query=query, documents=documents, history=history)

    def hand_out(self, available: int, needs: Sequence[int]) -> list[int]:
        """Return what each component may use, in tokens, by the rules of `allocate`.

        `needs` holds four amounts of at least 0, in the order of COMPONENTS; so does the result.
        """
        given = list(map(min, needs, self._floors(available)))
        surplus = available - sum(given)
        for index, part in enumerate(self._parts):
            if surplus <= 0:
                break
            if part:
                more = min(surplus, needs[index] - given[index])
                given[index] += more
                surplus -= more
        return given

    def _floors(self, total: int) -> list[int]:
        if total <= 0:
            return [0, 0, 0, 0]
        whole = self._whole
        floors = [total * part // whole for part in self._parts]
        if self._remainder_to >= 0:
            floors[self._remainder_to] += total - sum(floors)
        return floors


def allocate(available: int, needs: Mapping[Component, int], shares: Shares) -> Allocation:
    """Return what each component may use of `available` tokens.

    1. A component gets what it needs, up to its share.
    2. What is left goes to the components that are still short, in the order system, query, documents,
       history.
    3. A component with a share of 0 gets nothing.
    4. No component gets more than it needs, and all together never more than `available`.

    Each figure grows with `available`, but for the rounding of the shares: a component may get up to three
    tokens less when `available` grows by one.

    Args:
        available: The input budget less the fixed part, in tokens; 0 or less gives zeros.
        needs: What each component would use uncut, in tokens; one that is missing needs nothing.
        shares: The guaranteed percentages.

    Raises:
        ValueError: `needs` names something that is no component, or an amount below 0.

    Example:
        >>> from ctxopt_core import Shares, allocate
        >>> needs = {"system": 50, "query": 20, "documents": 900, "history": 100}
        >>> allocate(1_000, needs, Shares()).as_dict()
        {'system': 50, 'query': 20, 'documents': 830, 'history': 100}
    """
    wanted = [needs.get(name, 0) for name in COMPONENTS]
    if min(wanted) < 0 or not needs.keys() <= _NAMES:
        message = f"`needs` must give amounts of at least 0 for {', '.join(COMPONENTS)}, got {dict(needs)!r}"
        raise ValueError(message)
    system, query, documents, history = shares.hand_out(available, wanted)
    return Allocation(system=system, query=query, documents=documents, history=history)
