"""The sets of documents with gold evidence, as cases: one item in one mode, with the budgets it is packed into."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import random
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ctxopt_core import counter_for

ROOT = Path(__file__).parents[3]
DEFAULT_DATA = ROOT / ".." / "shared" / "data"
COUNTER = counter_for("o200k_base")
SEPARATOR = "\n\n"
SETS = (
    "docs_hotpotqa",
    "docs_musique",
    "docs_xquad12",
    "rag_chat_mtrag_un",
    "longdoc_covidqa",
    "docs_tatqa",
    "docs_tatqa_blocks",
    "docs_zh",
    "docs_openqa",
)
MODES = ("score", "dense", "shuffled", "rank", "none")
SHARES = (0.10, 0.20, 0.35, 0.50)
WINDOWS = (160, 256, 512, 1_024)
BUDGETS = (*(f"{share:.0%}" for share in SHARES), *map(str, WINDOWS))
LEAST_BUDGET = 32
_SEED = 20_261_129


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A retrieved document as a case presents it."""

    id: str
    text: str
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One item in one mode.

    Args:
        number: The place of the item in its set, from 0.
        item: The item as the set has it, for the metrics.
        passages: The documents as the candidates get them.
        whole: Tokens of all texts, joined.
        context: Characters on both sides of a span of evidence that have to be kept with it.
    """

    number: int
    item: Mapping[str, Any] = field(repr=False)
    passages: tuple[Passage, ...] = field(repr=False)
    whole: int
    context: int = 0

    @property
    def question(self) -> str:
        return self.item["question"]

    @property
    def texts(self) -> list[str]:
        return [passage.text for passage in self.passages]

    def budget(self, name: str) -> int:
        """Return a budget in tokens: a share of the item's own tokens, or a number of tokens."""
        if not name.endswith("%"):
            return int(name)
        return max(LEAST_BUDGET, int(self.whole * float(name[:-1]) / 100))


def data_folder() -> Path:
    """Return the folder with the sets, or leave with a message where there is none."""
    folder = Path(os.environ.get("CTXOPT_EVAL_DATA") or DEFAULT_DATA)
    if not (folder / "evaldata.py").is_file():
        sys.exit(f"evaluation skipped: no data in {folder}; set CTXOPT_EVAL_DATA")
    return folder


@functools.cache
def load_data() -> ModuleType:
    """Load the sets' own loader."""
    loader = data_folder() / "evaldata.py"
    spec = importlib.util.spec_from_file_location("evaldata", loader)
    if spec is None or spec.loader is None:
        sys.exit(f"evaluation skipped: {loader} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def fingerprint(name: str) -> str:
    """Tell one state of a set from another; empty where the set is missing."""
    path = data_folder() / f"{name}.jsonl.gz"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""


@functools.cache
def items(name: str) -> tuple[Mapping[str, Any], ...]:
    """Return all items of a set."""
    return tuple(load_data().items(name)) if fingerprint(name) else ()


def modes_of(name: str) -> tuple[str, ...]:
    """Return the modes that change anything in a set: not all have other scores, and one document has no order."""
    first = next(iter(items(name)), None)
    if first is None:
        return ()
    if name.startswith("longdoc"):
        return ("score", "none")
    dense = all("score_dense" in document for document in first["documents"])
    return tuple(mode for mode in MODES if dense or mode != "dense")


def case_of(name: str, number: int, mode: str) -> Case:
    """Present an item in a mode.

    `score`: as delivered. `dense`: the other scores, best first. `shuffled`: in another order, with the scores.
    `rank`: as delivered, without scores. `none`: in another order, without.
    """
    item = items(name)[number]
    documents = list(item["documents"])
    key = "score_dense" if mode == "dense" else "score"
    if mode == "dense":
        documents.sort(key=lambda document: -document[key])
    elif mode not in {"score", "rank"}:
        random.Random(f"{_SEED} {name} {number}").shuffle(documents)
    passages = tuple(
        Passage(id=document["id"], text=document["text"], score=None if mode in {"none", "rank"} else document[key])
        for document in documents
    )
    whole = COUNTER.count(SEPARATOR.join(passage.text for passage in passages))
    return Case(
        number=number, item=item, passages=passages, whole=whole, context=40 if name.startswith("longdoc") else 0
    )


def chosen(name: str, half: str, every: int | None, limit: int | None) -> list[int]:
    """Return the places of the items that are looked at: a half, every n-th of it, at most so many.

    Without `every`, about a hundred questions of a set with many questions on the same text.
    """
    numbers = list(range(len(items(name))))
    if half != "all":
        numbers = numbers[1 if half == "odd" else 0 :: 2]
    step = every or (max(1, len(numbers) // 98) if name.startswith("longdoc") else 1)
    return numbers[::step][:limit]
