"""One packing of nodes: retrieved nodes in, those that fit and the account of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from llama_index.core.schema import NodeWithScore

from ctxopt_core import ContextBudgetError, DocumentPolicy, FitReport, Packing
from ctxopt_core.adapters import ModelBudget, packed_report
from llamaindex_ctxopt.nodes.rendering import NodeRendering, node_views, with_text
from llamaindex_ctxopt.nodes.selection import NodesToPack, carries_media, choose, choose_least, textless_nodes

BEST_ONLY = "the policy keeps no node; as much of the best one is kept as fits, since without any no model is asked"
_ALL_BLANK = "all nodes are blank; one is kept, since without any node no model is asked"
_NO_TEXT_FITS = "no text fits into the budget, not even in part; nodes of media without text are kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedNodes:
    """What a packing gives back.

    Args:
        nodes: The kept nodes in reading order: whole ones are the identical objects, the others are copies.
        report: What was kept, cut and dropped, and why.
    """

    nodes: list[NodeWithScore]
    report: FitReport


def pack_nodes(
    nodes: Sequence[NodeWithScore], query: str, max_tokens: int, model_budget: ModelBudget, policy: DocumentPolicy
) -> PackedNodes:
    """Choose what to keep of nodes, so that they count at most `max_tokens` as a response synthesizer joins them.

    Something is kept whenever there are nodes, since LlamaIndex answers `Empty Response` by itself when there is none:

    * Where the policy would keep none, for the budget or for `min_score`, the best node is kept, in part if need be.
    * Where all nodes are blank, the first one that fits is kept as it is.
    * Where there is no room for one word of any node, that is a `ContextBudgetError`.

    A blank node that carries an image, a sound or a film is no empty one: it stays in its place and costs what it
    shows of its metadata. What the medium itself counts is not known here, and the report says so.

    Args:
        nodes: The retrieved nodes; they are not changed.
        query: What is asked; an empty text leaves the choice to the scores.
        max_tokens: The most that the kept nodes may count together, in tokens.
        model_budget: The counter, and the window for the report.
        policy: How nodes are chosen.

    Raises:
        ContextBudgetError: There is no room for one word of any node.
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
    packing, notes = _something(given, policy)
    kept = [with_text(nodes[i], packing.texts[i]) if i in packing.texts else nodes[i] for i in packing.kept]
    report = packed_report(
        views,
        packing,
        max_tokens,
        model_budget,
        count_before=lambda: given.joined_tokens(range(len(nodes)), {}),
        notes=(*notes, *_media_notes(kept)),
    )
    return PackedNodes(nodes=kept, report=report)


def _something(given: NodesToPack, policy: DocumentPolicy) -> tuple[Packing, tuple[str, ...]]:
    """Return what the policy keeps; where that is nothing of any text, the best of what can be kept."""
    packing, readable = choose(given, policy), set(given.readable)
    if not given.nodes or readable.intersection(packing.kept):
        return packing, ()
    if packing.kept and not any(packing.dropped.get(index) == "budget" for index in readable):
        return packing, ()
    if not readable:
        return _blank(given, packing), (_ALL_BLANK,)
    least = choose_least(given, policy)
    if readable.intersection(least.kept):
        return least, (BEST_ONLY,)
    if packing.kept:
        return packing, (_NO_TEXT_FITS,)
    raise _too_small(given)


def _blank(given: NodesToPack, packing: Packing) -> Packing:
    """Keep the first of nodes that are all blank, or of media that do not fit, that has room."""
    for index in range(len(given.nodes)):
        tokens = given.joined_tokens((index,), {})
        if tokens <= given.max_tokens:
            dropped = {other: why for other, why in packing.dropped.items() if other != index}
            return replace(packing, kept=(index,), tokens=tokens, dropped=MappingProxyType(dropped))
    raise _too_small(given)


def _too_small(given: NodesToPack) -> ContextBudgetError:
    frames = (given.joined_tokens((index,), {index: ""}) for index in range(len(given.nodes)))
    needed = max(min(frames), given.max_tokens) + 1
    message = (
        f"no node fits into {given.max_tokens:,} tokens, not even one word of one, which needs at least {needed:,} "
        "with its metadata; raise the budget, or keep metadata out by `excluded_llm_metadata_keys` of the nodes"
    )
    return ContextBudgetError(message, needed=needed, available=given.max_tokens)


def _media_notes(kept: Sequence[NodeWithScore]) -> tuple[str, ...]:
    carriers = sum(carries_media(item.node) for item in kept)
    return (f"{carriers} of the kept nodes carry media, of which nothing is counted",) if carriers else ()
