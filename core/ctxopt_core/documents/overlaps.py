"""Overlapping chunks of one source: how much they share, and how they are joined without repeating it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType

from ctxopt_core.documents.document import Document
from ctxopt_core.documents.shared_substrings import earlier_alike
from ctxopt_core.text.boundaries import cluster_start, word_end

_LEAST = 20  # characters of an overlap, about four words; shorter ones may be chance
_DENSE_LEAST = 10  # the same beyond ASCII, where a character says as much as two or three letters
_COMPARED_DIRECTLY = 64  # chunks of one source; beyond that, searching all for each head would take quadratic time
_MOST_HOLDERS = 8  # chunks that are compared for one head; bounds the time where many start alike
_PIECES = 40  # pieces of a chunk among many: a shared one is a fortieth of a chunk, less than a usual overlap
_TRIES = 32  # occurrences of a head that are tried before the search that takes linear time for any text, but is slower
_LOOK_BACK = 64  # characters around the end of an overlap in which a word border is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Stitch:
    """Two chunks of which the second one goes on where the first one ends.

    Args:
        left: The document that stays whole.
        right: The one that follows it and repeats its end.
        repeated: Characters at the start of the right text that the left one ends with, with white space around them.
            What follows is not blank. It starts with a whole word, which the left one may end within.
    """

    left: int
    right: int
    repeated: int


def stitch_plan(documents: Sequence[Document], indices: Sequence[int]) -> tuple[tuple[Stitch, ...], ...]:
    """Return the chains of overlapping documents in reading order; a document is in one chain at most.

    Only chunks of one known source are compared, and an overlap has at least 20 characters (10 beyond ASCII): anything
    else may be chance, and the second document would start in the middle of a sentence for nothing. Where several
    documents could follow one, the longest overlap counts. An overlap is not used if it would close a circle, or is a
    whole document, which the other one then contains. Of more than 64 documents of one source only those are compared
    that share a long substring, so that a short overlap may be missed.

    The plan is for documents that are all kept: where one is left out, the one after it has to be whole again.
    `indices` has the best one first.
    """
    groups: dict[str, list[int]] = {}
    for index in indices:
        source = documents[index].source
        if source:
            groups.setdefault(source, []).append(index)
    found = [
        stitch
        for group in groups.values()
        for left, right in _possible_neighbors(documents, group)
        if (stitch := _stitch(documents, left, right))
    ]
    position = {index: number for number, index in enumerate(indices)}
    found.sort(key=lambda stitch: (-stitch.repeated, position[stitch.left], position[stitch.right]))
    return _chains(found, indices)


def overlap(left: str, right: str, least: int = _LEAST) -> int:
    """Return how many characters at the start of `right` repeat the end of `left`, 0 if there is no overlap.

    The longest overlap is taken. It is verbatim, but for white space at the end of `left` and at both ends of `right`;
    that at the start of `right` is included in the result. Without white space around it, an overlap has at least
    `least` characters, 1 or more. The time is linear in the characters, whatever they are.
    """
    end, start = left.rstrip(), right.strip()
    before = len(right) - len(right.lstrip())
    size = min(len(end), len(start))
    if size < least:
        return 0
    end, start = end[len(end) - size :], start[:size]
    head, at = start[:least], -1
    for _ in range(_TRIES):
        at = end.find(head, at + 1)
        if at < 0:
            return 0
        if start.startswith(end[at:]):
            return before + size - at
    shared = _longest_border(start, end)
    return before + shared if shared >= least else 0


def _longest_border(start: str, end: str) -> int:
    """Return the length of the longest prefix of `start` that `end` ends with (Knuth, Morris and Pratt 1977)."""
    # None is equal to no character, so that no prefix goes on beyond `start`.
    characters = [*start, None, *end]
    borders = [0]
    matched = 0
    for character in characters[1:]:
        while matched and characters[matched] != character:
            matched = borders[matched - 1]
        matched += characters[matched] == character
        borders.append(matched)
    return matched


def _possible_neighbors(documents: Sequence[Document], group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of documents of one source that may overlap, either way round."""
    firsts: dict[str, int] = {}
    for index in group:
        if text := (documents[index].text or "").strip():
            firsts.setdefault(text, index)
    distinct = list(firsts.values())
    if len(distinct) <= _COMPARED_DIRECTLY:
        yield from ((distinct[left], distinct[right]) for left, right in _holding_heads(list(firsts)))
        return
    alike = earlier_alike(list(firsts), pieces=_PIECES, least_characters=_LEAST)
    for number, others in alike.items():
        for other in others:
            yield distinct[number], distinct[other]
            yield distinct[other], distinct[number]


def _holding_heads(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of texts of which the first one contains the beginning of the second one."""
    pile = "\n".join(texts)
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    for right, text in enumerate(texts):
        head = text[: _least(text)]
        holders: set[int] = set()
        at = pile.find(head)
        while at >= 0 and len(holders) < _MOST_HOLDERS:
            left = bisect_right(starts, at) - 1
            holders.add(left)
            at = pile.find(head, starts[left + 1])
        yield from ((left, right) for left in sorted(holders - {right}))


def _least(text: str) -> int:
    return _LEAST if text[:_LEAST].isascii() else _DENSE_LEAST


def _stitch(documents: Sequence[Document], left: int, right: int) -> Stitch | None:
    first, second = documents[left].text or "", documents[right].text or ""
    shared = overlap(first, second, _least(second.lstrip()))
    if not shared or not second[shared:].strip() or second.lstrip().startswith(first.strip()):
        return None
    cut = _word_border(second, shared)
    return Stitch(left=left, right=right, repeated=cut) if cut else None


def _word_border(text: str, position: int) -> int:
    """Return where the first word starts that does not end at or before `position`, if there is a border near it."""
    near = max(0, position - _LOOK_BACK)
    border = near + word_end(text[near : position + _LOOK_BACK], position - near)
    border = border if border > near else cluster_start(text, position)
    return len(text) - len(text[border:].lstrip())


def _chains(found: Iterable[Stitch], indices: Sequence[int]) -> tuple[tuple[Stitch, ...], ...]:
    """Join stitches, the longest overlap first; each document has one before it and one after it at most."""
    after: dict[int, Stitch] = {}
    before: set[int] = set()
    last_of: dict[int, int] = {}
    first_of: dict[int, int] = {}
    for stitch in found:
        left, right = stitch.left, stitch.right
        head = first_of.get(left, left)
        if left in after or right in before or head == right:
            continue
        tail = last_of.get(right, right)
        after[left] = stitch
        before.add(right)
        last_of[head], first_of[tail] = tail, head
    chains = []
    for index in indices:
        if index in after and index not in before:
            chain = [after[index]]
            while chain[-1].right in after:
                chain.append(after[chain[-1].right])
            chains.append(tuple(chain))
    return tuple(chains)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stitching:
    """Documents that are kept whole, some of which go on where another one ends.

    Args:
        chains: The stitches of each run of documents, in the order in which they are read.
        texts: The texts of the documents that go on, without the start that they repeat.
    """

    chains: tuple[tuple[Stitch, ...], ...] = ()
    texts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, documents: Sequence[Document], whole: Collection[int], order: Sequence[int]) -> Stitching:
        """Return the stitching of the documents that are kept whole; `order` has the best one first."""
        if len(whole) < 2:
            return cls()
        chains = stitch_plan(documents, [index for index in order if index in whole])
        texts = {
            stitch.right: (documents[stitch.right].text or "")[stitch.repeated :]
            for chain in chains
            for stitch in chain
        }
        return cls(chains=chains, texts=MappingProxyType(texts))

    def in_order(self, kept: Sequence[int], further: Sequence[tuple[Stitch, ...]] = ()) -> tuple[int, ...]:
        """Return kept documents with each chain, own or further, in its order at the place of its first member."""
        runs: dict[int, tuple[int, ...]] = {}
        for chain in (*self.chains, *further):
            run = (chain[0].left, *(stitch.right for stitch in chain))
            runs.update(dict.fromkeys(run, run))
        present = frozenset(kept)
        return tuple(dict.fromkeys(i for index in kept for i in runs.get(index, (index,)) if i in present))
