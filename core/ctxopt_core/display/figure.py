"""A sheet as a matplotlib figure.

Text and page have the colors of the style that matplotlib is set to, so that it reads on a dark page, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ctxopt_core.display.palette import INK, LOOKS
from ctxopt_core.display.sheet import FULL, Bar, Point, Segment, Sheet
from ctxopt_core.text.display_text import preview

# Inches: a notebook shows 9 in its whole width, and the parts are as low as their texts allow.
_WIDTH, _TITLE_HEIGHT, _BAR_HEIGHT, _POINTS_HEIGHT = 9.0, 0.4, 0.9, 2.2
_GAP = 0.08  # inches between the parts
_LONGEST_TITLE = 110  # characters: as many as fit in the width at the size of a bar's label
_LONGEST_LEGEND = 90  # characters: a longer legend has four columns and several lines
_SHARE_FOR_A_CHARACTER = 0.0095  # of the width: a character at size 9, so that no label leaves its segment
_EDGE = (0.5, 0.5, 0.5, 0.6)  # red, green, blue and opacity: a gray that is seen on light and on dark
_LEGEND: Mapping[str, Any] = {"fontsize": 8.5, "frameon": False, "borderpad": 0}
_MARKERS = {"kept": "o", "partial": "^", "dropped": "x"}


class SheetFigure(Figure):
    """A figure that a notebook shows without pyplot, which would hold it in memory until it is closed."""

    in_words = ""
    """What the figure shows, for readers who cannot see it."""

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        stored = BytesIO()
        self.savefig(stored, format="png", bbox_inches="tight")
        return stored.getvalue(), {"alt": self.in_words or self.get_suptitle()}


def figure_of(sheet: Sheet) -> SheetFigure:
    """Return a figure with a row for each bar, and one for documents by tokens and score if they have scores."""
    heights = [_TITLE_HEIGHT + _BAR_HEIGHT * len(sheet.bars), _POINTS_HEIGHT if sheet.points else 0]
    figure = SheetFigure(figsize=(_WIDTH, sum(heights)), layout=ConstrainedLayoutEngine(h_pad=_GAP))
    figure.in_words = ". ".join((sheet.title, *(bar.description for bar in sheet.bars)))
    figure.suptitle(_plain(sheet.title), fontsize=12, fontweight="bold", x=0.005, ha="left")
    # In parts, since the axis of scores would move the bars to the right.
    parts = figure.subfigures(1 + bool(sheet.points), 1, squeeze=False, height_ratios=[h for h in heights if h])[:, 0]
    for axes, bar in zip(parts[0].subplots(len(sheet.bars), 1, squeeze=False)[:, 0], sheet.bars, strict=True):
        _draw_bar(axes, bar)
    if sheet.points:
        _draw_points(parts[1].subplots(), sheet.points)
    return figure


def _draw_bar(axes: Axes, bar: Bar) -> None:
    """Draw segments with their names and amounts in them, and a legend of those that are too narrow for that."""
    whole = max(1, bar.total) * FULL / max(1, bar.extent)
    start, named = 0, set[str]()
    for segment in bar.shown:
        look = LOOKS[segment.kind]
        axes.barh(
            0, segment.amount, left=start, color=look.color or "none", hatch=look.hatch, edgecolor=_EDGE, linewidth=0.8
        )
        # The name and the amount, the amount alone or nothing, as far as the segment is wide enough.
        labels = (f"{segment.kind} {segment.amount:,}", f"{segment.amount:,}")
        share = segment.amount / whole
        label = next((one for one in labels if share > _SHARE_FOR_A_CHARACTER * (len(one) + 1)), "")
        if label:
            written = axes.text(start + segment.amount / 2, 0, label, ha="center", va="center", fontsize=9)
            if look.color is not None:
                written.set(color=INK, bbox={"facecolor": look.color, "edgecolor": "none", "pad": 1.5})
        if label.startswith(segment.kind):
            named.add(segment.kind)
        start += segment.amount
    axes.set_xlim(0, whole)
    axes.set_axis_off()
    axes.set_title(_plain(bar.label), fontsize=9.5, loc="left")
    _add_legend(axes, [segment for segment in bar.shown if segment.kind not in named])


def _add_legend(axes: Axes, segments: list[Segment]) -> None:
    """Write a legend below a bar, with the amount of each kind."""
    amounts = Counter[str]()
    for segment in segments:
        amounts[segment.kind] += segment.amount
    if not amounts:
        return
    labels = [f"{kind} {amount:,}" for kind, amount in amounts.items()]
    looks = [LOOKS[kind] for kind in amounts]
    patches = [Patch(facecolor=look.color or "none", hatch=look.hatch, edgecolor=_EDGE) for look in looks]
    axes.legend(
        patches,
        labels,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        ncols=len(labels) if sum(map(len, labels)) <= _LONGEST_LEGEND else 4,
        borderaxespad=0.2,
        handlelength=1.4,
        handletextpad=0.5,
        columnspacing=1.4,
        **_LEGEND,
    )


def _draw_points(axes: Axes, points: tuple[Point, ...]) -> None:
    for kind, marker in _MARKERS.items():
        chosen = [point for point in points if point.kind == kind]
        if chosen:
            axes.scatter(
                [point.tokens for point in chosen],
                [point.score for point in chosen],
                marker=marker,
                color=LOOKS[kind].color if marker != "x" else "#B4450F",
                edgecolors=None if marker == "x" else INK,
                linewidths=1.5 if marker == "x" else 0.6,
                label=f"{kind} {len(chosen):,}",
            )
    axes.set_title("Documents", fontsize=9.5, loc="left")
    axes.set_xlabel("tokens", fontsize=8.5)
    axes.set_ylabel("score", fontsize=8.5)
    axes.tick_params(labelsize=8, length=0)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(color=_EDGE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, handletextpad=0.2, **_LEGEND)


def _plain(text: str) -> str:
    """Return the string for a place where matplotlib would read what is between dollar signs as a formula."""
    return preview(text, _LONGEST_TITLE).replace("$", r"\$")
