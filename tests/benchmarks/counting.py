"""What counting costs beside tiktoken: the first time in a process, and after that.

Run it with `make bench`. Every figure is a median of CPU time, and the candidates of a table take turns, so the ratios
of one run can be compared. Milliseconds of different machines cannot.
"""

from __future__ import annotations

from collections.abc import Iterator

from counting_tables import count_rows, first_count_rows
from program import run
from result_table import Row


def main() -> None:
    """Measure, and print tables."""
    run(__doc__, tables, "Medians of CPU time. `x tiktoken` is how many times faster than tiktoken.")


def tables(quick: bool) -> Iterator[list[Row]]:
    """Yield the rows of each table as soon as they are measured."""
    yield first_count_rows(1 if quick else 9)
    yield count_rows(1 if quick else 15)


if __name__ == "__main__":
    main()
