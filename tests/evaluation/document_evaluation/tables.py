"""The results as Markdown, and their place in the benchmarks page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from document_evaluation.candidate import DEFAULT
from document_evaluation.cases import BUDGETS, MODES
from document_evaluation.comparison import Difference, differences
from document_evaluation.figures import Results, budget_use, by_budget, means, overall
from document_evaluation.left_out import LeftOut, left_out
from document_evaluation.survival import Outcome
from document_evaluation.verdict import demands

BEGIN = "<!-- evaluate: begin -->"
END = "<!-- evaluate: end -->"
WITH_EMBEDDINGS = "ours_embedding"
_MODE_NAMES = {
    "score": "scores as delivered",
    "dense": "the dense scores, best first",
    "shuffled": "shuffled, with the scores",
    "rank": "as delivered, without scores",
    "none": "shuffled, without scores",
}


def report(results: Results) -> str:
    """Return the tables of some results; nothing for none."""
    modes = [mode for mode in MODES if results.candidates(mode)]
    if not modes:
        return ""
    embedding = any(candidate.embeds for candidate in results.candidates(modes[0]))
    parts = [f"### Reached or not{', beside those that embed' if embedding else ''}", *_verdicts(results)]
    for mode in modes:
        parts += [f"### Means over the budgets: {_MODE_NAMES[mode]}", _summary(results, mode)]
        if len(results.candidates(mode)) > 1 and _has(results, DEFAULT, mode):
            parts += [f"### Ours minus the others, in points: {_MODE_NAMES[mode]}", _differences(results, mode)]
    for mode in modes[:1]:
        for name in results.sets(mode):
            parts += [f"### {name}, {_MODE_NAMES[mode]}", _detail(results, name, mode)]
    return "\n\n".join(parts)


def write_between_markers(path: Path, text: str, name: str = "evaluate") -> None:
    """Put a text between the two markers of a page, in place of what stands there.

    Args:
        path: The page.
        text: The text.
        name: What the markers are called.

    Raises:
        ValueError: The page has not exactly one of each marker, in their order.
    """
    page = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        message = f"{path.name} must have {begin} and, after it, {end}, each of them once"
        raise ValueError(message)
    head, rest = page.split(begin)
    path.write_text(f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def left_out_table(results: Results) -> str:
    """Return what the weights and the best peer, chosen on the other sets, are worth on each set."""
    found = left_out(results)
    rows = [
        (
            row.set,
            f"{row.ours:.3f}",
            "the same" if row.chosen == DEFAULT else row.chosen,
            f"{row.figure:.3f}",
            row.peer or "-",
            _interval(row.lead) if row.lead else "-",
        )
        for row in found
    ]
    gained = fmean(row.figure - row.ours for row in found)
    rows.append(("mean", f"{fmean(row.ours for row in found):.3f}", "", f"{gained:+.3f}", "", _mean_lead(found)))
    return table(("left out", "ours", "weights chosen without it", "figure", "peer chosen so", "ours minus it"), rows)


def _mean_lead(found: Sequence[LeftOut]) -> str:
    leads = [row.lead.mean for row in found if row.lead]
    return f"{100 * fmean(leads):+.1f}" if leads else "-"


def _has(results: Results, name: str, mode: str) -> bool:
    return name in [candidate.name for candidate in results.candidates(mode)]


def _verdicts(results: Results) -> Iterator[str]:
    for ours in (DEFAULT, WITH_EMBEDDINGS):
        found = demands(results, ours)
        if not found:
            continue
        rows = [(d.mode, d.wanted, "yes" if d.reached else "**no**", d.figures) for d in found]
        yield f"`{ours}`:"
        yield table(("mode", "wanted", "reached", "figures"), rows)
        short = [f"- {d.mode}, {d.wanted}: {'; '.join(d.short)}" for d in found if d.short]
        if short:
            yield "Cells that fall short:\n\n" + "\n".join(short)


def _summary(results: Results, mode: str) -> str:
    names = results.sets(mode)
    rows = []
    for candidate in results.candidates(mode):
        by_set = {name: results.of(candidate.name, name, mode) for name in names}
        everything = [outcome for outcomes in by_set.values() for outcome in outcomes]
        pairs = [_pair(_over_budgets(outcomes)) for outcomes in by_set.values()]
        rows.append((candidate.name, *pairs, f"{overall(results, candidate.name, mode):.3f}", *_conduct(everything)))
    return table(("candidate", *names, "mean", *_CONDUCT), rows)


def _over_budgets(outcomes: Sequence[Outcome]) -> dict[str, float]:
    found = by_budget(outcomes).values()
    return {
        figure: fmean(of_budget[figure] for of_budget in found if figure in of_budget)
        for figure in ("answer", "recall")
        if any(figure in of_budget for of_budget in found)
    }


def _detail(results: Results, name: str, mode: str) -> str:
    rows = []
    for candidate in results.candidates(mode):
        outcomes = results.of(candidate.name, name, mode)
        cells = [f"{_pair(means(o for o in outcomes if o.budget == b))} {_complete(outcomes, b)}" for b in BUDGETS]
        rows.append((candidate.name, *cells, *_conduct(outcomes)))
    return table(("candidate", *BUDGETS, *_CONDUCT), rows)


_CONDUCT = ("verbatim", "used", "over", "failed", "ms")


def _conduct(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    used = budget_use(outcomes)
    return (
        f"{fmean(o.verbatim for o in outcomes):.2f}",
        "-" if used is None else f"{used:.3f}",
        str(sum(o.over for o in outcomes)),
        str(sum(o.failed for o in outcomes)),
        f"{fmean(o.ms for o in outcomes):.1f}",
    )


def _pair(figures: dict[str, float]) -> str:
    return " ".join(f"{figures[name]:.2f}" if name in figures else "-" for name in ("answer", "recall"))


def _complete(outcomes: Sequence[Outcome], budget: str) -> str:
    return f"{fmean(o.complete for o in outcomes if o.budget == budget):.2f}"


def _differences(results: Results, mode: str) -> str:
    names = [*results.sets(mode), "all"]
    rows = []
    for candidate in results.candidates(mode):
        if candidate.name != DEFAULT:
            found = differences(results, DEFAULT, candidate.name, mode)
            rows.append((candidate.name, *(_interval(found[name]) for name in names)))
    return table(("ours minus", *names), rows)


def _interval(difference: Difference) -> str:
    low, high = 100 * difference.low, 100 * difference.high
    return f"{100 * difference.mean:+.1f} [{low:+.1f}, {high:+.1f}]"
