"""What is drawn of a report: real figures that nothing is left behind of."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise

import pytest
from matplotlib import rcParams, style
from matplotlib.figure import Figure

from ctxopt_core import ContextBudget, ContextRequest, Document, fit, plan
from ctxopt_core.display.figure import figure_of
from ctxopt_core.display.palette import INK, LOOKS
from ctxopt_core.display.sheet import FULL, Bar, Segment, Sheet
from shown_requests import BUDGET, SECRET, WORDS, shown_request, shown_values

VALUES = shown_values()


def _labels(axes):
    return {text.get_text() for text in axes.texts}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_each_value_that_shows_itself_can_be_drawn(value):
    figure = value.plot()

    assert isinstance(figure, Figure)
    assert len(figure.axes) >= 1
    assert "matplotlib.pyplot" not in sys.modules
    data, facts = figure._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert facts["alt"].startswith(figure.get_suptitle()[:20])
    assert SECRET not in facts["alt"]


def test_the_bars_are_as_long_as_the_figures_say_and_are_labeled_with_them():
    report = plan(shown_request(), BUDGET, counter=WORDS)
    before, after, strip, documents = report.plot().axes
    widths = [round(patch.get_width()) for patch in after.patches]
    after_documents = report.components["documents"].after

    assert sum(round(patch.get_width()) for patch in before.patches) == report.tokens_before
    assert sum(widths) == 400
    assert before.get_xlim() == pytest.approx(after.get_xlim(), rel=0.001)
    assert f"documents {after_documents}" in _labels(after)
    assert {int(label.split()[-1]) for label in _labels(after)} <= set(widths)
    assert sum(patch.get_width() for patch in strip.patches) == sum(part.size for part in report.history_strip)
    assert documents.get_ylabel() == "score"


def test_what_is_too_narrow_for_its_name_is_in_the_legend():
    report = plan(shown_request(), BUDGET, counter=WORDS)
    after = report.plot().axes[1]
    amounts = {name: part.after for name, part in report.components.items()}
    explained = {"fixed": report.fixed, **amounts, "free": 400 - 60 - report.tokens_after, "reserve": 60}
    inside = {label for label in _labels(after) if " " in label}
    below = {text.get_text() for text in after.get_legend().get_texts()}

    assert inside
    assert below
    assert not inside & below
    assert inside | below == {f"{name} {amount}" for name, amount in explained.items() if amount}


@pytest.mark.parametrize("name", ["default", "dark_background"])
def test_texts_outside_of_the_bars_have_the_color_of_the_style(name):
    with style.context(name):
        figure = plan(shown_request(), BUDGET, counter=WORDS).plot()
        ink = rcParams["text.color"]

    legend = figure.axes[0].get_legend().get_texts()[0]
    assert {figure.axes[0].title.get_color(), legend.get_color()} == {ink}
    assert {text.get_color() for text in figure.axes[0].texts} == {INK}


def test_the_points_are_the_documents_by_state():
    report = plan(shown_request(), BUDGET, counter=WORDS)
    drawn = {points.get_label(): len(points.get_offsets()) for points in report.plot().axes[-1].collections}
    states = Counter(row.state for row in report.documents)

    assert drawn == {f"{state} {count}": count for state, count in states.items()}


def test_without_scores_there_are_no_points():
    request = ContextRequest(query="why", documents=[Document(text="one two three")])

    assert [axes.get_ylabel() for axes in fit(request, BUDGET, counter=WORDS).plot().axes] == ["", ""]


def test_scores_beyond_what_an_axis_can_hold_are_no_points():
    scores = (1.7e308, -1.7e308, 10**400, 2)
    request = ContextRequest(documents=[Document(text="one two three", score=score) for score in scores])
    figure = fit(request, BUDGET, counter=WORDS).plot()

    assert figure._repr_png_()
    assert sum(len(points.get_offsets()) for points in figure.axes[-1].collections) == 1


def test_neighbors_differ_in_more_than_color():
    for stacked in (("fixed", "system", "query", "documents", "history", "free", "reserve"), ("kept", "dropped")):
        for one, other in pairwise(stacked):
            assert LOOKS[one].hatch != LOOKS[other].hatch or LOOKS[other].color is None
            assert LOOKS[one].fill != LOOKS[other].fill


def test_a_title_is_no_formula():
    segment = Segment(name="kept", amount=3, kind="kept")
    sheet = Sheet(title="costs $x^{$", bars=(Bar(label="$\\frac$ \ud800", segments=(segment,), extent=FULL),))

    assert figure_of(sheet)._repr_png_()[0].startswith(b"\x89PNG")


def test_hostile_documents_are_drawn():
    budget = ContextBudget.for_model("gpt-4o", target_tokens=300)
    request = ContextRequest(query="why " * 400, documents=[Document(id="$x^{$", text="$y_{$ " * 90, score=1)])

    assert fit(request, budget, protect=()).plot()._repr_png_()
