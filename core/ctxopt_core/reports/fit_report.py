"""The report of a fit: what was kept, cut and dropped, and why, as counts and reasons without content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ctxopt_core.displayed import Displayed
from ctxopt_core.reports.rows import ComponentReport, DocumentReport, HistoryReport, SectionReport, Stretch
from ctxopt_core.reports.usage import ContextUsage, usage_of

if TYPE_CHECKING:
    from ctxopt_core.models.prices import Prices, RequestCost

# The attributes that the stored form of a report holds as they are, in its order.
_LIMITS = ("model", "context_window", "window_source", "encoding", "exact", "input_budget", "reserve", "fixed")
_FIGURES = ("tokens_before", "tokens_after", "tokens_saved", "ratio", "within_budget", "unchanged")
_SELECTION = ("cumulative_score", "selection", "score_order_share", "reused_prefix_tokens")
# Those that an event holds as they are: nothing is counted for an event.
_LIMITS_OF_EVENT = ("model", "context_window", "encoding", "exact", "input_budget", "reserve", "fixed")


@dataclass(frozen=True, kw_only=True)
class FitReport(Displayed):
    """The report of one fit. It holds counts, ids and reasons, and no content.

    Figures that need the whole input (`tokens_before`, `tokens_saved`, `ratio`, `cost`, the `before` of a component,
    `history_strip`; for an unchanged request also `tokens_after`) are counted when they are read. A notebook shows all
    of them.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, Document, plan
        >>> documents = [Document(id="long", text="x" * 900), Document(id="short", text="The sky is blue.")]
        >>> request = ContextRequest(query="Why is it blue?", documents=documents)
        >>> report = plan(request, ContextBudget(target_tokens=60), counter=CallableCounter(len))
        >>> report.tokens_before, report.tokens_after, report.within_budget
        (945, 43, True)
        >>> [(row.id, row.reason) for row in report.dropped_documents]
        [('long', 'budget')]

    Args:
        input_budget: The most tokens that the rendered request may have.
        fixed: Tokens that are not budgeted: template, tool schemas, renderer, and what is kept of sections.
        reserve: Tokens kept free for the answer and for safety.
        safety_margin: How many of these are kept free for safety.
        unchanged: Whether the request fitted as it was.
        counted_after: Tokens of the fitted request; None for an unchanged one that was not counted.
        model: The model's name, if known.
        context_window: Its window in tokens, if known.
        window_source: Which source the window comes from.
        encoding: The tokenizer.
        exact: Whether counts are exact; False for an estimate.
        documents: The outcome of each document.
        history: The outcome of the conversation.
        sections: The outcome of each section.
        strategy: The history strategy that was used.
        fallback: The strategy that was used instead of one that failed.
        reused_prefix_tokens: With a stable prefix, how many tokens of messages at least repeat the start of the request
            before, byte for byte, so that a prompt cache has them; None for a request that was not cut, since it
            repeats all.
        notes: Fallbacks and choices that the caller should know of.
        prices: The user's own prices, by model id.
        budgets: Tokens that each component was allowed; None when nothing was cut.
        after: Tokens of each component in the fitted request.
        cumulative_score: Sum of the scores of the kept documents; None when nothing was cut.
        selection: How documents were chosen: `score`, `passages`, `density` or `optimal`; None when all were kept.
        score_order_share: With the optimal selection, the share of the best sum of scores that taking the best-scored
            documents that fit would have reached.
        count_before: Returns the tokens of each component as it came, and of the whole request.
        count_documents: Returns the tokens of every document.
        count_sections: Returns the tokens that are kept of every section.
        count_history: Returns the outcome of the turns, oldest first.
        count_tools: Returns the tokens of the tool schemas, which are among the fixed ones.
    """

    input_budget: int
    fixed: int
    reserve: int
    unchanged: bool
    safety_margin: int = 0
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
    count_tools: Callable[[], int] = field(default=int, repr=False, compare=False)

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
        """Tokens of the rendered request as it came."""
        return self._before["whole"]

    @property
    def tokens_after(self) -> int:
        """Tokens of the rendered request that was fitted."""
        return self.tokens_before if self.counted_after is None else self.counted_after

    @property
    def tokens_saved(self) -> int:
        """Tokens that were saved, at least 0."""
        return max(0, self.tokens_before - self.tokens_after)

    @property
    def ratio(self) -> float:
        """`tokens_after` over `tokens_before`; 1 for an empty request."""
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
        """Whether the fitted request has at most as many tokens as the input budget."""
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
        """The outcome of the turns of the conversation, from the oldest to the newest."""
        return tuple(self.count_history())

    @cached_property
    def tool_tokens(self) -> int:
        """Tokens of the tool schemas, which are among the fixed ones."""
        return self.count_tools()

    def usage(self) -> ContextUsage:
        """Return how the window is used, part by part, also by a request that was not cut.

        `print` shows it as a meter for a terminal, `to_dict` returns it as plain values.

        Example:
            >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, plan
            >>> request = ContextRequest(system="Be brief.", query="Why is the sky blue?")
            >>> report = plan(request, ContextBudget(max_input_tokens=60), counter=CallableCounter(len))
            >>> print(report.usage())
            48 of 60 tokens used (80%), 12 free
            [ssssssssssssssssssqqqqqqqqqqqqqqqqqqqqffffffffff............]
            s  system prompt  18  30.0%
            q  query          20  33.3%
            f  framing        10  16.7%
            .  free           12  20.0%
        """
        components = {name: part.after for name, part in self.components.items()}
        return usage_of(
            self.tokens_after,
            components | {"tools": self.tool_tokens, "sections": sum(self.section_tokens)},
            input_budget=self.input_budget,
            answer=self.reserve - self.safety_margin,
            margin=self.safety_margin,
            context_window=self.context_window,
            model=self.model,
            exact=self.exact,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as plain values, ready for JSON."""
        return {
            **{name: getattr(self, name) for name in _LIMITS + _FIGURES},
            "components": {name: asdict(component) for name, component in self.components.items()},
            "documents": _with_tokens(self.documents, self.document_tokens),
            **{name: getattr(self, name) for name in _SELECTION},
            "history": {
                **asdict(self.history),
                "dropped": self.history.dropped,
                "strip": [asdict(stretch) for stretch in self.history_strip],
            },
            "sections": _with_tokens(self.sections, self.section_tokens),
            "strategy": self.strategy,
            "fallback": self.fallback,
            "notes": list(self.notes),
            "cost": None if self.cost is None else asdict(self.cost),
            "usage": self.usage().to_dict(),
        }

    def to_event(self) -> dict[str, Any]:
        """Return the figures that are known without counting the whole input, for callbacks and logs."""
        states, history = [row.state for row in self.documents], self.history
        # Sections that were not cut are as large as they came, and are not counted for this.
        tokens = (None,) * len(self.sections) if self.unchanged else self.section_tokens
        return {
            **{name: getattr(self, name) for name in _LIMITS_OF_EVENT},
            "tokens_after": self.counted_after,
            "unchanged": self.unchanged,
            "documents": {state: states.count(state) for state in ("kept", "partial", "dropped")},
            "selection": self.selection,
            "messages": {"given": history.messages, "kept": history.kept},
            "history": {
                "shortened": history.shortened,
                "summarized": history.summarized,
                "dropped": dict(history.reasons),
                "turns": history.turns,
            },
            "sections": _with_tokens(self.sections, tokens),
            "components": None
            if self.budgets is None
            else {name: {"budget": budget, "after": self.after.get(name, 0)} for name, budget in self.budgets.items()},
            "strategy": self.strategy,
            "fallback": self.fallback,
        }

    def to_text(self) -> str:
        """Return the report as aligned lines of text."""
        return self._plain_text()

    def __str__(self) -> str:
        return self.to_text()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the figures; those that need the input are counted now, since the input is not pickled."""
        return self.__dict__ | {
            "_before": self._before,
            "document_tokens": self.document_tokens,
            "section_tokens": self.section_tokens,
            "history_strip": self.history_strip,
            "tool_tokens": self.tool_tokens,
            **dict.fromkeys(("count_documents", "count_sections", "count_history"), tuple),
            "count_before": dict,
            "count_tools": int,
        }


def _with_tokens(rows: Sequence[DocumentReport | SectionReport], tokens: Sequence[int | None]) -> list[dict[str, Any]]:
    return [{**asdict(row), "tokens": count} for row, count in zip(rows, tokens, strict=True)]
