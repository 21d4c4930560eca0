"""The protocol of a relevance scorer, and the one place where scorers are called and checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ctxopt_core.runtime.call_or_await import call_or_await, is_coroutine_function

_USUAL = 0.9  # share of the texts that do not stand out; with .5, .75 and .95 single sets lost more


def check_scorer(scorer: object) -> None:
    """Raise `ValueError` if a policy's scorer is neither a function nor None."""
    if scorer is not None and not callable(scorer):
        message = (
            f"`scorer` must be a function of a query and texts or None, got {type(scorer).__name__}; "
            "wrap an embedding model as embedding_scorer(model)"
        )
        raise ValueError(message)


def call_scorer(scorer: Scorer, query: str, texts: Sequence[str]) -> list[float]:
    """Return the scores of a scorer for at least one text, checked. NaN becomes minus infinity, which ranks last.

    If an event loop waits for this thread and the scorer can be awaited, it runs on that loop.

    Raises:
        TypeError: The scorer returns something other than numbers, or can only be awaited and no event loop waits.
        ValueError: It returns more or fewer scores than there are texts.
    """
    plain: Any = scorer
    awaited: Any = scorer.ascore if isinstance(scorer, AsyncScorer) else None
    if awaited is None and is_coroutine_function(scorer):
        plain, awaited = None, scorer
    found = call_or_await(plain, awaited, query, texts, named=f"`scorer` {_name(scorer)}")
    try:
        scores = list(found)
    except TypeError as error:
        message = f"`scorer` {_name(scorer)} must return one score for each text, got {type(found).__name__}"
        raise TypeError(message) from error
    if len(scores) != len(texts):
        message = f"`scorer` {_name(scorer)} must return one score for each text, got {len(scores)} for {len(texts)}"
        raise ValueError(message)
    return [_number(score, scorer) for score in scores]


def _number(score: Any, scorer: Scorer) -> float:
    try:
        if not isinstance(score, (str, bytes, bytearray)):
            number = float(score)
            return -math.inf if math.isnan(number) else number
    except (TypeError, OverflowError) as error:
        message = f"`scorer` {_name(scorer)} must return numbers, got {type(score).__name__}: {error}"
        raise TypeError(message) from error
    message = f"`scorer` {_name(scorer)} must return numbers, got {type(score).__name__}"
    raise TypeError(message)


def _name(scorer: Scorer) -> str:
    return str(getattr(scorer, "__qualname__", None) or type(scorer).__qualname__)


def rescale(scores: Sequence[float]) -> list[float]:
    """Return scores shifted and scaled so that the lowest is 0.0 and the highest 1.0; all 0.0 if they are equal."""
    finite = [score for score in scores if math.isfinite(score)]
    least, most = min(finite, default=0.0), max(finite, default=0.0)
    if most <= least:
        return [1.0 if score == math.inf else 0.0 for score in scores]
    # Halves keep the difference of two huge numbers finite.
    span = most / 2 - least / 2
    return [min(1.0, max(0.0, (score / 2 - least / 2) / span)) for score in scores]


def standing_out(scores: Sequence[float]) -> list[float]:
    """Return by how much scores stand out: 1.0 for the best, 0.0 for all but about the best tenth.

    Similarities of embedding vectors hardly differ among texts that have nothing to do with a query, and are far from
    zero for all of them; most scores of a reranker are near its worst. Only the distance from the usual tells anything.
    """
    finite = sorted(score for score in scores if math.isfinite(score))
    if not finite or finite[0] == finite[-1]:
        return [1.0 if score == math.inf else 0.0 for score in scores]
    usual = min(finite[int(_USUAL * (len(finite) - 1))], max(score for score in finite if score < finite[-1]))
    # Halves keep the difference of two huge numbers finite.
    span = finite[-1] / 2 - usual / 2
    return [min(1.0, max(0.0, (score / 2 - usual / 2) / span)) for score in scores]


@runtime_checkable
class Scorer(Protocol):
    """A function that scores the relevance of texts to a query.

    1. It returns one number for each text, in their order; more is better. The scores of one call are compared with
       each other only, so their scale does not matter.
    2. It is deterministic: equal arguments give equal scores.
    3. It is not called when there is no query, no text, or nothing to choose because everything fits.

    Example:
        >>> from ctxopt_core import CallableCounter, Document, DocumentPolicy, pack_documents
        >>> def shortest_first(query, texts):
        ...     return [-len(text) for text in texts]
        >>> documents = [Document(text="A long note on kilns."), Document(text="A kiln.")]
        >>> policy = DocumentPolicy(scorer=shortest_first)
        >>> pack_documents(documents, 10, CallableCounter(len), query="kiln", policy=policy).kept
        (1,)
    """

    def __call__(self, query: str, texts: Sequence[str], /) -> Sequence[float]:
        """Return one score for each text."""
        ...


@runtime_checkable
class AsyncScorer(Scorer, Protocol):
    """A scorer that can be awaited, too.

    1. Calling and awaiting it return the same scores.
    2. It is awaited on the event loop of the caller, when `afit` or an adapter's async method waits for the result.
    """

    async def ascore(self, query: str, texts: Sequence[str], /) -> Sequence[float]:
        """Return one score for each text."""
        ...
