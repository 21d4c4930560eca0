"""The price of a conversation as a matplotlib figure: tokens by request, and what was paid so far."""

from __future__ import annotations

from itertools import accumulate, cycle, islice
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ctxopt_core.display.figure import SheetFigure
from ctxopt_core.display.palette import LOOKS
from ctxopt_core.text.display_text import preview

if TYPE_CHECKING:
    from ctxopt_core.sweeps.replay_rows import ReplayRow, ReplayTotal
    from ctxopt_core.sweeps.replay_table import Replay

# The colors of Okabe and Ito that read on white and on black. Dashes tell the lines apart without them.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_NEW, _CACHED = LOOKS["dropped"], LOOKS["documents"]
_MOST_PANELS = 6  # settings that have a panel of their own; more would leave no height for each
_LONGEST_NAME = 44  # characters: as many as fit above a panel beside its figures
_WIDTH, _PANEL_HEIGHT, _LEAST_HEIGHT = 10.0, 1.25, 3.6  # inches: the width that a notebook shows whole
_THICKEST, _THINNEST = 4.0, 2.0  # points: each line is thinner than the one before, which is then seen below it
_EDGE = (0.5, 0.5, 0.5, 0.6)  # red, green, blue and opacity: a gray that is seen on light and on dark


def figure_of(replay: Replay) -> SheetFigure:
    """Return a figure with the tokens of each request by settings, and the sum of the cost of all settings."""
    shown = replay.totals[:_MOST_PANELS]
    height = max(_LEAST_HEIGHT, _PANEL_HEIGHT * len(shown) + 0.8)
    figure = SheetFigure(figsize=(_WIDTH, height), layout="constrained")
    figure.in_words = ". ".join(("The price of a conversation", *map(_in_words, replay.totals)))
    grid = figure.add_gridspec(1, 2, width_ratios=(1.5, 1))
    _draw_tokens(figure, grid[0, 0], replay, shown)
    _draw_costs(figure.add_subplot(grid[0, 1]), replay)
    return figure


def _draw_tokens(figure: SheetFigure, place: SubplotSpec, replay: Replay, shown: tuple[ReplayTotal, ...]) -> None:
    """Draw a panel for each of the settings: the tokens of each request from the cache, and the new ones above."""
    panels = place.subgridspec(len(shown), 1).subplots(sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, total in zip(panels, shown, strict=True):
        rows = replay.rows_of(total.strategy)
        edges = [rows[0].request + 0.5 + n for n in range(len(rows) + 1)]
        cached, sent = [row.cached_tokens or 0 for row in rows], [row.tokens_after or 0 for row in rows]
        axes.stairs(cached, edges, fill=True, color=_CACHED.color, label="from the prompt cache")
        new = {"facecolor": _NEW.color, "hatch": _NEW.hatch, "linewidth": 0}
        axes.stairs(sent, edges, baseline=cached, fill=True, label="new", **new)
        axes.set_title(_plain(f"{preview(total.strategy, _LONGEST_NAME)}: {_figures(total)}"), fontsize=9, loc="left")
        _tidy(axes)
        axes.yaxis.set_major_locator(MaxNLocator(3))
        axes.yaxis.set_major_formatter("{x:,.0f}")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.16), ncols=2, fontsize=8, frameon=False, borderaxespad=0)
    panels[-1].set_xlabel("request", fontsize=9)
    figure.supylabel("tokens sent", fontsize=9)


def _draw_costs(axes: Axes, replay: Replay) -> None:
    """Draw the sum of what was paid so far, in USD, or as a part of all requests as they came without a cache."""
    in_dollars = replay.price_source is not None
    whole = sum(row.tokens_before for row in replay.rows_of(replay.strategies[0].name)) or 1
    looks = islice(zip(cycle(_COLORS), cycle(_DASHES), strict=False), len(replay.strategies))
    for place, (total, (color, dashes)) in enumerate(zip(replay.totals, looks, strict=True)):
        rows = [row for row in replay.rows_of(total.strategy) if row.tokens_after is not None]
        paid = accumulate(_paid(row, in_dollars=in_dollars) / (1 if in_dollars else whole) for row in rows)
        numbers, name = [row.request + 1 for row in rows], preview(total.strategy, _LONGEST_NAME)
        # matplotlib leaves out names that begin with `_`, hence the space before each.
        label = f"\N{HAIR SPACE}{name}"
        axes.plot(
            numbers, list(paid), color=color, linestyle=dashes, linewidth=max(_THINNEST, _THICKEST - place), label=label
        )
    axes.set_title("Paid so far with the cache" + (" (USD)" if in_dollars else ""), fontsize=9, loc="left")
    axes.set_xlabel("request", fontsize=9)
    axes.set_ylim(bottom=0)
    if not in_dollars:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    _tidy(axes)
    for text in axes.legend(fontsize=8, loc="upper left", frameon=False).get_texts():
        text.set_parse_math(False)


def _paid(row: ReplayRow, *, in_dollars: bool) -> float:
    return (row.cost_with_cache if in_dollars else row.full_price_tokens) or 0.0


def _figures(total: ReplayTotal) -> str:
    cost = f"{total.relative_cost:.0%}" if total.cost_with_cache is None else f"${total.cost_with_cache:.3g}"
    evidence = "" if total.evidence is None else f", evidence {total.evidence:.2f}"
    return f"{cost}, {total.cached_share:.0%} cached{evidence}"


def _in_words(total: ReplayTotal) -> str:
    return f"{preview(total.strategy, _LONGEST_NAME)}: {_figures(total)}"


def _tidy(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.tick_params(labelsize=8, length=0)
    axes.grid(color=_EDGE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)


def _plain(text: str) -> str:
    """Return the string for a place where matplotlib would read what is between dollar signs as a formula."""
    return text.replace("$", r"\$")
