"""Ways of choosing messages by what is asked, that need no package but a scorer; and an oracle that knows the gold."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from history_evaluation.references import newest
from history_evaluation.requests import Kept, Request, cost, whole

RECENT_SHARE = 0.2
_K1, _B = 1.2, 0.75
_WORDS = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about an and are as at be been by did do does for from had has have he her his how i in is it its me my not "
        "of on or our she that the their they this to was we were what when where which who whom why with you your",
    )
)


def bm25_messages(request: Request, budget: int) -> Kept:
    """The messages that share words with the question, stop words aside, best first; what does not fit is skipped."""
    return _filled(request, _best_first(request), budget, neighbors=0)


def bm25_neighbors(request: Request, budget: int) -> Kept:
    """The same, each with the message before and after it."""
    return _filled(request, _best_first(request), budget, neighbors=1)


def recent_bm25(request: Request, budget: int) -> Kept:
    """The newest messages up to a fifth, then the best with their neighbors."""
    recent = [place for place, _ in newest(request, int(budget * RECENT_SHARE)).rows]
    return _filled(request, _best_first(request), budget, neighbors=1, kept=recent)


def minilm_neighbors(request: Request, budget: int) -> Kept:
    """The messages whose embedding is nearest to the question's, best first, each with its neighbors."""
    return _filled(request, _nearest_first(request.question, _texts(request)), budget, neighbors=1)


def oracle(request: Request, budget: int) -> Kept:
    """The gold messages, the shortest first, then the newest ones."""
    rows = request.rows
    gold = sorted(request.evidence, key=lambda place: cost(rows[place]))
    kept = _filled(request, gold, budget, neighbors=0)
    newest_first = reversed(range(len(rows)))
    return _filled(request, newest_first, budget, neighbors=0, kept=[place for place, _ in kept.rows])


def _filled(request: Request, order: Iterable[int], budget: int, *, neighbors: int, kept: Sequence[int] = ()) -> Kept:
    chosen = set(kept)
    left = budget - sum(cost(request.rows[place]) for place in chosen)
    for place in order:
        around = range(max(0, place - neighbors), min(len(request.rows), place + neighbors + 1))
        for new in sorted(around, key=lambda other: abs(other - place)):
            tokens = cost(request.rows[new])
            if new not in chosen and tokens <= left:
                chosen.add(new)
                left -= tokens
    return whole(request, chosen)


def _texts(request: Request) -> tuple[str, ...]:
    return tuple(f"{row.get('name') or ''} {row.get('content') or ''}" for row in request.rows)


def _best_first(request: Request) -> list[int]:
    scores = _bm25(request.question, _texts(request))
    return sorted((i for i, score in enumerate(scores) if score), key=lambda i: (-scores[i], i))


def _bm25(question: str, texts: Sequence[str]) -> list[float]:
    counts = [_counts(text) for text in texts]
    lengths = [found.total() for found in counts]
    mean = sum(lengths) / len(lengths)
    wanted = [word for word in dict.fromkeys(_WORDS.findall(question.lower())) if word not in _STOP_WORDS]
    holding = {word: sum(word in found for found in counts) for word in wanted}
    rarity = {word: math.log1p((len(texts) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
    return [
        sum(
            rarity[word] * found[word] * (_K1 + 1) / (found[word] + _K1 * (1 - _B + _B * length / mean))
            for word in wanted
            if word in found
        )
        for found, length in zip(counts, lengths, strict=True)
    ]


@functools.lru_cache(maxsize=32_768)
def _counts(text: str) -> Counter[str]:
    return Counter(_WORDS.findall(text.lower()))


@functools.lru_cache(maxsize=8)
def _vectors(texts: tuple[str, ...]) -> Sequence[Sequence[float]]:
    from document_evaluation.minilm import embed

    return embed()(texts)


@functools.lru_cache(maxsize=16)
def _nearest_first(question: str, texts: tuple[str, ...]) -> list[int]:
    from document_evaluation.minilm import embed

    (asked,) = embed()([question])
    near = [sum(map(float.__mul__, vector, asked)) for vector in _vectors(texts)]
    return sorted(range(len(texts)), key=lambda i: (-near[i], i))
