"""What a conversation with the chat engines of LlamaIndex costs, with its own memories and with the optimizer.

Run it with `make bench`. The counts are the same on every machine. CPU times are of one turn, of one `get`, of one
import; only their ratios in one run can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chat_engine_tables import engine_rows
from import_cost import LLAMAINDEX_CASES, import_rows
from memory_tables import memory_rows
from program import run
from result_table import Row

ENGINES = ("context", "condense_plus_context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured.

    Args:
        turns: Turns of each conversation.
        presets: (messages, tokens of each) of the histories that there are from the start. With 30 messages of 98
            tokens the window is all but full without the nodes: that is where the stock memories need the most calls.
        counts: Messages of the histories that are got from a memory.
        rounds: How often each of them is got.
        processes: Fresh processes for each import.
    """

    turns: int
    presets: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]
    rounds: int
    processes: int


FULL = Plan(turns=60, presets=((0, 100), (30, 98), (60, 100)), counts=(60, 1_000, 10_000), rounds=9, processes=5)
QUICK = Plan(turns=3, presets=((0, 100), (60, 100)), counts=(60, 120), rounds=1, processes=1)


def main() -> None:
    """Measure, and print tables."""
    note = "Turns that failed count no calls, nodes or visible turns. `x NAME` is how many times faster than NAME."
    run(__doc__, lambda quick: tables(QUICK if quick else FULL), note)


def tables(plan: Plan) -> Iterator[list[Row]]:
    """Yield the rows of each table as soon as they are measured."""
    for engine in ENGINES:
        yield [row for preset, tokens in plan.presets for row in engine_rows(engine, preset, plan.turns, tokens)]
    yield memory_rows(plan.counts, plan.rounds)
    yield import_rows(plan.processes, LLAMAINDEX_CASES)


if __name__ == "__main__":
    main()
