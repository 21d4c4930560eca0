"""The results of the strategies side by side, as cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement

from ctxopt_core.display.html import as_element, as_markup, style_element
from ctxopt_core.display.report_sheet import history_bar, window_bars
from ctxopt_core.display.sheet import Bar, Segment, Sheet, in_words
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.text.display_text import preview
from ctxopt_playground.comparison import Comparison, Outcome
from ctxopt_playground.markup import STYLE

_KEEPS: Mapping[str, str] = {
    "auto": "relevant turns among the newer ones, or the newest turns where tools are called",
    "turns": "the first message and the newest turns",
    "relevance": "the newest turns, and those most relevant to the question",
    "sliding_window": "the newest turns and nothing else",
    "stable_prefix": "the newest turns, cut in steps so that the prompt cache keeps its prefix",
    "summarize": "the newest turns, and a summary of the others",
    "hybrid": "relevant turns, and a summary of the others",
}
"""What each strategy keeps of the history."""

_LONGEST_ERROR = 1_000  # characters: an error that quotes a whole text must not fill the page
_BESIDE_THE_BUDGET = frozenset({"reserve", "outside"})
_LEGEND = {
    "Parts": ("fixed", "system", "query", "documents", "history", "free"),
    "Outcomes": ("kept", "shortened", "summarized", "dropped"),
}
_REQUESTS = 1_000  # requests: the cost of a single one is a fraction of a cent


def cards(comparison: Comparison, chosen: str | None) -> str:
    """Return the outcomes as HTML, as counts without content.

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


def summary_line(comparison: Comparison, *, outdated: bool = False) -> str:
    """Return the tokens after each strategy on one line, for narrow pages, where the cards are out of sight."""
    line = Element("p", {"class": "ctxopt-summary"})
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
    _add(card, "p", _KEEPS[outcome.strategy], "ctxopt-keeps")
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
    segments = (
        Segment(name="kept", amount=outcome.documents_kept or 0, kind="kept"),
        Segment(name="in part", amount=outcome.documents_partial or 0, kind="partial"),
        Segment(name="dropped", amount=outcome.documents_dropped or 0, kind="dropped"),
    )
    label = f"Documents: {_in_words({segment.name: segment.amount for segment in segments})}"
    return (Bar(label=label, segments=segments),) if any(part.amount for part in segments) else ()


def _history_bars(outcome: Outcome, fitted: FittedContext) -> tuple[Bar, ...]:
    strip = fitted.report.history_strip
    if not strip:
        return ()
    counts = {
        "kept": outcome.turns_kept,
        "in part": outcome.turns_shortened,
        "summarized": outcome.turns_summarized,
        "dropped": outcome.turns_dropped,
    }
    return (replace(history_bar(strip, "turns"), label=f"Turns: {_in_words(counts)}"),)


def _in_words(counts: Mapping[str, int | None]) -> str:
    return in_words({name: count for name, count in counts.items() if count})


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
                _add(entry, "span", "in part" if kind == "shortened" else kind)
    _add(legend, "p", "Turns are shown oldest first. Dollars are the cost of the input.")
    return legend


def _add(parent: Element, tag: str, text: str, kind: str = "") -> Element:
    child = SubElement(parent, tag, {"class": kind} if kind else {})
    child.text = text
    return child
