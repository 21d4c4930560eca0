"""Ways of packing that need no package: what a program does without a packer, and an oracle that knows the gold."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from document_evaluation.cases import COUNTER, SEPARATOR, Case
from document_evaluation.survival import Kept, evidence

_GAP = " … "


@functools.lru_cache(maxsize=8_192)
def _count(text: str) -> int:
    return COUNTER.count(text)


_SEPARATOR_TOKENS = _count(SEPARATOR)


def joined_tokens(kept: Kept) -> int:
    """Count the texts, joined."""
    return _count(SEPARATOR.join(text for _, text in kept))


def _best_first(case: Case) -> list[int]:
    """Return the documents by score, or as they come where they have none."""
    scores = [passage.score for passage in case.passages]
    return sorted(range(len(scores)), key=lambda index: -(scores[index] or 0.0))


def _whole(case: Case, order: Iterable[int]) -> list[tuple[int, str]]:
    return [(index, case.passages[index].text) for index in order]


def _cut(text: str, room: int) -> str:
    return text[: COUNTER.prefix_length(text, room)] if room > 0 else ""


def cut_joined(kept: Sequence[tuple[int, str]], budget: int) -> Kept:
    """Keep texts in their order while they fit, and the head of the first that does not."""
    head: list[tuple[int, str]] = []
    for index, text in kept:
        if joined_tokens([*head, (index, text)]) <= budget:
            head.append((index, text))
            continue
        room = budget - (joined_tokens(head) + _SEPARATOR_TOKENS if head else 0)
        while room > 0 and joined_tokens([*head, (index, _cut(text, room))]) > budget:
            room -= 1
        part = _cut(text, room)
        return [*head, (index, part)] if part else head
    return head


def head_truncation(case: Case, budget: int) -> Kept:
    """All texts as they come, cut at the limit."""
    return cut_joined(_whole(case, range(len(case.passages))), budget)


def top_n_cut(case: Case, budget: int) -> Kept:
    """The best first, cut at the limit."""
    return cut_joined(_whole(case, _best_first(case)), budget)


def top_n_stop(case: Case, budget: int) -> Kept:
    """The best first, as long as they fit."""
    kept: list[tuple[int, str]] = []
    for pair in _whole(case, _best_first(case)):
        if joined_tokens([*kept, pair]) > budget:
            break
        kept.append(pair)
    return kept


def score_skip(case: Case, budget: int) -> Kept:
    """The best first; what does not fit is skipped."""
    return _greedy(case, _best_first(case), budget)


def _greedy(case: Case, order: Iterable[int], budget: int) -> Kept:
    kept: list[tuple[int, str]] = []
    for pair in _whole(case, order):
        if joined_tokens([*kept, pair]) <= budget:
            kept.append(pair)
    return kept


def density_swap(case: Case, budget: int) -> Kept:
    """The most score for a token first, then every swap of one kept for one skipped that gains score."""
    costs = [_count(passage.text) + _SEPARATOR_TOKENS for passage in case.passages]
    values = [1.0 if passage.score is None else max(0.0, passage.score) for passage in case.passages]
    order = sorted(range(len(costs)), key=lambda index: (-values[index] / costs[index], costs[index]))
    kept = [index for index, _ in _greedy(case, order, budget)]
    improved = True
    while improved:
        improved = False
        room = budget + _SEPARATOR_TOKENS - sum(costs[index] for index in kept)
        for new in (index for index in order if index not in kept):
            old = min((i for i in kept if costs[new] - costs[i] <= room), key=lambda i: values[i], default=None)
            if old is not None and values[new] > values[old]:
                swapped = [new if index == old else index for index in kept]
                if joined_tokens(_whole(case, swapped)) <= budget:
                    kept, improved = swapped, True
                    break
    return _whole(case, sorted(kept, key=lambda index: -values[index]))


def equal_heads(case: Case, budget: int) -> Kept:
    """The head of every document, each of the same length; what a short one leaves goes to the others."""
    costs = [_count(passage.text) for passage in case.passages]
    room = budget - _SEPARATOR_TOKENS * (len(costs) - 1)
    level, left = 0, room
    for position, cost in enumerate(sorted(costs)):
        level = max(0, left // (len(costs) - position))
        if cost > level:
            break
        left -= cost
    while level > 0:
        heads = [(index, _cut(passage.text, level)) for index, passage in enumerate(case.passages)]
        kept = [(index, head) for index, head in heads if head.strip()]
        if joined_tokens(kept) <= budget:
            return kept
        level -= 1
    return cut_joined(_whole(case, range(len(costs))), budget)


def oracle(case: Case, budget: int) -> Kept:
    """The gold evidence, the shortest pieces first, then the gold documents whole while they fit; nothing else."""
    spans: dict[int, list[str]] = {}
    numbers = {passage.id: index for index, passage in enumerate(case.passages)}
    shortest = ((name, min(alternatives, key=len)) for name, alternatives in evidence(case))
    for name, wanted in sorted(shortest, key=lambda unit: len(unit[1])):
        grown = {index: list(parts) for index, parts in spans.items()}
        grown.setdefault(numbers[name], []).append(wanted)
        if joined_tokens(_parts(case, grown)) <= budget:
            spans = grown
    kept = dict(_parts(case, spans))
    for document in case.item["documents"]:
        index = numbers[document["id"]]
        larger = {**kept, index: case.passages[index].text}
        if document["gold"] and joined_tokens(list(larger.items())) <= budget:
            kept = larger
    return list(kept.items())


def _parts(case: Case, spans: dict[int, list[str]]) -> list[tuple[int, str]]:
    texts = {index: case.passages[index].text for index in spans}
    return [(index, _GAP.join(sorted(parts, key=texts[index].find))) for index, parts in spans.items()]
