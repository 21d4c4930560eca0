"""Decides about the turns of one engine: documents and history share a budget, whichever is asked for first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar
from weakref import ref

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.schema import NodeWithScore
from llama_index_instrumentation import get_dispatcher

from ctxopt_core import FitReport
from ctxopt_core.adapters import in_worker
from llamaindex_ctxopt.engines.engine_fitting import EngineFitting
from llamaindex_ctxopt.engines.engine_plan import EnginePlan
from llamaindex_ctxopt.engines.engine_request import EngineRequest, FittedRequest
from llamaindex_ctxopt.engines.open_turn import HandedOutHistory, OpenTurn, open_turn_of, set_open_turn
from llamaindex_ctxopt.engines.template_names import neutralized
from llamaindex_ctxopt.events import ContextOptimizedEvent
from llamaindex_ctxopt.messages.message_views import copied

dispatcher = get_dispatcher(__name__)
T = TypeVar("T")


class MessageSource(Protocol):
    """The memory that is asked for the conversation when the documents come first."""

    def stored(self, query: str | None) -> Sequence[ChatMessage]:
        """Return the stored messages."""

    async def astored(self, query: str | None) -> Sequence[ChatMessage]:
        """Return the stored messages."""


class Planner:
    """Fits the requests of one engine, whose parts ask for what is theirs one after the other.

    1. Documents first: the history is read and both are fitted at once. The history that is asked for next, for the
       same query, is what was decided then.
    2. History first: room is kept for as many documents as there were the last time, within their share. Once the
       documents are known, both are fitted at once, and the history that the engine holds becomes what is left of it.
       An engine that has made another list of it keeps what it has, and the documents are fitted beside that.
    3. What is open belongs to the thread or task; others do not see it.

    Args:
        plan: What is known of the engine.
        neutralize: Whether names in braces inside the history are kept from being filled in by the engine.
    """

    def __init__(self, plan: EnginePlan, *, neutralize: bool = True) -> None:
        self.plan = plan
        self.neutralize = neutralize
        self.source: ref[MessageSource] | None = None
        self.last_report: FitReport | None = None
        self._documents_tokens: int | None = None

    def pack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return the nodes that fit beside the history; those that are kept whole are the identical objects.

        Raises:
            ContextBudgetError: Prompt and query leave no room for a word of the nodes.
        """
        turn = open_turn_of(self)
        source = self._source_of(turn)
        messages = source.stored(query) if source is not None else ()
        return self._decided(*self._pack(nodes, query, messages, turn))

    async def apack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return what `pack_nodes` returns; the work is done in a worker thread."""
        turn = open_turn_of(self)
        source = self._source_of(turn)
        messages = await source.astored(query) if source is not None else ()
        return self._decided(*await in_worker(self._pack, nodes, query, messages, turn))

    def history(self, messages: Sequence[ChatMessage], query: str | None, prefix: int = 0) -> list[ChatMessage]:
        """Return copies of the messages that fit.

        Args:
            messages: The stored conversation.
            query: What is asked, where the engine says it. It may be the last message, too.
            prefix: What the engine says that it puts before the conversation, in tokens of bare text.

        Raises:
            ContextBudgetError: Prompt and query alone are larger than the budget.
        """
        return self._decided(*self._history(messages, query, prefix, open_turn_of(self)))

    async def ahistory(self, messages: Sequence[ChatMessage], query: str | None, prefix: int = 0) -> list[ChatMessage]:
        """Return what `history` returns; the work is done in a worker thread."""
        turn = open_turn_of(self)
        return self._decided(*await in_worker(self._history, messages, query, prefix, turn))

    def close_turn(self) -> None:
        """Forget what was decided of the turn that is open here, since the conversation goes on."""
        if open_turn_of(self) is not None:
            set_open_turn(self, None)

    def _decided(self, found: list[T], turn: OpenTurn | None) -> list[T]:
        set_open_turn(self, turn)
        return found

    def _source_of(self, turn: OpenTurn | None) -> MessageSource | None:
        """Return whom to ask for the conversation of a turn; nobody where it is known, or in another request."""
        waiting = turn is not None and turn.handed_out is not None
        return None if waiting or self.source is None or not self.plan.together else self.source()

    def _pack(
        self, nodes: Sequence[NodeWithScore], query: str, messages: Sequence[ChatMessage], turn: OpenTurn | None
    ) -> tuple[list[NodeWithScore], OpenTurn | None]:
        fitting = self.plan.documents
        if not nodes or fitting is None:
            return list(nodes), turn
        if turn is not None and turn.handed_out is not None and self.plan.together:
            return self._pack_beside(fitting, nodes, query, turn), None
        history, changed = self._neutralized(messages)
        fitted = fitting.fit(EngineRequest(query=query, nodes=nodes, messages=history))
        self._told(fitted, changed)
        opened = OpenTurn(owner=ref(self), query=query, messages=messages, kept=fitted.messages)
        return fitted.nodes, opened if self.plan.together and self.source is not None else None

    def _pack_beside(
        self, fitting: EngineFitting, nodes: Sequence[NodeWithScore], query: str, turn: OpenTurn
    ) -> list[NodeWithScore]:
        """Fit the documents of a turn whose history was handed out."""
        held = None if turn.handed_out is None else turn.handed_out()
        ranking_query = "" if query == turn.query else query
        request = EngineRequest(query=turn.query, nodes=nodes, ranking_query=ranking_query)
        if held is None:
            fitted, changed = fitting.fit(replace(request, settled=turn.kept)), 0
        else:
            messages, changed = self._neutralized(turn.messages)
            fitted = fitting.fit(replace(request, messages=messages))
            held.become(fitted.messages)
        self._told(fitted, changed)
        return fitted.nodes

    def _history(
        self, messages: Sequence[ChatMessage], query: str | None, prefix: int, turn: OpenTurn | None
    ) -> tuple[list[ChatMessage], OpenTurn | None]:
        if query is not None and turn is not None and turn.goes_on(query, messages):
            return list(map(copied, turn.kept)), turn
        fitting = self.plan.history
        if query is None or fitting is None or self._holds_question(messages, query):
            kept, report = self.plan.fit_conversation(messages, prefix)
            self._report(report, 0)
            return list(map(copied, kept)), None
        history, changed = self._neutralized(messages)
        request = EngineRequest(query=query, messages=history)
        reserved = fitting.documents_share(request, self._documents_tokens) if self.plan.together else 0
        fitted = fitting.fit(replace(request, reserved=reserved))
        self._report(fitted.report, changed)
        held = HandedOutHistory(map(copied, fitted.messages))
        return held, OpenTurn(
            owner=ref(self), query=query, messages=messages, kept=fitted.messages, handed_out=ref(held)
        )

    def _holds_question(self, messages: Sequence[ChatMessage], query: str) -> bool:
        return not self.plan.question_apart and _ends_with(messages, query)

    def _neutralized(self, messages: Sequence[ChatMessage]) -> tuple[Sequence[ChatMessage], int]:
        return neutralized(messages, self.plan.names) if self.neutralize else (messages, 0)

    def _told(self, fitted: FittedRequest, changed: int) -> None:
        self._documents_tokens = fitted.documents_tokens
        self._report(fitted.report, changed)

    def _report(self, report: FitReport, changed: int) -> None:
        if changed:
            note = f"names in braces that the engine would have filled in were neutralized in {changed} messages"
            report = replace(report, notes=(*report.notes, note))
        self.last_report = report
        dispatcher.event(ContextOptimizedEvent(figures=report.to_event()))
        self.plan.settings.report(report)


def _ends_with(messages: Sequence[ChatMessage], query: str) -> bool:
    """Tell whether what is asked is the last message of the conversation already."""
    return bool(messages) and messages[-1].role == MessageRole.USER and (messages[-1].content or "") == query
