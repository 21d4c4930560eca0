"""How long a fit of a long history takes, as ratios to what it is measured beside.

Run it with `make bench`. Every figure is a median of CPU time, and the candidates of a table take turns, so the ratios
of one run can be compared. Milliseconds of different machines cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from history_tables import chat_rows, share_rows, short_rows, window_rows
from import_cost import import_rows
from program import run
from result_table import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured.

    Args:
        shares: (messages, rounds) of the histories fitted to 30 %.
        lengths: Messages of the histories fitted to a fixed window.
        length_rounds: How often each of them is fitted.
        short: Messages of the conversation of short messages.
        short_rounds: How often it is fitted.
        turns: Turns of the chat.
        chat_rounds: How often the chat is held.
        processes: Fresh processes for each import.
    """

    shares: tuple[tuple[int, int], ...]
    lengths: tuple[int, ...]
    length_rounds: int
    short: int
    short_rounds: int
    turns: int
    chat_rounds: int
    processes: int


FULL = Plan(
    shares=((60, 15), (1_000, 9), (10_000, 3)),
    lengths=(1_000, 10_000, 100_000),
    length_rounds=15,
    short=5_900,
    short_rounds=15,
    turns=200,
    chat_rounds=5,
    processes=7,
)
QUICK = Plan(
    shares=((60, 1), (1_000, 1)),
    lengths=(500, 1_000),
    length_rounds=1,
    short=600,
    short_rounds=1,
    turns=20,
    chat_rounds=1,
    processes=1,
)


def main() -> None:
    """Measure, and print tables."""
    note = "Medians of CPU time. `x NAME` is how many times faster than NAME; `x its own time` is a growth."
    run(__doc__, lambda quick: tables(QUICK if quick else FULL), note)


def tables(plan: Plan) -> Iterator[list[Row]]:
    """Yield the rows of each table as soon as they are measured."""
    yield [row for count, rounds in plan.shares for row in share_rows(count, rounds)]
    yield window_rows(plan.lengths, plan.length_rounds)
    yield short_rows(plan.short, plan.short_rounds)
    yield chat_rows(plan.turns, plan.chat_rounds)
    yield import_rows(plan.processes)


if __name__ == "__main__":
    main()
