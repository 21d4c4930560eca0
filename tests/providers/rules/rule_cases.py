"""A validator is tested like any other code: by a request that only one rule refuses, and a good one beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from broken_rule import Broken, Request

Judge = Callable[[Request, Request | None], list[Broken]]


def case(rule: str, bad: Request, good: Request, issued: Request | None = None, name: str = "") -> Any:
    """Return a row of a table: what breaks the rule, what does not, and what the provider had issued before."""
    return pytest.param(rule, bad, good, issued, id=f"{rule}-{name}" if name else rule)


def check_case(judge: Judge, rule: str, bad: Request, good: Request, issued: Request | None) -> None:
    """Check that the good request breaks nothing, and the bad one this rule alone."""
    assert judge(good, issued) == []
    found = judge(bad, issued)
    assert {broken.rule for broken in found} == {rule}
    assert all(broken.message for broken in found)


def rules_in(cases: Iterable[Any]) -> set[str]:
    """Return the rules that a table has rows for."""
    return {row.values[0] for row in cases}


def names_of(*rules: Iterable[Callable[..., Any]]) -> set[str]:
    """Return the names of rules."""
    return {rule.__name__ for group in rules for rule in group}
