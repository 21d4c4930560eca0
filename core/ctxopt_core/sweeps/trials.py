"""One request fitted into one budget in several ways; what can be shared between them is read and counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.fit_request import fitted_with
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import RequestRenderer
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.settings import Cut
from ctxopt_core.text.display_text import preview

_LONGEST_REASON = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to fit a request, and what came of it.

    Args:
        cut: How it was cut.
        budget: Into what, with the shares of this cut.
        fitted: What is left of it; None where it cannot be made to fit.
        error: Why it cannot; None where it fits.
    """

    cut: Cut
    budget: ContextBudget
    fitted: FittedContext | None = None
    error: str | None = None


def trials(
    request: ContextRequest,
    budget: ContextBudget,
    cuts: Iterable[Cut],
    counter: TokenCounter,
    renderer: RequestRenderer,
    options: FitOptions,
) -> Iterator[Trial]:
    """Yield what each cut makes of a request. Nothing is logged, since nothing will be sent.

    Args:
        request: The request, which `read_whole` has read.
        budget: What it is fitted into.
        cuts: The ways to cut it.
        counter: Counts tokens.
        renderer: How it is rendered.
        options: What the cuts do not say.
    """
    input_counts = _InputCounts()
    for cut in cuts:
        shared = budget if cut.shares is None else replace(budget, shares=cut.shares)
        chosen = replace(options, history=cut.history, documents=cut.documents)
        try:
            fitted = fitted_with(request, shared, counter, renderer, chosen)
        except ContextBudgetError as error:
            yield Trial(cut=cut, budget=shared, error=preview(str(error), _LONGEST_REASON))
        else:
            fitted = replace(fitted, report=input_counts.told_to(fitted.report))
            yield Trial(cut=cut, budget=shared, fitted=fitted)


def read_whole(request: object) -> ContextRequest:
    """Return a request with its lazy parts read, so that each message is converted once for all settings.

    Raises:
        TypeError: It is no request.
    """
    if not isinstance(request, ContextRequest):
        message = f"`request` must be a ContextRequest or several, got {type(request).__name__}"
        raise TypeError(message)
    history = request.history
    messages = history if isinstance(history, (tuple, list)) else [history[i] for i in range(len(history))]
    return replace(request, history=messages, documents=tuple(request.documents))


class _InputCounts:
    """What a request counts as it came: counted for its first report, and told to the others."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Mapping[str, int] | None = None

    def told_to(self, report: FitReport) -> FitReport:
        """Return the report with these counts."""
        counts = self._counts = report.count_before() if self._counts is None else self._counts
        return replace(report, count_before=lambda: counts)
