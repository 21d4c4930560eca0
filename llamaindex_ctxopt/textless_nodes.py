"""Nodes of which an image, a sound or a film is all there is: no text to cut, and a place to keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from llama_index.core.schema import BaseNode, NodeWithScore

from ctxopt_core.document_costs import is_blank
from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.documents import is_below_min_score
from ctxopt_core.ranking import by_score
from ctxopt_core.request import Document

_MEDIA = ("image", "image_path", "image_url", "image_resource", "audio_resource", "video_resource")


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
