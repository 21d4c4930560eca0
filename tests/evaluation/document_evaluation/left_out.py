"""What the choice of the weights is worth on a set that had no part in it: one set is left out at a time.

The weights of ours and some others, each with one weight halved or half as large again, are compared on all sets but
one; the best of them is looked at on the set that was left out. Where that gains nothing, the weights are not tuned to
the sets that they were compared on. The peer beside it is chosen in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from document_evaluation.candidate import DEFAULT
from document_evaluation.comparison import Difference, paired_difference
from document_evaluation.figures import Results, item_values, mean_figure
from document_evaluation.variants import VARIANTS

EVERY = 2  # of the items that are looked at otherwise: two dozen packers take their time
MODES = ("score", "dense", "none")  # in the other two ours gives what it gives in one of these, or nearly


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One set, and what was chosen without it.

    Args:
        set: The set that was left out.
        ours: The figure of the weights that the package has.
        chosen: The weights that are best on the other sets.
        figure: The figure of these.
        peer: The peer that is best on the other sets; empty where none was run.
        lead: Ours minus that peer, on the items of the set.
    """

    set: str
    ours: float
    chosen: str
    figure: float
    peer: str = ""
    lead: Difference | None = None


def left_out(results: Results) -> list[LeftOut]:
    """Return for each set what the choice on the others is worth on it.

    Args:
        results: Those of ours, of its variants and of the peers, in any modes; a set weighs the same as any other.
    """
    sets = list(dict.fromkeys(cell.set for cell in results.outcomes))
    names = list(dict.fromkeys(cell.candidate for cell in results.outcomes))
    figures = {name: {of: _figure(results, name, of) for of in sets} for name in names}
    mine = {DEFAULT, *(variant.name for variant in VARIANTS)}
    ours, peers = [name for name in names if name in mine], [name for name in names if name not in mine]
    found = []
    for of in sets:
        rest = [other for other in sets if other != of]
        best = _best(figures, ours, rest)
        peer = _best(figures, peers, rest) if peers else ""
        lead = paired_difference([_item_differences(results, peer, of)]) if peer else None
        found.append(
            LeftOut(set=of, ours=figures[DEFAULT][of], chosen=best, figure=figures[best][of], peer=peer, lead=lead)
        )
    return found


def _best(figures: Mapping[str, Mapping[str, float]], names: Sequence[str], sets: Sequence[str]) -> str:
    """Return the candidate with the best mean; of equal ones the first."""
    return max(names, key=lambda name: fmean(figures[name][of] for of in sets))


def _figure(results: Results, name: str, of: str) -> float:
    """Return the mean figure of a set over the modes."""
    return fmean(mean_figure(results.of(name, of, mode)) for mode in _modes(results, of))


def _modes(results: Results, of: str) -> list[str]:
    return list(dict.fromkeys(cell.mode for cell in results.outcomes if cell.set == of))


def _item_differences(results: Results, peer: str, of: str) -> list[float]:
    by_mode = [
        (item_values(results.of(DEFAULT, of, mode)), item_values(results.of(peer, of, mode)))
        for mode in _modes(results, of)
    ]
    numbers = sorted(by_mode[0][0])
    return [fmean(mine[number] - theirs[number] for mine, theirs in by_mode) for number in numbers]
