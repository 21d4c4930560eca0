"""One request fitted into one budget in several ways; what can be shared between them is read and counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.fit_request import fitted_with
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import RequestRenderer
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.settings import Cut
from ctxopt_core.text.display_text import preview

_LONGEST_REASON = 1_000  # characters of an error: one that quotes a whole text must not fill the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to fit a request, and its result.

    Args:
        cut: How the request was cut.
        budget: The budget, with the shares of this cut.
        fitted: The fitted request; None where it cannot be made to fit.
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
    """Yield the result of each cut. Nothing is logged, since nothing will be sent.

    Args:
        request: The request, as `read_whole` returns it.
        budget: What it is fitted into.
        cuts: The ways to cut it.
        counter: Counts tokens.
        renderer: How it is rendered.
        options: What the cuts do not say.
    """
    counts: Mapping[str, int] | None = None  # the whole request is counted once, for the first report
    for cut in cuts:
        shared = budget if cut.shares is None else replace(budget, shares=cut.shares)
        chosen = replace(options, history=cut.history, documents=cut.documents)
        try:
            fitted = fitted_with(request, shared, counter, renderer, chosen)
        except ContextBudgetError as error:
            yield Trial(cut=cut, budget=shared, error=preview(str(error), _LONGEST_REASON))
        else:
            counts = fitted.report.count_before() if counts is None else counts
            report = replace(fitted.report, count_before=partial(dict, counts))
            yield Trial(cut=cut, budget=shared, fitted=replace(fitted, report=report))


def read_whole(request: object) -> ContextRequest:
    """Return a request with its lazy parts read, so that each message is converted once for all settings.

    Raises:
        TypeError: `request` is not a ContextRequest.
    """
    if not isinstance(request, ContextRequest):
        message = f"`request` must be a ContextRequest or several, got {type(request).__name__}"
        raise TypeError(message)
    history = request.history
    messages = history if isinstance(history, (tuple, list)) else [history[i] for i in range(len(history))]
    return replace(request, history=messages, documents=tuple(request.documents))
