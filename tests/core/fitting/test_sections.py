"""Extra sections: whole while the request fits, else cut to their own budgets first, newest entries kept."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    Message,
    Section,
    Shares,
    counter_for,
    fit,
    plan,
)
from ctxopt_core.fitting.sections import cut_section
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from drawn_examples import examples
from hostile_text import documents, hostile_text, openai_messages
from independent_recount import recount

WORDS = counter_for(lambda text: len(text.split()))
O200K = counter_for("o200k_base")
FRAMING = 4  # a message: 3 and its role
THOROUGH = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOOLS = [{"type": "function", "function": {"name": "look", "description": "look it up"}}]


def section(*entries, most=10, name="memories"):
    return Section(name=name, entries=entries, max_tokens=most)


def cut(entries, most):
    kept = cut_section(section(*entries, most=most), WORDS, lambda kept: len(" ".join(kept).split()))
    return list(kept.entries)


@pytest.mark.parametrize(
    ("entries", "most", "kept"),
    [
        pytest.param(["a a", "b b", "c c"], 6, ["a a", "b b", "c c"], id="all"),
        pytest.param(["a a", "b b", "c c"], 5, ["b b", "c c"], id="the newest"),
        pytest.param(["a", "b b b b b", "c c"], 4, ["c c"], id="it stops at the first that does not fit"),
        pytest.param(["a a", "b b. c c."], 3, ["b b."], id="the newest alone ends at a sentence"),
        pytest.param(["a", "b b b"], 2, ["b b"], id="or at a word"),
        pytest.param(["a", "b b"], 0, [], id="nothing"),
        pytest.param([], 5, [], id="no entries"),
        pytest.param(["a", "", "b"], 1, ["", "b"], id="an empty entry costs nothing"),
        pytest.param(["x"] * 1_000, 700, ["x"] * 700, id="many"),
    ],
)
def test_h18_a_section_keeps_its_newest_entries_in_their_order(entries, most, kept):
    assert cut(entries, most) == kept


@pytest.mark.parametrize(("each", "whole"), [(1, 300), (2, 150), (3, 100)])
def test_h18_what_a_rendering_adds_to_each_entry_counts(each, whole):
    asked = []

    def measure(entries):
        asked.append(len(entries))
        return each * len(entries)

    kept = cut_section(section(*["x"] * 1_000, most=300), WORDS, measure)

    assert len(kept.entries) == whole
    assert len(asked) <= 10


def test_h18_no_entry_that_is_too_long_by_itself_is_rendered():
    asked = []

    def measure(entries):
        asked.extend(entries)
        return len(" ".join(entries).split())

    kept = cut_section(section("a", "long " * 10_000, "c c", most=4), WORDS, measure)

    assert kept.entries == ("c c",)
    assert set(asked) == {"c c"}


def test_h18_a_long_entry_that_says_nothing_is_left_out():
    assert cut_section(section("a", " " * 100), counter_for(len), lambda kept: len("".join(kept))).entries == ()


@pytest.mark.parametrize(("times", "around"), [(1, 0), (2, 0), (1, 20), (3, 7)])
def test_h18_the_cut_of_a_long_entry_allows_for_how_it_is_rendered(times, around):
    entry = "A lamp is lit. " * 200
    kept = cut_section(section(entry, most=100), WORDS, lambda e: times * len(" ".join(e).split()) + around)

    words = len(kept.entries[0].split())
    assert times * words + around <= 100 < times * (words + 12) + around
    assert kept.entries[0].endswith("lit.")


@THOROUGH
@given(st.lists(hostile_text(3), max_size=8), st.integers(0, 60), st.integers(1, 3), st.integers(0, 9))
def test_h18_a_cut_section_is_within_its_budget_and_is_not_cut_again(entries, most, times, around):
    def measure(kept):
        return (times * O200K.count("\n".join(kept)) + around) if kept else 0

    kept = cut_section(section(*entries, most=most), O200K, measure)
    again = cut_section(kept, O200K, measure)

    assert measure(kept.entries) <= most
    *older, newest = kept.entries or ("",)
    assert older == list(entries[len(entries) - len(kept.entries) : len(entries) - 1])
    assert entries[-1].startswith(newest) if kept.entries else True
    assert measure(again.entries) <= most
    assert len(again.entries) <= len(kept.entries)


def chat(turns=10, **more):
    said = [Message(role=role, content=f"word{i} " * 10) for i in range(turns) for role in ("user", "assistant")]
    return ContextRequest(query="why", history=said, **more)


def test_a1_h18_nothing_is_cut_while_the_whole_request_fits():
    request = chat(sections=[section("m " * 50, "n " * 50, most=5)])
    whole = fit(request, ContextBudget(max_input_tokens=10_000), counter=WORDS).report.tokens_after
    fitted = fit(request, ContextBudget(max_input_tokens=whole), counter=WORDS)

    assert fitted.unchanged
    assert fitted.sections == (("m " * 50, "n " * 50),)
    assert all(kept is given for kept, given in zip(fitted.sections[0], request.sections[0].entries, strict=True))
    assert not fit(request, ContextBudget(max_input_tokens=whole - 1), counter=WORDS).unchanged


def test_h18_where_sections_are_enough_nothing_else_is_cut():
    documents = [Document(text="d d", score=i) for i in range(3)] + [Document(text=" ")]
    request = chat(documents=documents, sections=[section("m " * 50, "n " * 3, most=8)])
    whole = fit(request, ContextBudget(max_input_tokens=10_000), counter=WORDS).report.tokens_after
    shares = Shares(system=50, query=50, documents=0, history=0)
    fitted = fit(request, ContextBudget(max_input_tokens=whole - 50, shares=shares), counter=WORDS)

    assert fitted.sections == (("n " * 3,),)
    assert len(fitted.messages()) == 20
    assert fitted.documents.kept == (0, 1, 2, 3)
    assert not fitted.unchanged
    assert fitted.report.tokens_after == whole - 50
    assert fitted.report.cumulative_score == 3
    assert fitted.report.fixed + sum(row.after for row in fitted.report.components.values()) == whole - 50


def test_h18_each_section_has_its_own_budget_and_the_rest_shares_what_is_left():
    sections = [section(*["m m m"] * 9, most=10 + FRAMING), section(*["n n"] * 9, most=5 + FRAMING, name="notes")]
    request = chat(turns=50, sections=sections)
    fitted = fit(request, ContextBudget(max_input_tokens=200), counter=WORDS)
    without = fit(chat(turns=50), ContextBudget(max_input_tokens=200 - 9 - 4 - 2 * FRAMING), counter=WORDS)

    assert fitted.sections == (("m m m",) * 3, ("n n",) * 2)
    assert fitted.history.kept == without.history.kept
    assert fitted.report.fixed == without.report.fixed + 9 + 4 + 2 * FRAMING
    assert fitted.request is request
    assert request.sections == sections


def test_h18_sections_that_leave_no_room_are_an_error_or_emptied(recwarn):
    request = chat(sections=[section("m " * 90, most=50)])
    budget = ContextBudget(max_input_tokens=40)
    with pytest.raises(ContextBudgetError, match="fixed 5"):
        fit(request, budget, counter=WORDS)
    emptied = fit(request, budget, counter=WORDS, overflow="empty")

    assert emptied.sections == ((),)
    assert emptied.query == ("why",)


def test_m1_h18_the_report_has_a_row_for_each_section():
    sections = [section(*["m m m"] * 9, most=14), section("secret", name="notes")]
    report = plan(chat(turns=50, sections=sections), ContextBudget(max_input_tokens=200), counter=WORDS)
    rows = [
        {"name": "memories", "entries": 9, "kept": 3, "tokens": 13},
        {"name": "notes", "entries": 1, "kept": 1, "tokens": 5},
    ]

    assert report.to_dict()["sections"] == report.to_event()["sections"] == rows
    assert "memories        9     3           13" in str(report).splitlines()
    assert "secret" not in str(report.to_dict())


def test_h18_the_row_of_a_whole_section_is_counted_when_it_is_asked_for():
    report = plan(chat(turns=1, sections=[section("m m m")]), ContextBudget(max_input_tokens=200), counter=WORDS)

    assert report.to_event()["sections"] == [{"name": "memories", "entries": 1, "kept": 1, "tokens": None}]
    unpickled = pickle.loads(pickle.dumps(report))  # noqa: S301 - our own bytes
    assert report.to_dict()["sections"] == [{"name": "memories", "entries": 1, "kept": 1, "tokens": 7}]
    assert unpickled.to_dict() == report.to_dict()
    assert plan(chat(turns=1), ContextBudget(max_input_tokens=200), counter=WORDS).to_dict()["sections"] == []


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"name": 7}, TypeError, "`name` of a section must be a string, got int"),
        ({"name": ""}, ValueError, "`name` of a section must not be empty"),
        (
            {"entries": "text"},
            TypeError,
            "`entries` of section 'm' must be a sequence .* put a single string into a list",
        ),
        ({"entries": None}, TypeError, "must be a sequence of strings, oldest first, got NoneType"),
        ({"entries": ["a", None]}, TypeError, "must be strings, got NoneType"),
        (
            {"max_tokens": -1},
            ValueError,
            "`max_tokens of section 'm'` must be a whole number of tokens, 0 or more, got -1",
        ),
        ({"max_tokens": True}, ValueError, "got True"),
    ],
)
def test_h18_a_section_that_cannot_be_fitted_is_refused(fields, error, message):
    with pytest.raises(error, match=message):
        Section(**{"name": "m", "entries": [], "max_tokens": 5, **fields})


def test_h18_sections_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="`sections` must hold Section items, got str"):
        ContextRequest(sections=["text"])


def sections_of_any_kind():
    entries = st.lists(hostile_text(3), max_size=5)
    return st.lists(st.tuples(entries, st.integers(0, 60)), min_size=1, max_size=2).map(
        lambda given: [section(*texts, most=most, name=f"s{i}") for i, (texts, most) in enumerate(given)]
    )


def rendered(fitted, rows):
    sections = ["\n".join(entries) for entries in fitted.sections]
    systems = [{"role": "system", "content": text} for text in (*sections, *fitted.system) if text]
    user = "\n\n".join(part for part in ("\n\n".join(fitted.document_texts()), *fitted.query) if part)
    asked = [{"role": "user", "content": user}] if user else []
    return [*systems, *fitted_openai(rows, fitted.history), *asked]


@THOROUGH
@example([], [], "", [section("a" * 10, "b" * 4_000, most=60)], 50)
@given(
    openai_messages(max_turns=2, well_formed=True),
    documents(),
    st.one_of(st.just(""), hostile_text().filter(str.strip)),
    sections_of_any_kind(),
    st.integers(0, 100),
)
def test_a13_a16_h18_requests_with_sections_end_within_any_budget_or_in_the_typed_error(
    rows, raw_documents, query, sections, percent
):
    given_documents = [Document(id=d["id"], text=d["text"], score=d["score"]) for d in raw_documents]
    request = ContextRequest(
        query=query, history=OpenAIMessages(rows), documents=given_documents, tools=TOOLS, sections=sections
    )
    full = fit(request, ContextBudget(max_input_tokens=10**7), counter=O200K).report.tokens_after
    budget = max(1, full * percent // 100)
    try:
        fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=O200K)
    except ContextBudgetError:
        assert budget < full
        return

    assert recount(rendered(fitted, rows), TOOLS) <= budget
    assert fitted.report.within_budget
    assert fitted.unchanged is (budget >= full)
    kept = [s.with_entries(entries) for s, entries in zip(sections, fitted.sections, strict=True)]
    if fitted.unchanged:
        assert kept == sections
    else:
        assert all(
            row["tokens"] <= s.max_tokens for row, s in zip(fitted.report.to_dict()["sections"], kept, strict=True)
        )
    left = ContextRequest(
        query=fitted.query,
        history=OpenAIMessages(fitted_openai(rows, fitted.history)),
        documents=[Document(text=text) for text in fitted.document_texts()],
        tools=TOOLS,
        sections=kept,
    )
    assert fit(left, ContextBudget(max_input_tokens=budget), counter=O200K).unchanged
