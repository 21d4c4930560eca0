"""The evidence in a sweep: what must survive, looked for in what is kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextRequest, Document, HistoryPolicy, Message, Section, ToolCall, counter_for, sweep
from drawn_examples import examples
from gate_requests import conversations, gate_request

WORDS = counter_for(lambda text: len(text.split()))


@pytest.mark.parametrize(
    ("kept", "share"),
    [
        (["Be brief."], 1),
        (["Where is the key", "opens with key 000"], 1),
        (["Be brief.", "user 0 passes", "opens with key 888", "opens with key 999"], 0.25),
        ("opens with key 999", 0),
    ],
    ids=["system", "query and document", "one of four", "a single text"],
)
def test_the_evidence_of_texts_is_the_share_of_them_that_is_kept(kept, share):
    policy = HistoryPolicy(strategy="turns", keep_first_user_message=False, placeholder_content="count")
    (row,) = sweep(gate_request(), budgets=150, strategies=policy, documents="score", counter=WORDS, evidence=kept)

    assert row.evidence == share


def test_evidence_is_found_in_sections_arguments_and_verbatim_text():
    given_request = ContextRequest(
        sections=[Section(name="memories", entries=["likes tea", "hates ties"], max_tokens=50)],
        history=[
            Message(role="user", content="find it"),
            Message(
                role="assistant",
                verbatim=("pondering",),
                tool_calls=(ToolCall(id="1", name="f", arguments='{"a": 1}'),),
            ),
            Message(role="tool", content=("found", "nothing"), tool_call_id="1"),
        ],
    )
    texts = ["likes tea\nhates ties", "pondering", '{"a": 1}', "nothing"]

    assert [row.evidence for row in sweep(given_request, counter=WORDS, budgets=1.0, evidence=texts)] == [1]


def test_of_several_requests_each_is_asked_for_its_own_texts():
    others = [ContextRequest(query=f"about {name}") for name in ("ants", "bees", "cats")]
    table = sweep(others, budgets=1.0, counter=WORDS, evidence=["about ants", "about bees"])

    assert [row.evidence for row in table] == [1, 1, None]


def test_the_evidence_of_a_function_is_what_it_says_of_the_fitted_request():
    table = sweep(gate_request(), budgets=[100, 300], counter=WORDS, evidence=lambda fitted: len(fitted.documents.kept))

    assert [row.evidence for row in table] == [row.documents_kept + row.documents_partial for row in table]


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), "1", None], ids=["nan", "inf", "text", "none"])
def test_evidence_that_is_no_number_is_an_error(answer):
    with pytest.raises(ValueError, match="`evidence` must return a finite number"):
        sweep(gate_request(), budgets=100, counter=WORDS, evidence=lambda fitted: answer)


@settings(max_examples=examples(40), deadline=None)
@given(conversations, st.booleans())
def test_the_newest_turns_alone_are_never_fewer_with_a_larger_budget(history, placeholder):
    numbered = [replace(message, content=f"{i}: {message.content}") for i, message in enumerate(history)]
    policy = HistoryPolicy(
        strategy="turns", keep_first_user_message=False, placeholder=placeholder, placeholder_content="count"
    )
    whole = ["now", *(message.content for message in numbered)]
    table = sweep(
        ContextRequest(query="now", history=numbered),
        budgets=range(1, 90),
        strategies=policy,
        counter=WORDS,
        evidence=whole,
    )

    for smaller, larger in pairwise(row for row in table if not row.error):
        assert smaller.messages_kept <= larger.messages_kept
        assert smaller.evidence <= larger.evidence


def test_a_larger_budget_may_keep_less_of_the_evidence_among_documents():
    """Two small documents fit before the larger one does that outranks one of them."""
    documents = [
        Document(text=f"{name} {'w ' * words}end {name}.", score=score)
        for name, words, score in (("a", 10, 9), ("b", 4, 8), ("c", 9, 7), ("d", 2, 6))
    ]
    ends = [f"end {document.text[0]}." for document in documents]
    table = sweep(ContextRequest(query="now", documents=documents), budgets=range(8, 60), counter=WORDS, evidence=ends)
    found = [row.evidence for row in table]

    assert any(smaller > larger for smaller, larger in pairwise(found))
    assert found[-1] == 1
