"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from document_evaluation.comparison import Difference, paired_difference
from document_evaluation.tables import table

from history_evaluation import conversations, replay, trajectories
from history_evaluation.candidates import DEFAULT, RELEVANCE, SLIDING, UNLIMITED
from history_evaluation.demand import Demand
from history_evaluation.outcomes import Outcome, Results, item_means, mean, summed
from history_evaluation.replay import cost_of
from history_evaluation.runs import PARTS
from history_evaluation.verdict import demands

_CELLS: Mapping[str, tuple[str, ...]] = {
    conversations.NAME: ("recall", "complete", "tail"),
    trajectories.NAME: ("value", "net"),
}
_MEANS: Mapping[str, tuple[str, ...]] = {
    conversations.NAME: ("used",),
    trajectories.NAME: ("question", "system", "last", "used"),
}
_SUMS: Mapping[str, tuple[str, ...]] = {conversations.NAME: ("over",), trajectories.NAME: ("over", "pairs")}
_COMPARED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    conversations.NAME: ("recall", (RELEVANCE, DEFAULT)),
    trajectories.NAME: ("net", (DEFAULT,)),
}
_TITLES: Mapping[str, str] = {
    conversations.NAME: "evidence recall, all evidence, newest messages",
    trajectories.NAME: "values seen, net",
}


def report(part: str, results: Results) -> str:
    """Return the verdict and the tables of a part; nothing for no results."""
    if not results.candidates:
        return ""
    parts = [] if not (found := demands(part, results)) else ["### Reached or not", _verdict(found)]
    for name in results.sets:
        if part == replay.NAME:
            for budget in PARTS[part].budgets(name):
                parts += [_replay_title(results, name, budget), _replay(results, name, budget)]
        else:
            parts += [f"### {name}: {_TITLES[part]}", _detail(part, results, name)]
    for ours in _COMPARED[part][1] if part in _COMPARED else ():
        if ours in results.candidates and len(results.candidates) > 1:
            parts += [f"### `{ours}` minus the others, in points", _differences(part, results, ours)]
    return "\n\n".join(parts)


def _verdict(found: Sequence[Demand]) -> str:
    rows = [(d.wanted, "yes" if d.reached else "**no**", d.figures) for d in found]
    short = [f"- {d.wanted}: {'; '.join(d.short)}" for d in found if d.short]
    text = table(("wanted", "reached", "figures"), rows)
    return text + ("\n\nCells that fall short:\n\n" + "\n".join(short) if short else "")


def _detail(part: str, results: Results, name: str) -> str:
    budgets = PARTS[part].budgets(name)
    rows = []
    for candidate in results.candidates:
        outcomes = results.of(candidate, name)
        cells = [
            " ".join(f"{results.mean(candidate, name, budget, figure):.2f}" for figure in _CELLS[part])
            for budget in budgets
        ]
        rows.append((candidate, *cells, *_conduct(part, outcomes)))
    return table(("candidate", *budgets, *_MEANS[part], *_SUMS[part], "failed", "ms"), rows)


def _conduct(part: str, outcomes: Sequence[Outcome]) -> list[str]:
    larger = [outcome for outcome in outcomes if outcome.figures.get("larger", 1.0)]
    means = [f"{mean(larger, figure):.3f}" if larger else "-" for figure in _MEANS[part]]
    sums = [f"{summed(outcomes, figure):.0f}" for figure in _SUMS[part]]
    return [*means, *sums, str(sum(o.failed for o in outcomes)), milliseconds(outcomes)]


def milliseconds(outcomes: Sequence[Outcome]) -> str:
    """Return the median time."""
    return f"{median(outcome.ms for outcome in outcomes):.1f}"


def _differences(part: str, results: Results, ours: str) -> str:
    figure, _ = _COMPARED[part]
    rows = []
    for other in results.candidates:
        if other != ours:
            pairs = [_pairs(results, ours, other, name, figure) for name in results.sets]
            of_sets = [paired_difference([of_set]) for of_set in pairs]
            rows.append((other, *map(_interval, (*of_sets, paired_difference(pairs)))))
    return table((f"{ours} minus", *results.sets, "all"), rows)


def _pairs(results: Results, ours: str, other: str, name: str, figure: str) -> list[float]:
    mine, theirs = (item_means(results.of(candidate, name), figure) for candidate in (ours, other))
    return [mine[number] - theirs[number] for number in sorted(mine)]


def _interval(difference: Difference) -> str:
    low, high = 100 * difference.low, 100 * difference.high
    return f"{100 * difference.mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def _replay_title(results: Results, name: str, budget: str) -> str:
    requests = summed(results.at(results.candidates[0], name, budget), "requests")
    return f"### {name}, window {int(budget):,} ({requests:,.0f} requests)"


def _replay(results: Results, name: str, budget: str) -> str:
    rows = []
    for candidate in results.candidates:
        outcomes = results.at(candidate, name, budget)
        sent, cached, probes = (summed(outcomes, figure) for figure in ("sent", "cached", "probes"))
        cost = cost_of(sent, cached)
        everything, sliding = (_bill(results, other, name, budget) for other in (UNLIMITED, SLIDING))
        evidence = summed(outcomes, "evidence") / probes if probes else None
        rows.append(
            (
                candidate,
                _ratio(cached, sent),
                _ratio(sent, everything[0]),
                _ratio(cost, everything[1]),
                _ratio(cost, sliding[1]),
                "-" if evidence is None else f"{evidence:.3f}",
                "-" if evidence is None or sliding[2] is None else f"{evidence - sliding[2]:+.3f}",
                *(f"{summed(outcomes, figure):.0f}" for figure in ("over", "pairs", "failed")),
                f"{fmean(outcome.ms for outcome in outcomes):.1f}",
            )
        )
    header = ("candidate", "cached", "sent", "cost", "against sliding", "evidence", "against sliding")
    return table((*header, "over", "pairs", "failed", "ms"), rows)


def _bill(results: Results, candidate: str, name: str, budget: str) -> tuple[float, float, float | None]:
    outcomes = results.at(candidate, name, budget)
    sent, cached, found, probes = (summed(outcomes, figure) for figure in ("sent", "cached", "evidence", "probes"))
    return sent, cost_of(sent, cached), found / probes if probes else None


def _ratio(value: float, of: float) -> str:
    return f"{value / of:.3f}" if of else "-"
