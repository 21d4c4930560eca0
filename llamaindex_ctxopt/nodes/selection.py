"""Which nodes are kept: text by the core's packing, media without text in their places among it."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from llama_index.core.schema import BaseNode, NodeWithScore

from ctxopt_core import Document, DocumentPolicy, Packing, TokenCounter, pack_documents
from ctxopt_core.adapters import DropReason, by_score, is_below_min_score, is_blank, score_of
from llamaindex_ctxopt.nodes.rendering import NodeRendering

_MEDIA = ("image", "image_path", "image_url", "image_resource", "audio_resource", "video_resource")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesToPack:
    """What is packed, and how.

    Args:
        nodes: The nodes as they were given.
        views: Their views.
        rendering: How they stand in the prompt.
        textless: Those of media without text.
        counter: Counts tokens.
        query: What is asked.
        max_tokens: The most that what is kept may count, in tokens.
    """

    nodes: Sequence[NodeWithScore]
    views: Sequence[Document]
    rendering: NodeRendering
    textless: frozenset[int]
    counter: TokenCounter
    query: str
    max_tokens: int

    @property
    def readable(self) -> tuple[int, ...]:
        """The nodes that have a text."""
        return tuple(index for index, view in enumerate(self.views) if not is_blank(view))

    def shown(self, index: int) -> str:
        """Return what the prompt holds of a node as it came."""
        return self.rendering.render(index, self.views[index].text or "")

    def cost(self, index: int) -> int:
        """Return what a textless node adds to the prompt, in tokens: its metadata, if it shows any."""
        shown = self.shown(index)
        return self.counter.count(shown + self.rendering.separator) if shown else 0

    def joined_tokens(self, kept: Sequence[int], texts: Mapping[int, str]) -> int:
        """Return what nodes count as the prompt joins them; what shows nothing has no place there."""
        shown = (self.rendering.render(i, texts[i]) if i in texts else self.shown(i) for i in kept)
        return self.counter.count(self.rendering.separator.join(filter(None, shown)))


def choose(given: NodesToPack, policy: DocumentPolicy) -> Packing:
    """Choose what to keep of nodes, so that they count at most `max_tokens` as the prompt joins them.

    Textless nodes that show nothing cost nothing and stay. Of those that show metadata the best ones stay, where not
    everything fits: they take at most half of the budget from nodes with text.
    """
    beside = chosen_textless(given.textless, given.views, policy)
    packing = _packed(given, policy, beside, given.max_tokens)
    if packing.tokens > given.max_tokens:
        beside = _within(given, beside, given.max_tokens // 2 if given.readable else given.max_tokens)
        packing = _packed(given, policy, beside, given.max_tokens - sum(map(given.cost, beside)))
    while packing.tokens > given.max_tokens:
        # Joined they may count more than one by one.
        last = next(index for index in reversed(beside) if given.cost(index))
        beside = tuple(index for index in beside if index != last)
        packing = _packed(given, policy, beside, given.max_tokens - sum(map(given.cost, beside)))
    return packing


def least_policy(policy: DocumentPolicy) -> DocumentPolicy:
    """Return the policy that keeps the best part of the best node that any of fits, whatever its score is."""
    return replace(policy, selection="score", passages=True, min_score=None, max_documents=1)


def choose_least(given: NodesToPack, policy: DocumentPolicy) -> Packing:
    """Keep the best part of the best node that any of fits, beside what costs nothing, whatever its score is."""
    packing = pack_documents(
        given.views,
        given.max_tokens,
        given.counter,
        query=given.query,
        policy=least_policy(policy),
        rendering=given.rendering,
    )
    free = [index for index in chosen_textless(given.textless, given.views, policy) if not given.shown(index)]
    return _with_textless(given, packing, policy, free)


def _within(given: NodesToPack, textless: Sequence[int], room: int) -> tuple[int, ...]:
    """Return the textless nodes that `room` tokens hold, best first."""
    held: list[int] = []
    for index in textless:
        cost = given.cost(index)
        if cost <= room:
            held.append(index)
            room -= cost
    return tuple(held)


def _packed(given: NodesToPack, policy: DocumentPolicy, beside: Sequence[int], room: int) -> Packing:
    """Pack the nodes with text into `room` tokens and put textless ones beside them."""
    places = None if policy.max_documents is None else policy.max_documents - len(beside)
    packing = pack_documents(
        given.views,
        0 if places == 0 else room,
        given.counter,
        query=given.query,
        policy=replace(policy, max_documents=places or None),
        rendering=given.rendering,
    )
    if places == 0:
        counted_out: dict[int, DropReason] = {i: "count" for i, why in packing.dropped.items() if why == "budget"}
        packing = replace(packing, dropped=MappingProxyType({**packing.dropped, **counted_out}))
    return _with_textless(given, packing, policy, beside)


def _with_textless(given: NodesToPack, packing: Packing, policy: DocumentPolicy, beside: Collection[int]) -> Packing:
    if not given.textless:
        return packing
    kept = in_their_places(packing.kept, beside)
    chosen = chosen_textless(given.textless, given.views, policy)
    reasons = dict(packing.dropped)
    for index in given.textless:
        below = is_below_min_score(given.views[index], policy)
        reasons[index] = "score" if below else "budget" if index in chosen else "count"
    scores = (score_of(given.views[index]) or 0.0 for index in kept)
    costs = {index: given.cost(index) for index in given.textless}
    return replace(
        packing,
        kept=kept,
        tokens=given.joined_tokens(kept, packing.texts),
        dropped=MappingProxyType({index: reasons[index] for index in sorted(reasons) if index not in kept}),
        costs=ChainMap(costs, packing.costs),  # type: ignore[arg-type]
        cumulative_score=math.fsum(filter(math.isfinite, scores)),
    )


def carries_media(node: BaseNode) -> bool:
    """Tell whether a node holds an image, a sound or a film, or says where one is. Nothing is loaded."""
    fields = vars(node)
    return any(fields.get(name) for name in _MEDIA)


def textless_nodes(nodes: Sequence[NodeWithScore], views: Sequence[Document]) -> frozenset[int]:
    """Return the nodes of media that have no text."""
    return frozenset(i for i, item in enumerate(nodes) if is_blank(views[i]) and carries_media(item.node))


def chosen_textless(textless: Collection[int], views: Sequence[Document], policy: DocumentPolicy) -> tuple[int, ...]:
    """Return those of the textless nodes that a policy keeps whatever the budget, best first.

    Its `min_score` and its `max_documents` apply to all nodes alike.
    """
    candidates = [
        index
        for index, view in enumerate(views)
        if (index in textless or not is_blank(view)) and not is_below_min_score(view, policy)
    ]
    best = by_score(views, candidates, policy.score_order)[: policy.max_documents]
    return tuple(index for index in best if index in textless)


def in_their_places(kept: Sequence[int], textless: Iterable[int]) -> tuple[int, ...]:
    """Return kept nodes with further ones among them, each behind the nearest kept one that it came behind."""
    order = list(kept)
    for index in sorted(textless):
        before = max((other for other in order if other < index), default=None)
        order.insert(0 if before is None else order.index(before) + 1, index)
    return tuple(order)
