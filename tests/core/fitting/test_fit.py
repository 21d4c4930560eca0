"""The whole request: it fits, or a typed error says why it cannot."""

from __future__ import annotations

import asyncio
import copy
import socket

import pytest

import ctxopt_core
from ctxopt_core import (
    Attachment,
    ChatRenderer,
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    HistoryPolicy,
    Message,
    PlainDocuments,
    Shares,
    TiktokenCounter,
    afit,
    counter_for,
    fit,
    plan,
)
from independent_recount import recount

WORDS = counter_for(lambda text: len(text.split()))
O200K = counter_for("o200k_base")


def document(number, words, score=None):
    return Document(id=f"d{number}", text=" ".join([f"w{number}"] * words), score=score)


def history(turns, words=10):
    return [
        Message(role=role, content=" ".join([f"{role[0]}{i}"] * words))
        for i in range(turns)
        for role in ("user", "assistant")
    ]


def rendered(fitted, renderer=None):
    """The request as OpenAI-shaped rows, the way that `ChatRenderer` says it is sent."""
    renderer = renderer or ChatRenderer()
    rows = [{"role": "system", "content": text} for text in fitted.system if text]
    rows += [{"role": m.role, "content": m.content} for m in fitted.messages()]
    documents = renderer.documents.separator.join(fitted.document_texts())
    user = "\n\n".join(part for part in (documents, *fitted.query) if part)
    return [*rows, {"role": "user", "content": user}]


FULL = ContextRequest(
    system="Obey the rules. Be kind. Cite what you use.",
    query="Which lantern burns longest?",
    documents=[document(i, 40, score=10 - i) for i in range(10)],
    history=history(20),
)


def test_a1_a_request_that_fits_comes_back_as_it_is():
    used = []

    def counting(text):
        used.append(text)
        return len(text.split())

    request = ContextRequest(system="be kind", query="why?", documents=FULL.documents, history=history(2))
    fitted = fit(request, ContextBudget(max_input_tokens=5000), counter=counter_for(counting))

    assert fitted.unchanged
    assert fitted.request is request
    assert [request.history[i] for i in fitted.history.kept] == list(request.history)
    assert [request.documents[i] for i in fitted.documents.kept] == list(request.documents)
    assert fitted.report.tokens_saved == 0
    assert fitted.report.ratio == 1
    assert fitted.report.dropped_documents == ()


def test_a1_bytes_alone_prove_that_a_small_chat_fits():
    counted = []

    class NotingCounter(TiktokenCounter):
        def count(self, text):
            counted.append(text)
            return super().count(text)

    counter = NotingCounter()
    fitted = fit(ContextRequest(history=history(3)), ContextBudget(max_input_tokens=5000), counter=counter)

    assert fitted.unchanged
    assert set(counted) <= {"user", "assistant"}


def test_a1_exactly_full_is_unchanged_and_one_token_less_is_not():
    whole = plan(FULL, ContextBudget(max_input_tokens=10_000), counter=O200K).tokens_before

    assert fit(FULL, ContextBudget(max_input_tokens=whole), counter=O200K).unchanged
    assert not fit(FULL, ContextBudget(max_input_tokens=whole - 1), counter=O200K).unchanged


def test_a9_surplus_goes_to_the_documents_until_the_budget_is_used():
    documents = [document(i, 98, score=1) for i in range(10)]
    request = ContextRequest(query="q " * 50, documents=documents, fixed_tokens=1)

    fitted = fit(request, ContextBudget(max_input_tokens=1000), counter=WORDS)

    assert len(fitted.documents.kept) == 9
    assert fitted.report.tokens_after >= 900
    assert fitted.report.within_budget


def test_a10_everything_that_is_not_budgeted_is_counted_and_never_saved():
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    renderer = ChatRenderer(documents=PlainDocuments(separator="\n---\n"))
    request = ContextRequest(system=FULL.system, query=FULL.query, documents=FULL.documents, tools=tools)

    fitted = fit(request, ContextBudget(max_input_tokens=300), counter=O200K, renderer=renderer)

    assert recount(rendered(fitted, renderer), tools) == fitted.report.tokens_after <= 300
    assert fitted.report.fixed > O200K.count("look")
    before = fitted.report.components
    assert fitted.report.tokens_saved <= sum(c.before - c.after for c in before.values()) + 20


def test_a11_a_thousand_small_documents_leave_room_for_the_question():
    request = ContextRequest(
        query="What is the secret of the lighthouse?", documents=[document(i, 12, score=i) for i in range(1000)]
    )

    fitted = fit(request, ContextBudget(max_input_tokens=8191), counter=O200K)

    assert fitted.query == request.query
    assert 0.95 * 8191 <= recount(rendered(fitted)) <= 8191


def test_a12_fixed_parts_over_the_budget_raise_with_the_cost_of_every_part():
    request = ContextRequest(system=FULL.system, query=FULL.query, history=FULL.history, fixed_tokens=500)

    with pytest.raises(ContextBudgetError, match="cannot be made to fit") as caught:
        fit(request, ContextBudget(max_input_tokens=400), counter=WORDS)

    error = caught.value
    assert error.available == 400
    assert error.needed > 400
    assert set(error.costs) == {"fixed", "system", "query", "documents", "history"}
    assert error.costs["fixed"] >= 500


@pytest.mark.parametrize("component", ["query", "system"])
def test_a12_a_protected_component_raises_instead_of_being_cut(component):
    long = "One sentence of it. " * 200
    request = ContextRequest(**{"query": "why?", "system": "be kind", component: long}, history=history(3))
    budget = ContextBudget(max_input_tokens=200)

    assert len(getattr(fit(request, budget, counter=WORDS), component)[0]) < len(long)
    with pytest.raises(ContextBudgetError, match=component):
        fit(request, budget, counter=WORDS, protect={component})


def test_a12_overflow_empty_empties_all_but_the_query_with_one_warning():
    request = ContextRequest(
        system="s " * 100, query="first things. " * 60, documents=FULL.documents, history=history(5)
    )

    with pytest.warns(ctxopt_core.BudgetWarning, match="emptied"):
        fitted = fit(request, ContextBudget(max_input_tokens=100), counter=WORDS, protect={"system"}, overflow="empty")

    assert fitted.query[0].startswith("first things.")
    assert not any(fitted.system)
    assert not fitted.documents.kept
    assert not fitted.history.kept
    assert fitted.report.within_budget
    assert fitted.report.fallback == "empty"


def test_a12_a_protected_query_is_not_cut_even_when_the_rest_is_emptied():
    request = ContextRequest(system="a " * 300, query="b. " * 300)

    with pytest.raises(ContextBudgetError):
        fit(request, ContextBudget(max_input_tokens=200), counter=WORDS, protect="query", overflow="empty")


def test_a18_a_fit_acts_at_the_trigger_and_never_refuses_what_the_budget_holds():
    request = ContextRequest(query="why?", history=history(4))
    whole = plan(request, ContextBudget(max_input_tokens=10_000), counter=WORDS).tokens_before
    budget = ContextBudget(max_input_tokens=2 * whole, trigger=0.5)
    mandatory = ContextRequest(query="hi", fixed_tokens=600)

    assert fit(request, budget, counter=WORDS).report.tokens_after < whole
    assert fit(request, ContextBudget(max_input_tokens=2 * whole + 2, trigger=0.5), counter=WORDS).unchanged
    fitted = fit(mandatory, ContextBudget(max_input_tokens=1000, trigger=0.5), counter=WORDS)
    assert fitted.unchanged
    assert fitted.report.input_budget == 1000


def test_a12_an_empty_query_is_never_sent():
    request = ContextRequest(query="word " * 50, documents=FULL.documents)
    for budget in range(1, 30):
        try:
            fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=WORDS)
        except ContextBudgetError:
            continue
        assert fitted.query[0].strip()


def test_a7_a_share_of_0_is_emptied_when_over_budget():
    budget = ContextBudget(max_input_tokens=300, shares=Shares(system=20, query=30, documents=0, history=50))

    fitted = fit(FULL, budget, counter=WORDS)

    assert not fitted.documents.kept
    assert fitted.report.components["history"].after > 100


def test_a14_nothing_of_the_callers_is_changed():
    request = ContextRequest(
        system=FULL.system, query=FULL.query, documents=list(FULL.documents), history=list(FULL.history)
    )
    before = copy.deepcopy(request)

    fit(request, ContextBudget(max_input_tokens=150), counter=WORDS)

    assert request == before


def test_a15_the_same_input_gives_the_same_output_and_no_socket_is_opened(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a socket was opened"))

    first, second = (fit(FULL, ContextBudget(max_input_tokens=200), counter=O200K) for _ in range(2))

    assert first == second
    assert first.report.to_dict() == second.report.to_dict()


def test_a16_a_fitted_request_fits():
    first = fit(FULL, ContextBudget(max_input_tokens=250), counter=O200K)
    again = ContextRequest(
        system=first.system,
        query=first.query,
        documents=[Document(text=text) for text in first.document_texts()],
        history=first.messages(),
    )

    assert fit(again, ContextBudget(max_input_tokens=250), counter=O200K).unchanged


def test_i10_async_gives_what_sync_gives():
    budget = ContextBudget(max_input_tokens=250)

    assert asyncio.run(afit(FULL, budget, counter=O200K)) == fit(FULL, budget, counter=O200K)


def test_t6_a_budget_for_another_model_changes_window_and_tokenizer_and_leaves_no_trace():
    small = ContextBudget.for_model("gpt-4")
    large = ContextBudget.for_model("gpt-4o")
    reports = [plan(FULL, budget) for budget in (small, large, small)]

    assert [report.encoding for report in reports] == ["cl100k_base", "o200k_base", "cl100k_base"]
    assert reports[0].input_budget < reports[1].input_budget
    assert reports[0].to_dict() == reports[2].to_dict()


def test_x9_query_entries_keep_their_number_and_order():
    entries = ("Alpha one. " * 20, "Beta.", "Gamma two. " * 40)
    request = ContextRequest(query=entries, documents=FULL.documents)

    fitted = fit(request, ContextBudget(max_input_tokens=90), counter=WORDS)

    assert len(fitted.query) == 3
    for entry, cut in zip(entries, fitted.query, strict=True):
        head, _, tail = cut.partition("\n[...")
        assert entry.startswith(head)
        assert entry.strip().endswith(tail.partition("...]\n")[2].strip())


def test_a_function_is_a_counter():
    budget = ContextBudget(max_input_tokens=200)

    assert fit(FULL, budget, counter=lambda text: len(text.split())).report.tokens_after <= 200


@pytest.mark.parametrize(
    "make",
    [
        lambda: Attachment(kind="hologram"),
        lambda: Attachment(tokens=-5),
        lambda: HistoryPolicy(first_message_max_percent="10"),
        lambda: Document(text=5),
    ],
    ids=["attachment kind", "attachment tokens", "first share", "document text"],
)
def test_values_are_checked_at_construction(make):
    with pytest.raises((ValueError, TypeError), match="`"):
        make()


@pytest.mark.parametrize(
    ("options", "named"),
    [({"protect": {"history"}}, "protect"), ({"overflow": "ignore"}, "overflow")],
    ids=["protect", "overflow"],
)
def test_options_are_checked(options, named):
    with pytest.raises(ValueError, match=named):
        fit(FULL, ContextBudget(max_input_tokens=100), **options)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"fixed_tokens": -1}, ValueError),
        ({"fixed_tokens": True}, ValueError),
        ({"system": 3}, TypeError),
        ({"query": [1]}, TypeError),
        ({"documents": "text"}, TypeError),
        ({"history": "text"}, TypeError),
        ({"documents": None}, TypeError),
        ({"history": None}, TypeError),
        ({"documents": ["text"]}, TypeError),
        ({"history": [{"role": "user"}]}, TypeError),
    ],
)
def test_a_request_is_checked_at_construction(fields, error):
    with pytest.raises(error, match=next(iter(fields))):
        ContextRequest(**fields)


@pytest.mark.parametrize("function", [fit, plan])
def test_an_argument_that_does_not_exist_is_refused(function):
    with pytest.raises(TypeError, match="no setting `conter`; it has counter, documents"):
        function(FULL, ContextBudget(max_input_tokens=10_000), conter=O200K)
