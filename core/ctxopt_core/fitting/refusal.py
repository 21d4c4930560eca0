"""The error of a request that cannot be made to fit: what it needs at least, what its parts cost, what helps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import COMPONENTS
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.measured_request import NO_LIMIT, MeasuredRequest, describe_costs, measure_needs
from ctxopt_core.fitting.options import PROTECTABLE, FitOptions
from ctxopt_core.fitting.sections import with_sections_cut

_FIRST_STEP = 16  # tokens: the first step of the search for the least budget, which then doubles
_LARGE = 0.25  # part of what is needed from which on a part is worth a remedy of its own


def refusal(
    measured: MeasuredRequest, budget: ContextBudget, options: FitOptions, fits_into: Callable[[int], bool]
) -> ContextBudgetError:
    """Return the error that says why a request cannot be made to fit.

    Args:
        measured: The request, which cannot be made to fit into `budget.input_budget` tokens.
        budget: The budget that it was to be fitted into.
        options: How it was to be cut.
        fits_into: Tells whether it can be made to fit into a number of tokens.
    """
    # Here a string over the limit is counted as a whole, and not only as far as the limit.
    whole = with_sections_cut(replace(measured, limit=NO_LIMIT)).without_results_in_query()
    needs = measure_needs(whole)
    costs: dict[str, int] = {"fixed": whole.overhead}
    tools = whole.overhead - measured.renderer.overhead_tokens(replace(whole.request, tools=()), whole.counter)
    if tools > 0:
        costs["tools"] = tools
    costs.update((name, needs[name]) for name in COMPONENTS)
    limit = budget.input_budget
    # With `overflow="empty"` the sections may go, too.
    held = whole.overhead + max(1, sum(needs[name] for name in PROTECTABLE if name in options.protect))
    needed = _least(limit if options.overflow == "empty" else max(limit, held - 1), fits_into)
    return ContextBudgetError(
        f"the request cannot be made to fit: what may not be cut needs {needed:,} tokens and the input budget is "
        f"{limit:,} ({describe_costs(costs)})",
        needed=needed,
        available=limit,
        costs=costs,
        remedies=_remedies(budget, options, costs, needed),
    )


def _least(failing: int, fits_into: Callable[[int], bool]) -> int:
    """Return a number above `failing` that is enough, while one less is not."""
    step = 1
    while not fits_into(failing + step):
        failing += step
        step = max(_FIRST_STEP, 2 * step)
    enough = failing + step
    while enough - failing > 1:
        middle = (failing + enough) // 2
        failing, enough = (failing, middle) if fits_into(middle) else (middle, enough)
    return enough


def _remedies(budget: ContextBudget, options: FitOptions, costs: Mapping[str, int], needed: int) -> dict[str, str]:
    tools, query, system = costs.get("tools", 0), costs["query"], costs["system"]
    remedies = {name: _LIMIT_REMEDIES[name] for name in budget.binding}
    if tools:
        remedies["tools"] = "fewer tools" if tools < needed * _LARGE else "fewer tools or tools with shorter schemas"
    if costs["fixed"] - tools >= needed * _LARGE:
        remedies["fixed"] = "a shorter template"
    if "query" in options.protect and query >= needed * _LARGE:
        remedies["query"] = "a shorter question"
    if "system" in options.protect and system >= needed * _LARGE:
        remedies["system"] = "a shorter system prompt"
    return remedies


_LIMIT_REMEDIES = {
    "target_tokens": "a larger `target_tokens`",
    "max_input_tokens": "a larger `max_input_tokens`",
    "context_window": "a larger context window",
    "output_reserve": "a smaller `output_reserve`",
    "safety_margin": "a smaller `safety_margin`",
}
