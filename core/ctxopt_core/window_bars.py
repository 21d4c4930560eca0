"""The window before and after a fit, as two bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxopt_core.sheet import FULL, Bar, Segment

if TYPE_CHECKING:
    from ctxopt_core.report import FitReport

# A request many times as large as the window would leave nothing to be seen of it on the same scale.
_LARGEST_ON_ONE_SCALE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowParts:
    """What a window is divided into, in tokens.

    Args:
        budget: The input budget.
        given: The whole request as it was given.
        sent: The whole request as it is sent.
        fixed_before: What is not budgeted, as it was given; with sections in it, before they were cut.
        fixed: The same as it is sent.
        before: The components as they were given.
        after: The components as they are sent.
        free: What is left of the input budget.
        reserve: What is kept free for the answer and for safety.
        outside: What of the window neither the input budget nor the reserve covers.
    """

    budget: int
    given: int
    sent: int
    fixed_before: int
    fixed: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    free: int
    reserve: int
    outside: int


def window_parts(report: FitReport) -> WindowParts:
    """Return what the window of a report is divided into."""
    before = {name: component.before for name, component in report.components.items()}
    beside = report.input_tokens - sum(before.values())
    known = 0 if report.context_window is None else report.context_window
    return WindowParts(
        budget=report.input_budget,
        given=report.input_tokens,
        sent=report.output_tokens,
        fixed_before=max(report.fixed, beside) if report.sections else report.fixed,
        fixed=report.fixed,
        before=before,
        after={name: component.after for name, component in report.components.items()},
        free=max(0, report.input_budget - report.output_tokens),
        reserve=report.reserve,
        outside=max(0, known - report.input_budget - report.reserve),
    )


def window_bars(parts: WindowParts) -> tuple[Bar, Bar]:
    """Return the bar of the request as it was, and that of the window as it is filled now.

    What of a window is outside the budget is drawn where it is no larger than the rest, and told in words otherwise.
    """
    given = (_segment("fixed", parts.fixed_before), *(_segment(name, n) for name, n in parts.before.items()))
    sent = (_segment("fixed", parts.fixed), *(_segment(name, n) for name, n in parts.after.items()))
    window = [*sent, _segment("free", parts.free), _segment("reserve", parts.reserve)]
    outside = ""
    if parts.outside > parts.budget + parts.reserve:
        outside = f"; another {parts.outside:,} tokens of the window are outside the budget"
    elif parts.outside:
        window.append(Segment(name="outside the budget", amount=parts.outside, kind="outside"))
    before = Bar(label=f"Before: {parts.given:,} tokens", segments=given)
    after = Bar(label=f"After: {parts.sent:,} of at most {parts.budget:,} tokens{outside}", segments=tuple(window))
    return _scaled(before, after)


def _segment(name: str, amount: int) -> Segment:
    return Segment(name=name, amount=amount, kind=name)


def _scaled(before: Bar, after: Bar) -> tuple[Bar, Bar]:
    if not before.total or not after.total or before.total > _LARGEST_ON_ONE_SCALE * after.total:
        times = f", {before.total / after.total:,.0f} times the bar below, and not to its scale" if after.total else ""
        return Bar(label=before.label + times, segments=before.segments), after
    longest = max(before.total, after.total)
    first, second = (
        Bar(label=bar.label, segments=bar.segments, extent=FULL * bar.total // longest) for bar in (before, after)
    )
    return first, second
