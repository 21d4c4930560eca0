"""One request of an engine, with documents and history in it, before and after it is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore

from ctxopt_core import FitReport


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRequest:
    """A request that an engine is about to send.

    Args:
        query: The user's question.
        nodes: The retrieved nodes.
        messages: The conversation before the query.
        ranking_query: What documents and history are ranked by, where that is not the query.
        reserved: Tokens kept free for documents that are not retrieved yet.
        settled: Messages that the engine sends in place of `messages`, and that cannot be changed any more.
    """

    query: str
    nodes: Sequence[NodeWithScore] = ()
    messages: Sequence[ChatMessage] = ()
    ranking_query: str = ""
    reserved: int = 0
    settled: Sequence[ChatMessage] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRequest:
    """A request that fits.

    Args:
        nodes: The nodes that fit; those that are whole are the identical objects.
        messages: The messages that fit; those that are whole are the identical objects.
        report: What was kept, cut and dropped, and why.
        documents_tokens: The tokens of the retrieved documents before the fit; any figure above the budget where they
            have more.
    """

    nodes: list[NodeWithScore]
    messages: list[ChatMessage]
    report: FitReport
    documents_tokens: int
