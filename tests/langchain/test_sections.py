"""Extra sections of a prompt's input: the caller's own objects, counted as the real prompt renders them."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.load import dumpd, load
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import ConfigurableField

from ctxopt_core import counter_for
from drawn_examples import examples
from hostile_text import documents, hostile_text, openai_messages
from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import rendered_tokens, to_message

O200K = counter_for("o200k_base")
THOROUGH = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
PRINTED = ChatPromptTemplate.from_messages(
    [
        ("system", "You know of the user:\n{memories}\n\nFound:\n{context}"),
        MessagesPlaceholder("chat_history"),
        ("human", "{question}"),
    ]
)
LOOPED = ChatPromptTemplate.from_messages(
    [
        (
            "system",
            "{% for m in memories %}<m>{{ m.page_content or m }}</m>\n{% endfor %}{{ context }}",
        ),
        MessagesPlaceholder("chat_history"),
        ("human", "{{ question }}"),
    ],
    template_format="jinja2",
)
TWICE = PromptTemplate.from_template("{memories}|{context}|{chat_history}|{question}|{memories}")
AS_MESSAGES = ChatPromptTemplate.from_messages(
    [MessagesPlaceholder("memories"), ("system", "{context}"), MessagesPlaceholder("chat_history"), "{question}"]
)
PROMPTS = [
    pytest.param(PRINTED, id="printed as a list"),
    pytest.param(LOOPED, id="in a loop"),
    pytest.param(TWICE, id="shown twice"),
    pytest.param(AS_MESSAGES, id="as messages"),
]


def values(memories: Any, turns: int = 20) -> dict[str, Any]:
    return {
        "memories": memories,
        "context": [Document(page_content=f"{i} {SENTENCE * 3}", id=str(i)) for i in range(5)],
        "chat_history": [m for i in range(turns) for m in (HumanMessage(f"Question {i}?"), AIMessage(SENTENCE * 2))],
        "question": "Which lantern is lit?",
    }


def memories(number: int = 60) -> list[str]:
    return [f"Memory {i}: the user likes lantern number {i}." for i in range(number)]


def optimizer(prompt: BasePromptTemplate[Any], most: int = 300, budget: int = 900, **more: Any) -> ContextOptimizer:
    return ContextOptimizer(prompt=prompt, max_input_tokens=budget, sections={"memories": most}, **more)


def section_tokens(prompt: BasePromptTemplate[Any], kept: Any) -> int:
    rest = {"context": [], "chat_history": [], "question": ""}
    empty = "" if isinstance(kept, str) else type(kept)()
    tokens: int = rendered_tokens(prompt, {**rest, "memories": kept})
    return tokens - rendered_tokens(prompt, {**rest, "memories": empty})


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        pytest.param(PRINTED, list, id="printed as a list"),
        pytest.param(PRINTED, tuple, id="printed as a tuple"),
        pytest.param(LOOPED, tuple, id="in a loop"),
        pytest.param(TWICE, list, id="shown twice"),
        pytest.param(AS_MESSAGES, list, id="as messages"),
    ],
)
def test_h18_the_newest_memories_stay_as_the_prompt_renders_them(prompt: BasePromptTemplate[Any], kind: Any) -> None:
    given_values = values(kind(memories()))
    fitted = optimizer(prompt).fit(given_values)
    kept = fitted.value["memories"]

    assert type(kept) is kind
    assert 0 < len(kept) < 60
    assert all(one is other for one, other in zip(kept, given_values["memories"][-len(kept) :], strict=True))
    assert section_tokens(prompt, kept) <= 300 < section_tokens(prompt, given_values["memories"][-len(kept) - 1 :])
    assert rendered_tokens(prompt, fitted.value) <= 900
    assert given_values["memories"] == kind(memories())
    (row,) = fitted.report.to_event()["sections"]
    assert row == {"name": "memories", "entries": 60, "kept": len(kept), "tokens": section_tokens(prompt, kept)}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a1_h18_a_request_that_fits_is_the_identical_dict(prompt: BasePromptTemplate[Any]) -> None:
    given_values = values(memories())
    whole = rendered_tokens(prompt, given_values)
    assert optimizer(prompt, most=5, budget=whole).invoke(given_values) is given_values
    assert optimizer(prompt, most=5, budget=whole - 1).invoke(given_values) is not given_values


def test_h18_where_memories_are_enough_nothing_else_is_cut() -> None:
    given_values = values(memories())
    fitted = optimizer(PRINTED, budget=rendered_tokens(PRINTED, given_values) - 100).invoke(given_values)
    assert len(fitted["memories"]) < 60
    assert all(fitted[key] is given_values[key] for key in ("context", "chat_history", "question"))


def test_h18_documents_are_entries_too_and_stay_the_same_objects() -> None:
    entries = [Document(page_content=text, metadata={"n": i}, id=str(i)) for i, text in enumerate(memories(), 100)]
    kept = optimizer(LOOPED).invoke(values(entries))["memories"]
    assert 0 < len(kept) < 60
    assert all(one is other for one, other in zip(kept, entries[-len(kept) :], strict=True))

    long = Document(page_content=SENTENCE * 90, metadata={"n": 1}, id="long")
    (cut,) = optimizer(LOOPED).invoke(values([*entries, long]))["memories"]
    assert SENTENCE.strip() in cut.page_content
    assert long.page_content.startswith(cut.page_content)
    assert (cut.id, cut.metadata) == (long.id, long.metadata)
    assert section_tokens(LOOPED, [cut]) <= 300


def test_h18_a_text_is_cut_at_a_sentence() -> None:
    fitted = optimizer(PRINTED).invoke(values(SENTENCE * 90))
    assert fitted["memories"].endswith("arrives.")
    assert 250 < O200K.count(fitted["memories"]) <= 300


@pytest.mark.parametrize("nothing", [None, "", [], ()], ids=repr)
def test_h18_a_section_may_be_empty(nothing: Any) -> None:
    fitted = optimizer(PRINTED).invoke(values(nothing))
    assert fitted["memories"] is nothing
    assert rendered_tokens(PRINTED, fitted) <= 900


def test_h18_an_input_of_a_section_alone_is_fitted() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{memories}")])
    fitted = optimizer(prompt, most=100, budget=150).invoke({"memories": memories()})
    assert fitted["memories"] == memories()[-len(fitted["memories"]) :]
    assert rendered_tokens(prompt, fitted) <= 150


def test_h18_what_is_left_out_stays_in_its_store() -> None:
    stores = pytest.importorskip("langgraph.store.memory")
    store = stores.InMemoryStore()
    for i, text in enumerate(memories()):
        store.put(("user", "memories"), f"{i:03}", {"text": text})
    saved = store.search(("user", "memories"), limit=100)
    texts = [item.value["text"] for item in sorted(saved, key=lambda item: item.key)]
    fitted = optimizer(PRINTED).invoke(values(texts))

    assert fitted["memories"] == memories()[-len(fitted["memories"]) :]
    assert store.search(("user", "memories"), limit=100) == saved


def test_h18_two_sections_have_a_budget_each() -> None:
    prompt = ChatPromptTemplate.from_messages([("system", "{memories}\n{notes}"), ("human", "{question}")])
    step = ContextOptimizer(prompt=prompt, max_input_tokens=300, sections={"memories": 100, "notes": 50})
    fitted = step.invoke({"memories": memories(), "notes": memories(), "question": "Which?"})
    assert len(fitted["memories"]) > len(fitted["notes"]) > 0
    assert all(fitted[key] == memories()[-len(fitted[key]) :] for key in ("memories", "notes"))


def test_h18_a_section_with_a_usual_key_is_no_component() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{documents}{question}")])
    step = ContextOptimizer(prompt=prompt, max_input_tokens=300, sections={"documents": 100})
    report = step.plan({"documents": memories(), "question": "Which?"})
    assert report.documents == ()
    assert report.sections[0].kept < 60


def test_m6_a_fit_is_logged_with_its_sections_and_a_plan_is_not(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="ctxopt_core")
    optimizer(PRINTED).plan(values(memories()))
    assert caplog.records == []
    kept = optimizer(PRINTED).invoke(values(memories()))["memories"]
    context, _ = (vars(record)["ctxopt"] for record in caplog.records)
    assert context["sections"][0]["kept"] == len(kept)
    assert "lantern" not in repr([vars(record) for record in caplog.records])


async def test_h18_awaited_and_not_the_result_is_the_same() -> None:
    step = optimizer(PRINTED)
    assert await step.ainvoke(values(memories())) == step.invoke(values(memories()))


@pytest.mark.parametrize(
    ("sections", "given_memories", "error", "message"),
    [
        ({"memory": 300}, [], ValueError, "`sections` names 'memory', but the input has only 'memories'"),
        ({"unused": 300}, [], ValueError, "`sections` names 'unused', but the prompt has only"),
        ({"question": 300}, [], ValueError, "'question' is named in `sections` and as the key of a component"),
        ({"memories": 300}, 7, TypeError, "section 'memories' of the input must be a string or a list .*, got int"),
        ({"memories": 300}, [{}], TypeError, "item 0 of section 'memories' must be a string or .* Document, got dict"),
    ],
)
def test_h18_an_input_that_cannot_be_read_is_refused(
    sections: Any, given_memories: Any, error: type[Exception], message: str
) -> None:
    step = ContextOptimizer(prompt=PRINTED, max_input_tokens=900, sections=sections, query_key="question")
    with pytest.raises(error, match=message):
        step.invoke({**values(given_memories), "unused": []})


@pytest.mark.parametrize("sections", [["memories"], {"memories": -1}, {"memories": "many"}, {7: 300}, {"": 300}])
def test_h18_settings_are_checked_at_construction(sections: Any) -> None:
    with pytest.raises(ValueError, match="sections"):
        ContextOptimizer(max_input_tokens=900, sections=sections)


def test_i1_h18_sections_are_stored_copied_changed_and_configured() -> None:
    step = optimizer(PRINTED)
    expected = step.invoke(values(memories()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = load(
            dumpd(optimizer(PromptTemplate.from_template("{memories}"))),
            allowed_objects=[ContextOptimizer, PromptTemplate],
            valid_namespaces=["langchain_ctxopt"],
        )
    assert loaded.sections == {"memories": 300}
    unpickled = pickle.loads(pickle.dumps(step))  # noqa: S301 - our own bytes
    for other in (copy.deepcopy(step), unpickled, step.with_changes(sections={"memories": "300"})):
        assert other.invoke(values(memories())) == expected
    fewer = step.with_changes(sections={"memories": 100}).invoke(values(memories()))
    assert len(fewer["memories"]) < len(expected["memories"])
    configured = step.configurable_fields(sections=ConfigurableField(id="sections"))
    assert configured.with_config(configurable={"sections": {"memories": 100}}).invoke(values(memories())) == fewer
    assert step.with_changes(sections={}).sections is None


@pytest.mark.parametrize("prompt", PROMPTS)
@THOROUGH
@given(
    st.one_of(hostile_text(), st.lists(hostile_text(4), max_size=6)),
    documents(),
    openai_messages(max_turns=2),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_a13_a16_h18_every_prompt_is_within_every_budget_or_an_error_says_why(
    prompt: BasePromptTemplate[Any], texts: Any, rows: list[dict[str, Any]], chat: list[Any], most: int, percent: int
) -> None:
    given_values = {
        "memories": [texts] if prompt is AS_MESSAGES and isinstance(texts, str) else texts,
        "context": [Document(page_content=row["text"] or "", id=row["id"]) for row in rows],
        "chat_history": [to_message(row) for row in chat],
        "question": "Which lantern?",
    }
    before, full = copy.deepcopy(given_values), rendered_tokens(prompt, given_values)
    budget = max(1, full * percent // 100)
    step = optimizer(prompt, most=most, budget=budget)
    try:
        fitted = step.invoke(given_values)
    except RequestOverflowError:
        assert budget < full
        return
    assert repr(given_values) == repr(before)
    assert rendered_tokens(prompt, fitted) <= budget
    assert (fitted is given_values) is (budget >= full)
    assert fitted is given_values or section_tokens(prompt, fitted["memories"]) <= most
    assert step.invoke(fitted) is fitted
