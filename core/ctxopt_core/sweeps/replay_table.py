"""The table of a replay: its rows, what each of the settings comes to, and which of them are recommended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ctxopt_core.display.sheet import Row, Sheet, Table, filled, more_rows
from ctxopt_core.display.sheets import sheet_of
from ctxopt_core.display.text import as_text
from ctxopt_core.displayed import NO_MATPLOTLIB, Displayed
from ctxopt_core.providers.prompt_caches import PromptCacheRules
from ctxopt_core.runtime.optional_packages import needs
from ctxopt_core.sweeps.replay_rows import (
    REPLAY_COLUMNS,
    Recommendation,
    ReplayRow,
    ReplayTotal,
    recommended_total,
    total_of,
)
from ctxopt_core.sweeps.replay_settings import ReplayStrategy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_NO_PANDAS = "`to_frame` needs pandas; install it with: pip install pandas, or use `to_dicts`"
_MOST_ROWS = 200  # rows: what a notebook shows at once; `to_dicts` has them all
_TEXT_COLUMNS = frozenset({"strategy", "error"})
_DECIMAL_COLUMNS = frozenset({"full_price_tokens", "cost", "cost_with_cache", "evidence", "seconds"})


@dataclass(frozen=True, kw_only=True)
class Replay(Displayed):
    """What `replay` returns: a row for each request with each of the settings. It holds no content.

    A notebook shows the totals as a table, `print` as text.

    Example:
        >>> from ctxopt_core import CallableCounter, Message, replay
        >>> chat = [Message(role=role, content="Is it lit? Yes. " * 9) for role in ("user", "assistant") * 20]
        >>> found = replay(chat, ["turns", "sliding_window"], budget=1_500, counter=CallableCounter(len))
        >>> [(total.strategy, total.requests, total.failed) for total in found.totals]
        [('turns', 20, 0), ('sliding_window', 20, 0)]
        >>> found.rows[9].tokens_before, found.rows[9].tokens_after <= 1_500
        (2917, True)

    Args:
        rows: The rows, by settings and then by request.
        strategies: The settings, in the order in which they were given.
        model: The name of the model, if known.
        cache: The rules of its provider's prompt cache.
        price_source: Where the price comes from; None where it is not known.
        margin: How much less evidence than the best the recommended settings may show.
    """

    rows: tuple[ReplayRow, ...]
    strategies: tuple[ReplayStrategy, ...]
    model: str | None
    cache: PromptCacheRules
    price_source: str | None
    margin: float

    @cached_property
    def totals(self) -> tuple[ReplayTotal, ...]:
        """What each of the settings comes to, in the order in which they were given."""
        return tuple(total_of(one.name, self.rows_of(one.name)) for one in self.strategies)

    @cached_property
    def recommended(self) -> Recommendation:
        """The settings that are recommended, and why.

        Of those with which the fewest requests fail, the ones whose evidence is at most `margin` below the best are
        equal, and the cheapest of these with the prompt cache is recommended. Without evidence the cost alone decides.
        """
        total, reason = recommended_total(self.totals, self.margin)
        history = next(one.history for one in self.strategies if one.name == total.strategy)
        return Recommendation(strategy=total.strategy, history=history, reason=reason)

    def rows_of(self, strategy: str) -> tuple[ReplayRow, ...]:
        """Return the rows of the settings with a name, the oldest request first."""
        return tuple(row for row in self.rows if row.strategy == strategy)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary of its columns, ready for JSON."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows, the totals and the recommendation as plain values, ready for JSON."""
        recommended = self.recommended
        return {
            "model": self.model,
            "cache": {name: getattr(self.cache, name) for name in PromptCacheRules.__slots__},
            "price_source": self.price_source,
            "margin": self.margin,
            "totals": [total.to_dict() for total in self.totals],
            "recommended": {"strategy": recommended.strategy, "reason": recommended.reason},
            "rows": self.to_dicts(),
        }

    def to_frame(self) -> DataFrame:
        """Return the rows as a pandas DataFrame. Columns of tokens hold integers, also where a row has none.

        Raises:
            ImportError: pandas is not installed.
        """
        with needs("pandas", _NO_PANDAS):
            import pandas as pd
        frame = pd.DataFrame(self.to_dicts(), columns=list(REPLAY_COLUMNS))
        kinds = {**dict.fromkeys(_TEXT_COLUMNS, "string"), **dict.fromkeys(_DECIMAL_COLUMNS, "float64")}
        return frame.astype({name: kinds.get(name, "Int64") for name in REPLAY_COLUMNS})

    def table(self) -> str:
        """Return the rows as aligned lines of text, one for each request with each of the settings."""
        return as_text(Sheet(title=_title(self), tables=(_rows_table(self.rows),)))

    def plot(self) -> Figure:
        """Return the price of the conversation as a matplotlib figure.

        For each of the settings it shows the tokens of each request, those from the prompt cache apart, and beside them
        the sum of what was paid so far.

        Raises:
            ImportError: matplotlib is not installed; the extra `notebook` brings it.
        """
        with needs("matplotlib", NO_MATPLOTLIB):
            from ctxopt_core.sweeps.replay_figure import figure_of
        return figure_of(self)

    def __str__(self) -> str:
        return self._plain_text()


@sheet_of.register
def _(replay: Replay) -> Sheet:
    """Return the totals; a column that no settings have is left out."""
    recommended, totals = replay.recommended, replay.totals
    return Sheet(
        title=_title(replay),
        facts=filled(
            [
                ("model", replay.model or "not given"),
                ("recommended", f"{recommended.strategy}: {recommended.reason}"),
                ("prompt cache", _cache_in_words(replay.cache)),
                ("price", replay.price_source or "not known: a cached token is taken to cost a tenth of a new one"),
            ]
        ),
        tables=(_table("What the conversation costs with each of the settings", _TOTALS, totals),),
        notes=_failures(totals),
    )


def _title(replay: Replay) -> str:
    requests = replay.totals[0].requests
    return f"Replay: {requests:,} requests of a conversation, {len(replay.strategies):,} settings"


def _cache_in_words(rules: PromptCacheRules) -> str:
    if not rules.minimum:
        return rules.source
    steps = f", in steps of {rules.step:,}" if rules.step > 1 else ""
    ends = ", up to the end of a message" if rules.whole_messages else ""
    charged = "; what is written into it is charged" if rules.charges_writes else ""
    return f"prefixes of {rules.minimum:,} tokens and more{steps}{ends}{charged} ({rules.source})"


def _failures(totals: Sequence[ReplayTotal]) -> tuple[str, ...]:
    return tuple(
        f"{total.strategy}: {total.failed:,} of {total.requests:,} requests could not be fitted; the figures are of "
        "the others"
        for total in totals
        if total.failed
    )


def _rows_table(rows: Sequence[ReplayRow]) -> Table:
    shown = rows[:_MOST_ROWS]
    return _table("Tokens by request and settings", _ROWS, shown, more_rows(len(rows), len(shown)))


def _table(caption: str, cells: dict[str, Callable[[Any], str]], values: Sequence[Any], more: str = "") -> Table:
    used = {heading: cell for heading, cell in cells.items() if any(map(cell, values))}
    return Table(
        caption=caption,
        columns=tuple(used),
        numeric=used.keys() - _TEXT_COLUMNS,
        foreign=_TEXT_COLUMNS,
        rows=tuple(Row(cells=tuple(cell(value) for cell in used.values())) for value in values),
        more=more,
    )


def _shown(name: str, form: str = "", before: str = "") -> Callable[[Any], str]:
    """Return the function that shows a figure in a format; empty where there is none."""
    return lambda value: "" if getattr(value, name) is None else f"{before}{getattr(value, name):{form}}"


def _milliseconds(value: ReplayTotal) -> str:
    return f"{1_000 * value.seconds / value.requests:.1f}"


_TOTALS: dict[str, Callable[[Any], str]] = {
    "strategy": _shown("strategy"),
    "sent": _shown("tokens_after", ","),
    "cached": _shown("cached_tokens", ","),
    "cached share": _shown("cached_share", ".0%"),
    "cost": _shown("cost", ".4g", "$"),
    "with cache": _shown("cost_with_cache", ".4g", "$"),
    "relative cost": _shown("relative_cost", ".1%"),
    "evidence": _shown("evidence", ".3f"),
    "ms a request": _milliseconds,
}
_ROWS: dict[str, Callable[[Any], str]] = {
    "strategy": _shown("strategy"),
    "request": _shown("request", ","),
    "messages": _shown("messages", ","),
    "as it came": _shown("tokens_before", ","),
    "sent": _shown("tokens_after", ","),
    "cached": _shown("cached_tokens", ","),
    "cost": _shown("cost", ".3g", "$"),
    "with cache": _shown("cost_with_cache", ".3g", "$"),
    "evidence": _shown("evidence", ".3g"),
    "ms": lambda row: f"{1_000 * row.seconds:.1f}",
    "error": _shown("error"),
}
