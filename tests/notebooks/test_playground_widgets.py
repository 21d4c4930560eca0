"""The playground without a browser: what is assigned and pasted moves the widgets, and they move the comparison."""

from __future__ import annotations

import builtins
import sys
import warnings
from dataclasses import replace

import pytest

from ctxopt_core import ContextBudget, Shares, fit, summarizer
from ctxopt_playground import Playground
from playground_pages import ASKED, ROWS, lantern_playground, left, outcome


@pytest.fixture
def playground():
    return lantern_playground()


def test_it_starts_with_an_example_that_is_cut():
    playground = Playground()

    assert playground.problem == ""
    assert len(playground.request.documents) == 12
    assert all(one.within_budget and one.tokens_saved > 0 for one in playground.comparison.outcomes)


def test_what_it_shows_is_what_fit_says(playground):
    budget = ContextBudget.for_model("gpt-4o", target_tokens=800, output_reserve=200)
    report = fit(playground.request, budget, history={"strategy": "turns"}).report

    assert left(playground) == report.tokens_after
    assert f"{report.tokens_after:,} of 800 tokens" in playground._page.outcomes.cards.value
    assert f"{report.tokens_saved:,} ({1 - report.ratio:.0%})" in playground._page.outcomes.cards.value


WIDGETS = {
    "share": lambda page: (page.panel.shares.sliders["history"], 80),
    "window": lambda page: (page.panel.window.window, 700),
    "reserve": lambda page: (page.panel.window.reserve, 500),
    "whole": lambda page: (page.panel.window.whole, True),
    "model": lambda page: (page.panel.window.model, "gpt-4"),
    "selection": lambda page: (page.panel.selection, "optimal"),
}


@pytest.mark.parametrize("widget", WIDGETS.values(), ids=WIDGETS)
def test_a_widget_that_is_moved_leads_to_a_new_comparison_with_its_settings(playground, widget):
    before = playground.settings, [one.fitted.report.to_dict() for one in playground.comparison.outcomes]
    moved, value = widget(playground._page)

    moved.value = value

    settings = playground.settings
    policy = {"selection": settings.selection}
    expected = fit(playground.request, settings.budget(), history={"strategy": "turns"}, documents=policy).report
    assert left(playground) == expected.tokens_after
    assert (settings, [one.fitted.report.to_dict() for one in playground.comparison.outcomes]) != before


def test_a_strategy_that_is_not_ticked_is_not_compared(playground):
    playground._page.panel.strategies["auto"].value = False

    assert playground.comparison.outcomes[0].strategy == "turns"
    assert playground._page.outcomes.chosen.options == playground.settings.compared


def test_strategies_stand_in_the_order_in_which_they_are_asked_for():
    playground = Playground([*ROWS, ASKED], target_tokens=800, strategies=("relevance", "auto"))
    assert [one.strategy for one in playground.comparison.outcomes] == ["relevance", "auto"]

    playground._page.panel.strategies["turns"].value = True
    assert [one.strategy for one in playground.comparison.outcomes] == ["relevance", "auto", "turns"]


def test_what_are_no_settings_is_refused_and_the_widgets_still_move(playground):
    with pytest.raises(TypeError, match=r"`settings` must be PlaygroundSettings, got dict; .* dataclasses\.replace"):
        playground.settings = {"target_tokens": 900}

    before = left(playground)
    playground._page.panel.window.window.value = 600
    assert left(playground) < before


def test_no_strategy_at_all_is_shown_and_the_last_results_stay(playground):
    before = playground.comparison
    for box in playground._page.panel.choices.children:
        box.value = False

    assert "at least one" in playground.problem
    assert "What is below is from before" in playground._page.outcomes.status.value
    assert len(playground.comparison.outcomes) == 1  # of the last one that was ticked
    assert before is not playground.comparison


def test_settings_that_are_assigned_move_the_widgets(playground):
    playground.settings = replace(
        playground.settings,
        model="gpt-4",
        target_tokens=1_000,
        output_reserve=24,
        shares=Shares(documents=62.5, history=12.5),
        selection="score",
    )

    panel = playground._page.panel
    assert panel.window.model.value == "gpt-4"
    assert (round(panel.window.window.value), panel.window.reserve.value) == (1_024, 24)
    assert panel.shares.sliders["history"].value == 12.5
    assert panel.selection.value == "score"
    assert playground.settings.target_tokens == 1_000
    assert outcome(playground).fitted.report.input_budget == 1_000


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "claude-sonnet-4-5", "nobody-knows-this-1", None])
def test_any_budget_of_any_model_is_what_was_asked_for(model):
    for target, reserve in ((100, 0), (777, 0), (1_000, 333), (5_000, 4_000)):
        playground = Playground([ASKED], model=model, target_tokens=target, output_reserve=reserve)

        assert (playground.settings.target_tokens, playground.settings.output_reserve) == (target, reserve)
        assert playground.comparison.budget.input_budget <= target


def test_the_reserve_follows_the_model_until_it_is_moved():
    playground = Playground([ASKED])
    window = playground._page.panel.window

    assert window.output_reserve == 4_096
    window.model.value = "gpt-4"
    assert window.output_reserve == 1_024
    window.reserve.value = 512
    window.model.value = "gpt-4o"
    assert window.output_reserve == 512


def test_what_there_is_nothing_to_choose_of_cannot_be_moved(playground):
    window = playground._page.panel.window
    assert (window.whole.disabled, window.window.disabled) == (False, False)
    window.whole.value = True
    assert (window.whole.disabled, window.window.disabled) == (False, True)
    window.model.value = ""  # there is no window of which the whole could be used
    assert (window.whole.disabled, window.window.disabled) == (True, False)


def test_an_unknown_model_is_shown_as_such_and_its_window_assumed(playground):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        playground._page.panel.window.model.value = "nobody-knows-this-2"

    assert "smallest chat window" in playground._page.panel.window.status.value
    assert playground.problem == ""
    assert "no price known" in playground._page.outcomes.cards.value


def test_shares_that_do_not_add_up_are_shown_without_a_warning(playground):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        playground._page.panel.shares.sliders["documents"].value = 0
        assert "Together 50 %" in playground._page.panel.shares.status.value
        playground._page.panel.shares.sliders["history"].value = 100

    assert "scaled to 100 %" in playground._page.panel.shares.status.value
    assert playground.problem == ""


def test_a_budget_that_holds_nothing_is_shown_on_each_card(playground):
    playground.settings = replace(playground.settings, target_tokens=1)

    assert playground.problem == ""
    assert all(one.error for one in playground.comparison.outcomes)
    assert playground._page.outcomes.cards.value.count("Does not fit") == 5
    assert "no report" in playground._page.outcomes.report.value


def test_a_summarizer_adds_the_strategies_that_need_one():
    playground = Playground([*ROWS, ASKED], target_tokens=900, summarizer=summarizer(lambda text: "Lanterns."))

    names = [one.strategy for one in playground.comparison.outcomes]
    assert names[-2:] == ["summarize", "hybrid"]
    assert [box.description for box in playground._page.panel.choices.children] == names
    playground.settings = replace(playground.settings, summarizer=None, strategies=("turns",))
    assert [box.description for box in playground._page.panel.choices.children] == names[:-2]


def test_a_notebook_is_shown_the_widgets_and_where_there_are_none_the_outcomes(playground):
    bundle = playground._repr_mimebundle_(include=None, exclude=None)

    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == playground._page.widget.model_id
    assert bundle["text/plain"] == "<Playground: 21 messages, 6 documents>"
    for compared in playground.comparison.outcomes:
        assert f"{compared.tokens_after:,} of" in bundle["text/html"]
    assert "<style>" in bundle["text/html"]
    assert "lantern" not in bundle["text/html"]


def test_without_ipywidgets_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "ipywidgets":
            raise ModuleNotFoundError(name, name="ipywidgets")
        return real(name, *rest)

    for name in [name for name in sys.modules if name.startswith("ctxopt_playground.live_page")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ImportError, match=r"ctxopt-core\[playground\]"):
        Playground()
