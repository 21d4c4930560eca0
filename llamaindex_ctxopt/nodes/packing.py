"""Packs retrieved nodes into a token budget, so that at least one is kept, and reports what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from llama_index.core.schema import NodeWithScore

from ctxopt_core import ContextBudgetError, DocumentPolicy, FitReport, Packing
from ctxopt_core.adapters import ModelBudget, packed_report
from llamaindex_ctxopt.nodes.rendering import NodeRendering, node_views, with_texts
from llamaindex_ctxopt.nodes.selection import NodesToPack, carries_media, choose, choose_least, textless_nodes

BEST_ONLY = "the policy keeps no node; as much of the best one is kept as fits, since without any no model is asked"
_ALL_BLANK = "all nodes are blank; one is kept, since without any node no model is asked"
_NO_TEXT_FITS = "no text fits into the budget, not even in part; nodes of media without text are kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedNodes:
    """The result of a packing.

    Args:
        nodes: The kept nodes in reading order: whole ones are the identical objects, the others are copies.
        kept: Their indices among the given nodes.
        report: What was kept, cut and dropped, and why.
    """

    nodes: list[NodeWithScore]
    kept: tuple[int, ...]
    report: FitReport


def pack_nodes(
    nodes: Sequence[NodeWithScore], query: str, max_tokens: int, model_budget: ModelBudget, policy: DocumentPolicy
) -> PackedNodes:
    """Choose nodes that have at most `max_tokens` tokens as a response synthesizer joins them.

    Something is kept whenever there are nodes, since LlamaIndex answers `Empty Response` by itself when there is none:

    * Where the policy would keep none, for the budget or for `min_score`, the best node is kept, in part if need be.
    * Where all nodes are blank, the first one that fits is kept as it is.
    * Where not one word of any node fits, that is a `ContextBudgetError`.

    A blank node with an image, a recording or a video is not empty: it stays in its place and costs the tokens of the
    metadata that it shows. The tokens of the medium itself are not known here, and the report says so.

    Args:
        nodes: The retrieved nodes; they are not changed.
        query: The user's question; with an empty string, scores alone decide.
        max_tokens: The limit for all kept nodes together, in tokens.
        model_budget: The counter, and the window for the report.
        policy: How nodes are chosen.

    Raises:
        ContextBudgetError: Not one word of any node fits.
        TypeError: An item is not a `NodeWithScore`, or a score is no number.
        ValueError: A template of a node cannot be formatted.
    """
    views = node_views(nodes)
    given = NodesToPack(
        nodes=nodes,
        views=views,
        rendering=NodeRendering(nodes=nodes),
        textless=textless_nodes(nodes, views),
        counter=model_budget.counter,
        query=query,
        max_tokens=max_tokens,
    )
    packing, notes = _packed(given, policy)
    kept = with_texts(nodes, packing.kept, packing.texts)
    if carriers := sum(carries_media(item.node) for item in kept):
        notes = (*notes, f"{carriers} of the kept nodes carry media, of which nothing is counted")
    report = packed_report(
        views,
        packing,
        max_tokens,
        model_budget,
        count_before=lambda: given.joined_tokens(range(len(nodes)), {}),
        notes=notes,
    )
    return PackedNodes(nodes=kept, kept=tuple(packing.kept), report=report)


def _packed(given: NodesToPack, policy: DocumentPolicy) -> tuple[Packing, tuple[str, ...]]:
    """Return what the policy keeps; where that is no text at all, the best of what can be kept."""
    packing, readable = choose(given, policy), set(given.readable)
    if not given.nodes or readable.intersection(packing.kept):
        return packing, ()
    if packing.kept and not any(packing.dropped.get(index) == "budget" for index in readable):
        return packing, ()
    if readable:
        least = choose_least(given, policy)
        if readable.intersection(least.kept):
            return least, (BEST_ONLY,)
        if packing.kept:
            return packing, (_NO_TEXT_FITS,)
    else:
        for index in range(len(given.nodes)):
            tokens = given.joined_tokens((index,), {})
            if tokens <= given.max_tokens:
                dropped = {other: why for other, why in packing.dropped.items() if other != index}
                packing = replace(packing, kept=(index,), tokens=tokens, dropped=MappingProxyType(dropped))
                return packing, (_ALL_BLANK,)
    without_text = (given.joined_tokens((index,), {index: ""}) for index in range(len(given.nodes)))
    needed = max(min(without_text), given.max_tokens) + 1
    message = (
        f"no node fits into {given.max_tokens:,} tokens, not even one word of one, which needs at least {needed:,} "
        "with its metadata; raise the budget, or keep metadata out by `excluded_llm_metadata_keys` of the nodes"
    )
    raise ContextBudgetError(message, needed=needed, available=given.max_tokens)
