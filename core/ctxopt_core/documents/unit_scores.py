"""How likely each unit of some documents is to hold what a query asks for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise

from ctxopt_core.documents.partial_document import PartialDocument
from ctxopt_core.documents.ranking import Ranking
from ctxopt_core.documents.second_hop import links
from ctxopt_core.relevance.bm25 import bm25_of_counts, inverse_frequencies
from ctxopt_core.relevance.term_lists import TermLists

# The weights are relative to the best BM25 score of a unit, which is 1.0. docs/algorithm.md says what each of them is
# for, docs/why.md how they were chosen, docs/benchmarks what is kept with them.
_PHRASE_WEIGHT = 0.1  # of the unit that has most neighboring words of the query as neighbors
_CONTEXT = 0.8  # share of a neighbor's score in a very long text; 1.0 would not tell neighbors apart
_CONTEXT_UNITS = 10  # units of the document that has half of that share
_DOCUMENT_WEIGHT = 0.35  # of the most relevant document
_RANK_WEIGHT = 0.35  # of the document that ranks first, if its score is the best as well
_RANK_OFFSET = 2  # places after which the rank has half of its weight
_NEARLY_BEST = 0.5  # of that weight for any document with the best score; more would ignore the order
_WORTH_SHARE = 0.4  # of that weight that a document loses whose score is worth nothing; the rest is for its place
_SUBJECT_TERMS = 8  # first terms of a document: where most texts, and chunks with a title, say what they are about
_SUBJECT_WEIGHT = 0.1  # of the document whose subject the query names best
_LINK_WEIGHT = 0.4  # of the document whose subject the best unit names
_LEAD_WEIGHT = 0.15  # of the first unit of a document
_LINKED_LEAD_WEIGHT = 0.4  # of the first unit of a document whose subject the best unit names
_SCORER_SHARE = 0.4  # of a custom scorer in the match of a unit, nearly as much as BM25, which has the rest


def score_units(
    parts: Sequence[PartialDocument],
    weights: Mapping[str, float],
    ranking: Ranking,
    similarities: Sequence[float] = (),
) -> None:
    """Set the scores of every unit of some documents.

    A score is the sum of

    1. the BM25 of the unit, and a tenth for words that are neighbors in the query and in the unit. The best unit of all
       has 1.0. A unit near a good one has part of its score, the less the further away and the shorter the text;
    2. up to 0.35 for the relevance of its document, and up to 0.35 for its rank: its place in the order, corrected by
       what its score is worth beside the best one, where there are scores;
    3. up to 0.1 if the first words of its document, its subject, are words of the query;
    4. up to 0.4 if the best units of other documents name that subject, and as much again for the first unit;
    5. 0.15 for the first unit of a document, which as a rule says what it is about.

    If there are `similarities`, the scores of all units by a custom scorer from 0.0 to 1.0, they make up 0.4 of
    the first summand.
    """
    terms = [part.terms for part in parts]
    units = TermLists([unit for document in terms for unit in document])
    subjects = [frozenset(islice(chain.from_iterable(document), _SUBJECT_TERMS)) for document in terms]
    scores = _word_scores(units, weights)
    if similarities:
        share = _SCORER_SHARE
        scores = [(1.0 - share) * own + share * similar for own, similar in zip(scores, similarities, strict=True)]
    of_units = iter(scores)
    own_scores = [list(islice(of_units, len(document))) for document in terms]
    linked = links(terms, own_scores, subjects, units, asked=weights)
    asked = _named_by_query(subjects, units, weights)
    for part, own, link, named in zip(parts, own_scores, linked, asked, strict=True):
        part.match = _with_context(own or [0.0] * len(part.units))
        prior = _DOCUMENT_WEIGHT * ranking.relevance.get(part.index, 0.0) + _RANK_WEIGHT * _standing(part, ranking)
        prior += _SUBJECT_WEIGHT * named + _LINK_WEIGHT * link
        lead = _LEAD_WEIGHT + _LINKED_LEAD_WEIGHT * link
        part.scores = [match + prior + (0.0 if number else lead) for number, match in enumerate(part.match)]


def _standing(part: PartialDocument, ranking: Ranking) -> float:
    """Return how high a document ranks, 1.0 for the first with the best score.

    Places say nothing of how close the scores are: a document whose score is nearly the best counts for at least about
    half, wherever it stands, and one that is far behind counts for less than its place.
    """
    place = _RANK_OFFSET / (_RANK_OFFSET + part.position)
    worth = ranking.worth.get(part.index)
    if worth is None:
        return place
    return max(place, _NEARLY_BEST * worth) * (1.0 - _WORTH_SHARE + _WORTH_SHARE * worth)


def _word_scores(units: TermLists, weights: Mapping[str, float]) -> list[float]:
    """Return the score of each unit by the words of the query, 1.0 for the best."""
    scores = _relative(bm25_of_counts(weights, units.counts(weights), units.lengths))
    phrases = _relative(_phrases(units.texts, scores, weights))
    return _relative([score + _PHRASE_WEIGHT * phrase for score, phrase in zip(scores, phrases, strict=True)])


def _phrases(units: Sequence[Sequence[str]], scores: Sequence[float], weights: Mapping[str, float]) -> Iterator[float]:
    """Yield how much weight the neighboring words of the query have that are neighbors in a unit, too."""
    values = {pair: weights[pair[0]] * weights[pair[1]] for pair in pairwise(weights)}
    asked = frozenset(weights)
    for unit, score in zip(units, scores, strict=True):
        # A unit with one word of the query has no two that are neighbors.
        found = score > 0.0 and len(asked.intersection(unit)) > 1
        yield sum([values[pair] for pair in pairwise(unit) if pair in values]) if found else 0.0


def _named_by_query(subjects: Sequence[Collection[str]], units: TermLists, weights: Mapping[str, float]) -> list[float]:
    """Return how much of the query the first words of each document are, 1.0 for the most."""
    rare = inverse_frequencies(units.holding(weights), len(units.lengths))
    return _relative(math.fsum(weights[t] * rare[t] for t in subject if t in weights) for subject in subjects)


def _relative(values: Iterable[float]) -> list[float]:
    """Return values as shares of the largest."""
    found = list(values)
    best = max(found, default=0.0) or 1.0
    return [value / best for value in found]


def _with_context(own: list[float]) -> list[float]:
    share = _CONTEXT * len(own) / (len(own) + _CONTEXT_UNITS)
    match = list(own)
    for n in range(1, len(match)):
        match[n] = max(match[n], share * match[n - 1])
    for n in range(len(match) - 2, -1, -1):
        match[n] = max(match[n], share * match[n + 1])
    return match
