"""What was wanted of ours and whether it was reached, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from document_evaluation.candidate import DEFAULT
from document_evaluation.candidates import SCORE_ORDER
from document_evaluation.cases import BUDGETS, MODES
from document_evaluation.figures import Results, budget_use, by_budget, mean_figure, means, overall

BELOW_SCORE_ORDER = 0.01
ABOVE_BEST_PEER = 0.05
BELOW_ENGLISH = 0.10
LEAST_USE = 0.97
_ROUNDING = 1e-9
_SHARES = tuple(budget for budget in BUDGETS if budget.endswith("%"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One demand on ours in one mode.

    Args:
        wanted: The demand.
        mode: The mode.
        reached: Whether it is met.
        figures: What was measured.
        short: The cells that fall short.
    """

    wanted: str
    mode: str
    reached: bool
    figures: str
    short: tuple[str, ...] = ()


def demands(results: Results, ours: str) -> list[Demand]:
    """Check every demand that the results allow to be checked."""
    checks = (_not_below_default, _score_order, _best_peer, _best_of_each_set, _languages, _use, _violations)
    modes = [mode for mode in MODES if ours in [candidate.name for candidate in results.candidates(mode)]]
    return [demand for mode in modes for check in checks for demand in check(results, ours, mode)]


def _not_below_default(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    if ours != DEFAULT and DEFAULT in [candidate.name for candidate in results.candidates(mode)]:
        mine, plain = overall(results, ours, mode), overall(results, DEFAULT, mode)
        yield Demand(
            wanted="mean over all cells at least that of the default",
            mode=mode,
            reached=mine >= plain - _ROUNDING,
            figures=f"{mine:.3f} against {plain:.3f}: {100 * (mine - plain):+.1f} points",
        )


def _score_order(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    if SCORE_ORDER not in [candidate.name for candidate in results.candidates(mode)]:
        return
    short, cells = [], 0
    for name in results.sets(mode):
        mine, theirs = (by_budget(results.of(candidate, name, mode)) for candidate in (ours, SCORE_ORDER))
        for budget in BUDGETS:
            for figure, least in theirs[budget].items():
                cells += 1
                if mine[budget][figure] < least - BELOW_SCORE_ORDER - _ROUNDING:
                    short.append(f"{name} {budget} {figure} {mine[budget][figure]:.3f} against {least:.3f}")
    yield Demand(
        wanted="every cell at least score order minus 1 point",
        mode=mode,
        reached=not short,
        figures=f"{cells - len(short)} of {cells} cells",
        short=tuple(short),
    )


def _best_peer(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    theirs = {candidate.name: overall(results, candidate.name, mode) for candidate in results.peers(mode)}
    if theirs:
        best = max(theirs, key=theirs.__getitem__)
        lead = overall(results, ours, mode) - theirs[best]
        yield Demand(
            wanted="mean over all cells at least 5 points above the best peer",
            mode=mode,
            reached=lead >= ABOVE_BEST_PEER - _ROUNDING,
            figures=f"{overall(results, ours, mode):.3f}, {best} {theirs[best]:.3f}: {100 * lead:+.1f} points",
        )


def _best_of_each_set(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    found, short = [], []
    for name in results.sets(mode):
        theirs = {c.name: mean_figure(results.of(c.name, name, mode)) for c in results.peers(mode)}
        if theirs:
            best = max(theirs, key=theirs.__getitem__)
            lead = mean_figure(results.of(ours, name, mode)) - theirs[best]
            found.append(f"{name} {100 * lead:+.1f}")
            if lead < -_ROUNDING:
                short.append(f"{name}: {100 * lead:+.1f} points against {best} ({theirs[best]:.3f})")
    if found:
        yield Demand(
            wanted="every set's mean at least that of its own best peer",
            mode=mode,
            reached=not short,
            figures=", ".join(found),
            short=tuple(short),
        )


def _languages(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    outcomes = [o for name in results.sets(mode) for o in results.of(ours, name, mode) if o.lang]
    found = {outcome.lang for outcome in outcomes}
    languages = sorted(found - {"en"})
    if not languages or "en" not in found:
        return
    short, lowest = [], ("", 1.0)
    for budget in _SHARES:
        of_budget = {
            lang: means(o for o in outcomes if o.lang == lang and o.budget == budget) for lang in ("en", *languages)
        }
        for lang in languages:
            for figure, english in of_budget["en"].items():
                gap = of_budget[lang].get(figure, 0.0) - english
                lowest = min(lowest, (f"{lang} {budget} {figure}", gap), key=lambda pair: pair[1])
                if gap < -BELOW_ENGLISH - _ROUNDING:
                    short.append(
                        f"{lang} {budget} {figure} {of_budget[lang].get(figure, 0.0):.3f}, English {english:.3f}"
                    )
    items = len({outcome.number for outcome in outcomes if outcome.lang == "en"})
    yield Demand(
        wanted=f"no language more than 10 points below English at the same share ({items} items a language)",
        mode=mode,
        reached=not short,
        figures=f"lowest {lowest[0]} {100 * lowest[1]:+.1f}",
        short=tuple(short),
    )


def _use(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    by_set = {name: budget_use(results.of(ours, name, mode)) for name in results.sets(mode)}
    found = {name: used for name, used in by_set.items() if used is not None}
    mean = budget_use(o for name in results.sets(mode) for o in results.of(ours, name, mode))
    if mean is not None:
        yield Demand(
            wanted="mean budget use at least 97 %",
            mode=mode,
            reached=mean >= LEAST_USE,
            figures=f"{mean:.3f}; " + ", ".join(f"{name} {used:.3f}" for name, used in found.items()),
        )


def _violations(results: Results, ours: str, mode: str) -> Iterator[Demand]:
    outcomes = [o for name in results.sets(mode) for o in results.of(ours, name, mode)]
    over, failed = sum(o.over for o in outcomes), sum(o.failed for o in outcomes)
    yield Demand(
        wanted="no budget violation, no failure",
        mode=mode,
        reached=not over and not failed,
        figures=f"{over} violations, {failed} failures in {len(outcomes):,} runs",
    )
