"""One request of an engine, with documents and history in it: before it is fitted, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore

from ctxopt_core import FitReport


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRequest:
    """What an engine is about to send.

    Args:
        query: What is asked.
        nodes: The retrieved nodes.
        messages: The conversation before the query.
        ranking_query: What documents and history are ranked by, where that is not the query.
        reserved: Tokens kept for documents that are still to come.
        settled: Messages that the engine holds already, in place of `messages`.
    """

    query: str
    nodes: Sequence[NodeWithScore] = ()
    messages: Sequence[ChatMessage] = ()
    ranking_query: str = ""
    reserved: int = 0
    settled: Sequence[ChatMessage] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRequest:
    """What is left of a request.

    Args:
        nodes: The nodes that fit; those that are whole are the identical objects.
        messages: The messages that fit; those that are whole are the identical objects.
        report: What was kept, cut and dropped, and why.
        documents_tokens: What the documents count that were asked for, in tokens; any figure above the budget where
            they are more.
    """

    nodes: list[NodeWithScore]
    messages: list[ChatMessage]
    report: FitReport
    documents_tokens: int
