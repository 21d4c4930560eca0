"""What the strategies make of a request, side by side, as cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement

from ctxopt_core.display.html import as_element, as_markup, style_element
from ctxopt_core.display.report_sheet import history_bar, window_bars
from ctxopt_core.display.sheet import Bar, Segment, Sheet
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.text.display_text import preview
from ctxopt_playground.comparison import Comparison, Outcome
from ctxopt_playground.markup import STYLE

KEEPS: Mapping[str, str] = {
    "auto": "what is relevant among the newer turns, or the newest where tools are at work",
    "turns": "the first message and the newest turns",
    "relevance": "the newest turns, and those that say most about the question",
    "sliding_window": "the newest turns and nothing else",
    "stable_prefix": "the newest turns, cut in steps so that a prompt cache finds the start again",
    "summarize": "the newest turns, and a summary of the others",
    "hybrid": "what is relevant, and a summary of the others",
}
"""What each strategy keeps of the history."""

_LONGEST_ERROR = 1_000
_BESIDE_THE_BUDGET = frozenset({"reserve", "outside"})
_LEGEND = {
    "Parts": ("fixed", "system", "query", "documents", "history", "free"),
    "Outcomes": ("kept", "shortened", "summarized", "dropped"),
}
_IN_WORDS = {"shortened": "in part"}
_REQUESTS = 1_000


def cards(comparison: Comparison, chosen: str | None) -> str:
    """Return the outcomes as HTML: counts and no content.

    Args:
        comparison: The outcomes.
        chosen: The strategy whose report is shown below.
    """
    top = Element("div")
    grid = SubElement(top, "div", {"class": "ctxopt-cards"})
    for outcome in comparison.outcomes:
        grid.append(_card(outcome, chosen=outcome.strategy == chosen))
    top.append(_legend(summarized=any(outcome.turns_summarized for outcome in comparison.outcomes)))
    return as_markup(top)


def still_page(comparison: Comparison) -> str:
    """Return the outcomes as HTML with their styles, for a page without widgets."""
    style = as_markup(style_element(STYLE))
    return f'{style}<div class="ctxopt-playground">{cards(comparison, None)}</div>'


def glance(comparison: Comparison, *, outdated: bool = False) -> str:
    """Return what is left with each strategy on one line, for where the cards are out of sight."""
    line = Element("p", {"class": "ctxopt-glance"})
    if outdated:
        _add(line, "span", "From before:")
    for outcome in comparison.outcomes:
        entry = SubElement(line, "span", {"class": "ctxopt-entry"})
        _add(entry, "span", outcome.strategy)
        _add(entry, "b", "does not fit" if outcome.tokens_after is None else f"{outcome.tokens_after:,}")
    if comparison.budget is not None:
        _add(line, "span", f"of {comparison.budget.input_budget:,} tokens")
    return as_markup(line)


def _card(outcome: Outcome, *, chosen: bool) -> Element:
    kinds = ["ctxopt-card", *(["ctxopt-chosen"] if chosen else []), *(["ctxopt-failed"] if outcome.error else [])]
    card = Element("section", {"class": " ".join(kinds), "aria-label": f"strategy {outcome.strategy}"})
    _add(card, "h4", outcome.strategy)
    _add(card, "p", KEEPS[outcome.strategy], "ctxopt-keeps")
    if outcome.fitted is None:
        _add(card, "p", "Does not fit", "ctxopt-total")
        _add(card, "p", preview(outcome.error or "", _LONGEST_ERROR), "ctxopt-why")
    else:
        card.append(as_element(_sheet(outcome, outcome.fitted)))
    return card


def _sheet(outcome: Outcome, fitted: FittedContext) -> Sheet:
    return Sheet(
        title=f"{outcome.tokens_after:,} of {fitted.report.input_budget:,} tokens",
        bars=(_window_bar(fitted), *_document_bars(outcome), *_history_bars(outcome, fitted)),
        facts=(
            ("tokens saved", f"{outcome.tokens_saved or 0:,} ({1 - fitted.report.ratio:.0%})"),
            (f"saved in {_REQUESTS:,} requests", _dollars(outcome.saved_usd)),
            (f"cost of {_REQUESTS:,} requests", _dollars(outcome.cost_usd)),
            ("within the budget", "yes" if outcome.within_budget else "no"),
        ),
    )


def _window_bar(fitted: FittedContext) -> Bar:
    report = fitted.report
    _, after = window_bars(report)
    segments = tuple(segment for segment in after.segments if segment.kind not in _BESIDE_THE_BUDGET)
    return Bar(label="In the window, as it came" if report.unchanged else "In the window", segments=segments)


def _document_bars(outcome: Outcome) -> tuple[Bar, ...]:
    counts = {
        "kept": outcome.documents_kept or 0,
        "partial": outcome.documents_partial or 0,
        "dropped": outcome.documents_dropped or 0,
    }
    words = {"kept": "kept", "partial": "in part", "dropped": "dropped"}
    told = ", ".join(f"{count:,} {words[name]}" for name, count in counts.items() if count)
    segments = tuple(Segment(name=words[name], amount=count, kind=name) for name, count in counts.items())
    return (Bar(label=f"Documents: {told}", segments=segments, unit="documents"),) if any(counts.values()) else ()


def _history_bars(outcome: Outcome, fitted: FittedContext) -> tuple[Bar, ...]:
    strip = fitted.report.history_strip
    if not strip:
        return ()
    counts = {
        "kept": outcome.turns_kept or 0,
        "in part": outcome.turns_shortened or 0,
        "summarized": outcome.turns_summarized or 0,
        "dropped": outcome.turns_dropped or 0,
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (replace(history_bar(strip, "turns"), label=f"Turns: {told}"),)


def _dollars(usd: float | None) -> str:
    return "no price known" if usd is None else f"${_REQUESTS * usd:,.2f}"


def _legend(*, summarized: bool) -> Element:
    legend = Element("div", {"class": "ctxopt-report ctxopt-legend"})
    for title, kinds in _LEGEND.items():
        line = _add(legend, "p", f"{title}: ")
        for kind in kinds:
            if kind != "summarized" or summarized:
                entry = SubElement(line, "span", {"class": "ctxopt-entry"})
                SubElement(entry, "span", {"class": f"ctxopt-sample ctxopt-{kind}", "aria-hidden": "true"})
                _add(entry, "span", _IN_WORDS.get(kind, kind))
    _add(legend, "p", "Turns stand oldest first. Dollars are those of the input.")
    return legend


def _add(parent: Element, tag: str, text: str, kind: str = "") -> Element:
    child = SubElement(parent, tag, {"class": kind} if kind else {})
    child.text = text
    return child
