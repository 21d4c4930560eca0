"""The second hop: documents whose subject the best sentences of other documents name.

"Who directed the film that won in 1950?" is answered by two documents: one says which film won, another, about that
film, who directed it. The second shares few words with the question. It is found by what the first one names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice

from ctxopt_core.relevance.bm25 import inverse_frequencies
from ctxopt_core.relevance.feedback import TermLists
from ctxopt_core.relevance.query_terms import rarity

_NAMING_UNITS = 3  # best units, each of another document, whose words are looked for; more drift from the question
SUBJECT_TERMS = 8  # first terms of a document: where most texts, and chunks with a title, say what they are about
_LEAST_RARITY = 0.55  # of a word that links two documents, from 0.0 to 1.0: common words link everything
Terms = Sequence[str]


def links(
    documents: Sequence[Sequence[Terms]], scores: Sequence[Sequence[float]], asked: Collection[str]
) -> list[float]:
    """Return for each document how strongly the best units of others name its subject, from 0.0 to 1.0.

    The strength is the score of the naming unit times the rarity of the rare terms that it shares with the document's
    first eight terms, at most 1.0. Terms of the query do not count: they are found anyway.

    Args:
        documents: For each document the terms of each of its units.
        scores: The score of each of these units, from 0.0 to 1.0.
        asked: The terms of the query.
    """
    subjects = [_rare(islice(chain.from_iterable(document), SUBJECT_TERMS), asked) for document in documents]
    naming = _naming_units(scores)
    named = [_rare(documents[index][number], asked) for index, number in naming]
    shared = frozenset().union(*named) & frozenset().union(*subjects)
    if not shared:
        return [0.0] * len(documents)
    rare = _relative_rarity(documents, shared)
    found = [0.0] * len(documents)
    for (index, number), terms in zip(naming, named, strict=True):
        for other, subject in enumerate(subjects):
            common = terms & subject & shared
            if other != index and common:
                strength = scores[index][number] * min(1.0, sum(rare[term] for term in common))
                found[other] = max(found[other], strength)
    return found


def _naming_units(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return (document, unit) of the best unit of each of the best documents."""
    best = [
        (max(of_document), -index, -of_document.index(max(of_document)))
        for index, of_document in enumerate(scores)
        if of_document
    ]
    best.sort(reverse=True)
    return [(-index, -number) for score, index, number in best[:_NAMING_UNITS] if score > 0.0]


def _rare(terms: Collection[str] | islice[str], asked: Collection[str]) -> frozenset[str]:
    return frozenset(
        term for term in terms if term not in asked and not term.isdigit() and rarity(f" {term}") > _LEAST_RARITY
    )


def _relative_rarity(documents: Sequence[Sequence[Terms]], terms: Collection[str]) -> Mapping[str, float]:
    """Return the inverse frequency of terms among all units, 1.0 for a term that one unit has."""
    units = TermLists([unit for document in documents for unit in document])
    rare = inverse_frequencies({**units.holding(terms), "": 1}, len(units.lengths))
    most = rare.pop("")
    return {term: value / most for term, value in rare.items()}
