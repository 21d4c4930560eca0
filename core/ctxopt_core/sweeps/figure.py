"""The curves of a sweep as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice, pairwise
from math import log2

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, Locator, LogLocator, MaxNLocator, NullLocator

from ctxopt_core.budget.shares import COMPONENTS
from ctxopt_core.display.figure import SheetFigure
from ctxopt_core.sweeps.rows import Curve
from ctxopt_core.text.display_text import preview

# The colors of Okabe and Ito that read on white. Markers and dashes tell the curves apart without them.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_LONGEST_NAME = 60  # characters: a longer name in the legend would leave no space for the curves
_MOST_TICKS = 6  # ticks: a legend of long names makes the axes narrow
_CLOSEST_TICKS = 8  # of the axis' length: ticks that are closer than an eighth of it would touch each other
_WIDTH, _MARKER = 1.5, 6.0  # points: matplotlib's own
_MOST_WIDTHS = 4  # times wider: seven curves that are the same still show their edges
_SIZES = frozenset({"budget", "fraction", "tokens_before"})
_WIDEST_LINEAR = 4  # times the smallest: from there on the small budgets, where curves differ, would touch each other
_UNITS = {
    "budget": "input budget (tokens)",
    "fraction": "input budget (part of the uncut request)",
    "evidence": "evidence kept",
    "tokens_before": "request as it came (tokens)",
    "tokens_after": "fitted request (tokens)",
    "tokens_saved": "saved (tokens)",
    "ratio": "fitted request / request as it came",
    "cost": "input cost (USD)",
    "cost_saved": "saved input cost (USD)",
    **{f"{name}_share": f"share of {name} (%)" for name in COMPONENTS},
    **{f"{name}_before": f"{name} as it came (tokens)" for name in COMPONENTS},
    **{f"{name}_after": f"{name} that is kept (tokens)" for name in COMPONENTS},
}
_SHARE_LIKE = frozenset({"evidence", "ratio"})


def figure_of(curves: Sequence[Curve], x: str, y: str, by: str | None) -> SheetFigure:
    """Return a figure with one line for each curve; `x`, `y` and `by` are the columns that `curves_of` was given."""
    figure = SheetFigure(figsize=(8, 4.5), layout="constrained")
    figure.in_words = ". ".join((f"{_heading(y)} over {_heading(x)}", *map(_in_words, curves)))
    axes = figure.subplots()
    styles = zip(cycle(_COLORS), cycle(_MARKERS), cycle(_DASHES), strict=False)
    for curve, (color, marker, dashes) in zip(curves, islice(styles, len(curves)), strict=True):
        across, up = zip(*curve.points, strict=True)
        below = _curves_above(curve, curves)
        # A marker is hollow and a curve is wider than those above it, so that one that lies below others can be seen.
        axes.plot(
            across,
            up,
            color=color,
            marker=marker,
            linestyle=dashes,
            linewidth=_WIDTH * (1 + below),
            markersize=_MARKER * (1 + below / 2),
            markerfacecolor="none",
            alpha=0.9 if not below else 0.6,
        )
    _name_axes(axes, curves, x, y)
    if by is not None:
        _add_legend(axes, by, curves)
    return figure


def _curves_above(curve: Curve, curves: Sequence[Curve]) -> int:
    """Return how many of the curves that are drawn later share a piece with this one, at most `_MOST_WIDTHS`."""
    later = curves[[*map(id, curves)].index(id(curve)) + 1 :]
    sharing = sum(not _pieces(curve).isdisjoint(_pieces(other)) for other in later)
    return min(sharing, _MOST_WIDTHS)


def _pieces(curve: Curve) -> set[object]:
    return {*(pairwise(curve.points) if len(curve.points) > 1 else curve.points)}


def _name_axes(axes: Axes, curves: Sequence[Curve], x: str, y: str) -> None:
    axes.set_xlabel(_heading(x))
    axes.set_ylabel(_heading(y))
    across = sorted({across for curve in curves for across, _ in curve.points})
    if x in _SIZES and 0 < _WIDEST_LINEAR * across[0] <= across[-1]:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(_ticks(across, logarithmic=axes.get_xscale() == "log"))
    if x in ("budget", "tokens_before"):
        axes.xaxis.set_major_formatter("{x:,.0f}")
    elif x == "fraction":
        axes.xaxis.set_major_formatter("{x:g}")
    if y.endswith(("_tokens", "_before", "_after")) or y == "tokens_saved":
        axes.yaxis.set_major_formatter("{x:,.0f}")
    if y in _SHARE_LIKE and all(0 <= up <= 1 for curve in curves for _, up in curve.points):
        axes.set_ylim(-0.04, 1.04)
    axes.grid(alpha=0.3)


def _ticks(across: list[float], *, logarithmic: bool) -> Locator:
    """Return ticks at the values that were tried, or at round values where those are many or close to each other."""
    places = [log2(value) for value in across] if logarithmic else across
    gaps = [after - before for before, after in pairwise(places)]
    if 1 < len(across) <= _MOST_TICKS and min(gaps) * _CLOSEST_TICKS >= places[-1] - places[0]:
        return FixedLocator(across)
    return LogLocator(2, numticks=_MOST_TICKS) if logarithmic else MaxNLocator(_MOST_TICKS)


def _add_legend(axes: Axes, by: str, curves: Sequence[Curve]) -> None:
    """Add a legend beside the curves, so that it hides none; names are not read as formulas.

    matplotlib leaves out names that begin with `_`, hence the space before each.
    """
    names = [f"\N{HAIR SPACE}{preview(curve.name, _LONGEST_NAME)}" for curve in curves]
    legend = axes.legend(axes.get_lines(), names, title=_heading(by), loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for text in legend.get_texts():
        text.set_parse_math(False)


def _in_words(curve: Curve) -> str:
    (start, first), (end, last) = curve.points[0], curve.points[-1]
    return f"{preview(curve.name, _LONGEST_NAME) or 'all'}: {first:.4g} at {start:.6g}, {last:.4g} at {end:.6g}"


def _heading(column: str) -> str:
    return _UNITS.get(column, column.replace("_", " "))
