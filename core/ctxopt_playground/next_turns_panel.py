"""The panel of the playground that says what the next turns will cost."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from ipywidgets import HTML, IntSlider, VBox

from ctxopt_core.display.html import as_element, as_markup
from ctxopt_core.display.sheet import Row, Sheet, Table
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.replay_rows import ReplayTotal
from ctxopt_playground.markup import heading, status_line
from ctxopt_playground.next_turns import NextTurns, next_turns
from ctxopt_playground.settings import PlaygroundSettings

_USUAL_TURNS, _MOST_TURNS = 5, 50  # turns: with five, each change of a setting is still answered at once
_REQUESTS = 1_000  # conversations: the cost of a single one is a fraction of a cent


class NextTurnsPanel:
    """A slider for the number of turns, and the cost of them with each strategy."""

    def __init__(self) -> None:
        self.found: NextTurns | None = None
        self._shown: tuple[ContextRequest, PlaygroundSettings] | None = None
        self.turns = IntSlider(
            value=_USUAL_TURNS, min=1, max=_MOST_TURNS, description="next turns", continuous_update=False
        )
        self.table = HTML()
        self.widget = VBox([HTML(heading("Over the next turns")), self.turns, self.table]).add_class("ctxopt-group")
        self.turns.observe(self._on_change, "value")

    def show(self, request: ContextRequest, settings: PlaygroundSettings) -> None:
        """Show what the next turns of a request cost."""
        self._shown = request, settings
        self._on_change(None)

    def _on_change(self, _: object) -> None:
        if self._shown is not None:
            self.found = next_turns(*self._shown, self.turns.value)
            self.table.value = _markup(self.found)


def _markup(found: NextTurns) -> str:
    if found.problem:
        return status_line(found.problem)
    top = Element("div", {"class": "ctxopt-next-turns"})
    top.append(as_element(_sheet(found)))
    note = SubElement(top, "p", {"class": "ctxopt-status"})
    note.text = (
        "If the conversation goes on as it went so far. What repeats the start of the request before is read from the "
        "provider's prompt cache; the relative cost is that of sending everything without a cache."
    )
    return as_markup(top)


def _sheet(found: NextTurns) -> Sheet:
    priced = all(total.cost_with_cache is not None for total in found.totals)
    in_dollars = (f"USD, {_REQUESTS:,} times",) if priced else ()
    columns = ("strategy", "tokens", "cached", "relative cost", *in_dollars)
    table = Table(
        caption=f"The next {found.turns:,} turns: {found.requests:,} requests",
        columns=columns,
        numeric=columns[1:],
        rows=tuple(Row(cells=_cells(total, priced=priced)) for total in found.totals),
    )
    return Sheet(title="", tables=(table,))


def _cells(total: ReplayTotal, *, priced: bool) -> tuple[str, ...]:
    failed = f" ({total.failed:,} do not fit)" if total.failed else ""
    cells = (
        total.strategy + failed,
        f"{total.tokens_after:,}",
        f"{total.cached_share:.0%}",
        f"{total.relative_cost:.0%}",
    )
    return (*cells, f"${_REQUESTS * (total.cost_with_cache or 0):,.2f}") if priced else cells
