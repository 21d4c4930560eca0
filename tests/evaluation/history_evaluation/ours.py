"""How ours is called: OpenAI-shaped messages in, OpenAI-shaped messages out, through the public API."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Any

from document_evaluation.cases import COUNTER

import ctxopt_core
from ctxopt_core import ChatRenderer, ContextBudget, ContextRequest, HistoryPolicy, fit
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from ctxopt_core.history.policy import StrategyName
from history_evaluation.requests import NOTE, Fit, Kept, Request, whole

STABLE = "stable_prefix"


def strategies() -> tuple[str, ...]:
    """Return the names of the strategies that there are."""
    return tuple(str(name) for name in typing.get_args(StrategyName))


def ours(**options: Any) -> Callable[[], Fit]:
    """Return what makes the function that fits with a policy."""

    def make() -> Fit:
        policy = HistoryPolicy(**options)
        return lambda request, budget: fit_with(policy, request, budget)

    return make


def ours_beside_system(**options: Any) -> Callable[[], Fit]:
    """Return the same for the history alone: the system messages are charged, and ours cannot shorten them."""

    def make() -> Fit:
        fit_spoken = ours(**options)()

        def fit_beside(request: Request, budget: int) -> Kept:
            systems = whole(request, request.systems)
            spoken = [place for place, row in enumerate(request.rows) if row["role"] != "system"]
            inner = Request(rows=[request.rows[place] for place in spoken], tools=request.tools)
            kept = fit_spoken(inner, budget - systems.counted)
            rows = [(place if place == NOTE else spoken[place], row) for place, row in kept.rows]
            return Kept(rows=[*systems.rows, *rows])

        return fit_beside

    return make


def ours_with_embeddings(**options: Any) -> Callable[[], Fit]:
    """Return the same, with MiniLM as the scorer."""

    def make() -> Fit:
        from document_evaluation.minilm import embed

        return ours(scorer=ctxopt_core.embedding_scorer(embed()), **options)()

    return make


def has_stable_prefix() -> bool:
    """Tell whether policies can keep the prefix stable."""
    return STABLE in {option.name for option in dataclasses.fields(HistoryPolicy)}


def fit_with(policy: HistoryPolicy, request: Request, budget: int) -> Kept:
    """Fit with ours; what the question, the tools and the framing cost comes on top of the budget."""
    asked = ContextRequest(query=request.question, history=OpenAIMessages(request.rows), tools=request.tools)
    room = budget + ChatRenderer().overhead_tokens(asked, COUNTER) + COUNTER.count(request.question)
    trimming = fit(asked, ContextBudget(max_input_tokens=room), counter=COUNTER, history=policy).history
    sent = fitted_openai(request.rows, trimming)
    places = iter(trimming.kept)
    added = {message.text for message in trimming.added}
    return Kept(rows=[(NOTE if row.get("content") in added else next(places), row) for row in sent])
