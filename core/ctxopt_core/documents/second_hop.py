"""The second hop: documents whose subject the best sentences of other documents name.

"Who directed the film that won in 1950?" is answered by two documents: one says which film won, another, about that
film, who directed it. The second shares few words with the question. It is found by what the first one names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest

from ctxopt_core.relevance.bm25 import inverse_frequencies
from ctxopt_core.relevance.query_terms import rarity
from ctxopt_core.relevance.term_lists import TermLists

_NAMING_UNITS = 3  # best units, each of another document, whose words are looked for; more drift from the question
_LEAST_RARITY = 0.55  # of a word that links two documents, from 0.0 to 1.0: common words link everything
Terms = Sequence[str]


def links(
    documents: Sequence[Sequence[Terms]],
    scores: Sequence[Sequence[float]],
    subjects: Sequence[Iterable[str]],
    units: TermLists,
    *,
    asked: Collection[str],
) -> list[float]:
    """Return for each document how strongly the best units of others name its subject, from 0.0 to 1.0.

    The strength is the score of the naming unit times the rarity of the rare terms that it shares with the document's
    subject, at most 1.0. Terms of the query do not count: they are found anyway.

    Args:
        documents: For each document the terms of each of its units.
        scores: The score of each of these units, from 0.0 to 1.0.
        subjects: The first terms of each document.
        units: All units, among which a term is rare or not.
        asked: The terms of the query.
    """
    rare_subjects = [_rare(subject, asked) for subject in subjects]
    naming = _naming_units(scores)
    named = [_rare(documents[index][number], asked) for index, number in naming]
    shared = frozenset().union(*named) & frozenset().union(*rare_subjects)
    if not shared:
        return [0.0] * len(documents)
    rare = _relative_rarity(units, shared)
    found = [0.0] * len(documents)
    for (index, number), terms in zip(naming, named, strict=True):
        for other, subject in enumerate(rare_subjects):
            common = terms & subject
            if other != index and common:
                strength = scores[index][number] * min(1.0, sum(rare[term] for term in common))
                found[other] = max(found[other], strength)
    return found


def _naming_units(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return (document, unit) of the best unit of each of the best documents."""
    best = [(max(of_document), -index) for index, of_document in enumerate(scores) if of_document]
    return [(-n, scores[-n].index(score)) for score, n in nlargest(_NAMING_UNITS, best) if score > 0.0]


def _rare(terms: Iterable[str], asked: Collection[str]) -> frozenset[str]:
    return frozenset(
        term for term in terms if term not in asked and not term.isdigit() and rarity(f" {term}") > _LEAST_RARITY
    )


def _relative_rarity(units: TermLists, terms: Collection[str]) -> Mapping[str, float]:
    """Return the inverse frequency of terms among all units, 1.0 for a term that one unit has."""
    rare = inverse_frequencies({**units.holding(terms), "": 1}, len(units.lengths))
    most = rare.pop("")
    return {term: value / most for term, value in rare.items()}
