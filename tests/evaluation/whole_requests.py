"""What survives the fit of a whole request, and how much of the window it uses: documents and conversations.

Every result is rendered and counted again with tiktoken alone. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from types import ModuleType
from typing import Any

from document_evaluation.cases import COUNTER, SETS, SHARES

from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, Document, FittedContext, fit
from ctxopt_core.counting.encodings import load_encoding
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai

CONVERSATIONS = ("conv_locomo", "conv_qmsum")
WINDOWS = (1_000, 2_000, 4_000, 8_000)
FRAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One fit: the share of the budget that it uses, the share of the evidence that it keeps, whether it is over."""

    used: float
    recall: float
    over: bool


def recount(rows: list[dict[str, Any]]) -> int:
    """Count rendered rows with tiktoken, apart from the code that fitted them."""
    encoding = load_encoding("o200k_base")
    return 3 + sum(
        3
        + sum(len(encoding.encode(row[key], disallowed_special=())) for key in ("role", "content"))
        + (1 + len(encoding.encode(row["name"], disallowed_special=())) if row.get("name") else 0)
        for row in rows
    )


def rendered(fitted: FittedContext, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fitted request as the chat rows that are sent."""
    user = "\n\n".join(part for part in ("\n\n".join(fitted.document_texts()), *fitted.query) if part)
    return [*map(dict, fitted_openai(rows, fitted.history)), {"role": "user", "content": user}]


def document_outcomes(data: ModuleType, name: str, share: float, every: int) -> Iterator[Outcome]:
    """Fit the documents of each item of a set into a share of their own tokens."""
    for number, item in enumerate(data.items(name)):
        if number % every:
            continue
        documents = [Document(id=d["id"], text=d["text"], score=d["score"]) for d in item["documents"]]
        whole = COUNTER.count("\n\n".join(d["text"] for d in item["documents"]))
        budget = max(32, int(whole * share)) + COUNTER.count(item["question"]) + FRAME
        request = ContextRequest(query=item["question"], documents=documents)
        fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=COUNTER)
        tokens = recount(rendered(fitted, []))
        kept = dict(
            zip((item["documents"][i]["id"] for i in fitted.documents.kept), fitted.document_texts(), strict=True)
        )
        context = 40 if name.startswith("longdoc") else 0
        recall = data.doc_survival(item, kept, context)
        if recall is not None and not fitted.unchanged:
            yield Outcome(used=tokens / budget, recall=recall[0], over=tokens > budget)


def conversation_outcomes(data: ModuleType, name: str, budget: int, every: int) -> Iterator[Outcome]:
    """Fit a conversation with each of its questions into a window."""
    for number, item in enumerate(data.items(name)):
        if number % every:
            continue
        rows = [{key: m[key] for key in ("role", "content", "name") if m.get(key)} for m in item["messages"]]
        request = ContextRequest(query=item["question"], history=OpenAIMessages(rows))
        try:
            fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=COUNTER)
        except ContextBudgetError:
            yield Outcome(used=0.0, recall=0.0, over=False)
            continue
        tokens = recount(rendered(fitted, rows))
        whole = [i for i in fitted.history.kept if i not in fitted.history.shortened]
        recall, _ = data.message_survival(item, [item["messages"][i]["id"] for i in whole])
        if not fitted.unchanged:
            yield Outcome(used=tokens / budget, recall=recall, over=tokens > budget)


def print_row(name: str, setting: str, outcomes: list[Outcome]) -> list[Outcome]:
    """Print the means of one set at one budget."""
    if outcomes:
        used, recall = fmean(o.used for o in outcomes), fmean(o.recall for o in outcomes)
        over = sum(o.over for o in outcomes)
        print(f"{name:<20} {setting:>8} {len(outcomes):>6} {used:>8.3f} {recall:>9.3f} {over:>6}", flush=True)
    return outcomes


def print_requests(data: ModuleType, every: int) -> None:
    """Print the table, and the mean use of the budget over all of it."""
    print(f"{'set':<20} {'budget':>8} {'items':>6} {'used':>8} {'evidence':>9} {'over':>6}")
    everything: list[Outcome] = []
    for name in SETS:
        for share in SHARES:
            everything += print_row(name, f"{share:.0%}", list(document_outcomes(data, name, share, every)))
    for name in CONVERSATIONS:
        for window in WINDOWS:
            everything += print_row(name, f"{window:,}", list(conversation_outcomes(data, name, window, every)))
    if everything:
        print(
            f"\nmean budget use {fmean(o.used for o in everything):.3f}, over budget {sum(o.over for o in everything)}"
        )
