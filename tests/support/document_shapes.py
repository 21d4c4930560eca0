"""Document sets that packing is known to get wrong: scores, sizes, duplicates, scripts, blank and hostile texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shape_rows import FAMILY, SCRIPTS, SPECIAL, filler

Row = dict[str, Any]

QUESTION = "Why did the kiln at Orchard Nine crack?"
NEEDLE = "ZK-402"
ANSWER = f"The kiln at Orchard Nine cracked because glaze batch {NEEDLE} held trapped water. "
CHINESE_ANSWER = "果园九号的窑因为釉料受潮在六点裂开"
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentShape:
    """One set of documents and the question; the budget holds the kept texts joined by a blank line.

    `max_tokens` is in o200k_base tokens. `needles` must be visible in the kept texts. `unchanged`: it fits, and the
    same documents must come back. `no_budget`: the budget is invalid and a ValueError passes. `worded_scores`: some
    scores are words, so that a TypeError which names the document passes.
    """

    name: str
    build: Callable[[], list[Row]]
    question: str = QUESTION
    max_tokens: int = 200
    needles: tuple[str, ...] = (NEEDLE,)
    infeasible: bool = False
    unchanged: bool = False
    no_budget: bool = False
    worded_scores: bool = False

    @property
    def documents(self) -> list[Row]:
        """Build the documents anew, so that a test may spoil them; read the property once per test."""
        return self.build()


def document(number: int, text: Any, score: Any, title: str = "") -> Row:
    return {"id": f"doc-{number}", "title": title, "text": text, "score": score}


def _note(number: int) -> str:
    return f"Note {number}. {filler(7)}"


def _falling(texts: Sequence[Any]) -> list[Row]:
    """Return a document per text with scores that fall from 1.0."""
    return [document(number, text, 1.0 - number / (len(texts) + 1)) for number, text in enumerate(texts)]


def _answer_and_notes(scores: Sequence[Any]) -> list[Row]:
    """Return the answer with the first score, then a note for each further score."""
    texts = [ANSWER, *(_note(number) for number in range(1, len(scores)))]
    return [document(number, text, score) for number, (text, score) in enumerate(zip(texts, scores, strict=True))]


def _tiny(count: int, answer_at: int) -> list[Row]:
    texts = [f"Shelf {number} holds {number} bowls." for number in range(count)]
    return _falling([*texts[:answer_at], ANSWER, *texts[answer_at:]])


def _same_id() -> list[Row]:
    return [{**row, "id": "doc-0"} for row in _answer_and_notes([0.9, 0.8, 0.7, 0.6])]


def _titled() -> list[Row]:
    return [{**row, "title": filler(1)} for row in _answer_and_notes([0.9, 0.8, 0.7, 0.6])]


SCORE_SHAPES = (
    DocumentShape(name="scores_below_zero", build=lambda: _answer_and_notes([-0.2, -4.0, -2.5, -8.0, -1.0])),
    DocumentShape(name="scores_of_nan", build=lambda: _answer_and_notes([math.nan, math.nan, 0.4, math.nan, 0.2])),
    DocumentShape(name="infinite_scores", build=lambda: _answer_and_notes([math.inf, -math.inf, 0.4, -math.inf, 0.2])),
    DocumentShape(name="scores_partly_missing", build=lambda: _answer_and_notes([None, 0.3, None, 0.8, None, 0.1])),
    DocumentShape(name="scores_all_missing", build=lambda: _answer_and_notes([None] * 6)),
    DocumentShape(name="scores_all_zero", build=lambda: _answer_and_notes([0.0] * 6)),
    DocumentShape(name="whole_number_scores", build=lambda: _answer_and_notes([10**30, 3, 2, 1, 0])),
    DocumentShape(
        name="scores_in_words",
        build=lambda: _answer_and_notes(["CERTAIN", "WEAK", "FAIR", "WEAK", "0.7"]),
        worded_scores=True,
    ),
)

CONTENT_SHAPES = (
    DocumentShape(name="repeated_document", build=lambda: _falling([*([_note(1)] * 6), ANSWER])),
    DocumentShape(
        name="repeated_but_for_blanks_and_case",
        build=lambda: _falling([_note(1), f"  {_note(1)}\n", _note(1).upper(), _note(1).replace(" ", "  "), ANSWER]),
    ),
    DocumentShape(
        name="document_inside_another",
        build=lambda: _falling([filler(3) + ANSWER, ANSWER, filler(2), *(_note(n) for n in range(4))]),
    ),
    DocumentShape(name="one_id_for_all", build=_same_id),
    DocumentShape(name="titles_beside_texts", build=_titled),
    DocumentShape(name="thousand_tiny_documents", build=lambda: _tiny(1000, 2)),
    DocumentShape(name="one_document_over_the_budget", build=lambda: _falling([filler(60) + ANSWER + filler(60)])),
    DocumentShape(
        name="best_document_over_the_budget",
        build=lambda: _falling([filler(60) + ANSWER + filler(60), *(_note(n) for n in range(4))]),
    ),
    DocumentShape(
        name="every_document_over_the_budget",
        build=lambda: _falling([filler(40) + ANSWER + filler(40), filler(90), filler(91), filler(92)]),
    ),
    DocumentShape(
        name="blank_texts", build=lambda: _falling(["", " \t\n", ANSWER, "", "\u200b", *(_note(n) for n in range(5))])
    ),
    DocumentShape(name="texts_of_none", build=lambda: _falling([None, ANSWER, None, *(_note(n) for n in range(5))])),
    DocumentShape(name="only_blank_texts", build=lambda: _falling(["", " ", "\n"]), needles=()),
    DocumentShape(
        name="special_tokens_in_documents",
        build=lambda: _falling([SPECIAL + ANSWER, *(f"{SPECIAL} {_note(n)}" for n in range(5))]),
    ),
    DocumentShape(
        name="chinese_without_punctuation",
        build=lambda: _falling([CHINESE_ANSWER + SCRIPTS["chinese"] * 60, "架上有许多旧碗" * 200]),
        question="果园九号的窑几点裂开",
        needles=("六点",),
    ),
    DocumentShape(
        name="thai_without_spaces",
        build=lambda: _falling([SCRIPTS["thai"] * 60, SCRIPTS["thai"][::-1] * 60]),
        question=SCRIPTS["thai"],
        needles=(),
    ),
    DocumentShape(
        name="emoji_families_only", build=lambda: _falling([FAMILY * 200, FAMILY * 100, ANSWER]), question=FAMILY
    ),
    DocumentShape(
        name="lone_surrogates", build=lambda: _falling([f"\ud800 {ANSWER}", "dusk\udfff dawn " * 200, _note(1)])
    ),
    DocumentShape(name="million_letters", build=lambda: _falling(["a" * MILLION, ANSWER, _note(1), _note(2)])),
    DocumentShape(name="million_spaces", build=lambda: _falling([" " * MILLION + "x", ANSWER, _note(1), _note(2)])),
    DocumentShape(name="base64_document", build=lambda: _falling(["UklNRVJPQ0s" * 20_000, ANSWER, _note(1)])),
)

FIT_SHAPES = (
    DocumentShape(name="empty_document_list", build=list, needles=(), unchanged=True),
    DocumentShape(name="all_documents_fit", build=lambda: _falling([ANSWER, filler(2), filler(3)]), unchanged=True),
    DocumentShape(name="blank_question", build=lambda: _answer_and_notes([0.9, 0.8, 0.7, 0.6]), question=" "),
    DocumentShape(
        name="budget_of_zero",
        build=lambda: _falling([_note(1), _note(2), _note(3)]),
        max_tokens=0,
        needles=(),
        infeasible=True,
        no_budget=True,
    ),
    DocumentShape(
        name="budget_below_zero",
        build=lambda: _falling([_note(1), _note(2)]),
        max_tokens=-5,
        needles=(),
        infeasible=True,
        no_budget=True,
    ),
    DocumentShape(
        name="budget_of_one_token",
        build=lambda: _falling([_note(1), _note(2)]),
        max_tokens=1,
        needles=(),
        infeasible=True,
    ),
)

DOCUMENT_SHAPES: tuple[DocumentShape, ...] = (*SCORE_SHAPES, *CONTENT_SHAPES, *FIT_SHAPES)
