"""The curves of a sweep: what is averaged, what is left out, and that they can be distinguished."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from ctxopt_core import HistoryPolicy, counter_for, sweep
from ctxopt_core.sweeps.rows import Curve, SweepRow, curves_of
from ctxopt_core.sweeps.table import Sweep
from gate_requests import gate_request

WORDS = counter_for(lambda text: len(text.split()))


def row(budget, evidence, strategy="turns", **columns):
    shares = {f"{name}_share": 25.0 for name in ("system", "query", "documents", "history")}
    return SweepRow(
        **{
            **shares,
            "request": 0,
            "budget": budget,
            "fraction": None,
            "strategy": strategy,
            "selection": "auto",
            "evidence": evidence,
            **columns,
        }
    )


@pytest.mark.parametrize(
    ("rows", "by", "curves"),
    [
        ([row(200, 1.0), row(100, 0.5)], "strategy", {"turns": [(100, 0.5), (200, 1.0)]}),
        ([row(100, 0.5), row(100, 0.7, "auto")], "strategy", {"turns": [(100, 0.5)], "auto": [(100, 0.7)]}),
        ([row(100, 0.5), row(100, 1.0, request=1)], "strategy", {"turns": [(100, 0.75)]}),
        ([row(100, 0.5), row(100, 1.0, "auto")], None, {"": [(100, 0.75)]}),
        (
            [row(100, 0.5), row(100, 1.0, system_share=12.5)],
            "shares",
            {"25/25/25/25": [(100, 0.5)], "12.5/25/25/25": [(100, 1)]},
        ),
        ([row(100, 0.5), row(100, None, request=1)], "strategy", {"turns": [(100, 0.5)]}),
        ([row(100, 0.5), row(100, None, request=1, error="no"), row(200, 1.0)], "strategy", {"turns": [(200, 1.0)]}),
        ([row(100, None, error="no"), row(100, 1.0, "auto")], "strategy", {"auto": [(100, 1.0)]}),
        ([row(100, 0.5), row(100, 1.0, request=1)], "request", {"0": [(100, 0.5)], "1": [(100, 1.0)]}),
    ],
    ids=["ascending", "two", "mean", "one curve", "shares", "not asked", "an error", "only errors", "by request"],
)
def test_a_point_is_the_mean_of_its_rows_and_none_where_one_of_them_has_no_fit(rows, by, curves):
    found = curves_of(rows, "budget", "evidence", by)

    assert found == tuple(Curve(name=name, points=tuple(points)) for name, points in curves.items())


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"x": "strategy"}, "`x` must be one of"),
        ({"y": "fuel"}, "`y` must be one of"),
        ({"by": "color"}, "`by` must be one of"),
        ({"y": "cost"}, "no row has `cost`"),
        ({"x": "fraction"}, "no row has `fraction`"),
    ],
    ids=["a text", "unknown", "unknown group", "no figures", "no fractions"],
)
def test_a4_a_column_that_cannot_be_drawn_is_named(columns, named):
    with pytest.raises(ValueError, match=named):
        Sweep(rows=(row(100, 0.5),)).plot(**columns)


def test_without_evidence_the_error_says_how_to_get_some():
    with pytest.raises(ValueError, match="give `evidence` to `sweep`"):
        Sweep(rows=(row(100, None),)).plot()


def test_a_figure_has_a_line_for_each_curve_and_they_differ_by_more_than_color():
    pytest.importorskip("matplotlib")
    strategies = ["turns", "auto", "sliding_window", HistoryPolicy(strategy="turns", keep_first_user_message=False)]
    found = sweep(
        gate_request(),
        budgets=[0.2, 0.5, 1.0],
        strategies=strategies,
        counter=WORDS,
        evidence=["user 0 passes", "user 14 passes", "key 777"],
    )
    figure = found.plot(x="fraction")
    (axes,) = figure.axes
    lines = axes.get_lines()

    assert [list(line.get_xdata()) for line in lines] == [[0.2, 0.5, 1.0]] * 4
    assert list(lines[0].get_ydata()) == [row.evidence for row in found if row.strategy == "turns"]
    assert len({line.get_marker() for line in lines}) == len({line.get_linestyle() for line in lines}) == 4
    assert [text.get_text().strip() for text in axes.get_legend().get_texts()] == list(
        dict.fromkeys(row.strategy for row in found)
    )
    assert axes.get_xlabel() == "input budget (part of the uncut request)"
    png, words = figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert "turns: " in words["alt"]


@pytest.mark.parametrize("name", ["_newest", "$\\frac{", "<b>", "\u202eabc", "a\nb", "x" * 500], ids=range(6))
def test_a_hostile_name_is_drawn_as_text(name):
    pytest.importorskip("matplotlib")
    figure = Sweep(rows=(row(100, 0.5, name), row(200, 0.6, name))).plot()
    (shown,) = figure.axes[0].get_legend().get_texts()

    assert 0 < len(shown.get_text().strip()) <= 60
    assert figure._repr_png_()[0].startswith(b"\x89PNG")


def test_budgets_are_legible_on_the_axis_beside_a_legend_of_long_names():
    pytest.importorskip("matplotlib")
    figure = Sweep(rows=tuple(row(budget, 0.5, "n" * 40) for budget in (2_000, 4_000, 8_000, 16_000))).plot()
    figure.draw_without_rendering()
    labels = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]

    assert len(labels) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(labels))


@pytest.mark.parametrize(
    ("budgets", "at_budgets"),
    [
        pytest.param([2_000, 4_000, 8_000, 16_000], True, id="few"),
        pytest.param([1_000, 1_100, 8_000], False, id="close to each other"),
        pytest.param([1_000 * number for number in range(1, 9)], False, id="many"),
        pytest.param([1_000], False, id="one"),
    ],
)
def test_the_ticks_stand_at_the_budgets_that_were_tried_where_there_is_room(budgets, at_budgets):
    pytest.importorskip("matplotlib")
    axes = Sweep(rows=tuple(row(budget, 0.5) for budget in budgets)).plot().axes[0]

    assert (list(axes.get_xticks()) == budgets) == at_budgets


def test_many_curves_and_one_curve_without_a_name_can_be_drawn():
    pytest.importorskip("matplotlib")
    many = Sweep(rows=tuple(row(100, 0.1, f"s{i}") for i in range(40)))

    assert len(many.plot().axes[0].get_lines()) == 40
    assert many.plot(by=None).axes[0].get_legend() is None


def test_without_matplotlib_a_figure_is_an_error_that_names_the_extra(monkeypatch):
    for name in ("ctxopt_core.sweeps.figure", "ctxopt_core.display.figure"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("matplotlib", "matplotlib.axes", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(ImportError, match=r"ctxopt-core\[notebook\]"):
        Sweep(rows=(row(100, 0.5),)).plot()


@pytest.mark.parametrize(
    ("budgets", "scale"),
    [((1_000, 2_000), "linear"), ((1_000, 4_000), "log"), ((2_000, 4_000, 8_000, 16_000), "log"), ((500,), "linear")],
    ids=["twice", "four times", "doubled", "one"],
)
def test_u12_budgets_that_differ_by_much_are_on_a_log_axis(budgets, scale):
    pytest.importorskip("matplotlib")
    axes = Sweep(rows=tuple(row(budget, 0.5) for budget in budgets)).plot().axes[0]

    assert axes.get_xscale() == scale
    assert set(budgets) <= set(axes.get_xticks())


def test_u12_curves_that_are_the_same_can_all_be_seen():
    pytest.importorskip("matplotlib")
    names = ("auto", "relevance", "turns")
    same = tuple(row(budget, 0.5, name) for name in names for budget in (1_000, 2_000))
    widths = [line.get_linewidth() for line in Sweep(rows=same).plot().axes[0].get_lines()]
    apart = tuple(row(budget, number / 10, name) for number, name in enumerate(names) for budget in (1_000, 2_000))

    assert widths == sorted(set(widths), reverse=True)
    assert len({line.get_linewidth() for line in Sweep(rows=apart).plot().axes[0].get_lines()}) == 1
