"""What a notebook shows: HTML that holds together without styles, and says in words what it shows in colors."""

from __future__ import annotations

import math
import pickle

import pytest

from ctxopt_core import ContextBudget, ContextRequest, Document, FitReport, Message, fit, plan
from ctxopt_core.display.palette import LOOKS
from ctxopt_core.reports.rows import DocumentReport
from parsed_html import PLAIN_TAGS, elements, parsed_html
from shown_requests import BUDGET, SECRET, WORDS, shown_fit, shown_request, shown_values

VALUES = shown_values()
ATTRIBUTES = {"class", "style", "role", "aria-label", "aria-hidden", "scope", "colspan"}


def table(root, caption):
    (found,) = [each for each in root.all("table") if each.all("caption")[0].whole_text.startswith(caption)]
    return found


def cells(element):
    rows = [[cell.whole_text for cell in row.children] for row in element.all("tr")]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_the_html_is_balanced_and_holds_nothing_that_acts_or_loads(value):
    root = parsed_html(value._repr_html_())

    assert {element.tag for element in elements(root)} <= PLAIN_TAGS
    assert {name for element in elements(root) for name in element.attributes} <= ATTRIBUTES
    assert "url(" not in value._repr_html_()
    assert "http" not in value._repr_html_()


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_tables_have_captions_headings_and_rows_with_names(value):
    for found in parsed_html(value._repr_html_()).all("table"):
        rows = [row for body in found.all("tbody") for row in body.all("tr")]

        assert found.children[0].tag == "caption"
        assert found.children[0].whole_text
        assert all(row.children[0].attributes["scope"] == "row" for row in rows)
        assert all(cell.attributes["scope"] == "col" for head in found.all("thead") for cell in head.all("th"))


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_bar_is_an_image_with_a_description_and_its_widths_add_up(value):
    bars = [element for element in elements(parsed_html(value._repr_html_())) if "ctxopt-bar" in element.classes]

    assert bars or value is VALUES["allocation"]
    for bar in bars:
        widths = [segment.attributes["style"].removeprefix("width:").removesuffix("%") for segment in bar.children]
        assert bar.attributes["role"] == "img"
        assert all(segment.children[0].text in bar.attributes["aria-label"] for segment in bar.children)
        assert sum(int(width.replace(".", "")) for width in widths) == (10_000 if widths else 0)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_all_styles_are_under_a_class_of_ours(value):
    (style,) = parsed_html(value._repr_html_()).all("style")
    selectors = [selector for rule in style.text.split("}")[:-1] for selector in rule.split("{")[0].split(",")]

    assert len(selectors) > 20
    assert all(selector.strip().startswith(".ctxopt-report") for selector in selectors)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_colors_are_never_the_only_difference(value):
    for element in elements(parsed_html(value._repr_html_())):
        if "ctxopt-mark" in element.classes:
            assert element.attributes["aria-hidden"] == "true"
        if "ctxopt-segment" in element.classes:
            (kind,) = [name.removeprefix("ctxopt-") for name in element.classes if name != "ctxopt-segment"]
            assert kind in LOOKS
            assert element.children[0].text


def test_m1_the_html_of_a_report_has_every_figure_of_the_window():
    report = plan(shown_request(), BUDGET, counter=WORDS)
    root = parsed_html(report.to_html())
    parts = cells(table(root, "Tokens by part"))
    documents = cells(table(root, "Documents: "))
    bars = [element.attributes["aria-label"] for element in elements(root) if "ctxopt-bar" in element.classes]

    for name, component in report.components.items():
        assert parts[name] == [f"{component.budget}", f"{component.before}", f"{component.after}"]
        if component.after:
            assert f"{name} {component.after}" in bars[1]
    assert parts["reserve"][2] == "60"
    assert "reserve 60" in bars[1]
    assert f"from {report.tokens_before} to {report.tokens_after} of at most 340" in root.whole_text
    assert documents["d0"][:2] == ["1", "10"]
    assert documents["d0"][2] == "100"
    assert report.dropped_documents
    for row in report.documents:
        assert documents[row.id][3].startswith(row.state if row.reason is None else f"{row.state} ({row.reason}")


def test_the_cost_is_shown_where_it_is_known():
    prices = {"my-model": {"input": 100.0}}
    budget = ContextBudget.for_model("my-model", context_window=400, output_reserve=50, prices=prices)

    assert "input cost" in cells(table(parsed_html(plan(shown_request(), budget).to_html()), "Figures"))
    assert "input cost" not in plan(shown_request(), BUDGET, counter=WORDS).to_html()


def test_a_request_many_times_as_large_as_the_window_has_a_scale_of_its_own():
    huge = ContextRequest(history=[Message(role="user", content="word " * 90)] * 100 + shown_request().history[:2])
    bars = parsed_html(plan(huge, BUDGET, counter=WORDS).to_html()).all("div")
    before, after = [bar for bar in bars if "ctxopt-bar" in bar.classes][:2]

    assert "times the bar below" in before.attributes["aria-label"]
    assert before.attributes["style"] == after.attributes["style"] == "width:100.00%"


@pytest.mark.parametrize(
    ("window", "drawn", "named"),
    [
        pytest.param(400, False, False, id="all-planned"),
        pytest.param(600, True, False, id="half-of-it-outside"),
        pytest.param(100_000, False, True, id="most-of-it-outside"),
    ],
)
def test_what_is_outside_the_budget_is_drawn_or_named_in_the_label(window, drawn, named):
    budget = ContextBudget(context_window=window, output_reserve=50, target_tokens=350)
    report = plan(shown_request(), budget, counter=WORDS)
    bar = [each for each in parsed_html(report.to_html()).all("div") if "ctxopt-bar" in each.classes][1]

    assert ("outside the budget" in bar.whole_text) == drawn
    assert ("are outside the budget" in bar.attributes["aria-label"]) == named


@pytest.mark.parametrize(
    "score", [10**400, -(10**400), math.inf, -math.inf, math.nan, -0.0, None], ids=lambda score: str(score)[:5]
)
def test_any_score_is_shown(score):
    report = FitReport(
        input_budget=10,
        fixed=0,
        reserve=0,
        unchanged=True,
        documents=(DocumentReport(id="odd", score=score, state="kept"),),
        count_before=lambda: {"whole": 3, "documents": 3},
        count_documents=lambda: [3],
    )

    assert "odd" in cells(table(parsed_html(report.to_html()), "Documents: 1 kept"))
    assert "odd" in report.to_text()
    assert bool(report._sheet().points) == (score == 0)


@pytest.mark.parametrize(
    ("scores", "columns", "kept"),
    [
        ((None, None), ["document", "tokens", "outcome"], False),
        ((None, 0.0), ["document", "score", "tokens", "density", "outcome"], True),
    ],
    ids=["no scores", "one score"],
)
def test_scores_are_shown_where_there_are_any(scores, columns, kept):
    documents = [Document(id=f"d{i}", text=f"word{i} " * 300, score=score) for i, score in enumerate(scores)]
    report = fit(ContextRequest(query="why", documents=documents), BUDGET, counter=WORDS).report
    found = table(parsed_html(report.to_html()), "Documents: ")

    assert [cell.whole_text for cell in found.all("thead")[0].all("th")] == columns
    assert ("density" in found.all("caption")[0].whole_text) == kept
    assert ("score kept" in report.to_html()) == ("score kept" in report.to_text()) == kept


def test_headings_are_never_broken_inside_a_word():
    heads = [head for value in VALUES.values() for head in parsed_html(value.to_html()).all("thead")]
    headings = [cell for head in heads for cell in head.all("th")]

    assert headings
    assert not [cell.whole_text for cell in headings if "ctxopt-foreign" in cell.classes]


def test_a_notebook_gets_text_and_html_and_may_choose():
    for name, value in VALUES.items():
        bundle = value._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}, name
        assert set(value._repr_mimebundle_(include={"text/html"})) == {"text/html"}
        assert set(value._repr_mimebundle_(exclude={"text/html"})) == {"text/plain"}
        assert SECRET not in bundle["text/plain"]
    assert VALUES["report"]._repr_mimebundle_()["text/plain"] == str(VALUES["report"])


def test_a_whole_page_says_that_it_goes_with_light_and_dark():
    page = shown_fit().report.to_html(standalone=True)
    root = parsed_html(page)

    assert page.startswith("<!DOCTYPE html>")
    assert {"name": "color-scheme", "content": "light dark"} in [meta.attributes for meta in root.all("meta")]
    assert root.all("title")[0].text == root.all("p")[0].text
    assert root.all("html")[0].attributes == {"lang": "en"}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_shown_survives_pickling(name):
    again = pickle.loads(pickle.dumps(VALUES[name]))  # noqa: S301

    assert again._repr_html_() == VALUES[name]._repr_html_()


def test_a_report_pickles_without_content():
    assert SECRET.encode() not in pickle.dumps(fit(shown_request(), BUDGET, counter=WORDS).report)
