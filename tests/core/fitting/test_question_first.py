"""The question is sent whole before earlier turns, documents and read results get anything."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    Attachment,
    CallableCounter,
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    Message,
    Shares,
    ToolCall,
    counter_for,
    fit,
)
from drawn_examples import examples

LETTERS = CallableCounter(len)
O200K = counter_for("o200k_base")
SHORTENED = "the question was shortened: it needs more than what may not be cut leaves it"
SHARES = [
    pytest.param(Shares(), id="the usual shares"),
    pytest.param(Shares(system=10, query=0, documents=60, history=30), id="no share for the question"),
    pytest.param(Shares(system=0, query=1, documents=0, history=99), id="all for the history"),
    pytest.param(Shares(system=0, query=1, documents=99, history=0), id="all for the documents"),
]


def limit_of(tokens):
    return ContextBudget(max_input_tokens=tokens)


def text(tokens, letter):
    """A text of about so many letters, in short sentences, that differ from those of others."""
    return (f"{letter * 8} {letter * 9}. " * (tokens // 20 + 1))[:tokens]


def exchange(number, tokens):
    call = ToolCall(id=f"c{number}", name="read", arguments="{}")
    return [
        Message(role="assistant", tool_calls=[call]),
        Message(role="tool", content=text(tokens, "r"), tool_call_id=f"c{number}"),
    ]


def turns(number, tokens):
    return [Message(role=role, content=text(tokens, role[0])) for _ in range(number) for role in ("user", "assistant")]


def request_with(task, *, form, system=0, documents=0, in_flight=()):
    given = {
        "system": text(system, "s") if system else "",
        "documents": [Document(id=str(i), text=text(300, "d")) for i in range(documents)],
    }
    asked = Message(role="user", content=task)
    if form == "a string":
        return ContextRequest(query=task, history=turns(6, 200), **given)
    if form == "the last message":
        return ContextRequest(history=[*turns(6, 200), asked], **given)
    if form == "an agent's task":
        return ContextRequest(history=[asked, *in_flight], **given)
    return ContextRequest(history=[*turns(6, 200), asked, *in_flight], **given)


def sent_question(fitted, request):
    if request.query_texts:
        return fitted.query[0]
    index = max(i for i, message in enumerate(request.history) if message.role == "user")
    left = fitted.history.shortened.get(index)
    return request.history[index].content if left is None else left.texts[0]


RESULTS = [message for number in range(10) for message in exchange(number, 300)]
FORMS = ["a string", "the last message", "an agent's task", "a task after other turns"]


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("system", "documents"), [(0, 0), (900, 0), (0, 20), (900, 20)])
@pytest.mark.filterwarnings("ignore::ctxopt_core.BudgetWarning")
def test_l23_a_question_of_less_than_three_quarters_is_whole(form, system, documents, shares):
    task = text(700, "q")
    given = request_with(task, form=form, system=system, documents=documents, in_flight=RESULTS)
    fitted = fit(given, ContextBudget(max_input_tokens=1_100, shares=shares), counter=LETTERS)
    assert sent_question(fitted, given) == task
    assert SHORTENED not in fitted.report.notes
    assert fitted.report.within_budget


@pytest.mark.parametrize("form", FORMS)
def test_l23_a_question_of_more_is_shortened_and_the_report_says_so(form):
    task = f"Here is the log. {text(4_000, 'q')} What went wrong?"
    given = request_with(task, form=form, in_flight=RESULTS)
    fitted = fit(given, ContextBudget(max_input_tokens=1_100), counter=LETTERS)
    left = sent_question(fitted, given)
    assert left.startswith("Here is the log.")
    assert left.endswith("What went wrong?")
    assert "characters left out" in left
    assert SHORTENED in fitted.report.notes
    assert fitted.report.tokens_after <= 1_100


def test_l23_the_reported_task_is_whole_beside_ten_results():
    words = "the lamp on the pier burns nine hours and the keeper of the shop sells rope and tar "
    task, system = (words * 60)[: 660 * 5], words * 83
    history = [
        Message(role="system", content=system),
        Message(role="user", content=task),
        *(message for n in range(10) for message in exchange(n, 1_000)),
    ]
    fitted = fit(ContextRequest(history=history), ContextBudget(max_input_tokens=2_323), counter=O200K)
    assert O200K.count(task) > 600
    assert not fitted.unchanged
    assert 1 in fitted.history.kept
    assert 1 not in fitted.history.shortened


@pytest.mark.parametrize("form", ["a string", "the last message"])
def test_l23_a_protected_question_raises_instead(form):
    given = request_with(text(4_000, "q"), form=form)
    with pytest.raises(ContextBudgetError) as caught:
        fit(given, ContextBudget(max_input_tokens=1_100), counter=LETTERS, protect="query")
    assert caught.value.needed >= 4_000


def test_l23_what_the_model_has_not_read_keeps_half_of_a_question_that_is_shortened_anyway():
    given = ContextRequest(history=[Message(role="user", content=text(4_000, "q")), *exchange(0, 300)])
    fitted = fit(given, ContextBudget(max_input_tokens=1_100), counter=LETTERS)
    assert 2 in fitted.history.kept
    assert 2 not in fitted.history.shortened


@pytest.mark.parametrize(("limit", "omitted"), [(900, 2), (1_700, 1), (2_000, 1)])
@pytest.mark.parametrize("earlier", [0, 2, 40])
def test_l18_l23_as_many_images_of_the_question_as_there_is_room_for_come_before_earlier_turns(limit, omitted, earlier):
    images = (Attachment(kind="image", tokens=765),) * 3
    turns = [Message(role="user", content=text(100, "a")), Message(role="assistant", content=text(100, "b"))]
    asked = Message(role="user", content="What differs?", attachments=images)
    fitted = fit(ContextRequest(history=[*turns * earlier, asked]), limit_of(limit), counter=LETTERS)
    assert fitted.history.shortened[2 * earlier].omitted_first == omitted
    assert fitted.report.tokens_after <= limit


def test_l23_an_image_in_the_question_is_kept_whatever_the_share_of_the_question():
    image = Attachment(kind="image", tokens=800)
    asked = Message(role="user", content="What is this?", attachments=(image,))
    given = ContextRequest(history=[*turns(6, 200), asked])
    fitted = fit(given, ContextBudget(max_input_tokens=1_000), counter=LETTERS)
    assert 12 in fitted.history.kept
    assert 12 not in fitted.history.shortened


@st.composite
def conversations(draw):
    sizes = st.sampled_from([3, 30, 200, 900])
    history = [Message(role="system", content=text(draw(sizes), "s"))] if draw(st.booleans()) else []
    history += [message for _ in range(draw(st.integers(0, 4))) for message in turns(1, draw(sizes))]
    history += [message for n in range(draw(st.integers(0, 3))) for message in exchange(f"a{n}", draw(sizes))]
    task = text(draw(sizes), "q")
    in_flight = [message for n in range(draw(st.integers(0, 4))) for message in exchange(n, draw(sizes))]
    documents = [Document(id=str(n), text=text(draw(sizes), "d")) for n in range(draw(st.integers(0, 4)))]
    if not in_flight and draw(st.booleans()):
        return ContextRequest(query=task, history=history, documents=documents), len(task)
    return ContextRequest(history=[*history, Message(role="user", content=task), *in_flight], documents=documents), (
        len(task) + 7
    )


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations(), st.integers(200, 3_000))
def test_l23_a_question_that_half_of_the_budget_holds_is_never_shortened(conversation, budget):
    given, tokens = conversation
    try:
        fitted = fit(given, ContextBudget(max_input_tokens=budget), counter=LETTERS)
    except ContextBudgetError:
        return
    if tokens <= budget // 2:
        assert SHORTENED not in fitted.report.notes
