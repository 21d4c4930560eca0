"""The documents component alone, as a node postprocessor of LlamaIndex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.callbacks.base import EventContext
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher
from pydantic import ConfigDict, Field, PrivateAttr, SerializationInfo, SerializerFunctionWrapHandler, model_serializer

from ctxopt_core import DocumentPolicy, FitReport
from ctxopt_core.adapters import ModelBudget, copy_with, in_worker, tokens_of_share
from llamaindex_ctxopt.events import ContextOptimizedEvent
from llamaindex_ctxopt.nodes.packing import PackedNodes, pack_nodes
from llamaindex_ctxopt.settings import DocumentSettings, FitSettings, Limit, ModelName, Share

_NOT_IN_SETTINGS = ("callback_manager",)

dispatcher = get_dispatcher(__name__)


class NodePlanner(Protocol):
    """What decides instead of a postprocessor's own budget: the planner that other parts of a request share."""

    def pack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return the nodes that are kept."""

    async def apack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return the nodes that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """Tells a postprocessor at its construction who decides for it."""

    planner: NodePlanner


class ContextOptimizerPostprocessor(BaseNodePostprocessor):
    """Fits retrieved nodes into a token budget, counted as a response synthesizer joins them.

    It goes wherever LlamaIndex takes a node postprocessor, behind all that make nodes longer. Nodes that are kept whole
    are the identical objects; of one that is kept in part a copy with the new text is returned, with its class, id,
    score, metadata and relationships. The nodes and the list that are given stay as they are.

    The budget is either `max_tokens`, or a part of the input budget of `model` or `llm`. Where there are nodes, at
    least one is returned, or there is an error: without any, LlamaIndex answers `Empty Response` and asks no model.

    Attributes:
        max_tokens: The most that the kept nodes may count together, in tokens, as they show themselves to an LLM and
            joined by a blank line.
        model: A model name. Without `max_tokens`, its window decides the budget; with it, only the tokenizer.
        llm: A LlamaIndex LLM in place of `model`. It is not dumped: what is dumped has the budget that it led to.
        share: The part of the model's input budget that nodes may take, as a percentage; by default the documents'
            share of `Shares()`, 50. Not with `max_tokens`.
        documents: How nodes are chosen, as `DocumentPolicy` or a mapping. Its `min_score` does not drop the best node.
        token_counter: Counts tokens in place of the model's tokenizer: what `ctxopt_core.counter_for` takes. By
            default the tokenizer that was set in LlamaIndex's `Settings`, else the model's own. It is not dumped.
        on_report: Called with the report of each packing: a `FitReport` of the documents alone. It is not dumped.

    Raises:
        ValueError: A setting is out of its range, none of `max_tokens`, `model` and `llm` is given or both of the last
            two are, `share` is given without one of them or beside `max_tokens`, or it is less than one token.
        TypeError: `llm` is no LlamaIndex LLM.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())

    max_tokens: Limit = Field(default=None, frozen=True)
    model: ModelName = Field(default=None, frozen=True)
    llm: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    share: Share = Field(default=None, frozen=True)
    documents: DocumentSettings = Field(default=DocumentPolicy(), frozen=True)
    token_counter: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    on_report: Callable[[FitReport], None] | None = Field(default=None, exclude=True, repr=False, frozen=True)

    _model_budget: ModelBudget = PrivateAttr()
    _budget: int = PrivateAttr()
    _planner: NodePlanner | None = PrivateAttr(default=None)
    _last_report: FitReport | None = PrivateAttr(default=None)

    @classmethod
    def of_planner(cls, planner: NodePlanner) -> ContextOptimizerPostprocessor:
        """Return a postprocessor without a budget of its own, for which `planner` decides.

        It cannot be dumped or pickled, since it belongs to the planner: make it anew.
        """
        return cls.model_validate({}, context=_Planned(planner=planner))

    @classmethod
    def class_name(cls) -> str:
        """Return the name that stands in dumps."""
        return "ContextOptimizerPostprocessor"

    def model_post_init(self, context: Any, /) -> None:
        """Work out budget and tokenizer once."""
        super().model_post_init(context)
        if isinstance(context, _Planned):
            self._planner = context.planner
            return
        self._check_limits()
        settings = FitSettings(max_input_tokens=self.max_tokens, token_counter=self.token_counter)
        self._model_budget = settings.model_budget(self.model if self.llm is None else self.llm)
        self._budget = self.max_tokens or tokens_of_share(self.share, self._model_budget.budget)

    @property
    def budget_tokens(self) -> int:
        """The most that the kept nodes may count together, in tokens."""
        self._check_alone("ask that one for its budget")
        return self._budget

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last packing; None before the first."""
        self._check_alone("ask that one for its report")
        return self._last_report

    def plan(self, nodes: Sequence[NodeWithScore], query: str | QueryBundle | None = None) -> FitReport:
        """Return the report that a packing would give. Nobody else is told."""
        return self._packed(nodes, query_text(query)).report

    def with_changes(self, **changes: Any) -> ContextOptimizerPostprocessor:
        """Return a copy with other settings, validated as at construction."""
        self._check_alone("change the settings of that one")
        return copy_with(self, changes)

    @model_serializer(mode="wrap")
    def custom_model_dump(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """Dump the settings; in place of an LLM, the budget and the tokenizer's model that it led to."""
        self._check_alone("have that one make another instead of dumping it")
        data = super().custom_model_dump(handler, info)
        if self.llm is not None:
            window = self._model_budget.budget.window
            data.update(max_tokens=self._budget, share=None, model=window.model if window else None)
        return data

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the settings."""
        self._check_alone("have that one make another instead of pickling it")
        return super().__getstate__()

    def __eq__(self, other: object) -> bool:
        """Tell whether two have the same settings; who listens to them and what they did is none."""
        if not isinstance(other, ContextOptimizerPostprocessor):
            return NotImplemented
        same = type(self) is type(other) and self._planner is other._planner
        return same and self._settings() == other._settings()

    __hash__ = None  # type: ignore[assignment]

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields if name not in _NOT_IN_SETTINGS}

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = query_text(query_bundle)
        if self._planner is not None:
            return self._planner.pack_nodes(nodes, query)
        with self._announced(nodes, query) as event:
            return self._told(self._packed(nodes, query), event)

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = query_text(query_bundle)
        if self._planner is not None:
            return await self._planner.apack_nodes(nodes, query)
        with self._announced(nodes, query) as event:
            return self._told(await in_worker(self._packed, nodes, query), event)

    def _packed(self, nodes: Sequence[NodeWithScore], query: str) -> PackedNodes:
        self._check_alone("ask that one for its plan")
        return pack_nodes(nodes, query, self._budget, self._model_budget, self.documents)

    def _announced(self, nodes: Sequence[NodeWithScore], query: str) -> AbstractContextManager[EventContext]:
        """Tell the callback manager, as rerankers do."""
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.QUERY_STR: query,
            EventPayload.TOP_K: len(nodes),
        }
        return self.callback_manager.event(CBEventType.RERANKING, payload=payload)

    def _told(self, packed: PackedNodes, event: EventContext) -> list[NodeWithScore]:
        """Tell whoever listens what became of the nodes, and return those that are kept."""
        self._last_report = packed.report
        event.on_end(payload={EventPayload.NODES: packed.nodes})
        dispatcher.event(ContextOptimizedEvent(figures=packed.report.to_event()))
        if self.on_report is not None:
            self.on_report(packed.report)
        return packed.nodes

    def _check_limits(self) -> None:
        if self.model is not None and self.llm is not None:
            message = "give one of `model` and `llm`, not both: each says how much fits"
            raise ValueError(message)
        known = self.model is not None or self.llm is not None
        if self.share is not None and (self.max_tokens is not None or not known):
            message = "`share` is a part of the window of `model` or `llm`: give it with one and without `max_tokens`"
            raise ValueError(message)
        if self.max_tokens is None and not known:
            message = "give `max_tokens`, or a `model` or an `llm` whose window says how much fits"
            raise ValueError(message)

    def _check_alone(self, remedy: str) -> None:
        if self._planner is not None:
            message = f"this postprocessor shares the budget of a EngineOptimizer: {remedy}"
            raise ValueError(message)


def query_text(query: str | QueryBundle | None) -> str:
    """Return what is asked; without a query an empty text.

    Raises:
        TypeError: It is no query of LlamaIndex.
    """
    if query is None or isinstance(query, str):
        return query or ""
    if isinstance(query, QueryBundle):
        return query.query_str or ""
    message = f"the query must be a QueryBundle, a text or None, got {type(query).__name__}"
    raise TypeError(message)
