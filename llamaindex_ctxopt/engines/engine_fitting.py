"""Fits the requests of one engine, with documents and history in them, into its budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    Component,
    FitOptions,
    MeasuredRequest,
    ModelBudget,
    count_request,
    documents_need,
    fits,
    fitted_with,
    log_fit,
    measure_needs,
)
from llamaindex_ctxopt.engines.condense_question import Condensing
from llamaindex_ctxopt.engines.engine_prompts import EnginePrompts
from llamaindex_ctxopt.engines.engine_renderer import EngineRenderer, render_request
from llamaindex_ctxopt.engines.engine_request import EngineRequest, FittedRequest
from llamaindex_ctxopt.messages.message_views import kept_messages
from llamaindex_ctxopt.nodes.packing import (
    BEST_ONLY,
    PackedNodes,
    least_policy,
    media_notes,
    only_sent,
    pack_nodes,
    shows_nothing,
)
from llamaindex_ctxopt.nodes.rendering import with_texts
from llamaindex_ctxopt.refusals import OF_ENGINE, in_words_of_front, remedies_of

# Tokens that may be added where the text of a document meets the template around it. With fewer, a node that was packed
# into what is left could make the request larger than the budget, which is an error.
_JOINTS = 4
# Attempts to pack nodes into LlamaIndex's limit for one call. Only an engine that splits nodes again needs a second, in
# which the tokens are taken off that it added.
_CHUNK_ROUNDS = 4
IN_ONE_CHUNK = "documents were first fitted into the `chunk_size_limit` of LlamaIndex's prompt helper, for one call"
"""The note of a report whose documents were cut for that limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFitting:
    """Fits the requests of one engine.

    Args:
        model_budget: Budget and token counter. What LlamaIndex keeps free for itself is not in the budget.
        options: How requests are cut.
        prompts: The templates that the engine puts around documents, history and query.
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
        budget = model_budget.budget
        try:
            padded = replace(budget, safety_margin=budget.safety_margin + prompts.padding)
        except ContextBudgetError as error:
            message = (
                f"nothing is left for the input: LlamaIndex itself keeps {prompts.padding:,} tokens free beside the "
                f"answer, and the input budget is {budget.input_budget:,}"
            )
            raise ContextBudgetError(
                message,
                needed=prompts.padding + 1,
                available=budget.input_budget,
                remedies=remedies_of(budget),
            ) from error
        return cls(
            model_budget=replace(model_budget, budget=padded),
            options=replace(options, protect=options.protect | {"query"}),
            prompts=prompts,
            llm=llm,
        )

    def fit(self, request: EngineRequest) -> FittedRequest:
        """Fit documents and history of a request together.

        Raises:
            ContextBudgetError: The prompt and the query alone are larger than the budget, or they leave no tokens for a
                word of the documents.
        """
        with in_words_of_front(self.model_budget.budget, self.prompts.padding, OF_ENGINE):
            fitted, condensing = self._fitted(request), self._condensing(request)
            if condensing is not None and condensing.tokens_over(fitted.messages):
                messages, dropped = condensing.cut(request.messages)
                fitted = self._fitted(replace(request, messages=messages))
                note = f"{dropped:,} messages do not fit into the prompt that condenses the history"
                fitted = replace(fitted, report=_with_note(fitted.report, note))
        log_fit(fitted.report)
        return fitted

    def fits(self, request: EngineRequest) -> bool:
        """Return whether a request fits as it is, and LlamaIndex makes one call of it."""
        given, renderer = self._rendered(request)
        if not fits(self._measured(given, renderer)) or renderer.over_one_chunk(given.documents):
            return False
        condensing = self._condensing(request)
        return condensing is None or not condensing.tokens_over(request.messages)

    def documents_share(self, request: EngineRequest, need: int | None) -> int:
        """Return the tokens to keep free for documents that are not retrieved yet.

        Args:
            request: The request without them.
            need: The tokens of the documents of the last turn; None where there was none, so that they get all that
                they could.
        """
        given, renderer = self._rendered(request)
        measured = self._measured(given, renderer)
        needs = measure_needs(measured)
        # Components that may not be cut are whole, whatever their shares are.
        whole: dict[Component, int] = {name: tokens for name, tokens in needs.items() if name in self.options.protect}
        available = max(0, measured.available - sum(whole.values()))
        wanted: dict[Component, int] = {
            **needs,
            **dict.fromkeys(whole, 0),
            "documents": available if need is None else need,
        }
        rule = renderer.rule
        if rule is not None and rule.chunk_limit is not None:
            wanted["documents"] = min(wanted["documents"], rule.chunk_limit)
        return allocate(available, wanted, self.model_budget.budget.shares).documents

    def _fitted(self, request: EngineRequest) -> FittedRequest:
        given, renderer = self._rendered(request)
        if (over := renderer.over_one_chunk(given.documents)) and renderer.rule is not None:
            return self._fitted_in_one_chunk(request, renderer, over)
        options = replace(self.options, ranking_query=request.ranking_query) if request.ranking_query else self.options
        budget, counter = self.model_budget.budget, renderer.counter
        try:
            fitted = fitted_with(given, budget, counter, renderer, options)
        except ContextBudgetError as error:
            raise self._with_least_node(error, request, renderer) from error
        if _is_without_nodes(fitted, counter):
            least = replace(options, documents=least_policy(options.documents))
            shown = replace(given, documents=only_sent(given.documents, counter))
            fitted = fitted_with(shown, _with_documents(budget), counter, renderer, least)
            fitted = replace(fitted, report=_with_note(fitted.report, BEST_ONLY))
        kept = range(len(request.nodes)) if fitted.unchanged else fitted.documents.kept
        found = FittedRequest(
            nodes=with_texts(request.nodes, kept, fitted.documents.texts),
            messages=list(request.messages) if fitted.unchanged else kept_messages(request.messages, fitted.history),
            report=_with_note(fitted.report, *media_notes([given.documents[index] for index in kept], counter)),
            documents_tokens=documents_need(given.documents, renderer.documents, counter, budget.effective_target),
        )
        return self._with_any_node(request, found, renderer) if _is_without_nodes(fitted, counter) else found

    def _fitted_in_one_chunk(self, request: EngineRequest, renderer: EngineRenderer, over: int) -> FittedRequest:
        """Fit a request whose documents are over the limit for one call that the user has set in LlamaIndex."""
        query, limit = request.ranking_query or request.query, (renderer.rule and renderer.rule.chunk_limit) or 0
        for _ in range(_CHUNK_ROUNDS):
            packed = self._packed(request.nodes, query, limit, renderer)
            smaller = replace(request, nodes=packed.nodes)
            given, renderer = self._rendered(smaller)
            over = renderer.over_one_chunk(given.documents)
            if not over:
                fitted = self._fitted(smaller)
                return replace(fitted, report=_after_packing(packed, fitted.report))
            limit = min(limit, packed.report.tokens_after) - over
        message = (
            f"no node fits into one call: they are split into more than the `chunk_size_limit`, {over:,} tokens over"
        )
        raise ContextBudgetError(message)

    def _with_any_node(self, request: EngineRequest, fitted: FittedRequest, renderer: EngineRenderer) -> FittedRequest:
        """Keep something of the nodes in the tokens that are left, where their share is too small for any of them."""
        target, report = self.model_budget.budget.effective_target, fitted.report
        left = target - report.tokens_after - _JOINTS
        try:
            packed = self._packed(request.nodes, request.ranking_query or request.query, left, renderer)
        except ContextBudgetError as error:
            raise self._without_room(report.tokens_after + _JOINTS + (error.needed or 0), report) from error
        given, renderer = self._rendered(replace(request, nodes=packed.nodes, messages=fitted.messages))
        whole = count_request(given, renderer.counter, renderer)
        if whole > target:
            raise self._without_room(whole, report)
        changed = replace(
            report,
            counted_after=whole,
            documents=packed.report.documents,
            after={**report.after, **packed.report.after},
            notes=packed.report.notes,
        )
        return replace(fitted, nodes=packed.nodes, report=changed)

    def _without_room(self, needed: int, report: FitReport) -> ContextBudgetError:
        """Return the error of a request that has no room for a word of any node, with the figures of the request."""
        budget = self.model_budget.budget
        message = (
            f"no node fits beside the history, the query and the prompts: with the least of one the request needs "
            f"{needed:,} tokens and the input budget is {budget.effective_target:,}"
        )
        after = {name: component.after for name, component in report.components.items()}
        return ContextBudgetError(
            message,
            needed=needed,
            available=budget.effective_target,
            costs={"fixed": report.fixed, **after},
            remedies=remedies_of(budget),
        )

    def _with_least_node(
        self, error: ContextBudgetError, request: EngineRequest, renderer: EngineRenderer
    ) -> ContextBudgetError:
        """Return the error of a request that is too large without nodes, with what the least of one needs beside it."""
        if not request.nodes or error.needed is None or "documents" in self.options.protect:
            return error
        try:
            self._packed(request.nodes, request.query, 0, renderer)
        except ContextBudgetError as without_room:
            least = _JOINTS + (without_room.needed or 0)
            return ContextBudgetError(
                f"{error.problem}, and the least of one node needs {least:,} more, {error.needed + least:,} in all",
                needed=error.needed + least,
                available=error.available,
                costs=error.costs,
                remedies=error.remedies,
            )
        return error

    def _packed(self, nodes: Sequence[NodeWithScore], query: str, left: int, renderer: EngineRenderer) -> PackedNodes:
        counted = replace(self.model_budget, counter=renderer.counter)
        return pack_nodes(nodes, query, max(0, left), counted, self.options.documents, reading=self.prompts.reading)

    def _condensing(self, request: EngineRequest) -> Condensing | None:
        prompt = self.prompts.condense
        if prompt is None:
            return None
        return Condensing(
            prompt=prompt, query=request.query, llm=self.llm, model_budget=self.model_budget, options=self.options
        )

    def _rendered(self, request: EngineRequest) -> tuple[ContextRequest, EngineRenderer]:
        return render_request(request, self.prompts, self.llm, self.model_budget)

    def _measured(self, given: ContextRequest, renderer: EngineRenderer) -> MeasuredRequest:
        limit = self.model_budget.budget.effective_target
        return MeasuredRequest(request=given, limit=limit, counter=renderer.counter, renderer=renderer)


def _is_without_nodes(fitted: FittedContext, counter: TokenCounter) -> bool:
    """Return whether nothing of any node is kept although there is something; LlamaIndex would call no model then."""
    if fitted.unchanged or not fitted.request.documents:
        return False
    kept = fitted.documents.kept
    return not kept or shows_nothing(fitted.request.documents, kept, counter)


def _with_note(report: FitReport, *notes: str) -> FitReport:
    return replace(report, notes=(*report.notes, *notes)) if notes else report


def _after_packing(packed: PackedNodes, report: FitReport) -> FitReport:
    """Return the report of a fit of nodes that were packed before, with a row for each node as it was given."""
    rows = list(packed.report.documents)
    for index, row in zip(packed.kept, report.documents, strict=True):
        if row.state != "kept":
            rows[index] = row
    after = {name: component.after for name, component in report.components.items()}

    def count_before() -> dict[str, int]:
        before = {name: component.before for name, component in report.components.items()}
        cut_off = packed.report.tokens_before - before["documents"]
        return {**before, "documents": packed.report.tokens_before, "whole": report.tokens_before + cut_off}

    return replace(
        report,
        unchanged=False,
        counted_after=report.tokens_after,
        documents=tuple(rows),
        after=after,
        cumulative_score=packed.report.cumulative_score,
        selection=packed.report.selection,
        count_before=count_before,
        count_documents=packed.report.count_documents,
        notes=(*report.notes, *packed.report.notes, IN_ONE_CHUNK),
    )


def _with_documents(budget: ContextBudget) -> ContextBudget:
    """Return a budget in which documents have a share: without any they would be left out."""
    shares = budget.shares
    if shares.documents:
        return budget
    rest = 100 - sum(map(math.ceil, (shares.system, shares.query, shares.history)))
    return replace(budget, shares=replace(shares, documents=max(1, rest)))
