"""What was wanted of ours and whether it was reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from history_evaluation import conversations, replay, trajectories
from history_evaluation.candidates import BESIDE_SYSTEM, BY_NAME, DEFAULT, SLIDING, STABLE
from history_evaluation.conversation_demands import conversation_demands
from history_evaluation.demand import ROUNDING, Demand, cell_demand, cells_of, outcomes_of, rivals, share_of
from history_evaluation.outcomes import Outcome, Results, mean, summed
from history_evaluation.replay import cost_of
from history_evaluation.sessions import ASKED, CHAT

LEAST_USE = 0.90
LEAST_REPEATED = 0.85
WANTED: Mapping[str, tuple[float, ...]] = {
    "traj_tau_airline": (0.50, 0.67, 0.88, 0.92),
    "traj_bfcl_long": (0.97, 0.99, 0.99, 0.99),
}
# The most that a stable prefix may cost, as a share of sliding trimming's cost, and lose, as a share of the evidence.
TOOLS_PRICE, TOOLS_LOSS = 0.40, 0.01
CHAT_PRICE, CHAT_LOSS = 0.25, 0.04
# Where questions are asked in a chat: the same most, and the least share of the evidence, by window.
ASKED_WANTED: Mapping[str, tuple[float, float]] = {"4000": (0.35, 0.92), "8000": (0.27, 0.965)}


def demands(part: str, results: Results) -> list[Demand]:
    """Check every demand of a part that the results allow to be checked."""
    checks: Mapping[str, Sequence[Callable[[Results], Iterator[Demand]]]] = {
        conversations.NAME: (conversation_demands,),
        trajectories.NAME: (_values, _best_of_those_that_hold, _question, _system, _use),
        replay.NAME: (_repeated, _price, _asked),
    }
    found = [demand for check in checks[part] for demand in check(results)]
    return [*found, *_conduct(part, results)]


def _values(results: Results) -> Iterator[Demand]:
    sets = [name for name in results.sets if name in WANTED]
    wanted = {(name, b): w for name in sets for b, w in zip(trajectories.SHARES, WANTED[name], strict=True)}
    for ours in _compared(results):
        yield cell_demand(
            f"`{ours}`: values seen, net, at least .50 .67 .88 .92 (tau) and .97 .99 .99 .99 (BFCL)",
            wanted,
            lambda name, budget, ours=ours: results.mean(ours, name, budget, "net"),
            lambda name, budget: wanted[name, budget],
        )


def _best_of_those_that_hold(results: Results) -> Iterator[Demand]:
    others = rivals(results)
    for ours in _compared(results) if others else ():
        yield cell_demand(
            f"`{ours}`: values seen, net, at least those of the best other on the same checkpoints",
            cells_of(trajectories.NAME, results),
            lambda name, budget, ours=ours: results.mean(ours, name, budget, "net"),
            lambda name, budget: max(results.mean(other, name, budget, "net") for other in others),
        )


def _compared(results: Results) -> list[str]:
    return [name for name in (DEFAULT, BESIDE_SYSTEM) if name in results.candidates]


def _system(results: Results) -> Iterator[Demand]:
    return _always(results, "system", "the system messages stay whole", "shortened")


def _question(results: Results) -> Iterator[Demand]:
    return _always(results, "question", "the newest question is always kept", "lost")


def _always(results: Results, figure: str, wanted: str, otherwise: str) -> Iterator[Demand]:
    if DEFAULT in results.candidates:
        kept = outcomes_of(results, DEFAULT)
        yield Demand(
            wanted=f"`{DEFAULT}`: {wanted}",
            reached=mean(kept, figure) >= 1.0 - ROUNDING,
            figures=f"{sum(not outcome.figures[figure] for outcome in kept)} {otherwise} in {len(kept):,} runs",
        )


def _use(results: Results) -> Iterator[Demand]:
    if DEFAULT in results.candidates:
        found = {name: mean(results.of(DEFAULT, name), "used") for name in results.sets}
        yield Demand(
            wanted=f"`{DEFAULT}`: mean budget use at least 90 %",
            reached=min(found.values()) >= LEAST_USE,
            figures=", ".join(f"{name} {used:.3f}" for name, used in found.items()),
        )


def _repeated(results: Results) -> Iterator[Demand]:
    if STABLE in results.candidates:
        yield cell_demand(
            f"`{STABLE}`: at least 85 % of what is sent repeats the request before",
            cells_of(replay.NAME, results),
            lambda name, budget: share_of(results.at(STABLE, name, budget), "cached", "sent"),
            lambda name, budget: LEAST_REPEATED,
        )


def _price(results: Results) -> Iterator[Demand]:
    if not {STABLE, SLIDING} <= set(results.candidates):
        return
    for kind, price, loss in (("tool runs", TOOLS_PRICE, TOOLS_LOSS), ("chats", CHAT_PRICE, CHAT_LOSS)):
        cells = [cell for cell in cells_of(replay.NAME, results) if (cell[0] == CHAT) == (kind == "chats")]
        cells = [cell for cell in cells if cell[0] != ASKED]
        figures, short = [], []
        for name, budget in cells:
            mine, sliding = (results.at(candidate, name, budget) for candidate in (STABLE, SLIDING))
            paid = _cost(mine) / _cost(sliding)
            lost = share_of(sliding, "evidence", "probes") - share_of(mine, "evidence", "probes")
            figures.append(f"{name} {budget} {100 * paid:.0f} % for {100 * lost:.1f} points")
            if paid > price + ROUNDING or lost > loss + ROUNDING:
                short.append(figures[-1])
        yield Demand(
            wanted=f"`{STABLE}`, {kind}: at most {price:.0%} of what sliding costs for at most {100 * loss:.0f} points",
            reached=not short,
            figures=", ".join(figures),
            short=tuple(short),
        )


def _asked(results: Results) -> Iterator[Demand]:
    if not {STABLE, SLIDING} <= set(results.candidates) or ASKED not in results.sets:
        return
    figures, short = [], []
    for budget, (price, least) in ASKED_WANTED.items():
        mine, sliding = (results.at(candidate, ASKED, budget) for candidate in (STABLE, SLIDING))
        paid, shown = _cost(mine) / _cost(sliding), share_of(mine, "evidence", "probes")
        figures.append(f"{budget} {100 * shown:.1f} % for {100 * paid:.0f} % (wanted {100 * least} % for {price:.0%})")
        if paid > price + ROUNDING or shown < least - ROUNDING:
            short.append(figures[-1])
    yield Demand(
        wanted=f"`{STABLE}`, chats with questions: the evidence, and its price as a share of what sliding costs",
        reached=not short,
        figures=", ".join(figures),
        short=tuple(short),
    )


def _conduct(part: str, results: Results) -> Iterator[Demand]:
    for name in results.candidates:
        if BY_NAME[name].group == "ours":
            found = outcomes_of(results, name)
            over, failed = summed(found, "over"), sum(o.figures.get("failed", o.failed) for o in found)
            pairs = sum(o.figures.get("pairs", 0.0) for o in found)
            runs = sum(o.figures.get("requests", 1.0) for o in found)
            yield Demand(
                wanted=f"`{name}`: no budget violation, no broken pair, no failure",
                reached=not (over or pairs or failed),
                figures=f"{over:.0f} violations, {pairs:.0f} broken, {failed:.0f} failures in {runs:,.0f} runs",
            )


def _cost(outcomes: Sequence[Outcome]) -> float:
    return cost_of(summed(outcomes, "sent"), summed(outcomes, "cached"))
