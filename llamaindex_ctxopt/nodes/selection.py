"""Selects nodes: those with text by the core's packing, media nodes without text in their places among them."""

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
    """Nodes, and the budget that they are packed into.

    Args:
        nodes: The nodes as they were given.
        views: Their views.
        rendering: Renders a node as the prompt contains it.
        textless: The indices of media nodes without text.
        counter: Counts tokens.
        query: The user's question.
        max_tokens: The limit for all kept nodes together, in tokens.
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
        """The indices of nodes with text."""
        return tuple(index for index, view in enumerate(self.views) if not is_blank(view))

    def shown(self, index: int) -> str:
        """Return a node, unchanged, as the prompt contains it."""
        return self.rendering.render(index, self.views[index].text or "")

    def cost(self, index: int) -> int:
        """Return the tokens that a textless node adds to the prompt: those of its metadata, if it shows any."""
        shown = self.shown(index)
        return self.counter.count(shown + self.rendering.separator) if shown else 0

    def packed(self, max_tokens: int, policy: DocumentPolicy) -> Packing:
        """Return the packing of the nodes with text."""
        query, rendering = self.query, self.rendering
        return pack_documents(self.views, max_tokens, self.counter, query=query, policy=policy, rendering=rendering)

    def joined_tokens(self, kept: Sequence[int], texts: Mapping[int, str]) -> int:
        """Return the tokens of nodes as the prompt joins them; nodes that show nothing are left out."""
        shown = (self.rendering.render(i, texts[i]) if i in texts else self.shown(i) for i in kept)
        return self.counter.count(self.rendering.separator.join(filter(None, shown)))


def choose(given: NodesToPack, policy: DocumentPolicy) -> Packing:
    """Choose nodes that have at most `max_tokens` tokens as the prompt joins them.

    Textless nodes that show nothing cost nothing and are kept. Where not everything fits, the best of those that show
    metadata are kept, and take at most half of the budget from nodes with text.
    """
    beside = chosen_textless(given.textless, given.views, policy)
    packing = _packed(given, policy, beside, given.max_tokens)
    if packing.tokens > given.max_tokens:
        held, left = [], given.max_tokens // 2 if given.readable else given.max_tokens
        for index in beside:
            if (cost := given.cost(index)) <= left:
                held.append(index)
                left -= cost
        beside = tuple(held)
        packing = _packed(given, policy, beside, given.max_tokens - sum(map(given.cost, beside)))
    while packing.tokens > given.max_tokens:
        # Joined they may have more tokens than one by one.
        last = next(index for index in reversed(beside) if given.cost(index))
        beside = tuple(index for index in beside if index != last)
        packing = _packed(given, policy, beside, given.max_tokens - sum(map(given.cost, beside)))
    return packing


def least_policy(policy: DocumentPolicy) -> DocumentPolicy:
    """Return the policy that keeps the best part of the best node that any of fits, whatever its score is."""
    return replace(policy, selection="score", passages=True, min_score=None, max_documents=1)


def choose_least(given: NodesToPack, policy: DocumentPolicy) -> Packing:
    """Keep textless nodes that cost nothing, and the best part of the best node of which any part fits."""
    packing = given.packed(given.max_tokens, least_policy(policy))
    free = [index for index in chosen_textless(given.textless, given.views, policy) if not given.shown(index)]
    return _with_textless(given, packing, policy, free)


def _packed(given: NodesToPack, policy: DocumentPolicy, beside: Sequence[int], max_tokens: int) -> Packing:
    """Pack the nodes with text into `max_tokens` and put textless ones among them."""
    places = None if policy.max_documents is None else policy.max_documents - len(beside)
    packing = given.packed(0 if places == 0 else max_tokens, replace(policy, max_documents=places or None))
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
    """Return whether a node holds an image, a recording or a video, or says where one is. Nothing is loaded."""
    fields = vars(node)
    return any(fields.get(name) for name in _MEDIA)


def textless_nodes(nodes: Sequence[NodeWithScore], views: Sequence[Document]) -> frozenset[int]:
    """Return the indices of media nodes without text."""
    return frozenset(i for i, item in enumerate(nodes) if is_blank(views[i]) and carries_media(item.node))


def chosen_textless(textless: Collection[int], views: Sequence[Document], policy: DocumentPolicy) -> tuple[int, ...]:
    """Return the textless nodes that a policy would keep without a budget, best first.

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
    """Return kept nodes with textless ones among them, each after the nearest kept node that it followed before."""
    order = list(kept)
    for index in sorted(textless):
        before = max((other for other in order if other < index), default=None)
        order.insert(0 if before is None else order.index(before) + 1, index)
    return tuple(order)
