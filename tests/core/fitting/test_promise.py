"""The promise over many made-up conversations: `make fuzz` tries 200,000 new ones, `make test` a thousand."""

from __future__ import annotations

import copy
import os
import time
from itertools import islice

import pytest

from ctxopt_core import ContextBudgetError, HistoryPolicy, summarizer
from fitted_rows import fit_rows
from independent_recount import recount
from made_up_conversations import made_up_conversation
from promise_faults import promise_faults

CONVERSATIONS = int(os.environ.get("CTXOPT_CONVERSATIONS", "1000"))
PARTS = 20  # tests that share them, so that all cores take part
# Other conversations each time, where new ones are wanted: 2**40 seconds lie far apart.
FIRST = int(time.time()) << 24 if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else 0
TOOLS = [{"type": "function", "function": {"name": "inspect", "description": "Look at a lantern."}}]


SUMMARIZER = summarizer(lambda prompt: f"{len(prompt)} characters about lanterns.")

POLICIES = {
    "auto": HistoryPolicy(),
    "turns": HistoryPolicy(strategy="turns"),
    "sliding_window": HistoryPolicy(strategy="sliding_window", max_messages=8),
    "relevance": HistoryPolicy(strategy="relevance"),
    "summarize": HistoryPolicy(strategy="summarize", summarizer=SUMMARIZER),
    "hybrid": HistoryPolicy(strategy="hybrid", summarizer=SUMMARIZER),
    "stable_prefix": HistoryPolicy(stable_prefix=True),
    "excerpts": HistoryPolicy(placeholder_content="excerpts", recoverable_tool_results=True),
}


def _faults(number: int) -> list[str]:
    """Return what is wrong with the fit of one conversation by the strategy that its number chooses."""
    made_up = made_up_conversation(number)
    rows, before = made_up.rows, copy.deepcopy(made_up.rows)
    name = list(POLICIES)[number % len(POLICIES)]
    full = recount(rows, TOOLS)
    budget = max(1, round(full * made_up.share))
    try:
        after, fitted = fit_rows(rows, budget, tools=TOOLS, history=POLICIES[name])
    except ContextBudgetError as error:
        sound = budget < full and error.needed > budget
        return [] if sound else [f"{name}: refused at {budget} of {full}, `needed` {error.needed}"]
    found = list(promise_faults(before, after, budget=budget, tools=TOOLS))
    if rows != before:
        found.append("the input was changed")
    if fitted.report.tokens_after > budget:
        found.append("the report is over budget")
    return [f"{name} at {budget} of {full}: {fault}" for fault in found]


@pytest.mark.hypothesis  # so that `make fuzz` takes it
@pytest.mark.parametrize("part", range(PARTS))
def test_a13_the_promise_holds_for_made_up_conversations(part):
    numbers = range(FIRST + part, FIRST + CONVERSATIONS, PARTS)
    faulty = ((number, fault) for number in numbers for fault in _faults(number))

    assert list(islice(faulty, 5)) == []
