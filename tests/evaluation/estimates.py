"""By how much the estimator misses on texts in many languages: prints the table of docs/benchmarks/details.md.

    python tests/evaluation/estimates.py
    python tests/evaluation/estimates.py --half even

It reads the folder named by CTXOPT_EVAL_DATA, by default ../shared/data, and leaves with a message where there is none.
The figures of the estimator were fitted to texts with an even index; what is printed, unless asked, are the odd ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import mean

from document_evaluation.cases import load_data

from ctxopt_core import EstimateCounter, TokenCounter, counter_for

SETS = ("docs_xquad12", "sbd_ud12")
SHORTEST = 200
_COLUMNS = (
    *("language", "texts", "default ÷ larger", "lowest", "default ÷ `o200k_base`"),
    *("like `o200k_base` ÷ `o200k_base`", "lowest"),
)
HALVES: Mapping[str, slice] = {"even": slice(0, None, 2), "odd": slice(1, None, 2), "all": slice(None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Estimates divided by true counts, over the texts of one language.

    Args:
        texts: How many there are.
        average: The mean over the texts.
        lowest: That of the text that was estimated lowest.
    """

    texts: int
    average: float
    lowest: float


def texts_by_language(half: str) -> dict[str, list[str]]:
    """Return the texts of at least 200 characters, each once; every set is halved for itself."""
    data = load_data()
    found: dict[str, list[str]] = {}
    for name in SETS:
        of_set: dict[str, dict[str, None]] = {}
        for item in data.items(name):
            for text in _texts(item):
                if len(text) >= SHORTEST:
                    of_set.setdefault(item["lang"], {})[text] = None
        for language, texts in of_set.items():
            found.setdefault(language, []).extend(list(texts)[HALVES[half]])
    return {language: found[language] for language in sorted(found)}


def miss(texts: list[str], estimate: TokenCounter, truth: Callable[[str], int]) -> Miss:
    """Compare an estimate with a true count."""
    ratios = [estimate.count(text) / truth(text) for text in texts]
    return Miss(texts=len(ratios), average=mean(ratios), lowest=min(ratios))


def misses(texts: list[str]) -> tuple[Miss, Miss, Miss]:
    """Return how the default misses the dearer of both vocabularies and the newer one, and how the newer one's does."""
    older, newer = counter_for("cl100k_base"), counter_for("o200k_base")
    default, like_newer = EstimateCounter(), EstimateCounter(like="o200k_base")
    return (
        miss(texts, default, lambda text: max(older.count(text), newer.count(text))),
        miss(texts, default, newer.count),
        miss(texts, like_newer, newer.count),
    )


def table(half: str) -> Iterator[str]:
    """Yield the lines of the table."""
    by_language = texts_by_language(half)
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|---" * len(_COLUMNS) + "|"
    columns: list[tuple[Miss, Miss, Miss]] = []
    for language, texts in by_language.items():
        columns.append(misses(texts))
        yield _line(language, *columns[-1])
    totals = [
        Miss(
            texts=sum(m.texts for m in column),
            average=mean(m.average for m in column),
            lowest=min(m.lowest for m in column),
        )
        for column in zip(*columns, strict=True)
    ]
    yield _line("mean, lowest", *totals)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure the error of the estimator.")
    parser.add_argument("--half", choices=HALVES, default="odd", help="fitted on even, report odd")
    for line in table(parser.parse_args().half):
        print(line)


def _texts(item: Mapping[str, object]) -> list[str]:
    documents = item.get("documents")
    return [row["text"] for row in documents] if isinstance(documents, list) else [str(item["text"])]


def _line(language: str, dearer: Miss, default: Miss, newer: Miss) -> str:
    figures = (dearer.average, dearer.lowest, default.average, newer.average, newer.lowest)
    return f"| {language} | {dearer.texts} | {' | '.join(f'{figure:.2f}' for figure in figures)} |"


if __name__ == "__main__":
    main()
