"""Documents of which only some sentences are kept, and the score of each of their units for a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctxopt_core.documents.passage_units import Unit
from ctxopt_core.relevance.feedback import TermLists, bm25_with_feedback

_SMALL_EDGES = 4  # characters of white space; a document with so few is kept as it came when all its units are chosen
# The weights are relative to the best BM25 score of a unit, which is 1.0. docs/algorithm.md says what each of them is
# for, docs/benchmarks.md what is kept with them.
_FEEDBACK_UNITS = 3  # best units that further terms are taken from; more of them drift from the question
_FEEDBACK_WEIGHT = 0.2  # of a term that the query does not have, where one of the query has up to 1.0
_CONTEXT = 0.8  # share of a neighbor's score in a very long text; 1.0 would not tell neighbors apart
_CONTEXT_UNITS = 20  # units of the document that has half of that share
_DOCUMENT_WEIGHT = 0.35  # of the most relevant document
_RANK_WEIGHT = 0.35  # of the document that ranks first
_RANK_OFFSET = 2  # places after which the rank has half of its weight
_LEAD_WEIGHT = 0.3  # of the first unit of a document
_SCORER_SHARE = 0.3  # of a custom scorer in the score of a unit; the rest is BM25


@dataclass(slots=True, kw_only=True, eq=False)
class PartialDocument:
    """A document, its units, and which of them are chosen.

    Args:
        index: The document.
        position: How many documents rank above it.
        text: Its text, without the start that another document ends with.
        offset: Characters of the document before `text`.
        follows: The document that ends with these characters.
        copies: How many times the prompt holds what is chosen of it.
        units: The units of the text.
        terms: The terms of each unit; empty without a query.
        match: How well each unit, or one near it, matches the query, from 0.0 to 1.0.
        scores: The score of each unit, which includes the rank of its document.
        chosen: The units that are chosen, by number.
    """

    index: int
    position: int
    text: str
    offset: int = 0
    follows: int | None = None
    copies: int = 1
    units: Sequence[Unit]
    terms: Sequence[Sequence[str]] = ()
    match: Sequence[float] = ()
    scores: Sequence[float] = ()
    chosen: set[int] = field(default_factory=set)

    def open_sides(self, number: int) -> int:
        """Return on how many sides of a unit, were it chosen, something would be missing."""
        before = number > 0 and number - 1 not in self.chosen
        after = number + 1 < len(self.units) and number + 1 not in self.chosen
        return before + after

    def render(self, marker: str) -> str:
        """Return the chosen units in their order, with the marker wherever something is missing."""
        edges = len(self.text) - (self.units[-1].stop - self.units[0].start) if self.units else 0
        if len(self.chosen) == len(self.units) and edges <= _SMALL_EDGES:
            return self.text
        parts: list[str] = []
        following = 0
        for number in sorted(self.chosen):
            unit = self.units[number]
            part = self.text[unit.start : unit.stop]
            if number > following:
                part = (marker if parts else marker.lstrip()) + part.lstrip()
            parts.append(part)
            following = number + 1
        if following < len(self.units):
            parts.append(marker.rstrip())
        return "".join(parts)


def score_units(
    parts: Sequence[PartialDocument],
    weights: Mapping[str, float],
    relevance: Mapping[int, float],
    similarities: Sequence[float] = (),
) -> None:
    """Set the scores of every unit of some documents.

    A score is the sum of

    1. the BM25 of the unit, where terms of its best units that the query does not have get a small weight
       (pseudo-relevance feedback, Rocchio 1971): so a second document is found that the query does not name. The best
       unit of all has 1.0. A unit near a good one has part of its score, the less the further away and the shorter the
       text;
    2. the relevance of its document and the rank of it, up to 0.35 each;
    3. 0.3 for the first unit of a document, which as a rule says what it is about.

    If there are `similarities`, the scores of all units by a custom scorer, they make up 0.3 of the first summand. They
    and `relevance`, that of each document, are from 0.0 to 1.0.
    """
    texts = TermLists([terms for part in parts for terms in part.terms])
    scores = bm25_with_feedback(weights, texts, best_texts=_FEEDBACK_UNITS, feedback_weight=_FEEDBACK_WEIGHT)
    best = max(scores, default=0.0) or 1.0
    scores = [score / best for score in scores]
    if similarities:
        share = _SCORER_SHARE
        scores = [(1.0 - share) * own + share * similar for own, similar in zip(scores, similarities, strict=True)]
    of_units = iter(scores)
    for part in parts:
        own = [next(of_units) for _ in part.terms] or [0.0] * len(part.units)
        part.match = _with_context(own)
        prior = _DOCUMENT_WEIGHT * relevance.get(part.index, 0.0)
        prior += _RANK_WEIGHT * _RANK_OFFSET / (_RANK_OFFSET + part.position)
        part.scores = [match + prior + (0.0 if number else _LEAD_WEIGHT) for number, match in enumerate(part.match)]


def _with_context(own: list[float]) -> list[float]:
    share = _CONTEXT * len(own) / (len(own) + _CONTEXT_UNITS)
    match = list(own)
    for n in range(1, len(match)):
        match[n] = max(match[n], share * match[n - 1])
    for n in range(len(match) - 2, -1, -1):
        match[n] = max(match[n], share * match[n + 1])
    return match
