"""How the requests of an engine, with documents and history in them, are fitted into its budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    FitReport,
    FittedContext,
    TokenCounter,
    allocate,
)
from ctxopt_core.adapters import (
    FitOptions,
    MeasuredRequest,
    ModelBudget,
    as_given,
    documents_need,
    fits,
    fitted_with,
    log_fit,
    measure_needs,
    message_tokens,
)
from llamaindex_ctxopt.engines.condense_question import Condensing
from llamaindex_ctxopt.engines.engine_prompts import EnginePrompts
from llamaindex_ctxopt.engines.engine_renderer import EngineRenderer
from llamaindex_ctxopt.engines.engine_request import EngineRequest, FittedRequest
from llamaindex_ctxopt.engines.one_call_rule import RepackRule, history_tokens, repack_rule
from llamaindex_ctxopt.messages.message_views import LlamaIndexMessages, PrintedMessages, kept_messages, view_of
from llamaindex_ctxopt.models.completion_renderer import printed_tokens, reads_text
from llamaindex_ctxopt.models.larger_counter import larger
from llamaindex_ctxopt.nodes.packing import BEST_ONLY, pack_nodes
from llamaindex_ctxopt.nodes.rendering import NodeRendering, SplitNodes, node_views, with_text
from llamaindex_ctxopt.nodes.selection import in_their_places, least_policy, textless_nodes

_JOINTS = 4  # what may be added where a document's text meets the template around it


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFitting:
    """Fits the requests of one engine.

    Args:
        model_budget: Budget and token counter. What LlamaIndex keeps free for itself is not in the budget.
        options: How requests are cut.
        prompts: What the engine puts around the parts.
        llm: The model that is called, if it is known.
    """

    model_budget: ModelBudget
    options: FitOptions
    prompts: EnginePrompts
    llm: LLM | None

    @classmethod
    def of(
        cls, model_budget: ModelBudget, options: FitOptions, prompts: EnginePrompts, llm: LLM | None
    ) -> EngineFitting:
        """Return the fitting of an engine: its padding is kept free, and the query, which it sends itself, is whole.

        Raises:
            ContextBudgetError: The padding leaves nothing of the window.
        """
        return cls(
            model_budget=replace(model_budget, budget=_padded(model_budget.budget, prompts.padding)),
            options=replace(options, protect=options.protect | {"query"}),
            prompts=prompts,
            llm=llm,
        )

    def fit(self, request: EngineRequest) -> FittedRequest:
        """Fit documents and history of a request together.

        Raises:
            ContextBudgetError: The prompt and the query alone are larger than the budget, or they leave no room for a
                word of the documents.
        """
        fitted, condensing = self._fitted(request), self._condensing(request)
        if condensing is not None and condensing.over(fitted.messages):
            messages, dropped = condensing.cut(request.messages)
            fitted = self._fitted(replace(request, messages=messages))
            note = f"{dropped:,} messages have no room in the prompt that condenses the history"
            fitted = replace(fitted, report=_noted(fitted.report, note))
        log_fit(fitted.report)
        return fitted

    def _fitted(self, request: EngineRequest) -> FittedRequest:
        given, renderer = self._framed(request)
        options = replace(self.options, ranking_query=request.ranking_query) if request.ranking_query else self.options
        budget, counter = self.model_budget.budget, self._counter_beside(renderer.rule)
        fitted = fitted_with(given, budget, counter, renderer, options)
        if _is_without_nodes(fitted, renderer):
            least = replace(options, documents=least_policy(options.documents))
            fitted = fitted_with(given, _with_documents(budget), counter, renderer, least)
            fitted = replace(fitted, report=_noted(fitted.report, BEST_ONLY))
        found = FittedRequest(
            nodes=_nodes_of(request.nodes, fitted, renderer),
            messages=list(request.messages) if fitted.unchanged else kept_messages(request.messages, fitted.history),
            report=fitted.report,
            documents_tokens=documents_need(given.documents, renderer.documents, counter, budget.effective_target),
        )
        return self._with_any_node(request, found) if _is_without_nodes(fitted, renderer) else found

    def _with_any_node(self, request: EngineRequest, fitted: FittedRequest) -> FittedRequest:
        """Keep something of the nodes in the room that is left, where their share has no room for any of their text."""
        goal, query, report = (
            self.model_budget.budget.effective_target,
            request.ranking_query or request.query,
            fitted.report,
        )
        model_budget = replace(self.model_budget, counter=self._counter_beside(self._rule()))
        room = max(0, goal - report.tokens_after - _JOINTS)
        packed = pack_nodes(request.nodes, query, room, model_budget, self.options.documents)
        measured = self._subject(*self._framed(replace(request, nodes=packed.nodes, messages=fitted.messages)))
        whole = measured.count(as_given(measured))
        if whole > goal:
            message = f"no node has room beside the history; with one the request counts {whole:,} tokens of {goal:,}"
            raise ContextBudgetError(message, needed=whole, available=goal)
        changed = replace(
            report,
            counted_after=whole,
            documents=packed.report.documents,
            after={**report.after, **packed.report.after},
            notes=packed.report.notes,
        )
        return replace(fitted, nodes=packed.nodes, report=changed)

    def fits(self, request: EngineRequest) -> bool:
        """Tell whether a request fits as it is, and LlamaIndex makes one call of it."""
        given, renderer = self._framed(request)
        if not (fits(self._subject(given, renderer)) and renderer.in_one_chunk(given.documents)):
            return False
        condensing = self._condensing(request)
        return condensing is None or not condensing.over(request.messages)

    def documents_share(self, request: EngineRequest, need: int | None) -> int:
        """Return what is to be kept for documents that are not there yet, in tokens.

        Args:
            request: The request without them.
            need: What they counted the last time; None where there was none, so that they get all that they could.
        """
        measured = self._subject(*self._framed(request))
        needs = measure_needs(measured)
        # What may not be cut is whole, whatever its share.
        whole = {name: tokens for name, tokens in needs.items() if name in self.options.protect}
        available = max(0, measured.available - sum(whole.values()))
        wanted = {**needs, **dict.fromkeys(whole, 0), "documents": available if need is None else need}
        return allocate(available, wanted, self.model_budget.budget.shares).documents

    def _condensing(self, request: EngineRequest) -> Condensing | None:
        prompt = self.prompts.condense
        if prompt is None:
            return None
        return Condensing(
            prompt=prompt, query=request.query, llm=self.llm, model_budget=self.model_budget, options=self.options
        )

    def _subject(self, request: ContextRequest, renderer: EngineRenderer) -> MeasuredRequest:
        limit, counter = self.model_budget.budget.effective_target, self._counter_beside(renderer.rule)
        return MeasuredRequest(request=request, limit=limit, counter=counter, renderer=renderer)

    def _counter_beside(self, rule: RepackRule | None) -> TokenCounter:
        """Return what counts the parts: where LlamaIndex counts them as well, the larger figure decides."""
        return self.model_budget.counter if rule is None else larger(self.model_budget.counter, rule.counter)

    def _framed(self, request: EngineRequest) -> tuple[ContextRequest, EngineRenderer]:
        history = request.messages if self.prompts.takes_history else ()
        views, nodes = node_views(request.nodes), request.nodes
        printed = self.prompts.only_condenses or (self.llm is not None and reads_text(self.llm))
        messages = PrintedMessages(history) if printed else LlamaIndexMessages(history)
        rule = self._rule()
        given = ContextRequest(
            query=request.query,
            documents=views,
            history=messages,
            tools=self.model_budget.schemas,
            fixed_tokens=request.reserved + self._settled_tokens(request.settled, rule),
        )
        renderer = EngineRenderer(
            textless=tuple(sorted(textless_nodes(nodes, views))),
            prompts=self.prompts,
            llm=self.llm,
            query=request.query,
            history=history,
            documents=self._rendering(nodes),
            limit=self.model_budget.budget.input_budget,
            rule=rule,
        )
        return given, renderer

    def _rule(self) -> RepackRule | None:
        return repack_rule(self.llm, self.model_budget.budget) if self.prompts.bounding else None

    def _rendering(self, nodes: Sequence[NodeWithScore]) -> NodeRendering | SplitNodes:
        if self.prompts.split is not None:
            return SplitNodes(nodes=nodes, split=self.prompts.split)
        return NodeRendering(nodes=nodes, strips=self.prompts.strips)

    def _settled_tokens(self, messages: Sequence[ChatMessage], rule: RepackRule | None) -> int:
        ours = sum(message_tokens(view_of(message), self.model_budget.counter) for message in messages)
        ours = max(ours, printed_tokens(messages, self.llm, self.model_budget.counter))
        return ours if rule is None else max(ours, history_tokens(messages, rule.counter))


def _is_without_nodes(fitted: FittedContext, renderer: EngineRenderer) -> bool:
    """Tell whether nothing is kept where there was something, so that LlamaIndex would ask no model."""
    nothing = not (fitted.unchanged or fitted.documents.kept or renderer.textless)
    return nothing and bool(fitted.request.documents)


def _nodes_of(nodes: Sequence[NodeWithScore], fitted: FittedContext, renderer: EngineRenderer) -> list[NodeWithScore]:
    if fitted.unchanged:
        return list(nodes)
    packing = fitted.documents
    order = in_their_places(packing.kept, renderer.textless)
    return [with_text(nodes[i], packing.texts[i]) if i in packing.texts else nodes[i] for i in order]


def _noted(report: FitReport, note: str) -> FitReport:
    return replace(report, notes=(*report.notes, note))


def _with_documents(budget: ContextBudget) -> ContextBudget:
    """Return a budget in which documents have a share: without any they would be left out."""
    shares = budget.shares
    if shares.documents:
        return budget
    rest = 100 - sum(map(math.ceil, (shares.system, shares.query, shares.history)))
    return replace(budget, shares=replace(shares, documents=max(1, rest)))


def _padded(budget: ContextBudget, padding: int) -> ContextBudget:
    return replace(budget, safety_margin=budget.safety_margin + padding)
