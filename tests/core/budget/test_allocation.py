"""Shares of the budget: exact percentages first, then the surplus."""

from __future__ import annotations

import copy
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.budget.shares import COMPONENTS, Allocation, BudgetWarning, Shares, allocate

NAMES = st.sampled_from(COMPONENTS)
PERCENTAGES = st.one_of(
    st.integers(0, 100), st.floats(0, 100), st.decimals(0, 100, places=3), st.fractions(0, 100, max_denominator=99)
)
FOUR_PERCENTAGES = st.fixed_dictionaries(dict.fromkeys(COMPONENTS, PERCENTAGES))
NEEDS = st.fixed_dictionaries(dict.fromkeys(COMPONENTS, st.integers(0, 5000)))
TOTALS = st.integers(-5, 10_000)


def shares(system=0, query=0, documents=0, history=0) -> Shares:
    """Shares that do not warn about their sum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return Shares(system=system, query=query, documents=documents, history=history)


def amounts(allocation: Allocation) -> tuple[int, ...]:
    return tuple(allocation[name] for name in COMPONENTS)


@pytest.mark.parametrize(
    ("percentages", "total", "expected"),
    [
        pytest.param((10, 15, 50, 25), 1000, (100, 150, 500, 250), id="1000"),
        pytest.param((10, 15, 50, 25), 10, (1, 1, 5, 3), id="10"),
        pytest.param((10, 15, 50, 25), 99, (9, 14, 49, 27), id="99"),
        pytest.param((10, 20, 35, 35), 112, (11, 22, 39, 40), id="112"),
        pytest.param((10, 15, 50, 25), 0, (0, 0, 0, 0), id="0"),
        pytest.param((10, 15, 50, 25), -10, (0, 0, 0, 0), id="negative"),
        pytest.param((10, 15, 75, 0), 99, (9, 14, 76, 0), id="remainder-to-the-last-with-a-share"),
        pytest.param((100, 0, 0, 0), 99, (99, 0, 0, 0), id="all-to-one"),
        pytest.param((10, 15, 50, 15), 99, (9, 14, 49, 14), id="no-remainder-below-100"),
    ],
)
def test_a3_split(percentages, total, expected):
    allocation = shares(*percentages).split(total)

    assert amounts(allocation) == expected
    assert allocation.total == sum(expected)
    assert allocation.as_dict() == dict(zip(COMPONENTS, expected, strict=True))


def test_a3_the_default_shares():
    assert Shares() == Shares(system=10, query=15, documents=50, history=25)


@pytest.mark.parametrize("share", [73.6, Decimal("73.6"), Fraction(736, 10)], ids=["float", "decimal", "fraction"])
@pytest.mark.parametrize(("total", "expected"), [(750, 552), (375, 276)])
def test_a4_the_arithmetic_is_exact(share, total, expected):
    assert shares(documents=share).split(total).documents == expected


@pytest.mark.parametrize(
    ("percentages", "expected"),
    [
        pytest.param((50, 50, 50, 50), (250, 250, 250, 250), id="four-halves"),
        pytest.param((100, 100, 100, 0), (333, 333, 334, 0), id="three-wholes"),
        pytest.param((10, 15, 50, 25.1), (99, 149, 499, 253), id="just-above-100"),
    ],
)
def test_a5_more_than_100_is_scaled(percentages, expected):
    assert amounts(Shares(**dict(zip(COMPONENTS, percentages, strict=True))).split(1000)) == expected


def test_a6_less_than_90_is_honored_with_one_warning():
    with pytest.warns(BudgetWarning, match="add up to 60 % only") as caught:
        low = Shares(system=10, query=10, documents=20, history=20)

    assert amounts(low.split(1000)) == (100, 100, 200, 200)
    assert amounts(allocate(1000, dict.fromkeys(COMPONENTS, 400), low)) == (400, 200, 200, 200)
    assert [warning.filename for warning in caught] == [__file__]


def test_a6_90_is_enough():
    assert Shares(documents=40).split(1000).total == 900


def test_a7_a_share_of_0_gets_neither_remainder_nor_surplus():
    assert Shares(documents=75, history=0).split(99).history == 0
    assert amounts(allocate(1000, {"query": 10, "history": 500}, Shares(documents=75, history=0))) == (0, 10, 0, 0)


BAD_SHARES = [
    *(float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
    *(-1, -0.5, 100.5, 101, "25", "", None, True, False, [25], 25j),
]


@pytest.mark.parametrize("share", BAD_SHARES, ids=repr)
@pytest.mark.parametrize("name", COMPONENTS)
def test_a8_a_share_that_is_no_percentage_is_an_error_at_construction(name, share):
    with pytest.raises(ValueError, match=f"`{name}` must be a percentage from 0 to 100"):
        Shares(**{name: share})


@pytest.mark.parametrize(
    ("available", "needs", "expected"),
    [
        pytest.param(1000, (100, 150, 500, 250), (100, 150, 500, 250), id="everyone-needs-the-share"),
        pytest.param(1000, (50, 50, 800, 0), (50, 50, 800, 0), id="all-needs-fit"),
        pytest.param(1000, (50, 50, 2000, 0), (50, 50, 900, 0), id="surplus-to-the-documents"),
        pytest.param(1000, (150, 150, 600, 200), (150, 150, 500, 200), id="system-before-documents"),
        pytest.param(1000, (0, 900, 900, 900), (0, 250, 500, 250), id="query-before-documents-and-history"),
        pytest.param(1000, (0, 200, 900, 900), (0, 200, 550, 250), id="documents-before-history"),
        pytest.param(1000, (0, 0, 0, 2000), (0, 0, 0, 1000), id="history-alone"),
        pytest.param(0, (9, 9, 9, 9), (0, 0, 0, 0), id="nothing-available"),
        pytest.param(-7, (9, 9, 9, 9), (0, 0, 0, 0), id="less-than-nothing"),
    ],
)
def test_a9_surplus_is_handed_on_in_order(available, needs, expected):
    allocation = allocate(available, dict(zip(COMPONENTS, needs, strict=True)), Shares())

    assert amounts(allocation) == expected


def test_a9_surplus_leaves_room_for_nine_of_ten_documents():
    allocation = allocate(1000, {"query": 58, "documents": 980}, Shares())

    assert allocation.documents == 942 >= 9 * 98
    assert allocation.total == 1000


@pytest.mark.parametrize(
    "needs",
    [pytest.param({"system": -1}, id="negative"), pytest.param({"docs": 5}, id="unknown-component")],
)
def test_needs_are_checked(needs):
    with pytest.raises(ValueError, match="`needs` must give amounts of at least 0 for system, query"):
        allocate(1000, needs, Shares())


def test_a_component_that_does_not_exist_has_no_allocation():
    with pytest.raises(KeyError, match="total"):
        Shares().split(1000)["total"]


def test_shares_are_values():
    mine = Shares(documents=40.5, history=34.5)

    assert {mine, copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))} == {mine}  # noqa: S301
    assert pickle.loads(pickle.dumps(mine)).split(1000) == mine.split(1000)  # noqa: S301
    assert repr(Shares()) == "Shares(system=10, query=15, documents=50, history=25)"


@given(FOUR_PERCENTAGES, TOTALS)
def test_a3_split_never_exceeds_the_total(percentages, total):
    given_shares = shares(**percentages)
    exact = {name: Fraction(str(percentages[name])) for name in COMPONENTS}
    allocation = given_shares.split(total)

    assert allocation.total <= max(0, total)
    if sum(exact.values()) >= 100:
        assert allocation.total == max(0, total)
    for name in COMPONENTS:
        guaranteed = max(0, total) * exact[name] // max(100, sum(exact.values()))
        assert allocation[name] >= guaranteed
        assert exact[name] or allocation[name] == 0


@given(FOUR_PERCENTAGES, NEEDS, TOTALS)
def test_a9_allocate_keeps_its_rules(percentages, needs, available):
    given_shares = shares(**percentages)
    floors = given_shares.split(available)
    allocation = allocate(available, needs, given_shares)
    useful = sum(needs[name] for name in COMPONENTS if percentages[name])

    assert allocation.total == min(max(0, available), useful)
    for name in COMPONENTS:
        assert min(needs[name], floors[name]) <= allocation[name] <= needs[name]
        assert percentages[name] or allocation[name] == 0


@given(FOUR_PERCENTAGES, NEEDS, TOTALS, st.integers(0, 2000))
def test_allocations_grow_with_what_is_available(percentages, needs, available, more):
    given_shares = shares(**percentages)
    smaller, larger = (allocate(total, needs, given_shares) for total in (available, available + more))

    assert larger.total >= smaller.total
    for name in COMPONENTS:
        assert larger[name] >= smaller[name] - (len(COMPONENTS) - 1)


@given(NEEDS, TOTALS, NAMES)
def test_the_order_of_the_needs_does_not_matter(needs, available, name):
    reordered = {name: needs[name], **needs}

    assert allocate(available, reordered, Shares()) == allocate(available, needs, Shares())
