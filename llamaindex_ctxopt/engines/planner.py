"""Fits each turn of one engine: documents and history share a budget, whichever is asked for first."""

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
from llamaindex_ctxopt.engines.template_names import escape_template_names
from llamaindex_ctxopt.events import ContextOptimizedEvent
from llamaindex_ctxopt.messages.message_views import copied

dispatcher = get_dispatcher(__name__)
T = TypeVar("T")


class MessageSource(Protocol):
    """The memory of a planner, which is asked for the conversation when the documents come first.

    1. `stored` returns all messages before the query, oldest first, and cuts none.
    2. `astored` returns what `stored` returns.
    3. Neither changes what is stored.
    """

    def stored(self, query: str | None) -> Sequence[ChatMessage]:
        """Return the stored messages."""
        ...

    async def astored(self, query: str | None) -> Sequence[ChatMessage]:
        """Return the stored messages."""
        ...


class Planner:
    """Fits the requests of one conversation, of which an engine asks for documents and history one after the other.

    1. Documents first: `pack_nodes` reads the history and fits both at once. `history`, which is asked next for the
       same query, returns what was kept then.
    2. History first: `history` keeps tokens free for as many documents as there were in the last turn, within their
       share. `pack_nodes` then fits both at once, and changes the list that the engine holds to what is kept. If the
       engine has copied that list, it keeps what it has, and the documents are fitted beside that. An engine that asks
       again, as the multimodal one does, gets what was kept.
    3. `close_turn` ends a turn, as a new message in the memory does. An open turn belongs to its thread or task; others
       do not see it.
    4. It belongs to one conversation, and keeps the memory of that alive: without it, documents would be fitted beside
       an empty history.

    Args:
        plan: What is known of the engine. It holds no conversation, so that many planners may have it.
        escape_names: Whether names in braces inside the history are escaped, so that the engine fills in none.
    """

    def __init__(self, plan: EnginePlan, *, escape_names: bool = True) -> None:
        self.plan = plan
        self.escape_names = escape_names
        self.source: MessageSource | None = None
        self.has_engine = False
        self.last_report: FitReport | None = None
        self._documents_tokens: int | None = None

    def pack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return the nodes that fit beside the history; those that are kept whole are the identical objects.

        Raises:
            ContextBudgetError: Prompt and query leave no tokens for a word of the nodes.
        """
        turn = self._turn_of_documents(query)
        source = self._source_of(turn)
        messages = source.stored(query) if source is not None else ()
        return self._opened(*self._pack(nodes, query, messages, turn))

    async def apack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return what `pack_nodes` returns; the work is done in a worker thread."""
        turn = self._turn_of_documents(query)
        source = self._source_of(turn)
        messages = await source.astored(query) if source is not None else ()
        return self._opened(*await in_worker(self._pack, nodes, query, messages, turn))

    def history(self, messages: Sequence[ChatMessage], query: str | None, prefix: int = 0) -> list[ChatMessage]:
        """Return copies of the messages that fit.

        Args:
            messages: The stored conversation.
            query: The user's question, where the engine passes it. The last message may be the question, too.
            prefix: The tokens that the engine says it puts before the conversation, counted as one string.

        Raises:
            ContextBudgetError: Prompt and query alone are larger than the budget.
        """
        return self._opened(*self._history(messages, query, prefix, open_turn_of(self)))

    async def ahistory(self, messages: Sequence[ChatMessage], query: str | None, prefix: int = 0) -> list[ChatMessage]:
        """Return what `history` returns; the work is done in a worker thread."""
        turn = open_turn_of(self)
        return self._opened(*await in_worker(self._history, messages, query, prefix, turn))

    def close_turn(self) -> None:
        """Forget the turn that is open in this thread or task, since the conversation goes on."""
        if open_turn_of(self) is not None:
            set_open_turn(self, None)

    def _opened(self, found: list[T], turn: OpenTurn | None) -> list[T]:
        set_open_turn(self, turn)
        return found

    def _turn_of_documents(self, query: str) -> OpenTurn | None:
        """Return the open turn to which documents for a query belong.

        An engine that is known not to condense asks for them with the user's own question. A turn with another one was
        left open by an engine that failed.
        """
        turn, fitting = open_turn_of(self), self.plan.documents
        condenses = not self.plan.stores_answered_questions or fitting is None or fitting.prompts.condense is not None
        return turn if turn is None or condenses or turn.query == query else None

    def _source_of(self, turn: OpenTurn | None) -> MessageSource | None:
        """Return the memory to ask for the conversation; None where the turn has it, or it is in another request."""
        handed_out = turn is not None and turn.handed_out is not None
        return None if handed_out or not self.plan.together else self.source

    def _pack(
        self, nodes: Sequence[NodeWithScore], query: str, messages: Sequence[ChatMessage], turn: OpenTurn | None
    ) -> tuple[list[NodeWithScore], OpenTurn | None]:
        fitting = self.plan.documents
        if not nodes or fitting is None:
            # A turn whose documents were fitted already is an earlier one: nothing of it holds for this one.
            return list(nodes), turn if turn is not None and turn.handed_out is not None else None
        if turn is not None and turn.handed_out is not None and self.plan.together:
            held = turn.handed_out()
            request = EngineRequest(
                query=turn.query,
                nodes=nodes,
                messages=() if held is None else turn.messages,
                settled=turn.kept if held is None else (),
                ranking_query="" if query == turn.query else query,
            )
            fitted = self._fit(fitting, request)
            if held is not None:
                held.become(fitted.messages)
            opened = None
            if fitting.prompts.asks_again:
                kept = turn.kept if held is None else fitted.messages
                opened = replace(turn, kept=kept, handed_out=None, asked_once_more=True, was_read=False)
        else:
            fitted = self._fit(fitting, EngineRequest(query=query, nodes=nodes, messages=messages))
            opened = OpenTurn(owner=ref(self), query=query, messages=messages, kept=fitted.messages)
        self._documents_tokens = fitted.documents_tokens
        return fitted.nodes, opened if self.plan.together and self.source is not None else None

    def _history(
        self, messages: Sequence[ChatMessage], query: str | None, prefix: int, turn: OpenTurn | None
    ) -> tuple[list[ChatMessage], OpenTurn | None]:
        if query is not None and turn is not None and turn.has_decided(query, messages):
            return self._decided(turn, messages)
        fitting = self.plan.history
        if query is None or fitting is None or self._ends_with(messages, query):
            kept, report = self.plan.fit_conversation(messages, prefix)
            self._report(report)
            return list(map(copied, kept)), None
        request = EngineRequest(query=query, messages=messages)
        fitted = self._fit(fitting, request, keeps_documents_free=self.plan.together)
        held = HandedOutHistory(map(copied, fitted.messages))
        return held, OpenTurn(
            owner=ref(self), query=query, messages=messages, kept=fitted.messages, handed_out=ref(held)
        )

    def _decided(self, turn: OpenTurn, messages: Sequence[ChatMessage]) -> tuple[list[ChatMessage], OpenTurn | None]:
        """Return the history of a turn whose documents were fitted already, as it was kept beside them."""
        if turn.asked_once_more:
            return list(map(copied, turn.kept)), None
        # Where the engine begins with the history, those documents are not its own: it will ask for these next.
        held = HandedOutHistory(map(copied, turn.kept))
        changes = ref(held) if self.plan.history_first else None
        return held, replace(turn, messages=messages, was_read=True, handed_out=changes)

    def _ends_with(self, messages: Sequence[ChatMessage], query: str) -> bool:
        """Return whether the last stored message is the question itself, as agents store it."""
        if self.plan.stores_answered_questions or not messages:
            return False
        return messages[-1].role == MessageRole.USER and (messages[-1].content or "") == query

    def _fit(
        self, fitting: EngineFitting, request: EngineRequest, *, keeps_documents_free: bool = False
    ) -> FittedRequest:
        changed = 0
        if self.escape_names:
            messages, changed = escape_template_names(request.messages, self.plan.template_names)
            request = replace(request, messages=messages)
        if keeps_documents_free:
            request = replace(request, reserved=fitting.documents_share(request, self._documents_tokens))
        fitted = fitting.fit(request)
        report = fitted.report
        if changed:
            note = f"names in braces that the engine would have filled in were escaped in {changed} messages"
            report = replace(report, notes=(*report.notes, note))
        self._report(report)
        return fitted

    def _report(self, report: FitReport) -> None:
        self.last_report = report
        dispatcher.event(ContextOptimizedEvent(figures=report.to_event()))
        self.plan.settings.report(report)
