"""Policies of a fit may be given as values or as mappings of their fields."""

from __future__ import annotations

import pytest

from ctxopt_core import ContextBudget, ContextRequest, Document, DocumentPolicy, HistoryPolicy, Message, fit, plan
from ctxopt_core.counting.callable_counter import CallableCounter

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
REQUEST = ContextRequest(
    query="Which one burns longest?",
    documents=[Document(text=f"Lantern {i} burns {i} hours.", score=i) for i in range(20)],
    history=[Message(role="user", content=f"Question {i}?") for i in range(20)],
)
BUDGET = ContextBudget(max_input_tokens=80)


def test_a_mapping_is_the_policy_that_it_describes():
    options = {"documents": {"selection": "score", "max_documents": 3}, "history": {"strategy": "turns"}}
    values = {
        "documents": DocumentPolicy(selection="score", max_documents=3),
        "history": HistoryPolicy(strategy="turns"),
    }

    found, wanted = (fit(REQUEST, BUDGET, counter=WORDS, **given) for given in (options, values))

    assert (found.documents, found.history) == (wanted.documents, wanted.history)
    assert len(found.documents.kept) == 3
    assert plan(REQUEST, BUDGET, counter=WORDS, **options).tokens_after == found.report.tokens_after


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"history": {"stratgy": "turns"}}, "`history`: HistoryPolicy has no setting `stratgy`; it has"),
        ({"history": {"strategy": "all"}}, "`strategy`"),
        ({"history": "turn"}, "`strategy` must be one of"),
        ({"documents": 5}, "`documents`: expected DocumentPolicy or a mapping of its fields, got int"),
        ({"documents": {"max_documents": 0}}, "`max_documents`"),
    ],
    ids=str,
)
def test_what_is_no_policy_is_named(options, said):
    with pytest.raises(ValueError, match=said):
        fit(REQUEST, BUDGET, counter=WORDS, **options)
