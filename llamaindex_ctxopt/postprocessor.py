"""`ContextOptimizerPostprocessor`: fits retrieved nodes into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.callbacks.base import EventContext
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from ctxopt_core import DocumentPolicy, FitReport
from ctxopt_core.adapters import ModelBudget, copy_with, in_worker, tokens_of_share
from llamaindex_ctxopt.events import ContextOptimizedEvent
from llamaindex_ctxopt.nodes.node_reading import NodeReading
from llamaindex_ctxopt.nodes.packing import PackedNodes, pack_nodes
from llamaindex_ctxopt.refusals import NODES, in_words_of_front
from llamaindex_ctxopt.settings import DocumentSettings, FitSettings, Limit, ModelName, Share, known_settings_only

dispatcher = get_dispatcher(__name__)
_READINGS = {True: NodeReading.ANY, False: NodeReading.TEXTS}


@runtime_checkable
class NodePlanner(Protocol):
    """Packs nodes in place of a postprocessor's own budget: the planner that all parts of a request share.

    1. `pack_nodes` returns at least one node where there are nodes, or raises `ContextBudgetError`.
    2. Whole nodes are the identical objects, the others are copies; what is given is not changed.
    3. `apack_nodes` returns what `pack_nodes` returns.
    """

    def pack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return the nodes that are kept."""
        ...

    async def apack_nodes(self, nodes: Sequence[NodeWithScore], query: str) -> list[NodeWithScore]:
        """Return the nodes that are kept."""
        ...


class ContextOptimizerPostprocessor(BaseNodePostprocessor):
    """Fits retrieved nodes into a token budget, counted as a response synthesizer joins them.

    It can be used wherever LlamaIndex takes a node postprocessor; put it after those that rerank or lengthen nodes.
    Whole nodes are returned as the identical objects. Of a node that is kept in part a copy with the new text is
    returned, with its class, id, score, metadata and relationships. The given nodes and their list are not changed.

    The budget is either `max_tokens`, or a part of the input budget of `model` or `llm`. Where there are nodes, at
    least one is returned, or there is an error: without any, LlamaIndex answers `Empty Response` and asks no model.

    Attributes:
        max_tokens: The limit for all kept nodes together, in tokens: with the metadata that an LLM sees, joined by a
            blank line.
        model: A model name. Without `max_tokens`, its window decides the budget; with it, only the tokenizer.
        llm: A LlamaIndex LLM in place of `model`. A dump has the budget that was computed from it, not the LLM.
        share: The part of the model's input budget that nodes may take, as a percentage; by default the documents'
            share of `Shares()`, 50. Not with `max_tokens`.
        documents: How nodes are chosen, as `DocumentPolicy` or a mapping. Its `min_score` does not drop the best node.
        multimodal: Whether the engine sends the images, recordings and videos of nodes. They cost what the provider of
            the model publishes, or an allowance where their size is not known. With False, the text of a node alone
            costs anything, as in engines that send no media.
        token_counter: Counts tokens in place of the model's tokenizer: what `ctxopt_core.counter_for` takes. By
            default the tokenizer that was set in LlamaIndex's `Settings`, else the model's own. It is not dumped.
        on_report: Called with the report of each packing: a `FitReport` of the documents alone. It is not dumped.

    Raises:
        ValueError: A setting is out of its range; none of `max_tokens`, `model` and `llm` is given, or both of the last
            two; `share` is given without one of them or with `max_tokens`, or is less than one token.
        TypeError: `llm` is no LlamaIndex LLM.

    Example:
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llamaindex_ctxopt import ContextOptimizerPostprocessor
        >>> texts = ["Kilns fire clay.", "Looms weave wool.", "Ferries cross rivers."]
        >>> nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]
        >>> postprocessor = ContextOptimizerPostprocessor(max_tokens=20, token_counter=len)
        >>> [item.text for item in postprocessor.postprocess_nodes(nodes, query_str="What do looms weave?")]
        ['Looms weave wool.']
        >>> [document.reason for document in postprocessor.last_report.dropped_documents]
        ['budget', 'budget']
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    _known = model_validator(mode="before")(known_settings_only)

    max_tokens: Limit = Field(default=None, frozen=True)
    model: ModelName = Field(default=None, frozen=True)
    llm: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    share: Share = Field(default=None, frozen=True)
    documents: DocumentSettings = Field(default=DocumentPolicy(), frozen=True)
    multimodal: bool = Field(default=True, frozen=True, strict=True)
    token_counter: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    on_report: Callable[[FitReport], None] | None = Field(default=None, exclude=True, repr=False, frozen=True)

    _model_budget: ModelBudget = PrivateAttr()
    _budget: int = PrivateAttr()
    _planner: NodePlanner | None = PrivateAttr(default=None)
    _last_report: FitReport | None = PrivateAttr(default=None)

    @classmethod
    def of_planner(cls, planner: NodePlanner) -> ContextOptimizerPostprocessor:
        """Return a postprocessor whose nodes `planner` packs. It cannot be dumped or pickled without the planner."""
        return cls.model_validate({}, context=planner)

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class in dumps."""
        return "ContextOptimizerPostprocessor"

    def model_post_init(self, context: Any, /) -> None:
        """Compute budget and tokenizer once, or take the planner from the validation context."""
        super().model_post_init(context)
        if isinstance(context, NodePlanner):
            self._planner = context
            return
        self._check_limits()
        given = {"max_input_tokens": self.max_tokens, "token_counter": self.token_counter}
        settings = FitSettings.of(given, type(self).__name__)
        self._model_budget = settings.model_budget(self.model if self.llm is None else self.llm)
        self._budget = self.max_tokens or tokens_of_share(self.share, self._model_budget.budget)

    @property
    def planner(self) -> NodePlanner | None:
        """What packs the nodes, which the other parts of the same session share; None for a budget of its own."""
        return self._planner

    @property
    def budget_tokens(self) -> int:
        """The limit for all kept nodes together, in tokens."""
        self._check_alone("ask that one for its budget")
        return self._budget

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last packing; None before the first."""
        self._check_alone("ask that one for its report")
        return self._last_report

    def plan(self, nodes: Sequence[NodeWithScore], query: str | QueryBundle | None = None) -> FitReport:
        """Return the report that a packing would give, without events and `on_report`."""
        return self._packed(nodes, query_text(query)).report

    def with_changes(self, **changes: Any) -> ContextOptimizerPostprocessor:
        """Return a copy with other settings, validated as at construction."""
        self._check_alone("change the settings of that one")
        return copy_with(self, changes)

    @model_serializer(mode="wrap")
    def custom_model_dump(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """Dump the settings; in place of an LLM, the computed budget and the model name of its tokenizer."""
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
        """Return whether two have the same settings; callback manager and last report are not compared."""
        if not isinstance(other, ContextOptimizerPostprocessor):
            return NotImplemented
        same = type(self) is type(other) and self._planner is other._planner
        return same and self._settings() == other._settings()

    __hash__ = None  # type: ignore[assignment]

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields if name != "callback_manager"}

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = query_text(query_bundle)
        if self._planner is not None:
            return self._planner.pack_nodes(nodes, query)
        with self._event(nodes, query) as event:
            return self._reported(self._packed(nodes, query), event)

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = query_text(query_bundle)
        if self._planner is not None:
            return await self._planner.apack_nodes(nodes, query)
        with self._event(nodes, query) as event:
            return self._reported(await in_worker(self._packed, nodes, query), event)

    def _packed(self, nodes: Sequence[NodeWithScore], query: str) -> PackedNodes:
        self._check_alone("ask that one for its plan")
        remedy = "a larger `share`, or an `llm` or `model` with a larger window"
        phrases = {NODES: "a larger `max_tokens`" if self.max_tokens is not None else remedy}
        with in_words_of_front(self._model_budget.budget, phrases=phrases):
            return pack_nodes(
                nodes, query, self._budget, self._model_budget, self.documents, reading=_READINGS[self.multimodal]
            )

    def _event(self, nodes: Sequence[NodeWithScore], query: str) -> AbstractContextManager[EventContext]:
        """Return the event of the callback manager that rerankers have, too."""
        payload: dict[str, Any] = {EventPayload.NODES: nodes, EventPayload.QUERY_STR: query}
        payload[EventPayload.TOP_K] = len(nodes)
        return self.callback_manager.event(CBEventType.RERANKING, payload=payload)

    def _reported(self, packed: PackedNodes, event: EventContext) -> list[NodeWithScore]:
        """Report a packing to callbacks, event handlers and `on_report`, and return the kept nodes."""
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
            message = f"this postprocessor shares the budget of an EngineOptimizer: {remedy}"
            raise ValueError(message)


def query_text(query: str | QueryBundle | None) -> str:
    """Return the query as a string, which is empty without a query.

    Raises:
        TypeError: `query` is no query of LlamaIndex.
    """
    if query is None or isinstance(query, str):
        return query or ""
    if isinstance(query, QueryBundle):
        return query.query_str or ""
    message = f"the query must be a QueryBundle, a string or None, got {type(query).__name__}"
    raise TypeError(message)
