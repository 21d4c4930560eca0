"""Packs retrieved nodes into a token budget, so that at least one is kept, and reports what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from llama_index.core.schema import NodeWithScore

from ctxopt_core import (
    ContextBudgetError,
    Document,
    DocumentPolicy,
    FitReport,
    Packing,
    TokenCounter,
    pack_documents,
)
from ctxopt_core.adapters import ModelBudget, attachment_tokens, is_blank, packed_report, rules_of
from llamaindex_ctxopt.nodes.node_reading import NodeReading
from llamaindex_ctxopt.nodes.rendering import NodeRendering, node_views, with_texts
from llamaindex_ctxopt.refusals import NODES

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
    nodes: Sequence[NodeWithScore],
    query: str,
    max_tokens: int,
    model_budget: ModelBudget,
    policy: DocumentPolicy,
    *,
    reading: NodeReading = NodeReading.ANY,
) -> PackedNodes:
    """Choose nodes that have at most `max_tokens` tokens as a response synthesizer joins them.

    Something is kept whenever there are nodes, since LlamaIndex answers `Empty Response` by itself when there is none:

    * Where the policy would keep none, for the budget or for `min_score`, the best node is kept, in part if need be.
    * Where all nodes are blank, the first one that fits is kept as it is.
    * Where not one word or medium of any node fits, that is a `ContextBudgetError`.

    Media cost what the provider of the model publishes, by what is known of them without a download, or an allowance. A
    node that is kept, whole or in part, keeps its media.

    Args:
        nodes: The retrieved nodes; they are not changed.
        query: The user's question; with an empty string, scores alone decide.
        max_tokens: The limit for all kept nodes together, in tokens.
        model_budget: The counter, and the window for the report.
        policy: How nodes are chosen.
        reading: What the engine sends of a node.

    Raises:
        ContextBudgetError: Not one word or medium of any node fits.
        TypeError: An item is not a `NodeWithScore`, or a score is no number.
        ValueError: A template of a node cannot be formatted.
    """
    views = node_views(nodes, reading)
    given = _Nodes(views=views, rendering=NodeRendering(nodes=nodes, reading=reading), counter=model_budget.counter)
    packing, notes = _packed(given, query, max_tokens, policy)
    report = packed_report(
        views,
        packing,
        max_tokens,
        model_budget,
        count_before=lambda: given.joined_tokens(range(len(nodes))),
        notes=(*notes, *media_notes([views[index] for index in packing.kept], model_budget.counter)),
    )
    return PackedNodes(nodes=with_texts(nodes, packing.kept, packing.texts), kept=packing.kept, report=report)


def least_policy(policy: DocumentPolicy) -> DocumentPolicy:
    """Return the policy that keeps the best part of the best node that any of fits, whatever its score is."""
    return replace(policy, selection="score", passages=True, min_score=None, max_documents=1)


def shows_nothing(views: Sequence[Document], kept: Iterable[int], counter: TokenCounter) -> bool:
    """Return whether a model would be sent nothing of the kept nodes although there is one with text or media."""
    return not any(_is_sent(views[index], counter) for index in kept) and any(_is_sent(view, counter) for view in views)


def only_sent(views: Sequence[Document], counter: TokenCounter) -> tuple[Document, ...]:
    """Return views in which nodes of which the model is sent nothing are blank, so that they take no place."""
    return tuple(view if _is_sent(view, counter) else replace(view, attachments=()) for view in views)


def media_notes(kept: Sequence[Document], counter: TokenCounter) -> tuple[str, ...]:
    """Return what a report says of the media of kept nodes."""
    attachments = [attachment for view in kept for attachment in view.attachments]
    sent = [attachment for attachment in attachments if attachment.tokens != 0]
    notes: list[str] = []
    if sent:
        rules = rules_of(counter)
        tokens, unknown = (
            sum(map(rules.attachment_tokens, sent)),
            sum(rules.known_tokens(each) is None for each in sent),
        )
        note = f"media of the kept nodes have {tokens:,} tokens"
        notes.append(f"{note}, which is an allowance for {unknown:,} of {len(sent):,}" if unknown else note)
    if free := len(attachments) - len(sent):
        notes.append(f"{free:,} media of the kept nodes are not sent by this engine, and count nothing")
    return tuple(notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nodes:
    """Nodes as they are counted.

    Args:
        views: Their views.
        rendering: Renders a node as the prompt contains it.
        counter: Counts tokens.
    """

    views: Sequence[Document]
    rendering: NodeRendering
    counter: TokenCounter

    def joined_tokens(self, kept: Sequence[int], texts: Mapping[int, str] = MappingProxyType({})) -> int:
        """Return the tokens of nodes as the prompt joins them; nodes that show nothing are left out."""
        shown = (self.rendering.render(i, texts.get(i, self.views[i].text or "")) for i in kept)
        media = sum(attachment_tokens(self.views[index], self.counter) for index in kept)
        return self.counter.count(self.rendering.separator.join(filter(None, shown))) + media


def _is_sent(view: Document, counter: TokenCounter) -> bool:
    return bool((view.text or "").strip()) or attachment_tokens(view, counter) > 0


def _packed(given: _Nodes, query: str, max_tokens: int, policy: DocumentPolicy) -> tuple[Packing, tuple[str, ...]]:
    """Return what the policy keeps; where a model would be sent nothing of it, the best of what can be kept."""

    def packed(chosen: DocumentPolicy, views: Sequence[Document] = given.views) -> Packing:
        counter = given.counter
        return pack_documents(views, max_tokens, counter, query=query, policy=chosen, rendering=given.rendering)

    packing, indices = packed(policy), range(len(given.views))
    if not indices or (packing.kept and not shows_nothing(given.views, packing.kept, given.counter)):
        return packing, ()
    if not all(map(is_blank, given.views)):
        least = packed(least_policy(policy), only_sent(given.views, given.counter))
        if least.kept and not shows_nothing(given.views, least.kept, given.counter):
            return least, (BEST_ONLY,)
        if packing.kept:
            return packing, (_NO_TEXT_FITS,)
    else:
        for index in indices:
            tokens = given.joined_tokens((index,))
            if tokens <= max_tokens:
                dropped = {other: why for other, why in packing.dropped.items() if other != index}
                packing = replace(packing, kept=(index,), tokens=tokens, dropped=MappingProxyType(dropped))
                return packing, (_ALL_BLANK,)
    least_tokens = (given.joined_tokens((index,), {index: ""}) for index in indices)
    needed = max(min(least_tokens), max_tokens) + 1
    message = (
        f"no node fits into {max_tokens:,} tokens, not even one word of one, which needs at least {needed:,} "
        "with its metadata and media"
    )
    remedies = {NODES: "a larger budget", "metadata": "`excluded_llm_metadata_keys` of the nodes to keep metadata out"}
    raise ContextBudgetError(message, needed=needed, available=max_tokens, remedies=remedies)
