"""A sheet as a matplotlib figure."""

from __future__ import annotations

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ctxopt_core.palette import INK, LOOKS
from ctxopt_core.sheet import FULL, Bar, Point, Segment, Sheet
from ctxopt_core.visible_text import beginning

_WIDTH, _BAR_HEIGHT, _POINTS_HEIGHT = 9.0, 1.35, 3.2
_LONGEST_TITLE = 110
_SHARE_FOR_A_LABEL = 0.012
_MARKERS = {"kept": "o", "partial": "^", "dropped": "x"}


class SheetFigure(Figure):
    """A figure that a notebook shows although pyplot does not know of it, so that nothing is left behind."""

    in_words = ""
    """What the figure shows, for those who cannot see it."""

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        stored = BytesIO()
        self.savefig(stored, format="png", bbox_inches="tight")
        return stored.getvalue(), {"alt": self.in_words or self.get_suptitle()}


def figure_of(sheet: Sheet) -> SheetFigure:
    """Return a figure with a row for each bar, and one for documents by tokens and score where they have scores."""
    heights = [_BAR_HEIGHT] * len(sheet.bars) + ([_POINTS_HEIGHT] if sheet.points else [])
    figure = SheetFigure(figsize=(_WIDTH, sum(heights) + 0.4), layout="constrained")
    figure.in_words = ". ".join((sheet.title, *(bar.description for bar in sheet.bars)))
    figure.suptitle(_plain(sheet.title), fontsize=11, x=0.01, ha="left")
    rows = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, bar in zip(rows, sheet.bars, strict=False):
        _draw_bar(axes, bar)
    if sheet.points:
        _draw_points(rows[-1], sheet.points)
    return figure


def _draw_bar(axes: Axes, bar: Bar) -> None:
    whole = max(1, bar.total) * FULL / max(1, bar.extent)
    start, named = 0, set[str]()
    for segment in bar.shown:
        look = LOOKS[segment.kind]
        axes.barh(
            0,
            segment.amount,
            left=start,
            color=look.colour or "none",
            hatch=look.hatch,
            edgecolor="#666666",
            linewidth=0.6,
            label="_" if segment.kind in named else _plain(segment.kind),
        )
        named.add(segment.kind)
        _draw_amount(axes, segment, start, whole)
        start += segment.amount
    axes.set_xlim(0, whole)
    axes.set_yticks([])
    axes.set_title(_plain(bar.label), fontsize=9, loc="left")
    axes.set_xlabel(bar.unit, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if named:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=7, frameon=False, handlelength=1.6)


def _draw_amount(axes: Axes, segment: Segment, start: int, whole: float) -> None:
    """Write how much it is into a segment that is wide enough for that."""
    label = f"{segment.amount:,}"
    if segment.amount / whole > _SHARE_FOR_A_LABEL * len(label):
        box = {"facecolor": LOOKS[segment.kind].colour or "white", "edgecolor": "none", "pad": 1.0}
        middle = start + segment.amount / 2
        axes.text(middle, 0, label, ha="center", va="center", fontsize=8, color=INK, bbox=box)


def _draw_points(axes: Axes, points: tuple[Point, ...]) -> None:
    for kind, marker in _MARKERS.items():
        chosen = [point for point in points if point.kind == kind]
        if chosen:
            axes.scatter(
                [point.tokens for point in chosen],
                [point.score for point in chosen],
                marker=marker,
                color=LOOKS[kind].colour if marker != "x" else "#B4450F",
                edgecolors=None if marker == "x" else INK,
                label=f"{kind} ({len(chosen):,})",
            )
    axes.set_title("Documents", fontsize=9, loc="left")
    axes.set_xlabel("tokens", fontsize=8)
    axes.set_ylabel("score", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7, frameon=False)


def _plain(text: str) -> str:
    """Return a text in which matplotlib finds no formulas."""
    return beginning(text, _LONGEST_TITLE).replace("$", r"\$")
