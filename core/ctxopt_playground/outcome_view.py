"""The results of the playground: a card for each strategy, and the report of the chosen one."""

from __future__ import annotations

from base64 import b64encode
from xml.etree.ElementTree import Element

from ipywidgets import HTML, Box, Checkbox, ToggleButtons, VBox

from ctxopt_core.display.html import as_markup
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_playground.comparison import Comparison
from ctxopt_playground.inputs import CombinedRequest
from ctxopt_playground.markup import Tone, heading, status_line
from ctxopt_playground.outcome_cards import cards, summary_line

_LARGEST_DOWNLOAD = 2_000_000  # bytes: they are sent to the browser at each change, a third more as base64


class OutcomeView:
    """Cards of all strategies, and the report of the chosen one."""

    def __init__(self) -> None:
        self._comparison: Comparison | None = None
        self._combined: CombinedRequest | None = None
        self._silent = False
        self.status, self.cards, self.report, self.download = HTML(), HTML(), HTML(), HTML()
        self.summary = HTML().add_class("ctxopt-beside")
        self.chosen = ToggleButtons(options=(), tooltips=())
        self.previews = Checkbox(description="show the beginnings of texts", indent=False)
        self.widget = VBox(
            [
                self.status,
                self.cards,
                VBox(
                    [
                        HTML(heading("The report of one strategy")),
                        self.chosen,
                        Box([self.previews, self.download]).add_class("ctxopt-choices"),
                        self.report,
                    ]
                ).add_class("ctxopt-group"),
            ]
        )
        self.chosen.observe(self._on_choice, "value")
        self.previews.observe(self._on_choice, "value")

    def show(self, combined: CombinedRequest, comparison: Comparison) -> None:
        """Show a new comparison; the chosen strategy stays chosen if it is still compared."""
        self._combined, self._comparison = combined, comparison
        names = tuple(outcome.strategy for outcome in comparison.outcomes)
        self._silent = True
        if names != self.chosen.options:
            before = self.chosen.value
            self.chosen.options = names
            self.chosen.value = before if before in names else names[0]
        self._silent = False
        self.status.value = status_line(_size(comparison) + _replaced(combined))
        self.summary.value = summary_line(comparison)
        self._show_chosen()

    def mark(self, problem: str) -> None:
        """Show that the results are from before, and why."""
        stays = ""
        if self._comparison is not None:
            stays = " What is below is from before."
            self.summary.value = summary_line(self._comparison, outdated=True)
        self.status.value = status_line(f"{problem.rstrip('.')}.{stays}", Tone.PROBLEM)

    def _on_choice(self, _: object) -> None:
        if not self._silent:
            self._show_chosen()

    def _show_chosen(self) -> None:
        if self._comparison is None or self._combined is None:
            return
        name = str(self.chosen.value)
        self.cards.value = cards(self._comparison, name)
        outcome = next(outcome for outcome in self._comparison.outcomes if outcome.strategy == name)
        if outcome.fitted is None:
            self.report.value = status_line("There is no report: with this strategy the request does not fit.")
            self.download.value = ""
            return
        self.report.value = outcome.fitted.to_html(show_content=self.previews.value)
        self.download.value = _download(self._combined, outcome.fitted, name)


def _size(comparison: Comparison) -> str:
    came = next((outcome.tokens_before for outcome in comparison.outcomes if outcome.tokens_before is not None), None)
    if comparison.budget is None:
        return "Nothing of the window is left for the request."
    budget = f"the input budget is {comparison.budget.input_budget:,}"
    if came is None:
        return f"No strategy makes the request fit: {budget} tokens."
    if came <= comparison.budget.input_budget:
        return f"The request has {came:,} tokens and {budget}, so nothing is cut. Narrow the window to see it cut."
    return f"The request has {came:,} tokens; {budget}."


def _replaced(combined: CombinedRequest) -> str:
    if not combined.replaced:
        return ""
    return f" The documents are those of the second tab, not the {combined.replaced:,} that came with the history."


def _download(combined: CombinedRequest, fitted: FittedContext, strategy: str) -> str:
    try:
        content = combined.fitted_json(fitted)
    except ValueError as error:  # JSON that can be read may be nested too deeply to be written
        return status_line(f"There is no download: {error}.")
    if content is None:
        return ""
    if len(content) > _LARGEST_DOWNLOAD:
        return status_line("The fitted request is too large to be sent at each change, so there is no download.")
    data = f"data:application/json;base64,{b64encode(content).decode()}"
    link = Element("a", {"href": data, "download": f"fitted_{strategy}.json", "class": "ctxopt-download"})
    link.text = "Download the fitted request"
    return as_markup(link)
