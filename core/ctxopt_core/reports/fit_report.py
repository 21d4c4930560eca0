"""What was kept, cut and dropped, and why: counts and reasons, never content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ctxopt_core.displayed import Displayed
from ctxopt_core.reports.rows import ComponentReport, DocumentReport, HistoryReport, SectionReport, State, Stretch

if TYPE_CHECKING:
    from ctxopt_core.models.prices import Prices, RequestCost

__all__ = ["ComponentReport", "DocumentReport", "FitReport", "HistoryReport", "SectionReport", "State", "Stretch"]


@dataclass(frozen=True, kw_only=True)
class FitReport(Displayed):
    """The account of one fit. It holds counts, ids and reasons, and no content.

    Figures that need the whole input (`tokens_before`, `tokens_saved`, `ratio`, `cost`, the `before` of a component,
    `history_strip`; for an unchanged request also `tokens_after`) are counted when they are asked for. What a notebook
    shows of it has them all.

    Args:
        input_budget: The most that the rendered request may count, in tokens.
        fixed: Tokens that are not budgeted: template, tool schemas, renderer, and what is kept of sections.
        reserve: Tokens kept free for the answer and for safety.
        unchanged: Whether the request fitted as it was.
        counted_after: What the fitted request counts; None for an unchanged one that was not counted.
        model: The model's name, if known.
        context_window: Its window in tokens, if known.
        window_source: Where that figure comes from.
        encoding: The tokenizer.
        exact: Whether counts are exact; False for an estimate.
        documents: What became of each document.
        history: What became of the conversation.
        sections: What became of each section.
        strategy: The history strategy that was used.
        fallback: What was used instead where a strategy failed.
        reused_prefix_tokens: With a stable prefix, how many tokens of messages repeat the start of the request before,
            byte for byte; None for a request that was not cut, since it repeats all of it.
        notes: Fallbacks and choices that the caller should know of.
        prices: The user's own prices, by model id.
        budgets: Tokens that each component was allowed; None when nothing was cut.
        after: Tokens that each component takes.
        cumulative_score: Sum of the scores of the kept documents; None when nothing was cut.
        selection: How documents were chosen: `score`, `passages`, `density` or `optimal`; None when all were kept.
        score_order_share: With the optimal selection, the share of the best sum of scores that taking the best-scored
            documents that fit would have reached.
        count_before: Counts the whole input when it is asked for.
        count_documents: Counts every document when it is asked for.
        count_sections: Counts what is kept of every section when it is asked for.
        count_history: Tells what became of the turns, oldest first, when it is asked for.
    """

    input_budget: int
    fixed: int
    reserve: int
    unchanged: bool
    counted_after: int | None = None
    model: str | None = None
    context_window: int | None = None
    window_source: str | None = None
    encoding: str = ""
    exact: bool = True
    documents: tuple[DocumentReport, ...] = ()
    history: HistoryReport = field(default_factory=HistoryReport)
    sections: tuple[SectionReport, ...] = ()
    strategy: str = "turns"
    fallback: str | None = None
    reused_prefix_tokens: int | None = None
    notes: tuple[str, ...] = ()
    prices: Prices = field(default_factory=dict, repr=False)
    budgets: Mapping[str, int] | None = None
    after: Mapping[str, int] = field(default_factory=dict)
    cumulative_score: float | None = None
    selection: str | None = None
    score_order_share: float | None = None
    count_before: Callable[[], Mapping[str, int]] = field(default=dict, repr=False, compare=False)
    count_documents: Callable[[], Sequence[int]] = field(default=tuple, repr=False, compare=False)
    count_sections: Callable[[], Sequence[int]] = field(default=tuple, repr=False, compare=False)
    count_history: Callable[[], Sequence[Stretch]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def _before(self) -> Mapping[str, int]:
        return dict(self.count_before())

    @cached_property
    def components(self) -> Mapping[str, ComponentReport]:
        """Budget, before and after of `system`, `query`, `documents` and `history`."""
        return {
            name: ComponentReport(
                budget=None if self.budgets is None else self.budgets[name],
                before=self._before.get(name, 0),
                after=(self._before if self.unchanged else self.after).get(name, 0),
            )
            for name in ("system", "query", "documents", "history")
        }

    @property
    def tokens_before(self) -> int:
        """What the request counted before, rendered."""
        return self._before["whole"]

    @property
    def tokens_after(self) -> int:
        """What the rendered request counts now."""
        return self.tokens_before if self.counted_after is None else self.counted_after

    @property
    def tokens_saved(self) -> int:
        """Tokens that were saved; never negative."""
        return max(0, self.tokens_before - self.tokens_after)

    @property
    def ratio(self) -> float:
        """Output over input; 1 for an empty input."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0

    @cached_property
    def cost(self) -> RequestCost | None:
        """What the request costs as input, in USD; None where the price of the model is not known.

        Prices are the user's own, else those of the package `genai-prices` where it is installed.
        """
        if self.model is None:
            return None
        from ctxopt_core.models.prices import cost_of

        return cost_of(
            self.model,
            before=self.tokens_before,
            after=self.tokens_after,
            repeated=self.reused_prefix_tokens,
            prices=self.prices,
        )

    @property
    def within_budget(self) -> bool:
        """Whether the promise is kept: what leaves counts at most the input budget."""
        return self.tokens_after <= self.input_budget

    @property
    def dropped_documents(self) -> tuple[DocumentReport, ...]:
        """The dropped documents, each with its reason."""
        return tuple(row for row in self.documents if row.state == "dropped")

    @cached_property
    def document_tokens(self) -> tuple[int, ...]:
        """Tokens of each document as it came, rendered, separator included."""
        return tuple(self.count_documents())

    @cached_property
    def section_tokens(self) -> tuple[int, ...]:
        """Tokens of what is kept of each section, rendered."""
        return tuple(self.count_sections())

    @cached_property
    def history_strip(self) -> tuple[Stretch, ...]:
        """What became of the turns of the conversation, from the oldest to the newest."""
        return tuple(self.count_history())

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as plain values, ready for JSON."""
        from ctxopt_core.reports.serialization import as_dict

        return as_dict(self)

    def to_event(self) -> dict[str, Any]:
        """Return the figures that are known without counting the whole input, for callbacks and logs."""
        from ctxopt_core.reports.serialization import as_event

        return as_event(self)

    def to_text(self) -> str:
        """Return the report as aligned lines of text."""
        return self._plain_text()

    def __str__(self) -> str:
        return self.to_text()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the figures; what needs the input is counted now."""
        state = dict(self.__dict__)
        state["_before"] = self._before
        state["document_tokens"], state["section_tokens"] = self.document_tokens, self.section_tokens
        state["history_strip"] = self.history_strip
        state["count_before"], state["count_documents"], state["count_sections"] = dict, tuple, tuple
        state["count_history"] = tuple
        return state
