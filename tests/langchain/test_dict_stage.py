"""The stage before the prompt: the dict is cut so that the real prompt, rendered, is within the budget."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.example_selectors import BaseExampleSelector
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import (
    BasePromptTemplate,
    ChatPromptTemplate,
    FewShotChatMessagePromptTemplate,
    FewShotPromptTemplate,
    MessagesPlaceholder,
    PromptTemplate,
)

from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import rendered_tokens

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
RULES = "Answer from the context alone. {{braces}} are kept. " + "Name the pier. " * 20
EXAMPLES = [{"input": f"Lantern {i}?", "output": f"It hangs over pier {i}."} for i in range(6)]
EXAMPLE_PROMPT = ChatPromptTemplate.from_messages([("human", "{input}"), ("ai", "{output}")])

CHAT = ChatPromptTemplate.from_messages(
    [
        ("system", RULES + "\n\nContext:\n{context}"),
        MessagesPlaceholder("chat_history", optional=True),
        ("human", "Question: {question}"),
    ]
)
FEW_SHOT = ChatPromptTemplate.from_messages(
    [
        ("system", "{system}"),
        FewShotChatMessagePromptTemplate(examples=EXAMPLES, example_prompt=EXAMPLE_PROMPT),
        MessagesPlaceholder("chat_history"),
        ("human", "{context}\n\n{question}"),
    ]
)
STRING = PromptTemplate.from_template(
    "Rules: {rules}\nContext: {context}\nHistory: {chat_history}\nQuestion: {question}"
)
JINJA = PromptTemplate.from_template(
    "{% for d in context %}<doc>{{ d.page_content }}</doc>\n{% endfor %}"
    "{% for m in chat_history %}{{ m.type }}: {{ m.content }}\n{% endfor %}{{ question }}",
    template_format="jinja2",
)
MUSTACHE = ChatPromptTemplate.from_messages(
    [("system", "Found: {{context}}"), MessagesPlaceholder("chat_history"), ("human", "{{question}}")],
    template_format="mustache",
)


class MoreForShortInput(BaseExampleSelector):
    """Selects more examples the less there is beside them, so that what is fixed depends on what is cut."""

    def add_example(self, example: dict[str, str]) -> None:
        raise NotImplementedError

    def select_examples(self, input_variables: dict[str, Any]) -> list[dict[str, str]]:
        return EXAMPLES[: max(0, 6 - len(input_variables["context"]))]


SELECTED = FewShotPromptTemplate(
    example_selector=MoreForShortInput(),
    example_prompt=PromptTemplate.from_template("{input} {output}"),
    prefix="Examples:",
    suffix="{context}\n{chat_history}\n{question}",
    input_variables=["context", "chat_history", "question"],
)
PROMPTS = [
    pytest.param(CHAT, id="literal text"),
    pytest.param(FEW_SHOT, id="few-shot examples"),
    pytest.param(CHAT.partial(question="Which lantern is lit?"), id="a partial query"),
    pytest.param(STRING.partial(rules=lambda: "Be brief. " * 40), id="a text prompt with a partial function"),
    pytest.param(JINJA, id="jinja2"),
    pytest.param(MUSTACHE, id="mustache"),
    pytest.param(SELECTED, id="selected examples"),
]


def documents(count: int = 12) -> list[Document]:
    return [
        Document(page_content=f"Note {i}. " + SENTENCE * 3, id=f"d{i}", metadata={"score": i / 10, "source": f"s{i}"})
        for i in range(count)
    ]


def history(turns: int = 12) -> list[BaseMessage]:
    return [m for i in range(turns) for m in (HumanMessage(f"Question {i}?"), AIMessage(SENTENCE * 2))]


def values() -> dict[str, Any]:
    return {
        "system": "You know every lantern. " * 5,
        "context": documents(),
        "chat_history": history(),
        "question": "Which lantern hangs over pier seven?",
    }


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a10_the_rendered_prompt_is_within_the_budget(prompt: BasePromptTemplate[Any], share: float) -> None:
    given = values()
    before = copy.deepcopy(given)
    emptied = {**given, "context": [], "chat_history": []}
    fixed, full = rendered_tokens(prompt, emptied), rendered_tokens(prompt, given)
    budget = fixed + int((full - fixed) * share)
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=budget).invoke(given)
    assert budget * 0.75 < rendered_tokens(prompt, fitted) <= budget
    assert given == before
    assert list(fitted) == list(given)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a1_a_dict_whose_prompt_fits_is_the_identical_object(prompt: BasePromptTemplate[Any]) -> None:
    given = values()
    full = rendered_tokens(prompt, given)
    assert ContextOptimizer(prompt=prompt, max_input_tokens=full).invoke(given) is given
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=full - 1).invoke(given)
    assert fitted is not given
    assert rendered_tokens(prompt, fitted) < full


def test_a1_what_is_kept_whole_stays_the_identical_object() -> None:
    given = {**values(), "other": object()}
    full = rendered_tokens(CHAT, given)
    fitted = ContextOptimizer(prompt=CHAT, max_input_tokens=full - 40).invoke(given)
    originals = {id(item) for item in (*given["context"], *given["chat_history"])}
    kept = [item for item in (*fitted["context"], *fitted["chat_history"]) if id(item) in originals]
    assert len(kept) >= 30
    assert fitted["question"] is given["question"]
    assert fitted["other"] is given["other"]


def test_a10_the_report_names_the_template_as_fixed_and_never_as_saved() -> None:
    given = values()
    optimizer = ContextOptimizer(prompt=FEW_SHOT, max_input_tokens=700)
    report = optimizer.plan(given)
    emptied = {"system": "", "context": [], "chat_history": [], "question": ""}
    assert report.fixed == rendered_tokens(FEW_SHOT, emptied)
    assert report.tokens_before == rendered_tokens(FEW_SHOT, given)
    assert report.tokens_after == rendered_tokens(FEW_SHOT, optimizer.invoke(given))
    assert report.tokens_saved == report.tokens_before - report.tokens_after


def test_a12_a_template_that_is_larger_than_the_budget_is_an_error_that_says_so() -> None:
    fixed = rendered_tokens(CHAT, {"context": [], "question": ""})
    with pytest.raises(RequestOverflowError, match="fixed") as caught:
        ContextOptimizer(prompt=CHAT, max_input_tokens=fixed - 5).invoke(values())
    # A word of the query may share a token with the template, so that what is fixed without it is off by one.
    assert abs(caught.value.costs["fixed"] - fixed) <= 1
    assert caught.value.available == fixed - 5


def test_a16_fitting_twice_changes_nothing_more() -> None:
    optimizer = ContextOptimizer(prompt=CHAT, max_input_tokens=600)
    once = optimizer.invoke(values())
    assert optimizer.invoke(once) is once


def test_a11_a_dropped_document_frees_its_markup() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{context}\n{question}")])
    small = [Document(page_content=f"Lantern {i} is lit.", metadata={"source": f"pier {i}"}) for i in range(1_000)]
    given = {"context": small, "question": "Which lantern is lit?"}
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=8_191).invoke(given)
    assert fitted["question"] == "Which lantern is lit?"
    assert 7_500 < rendered_tokens(prompt, fitted) <= 8_191
    assert len(fitted["context"]) > 100


def test_a10_variables_that_are_no_components_are_counted_and_kept() -> None:
    prompt = ChatPromptTemplate.from_messages([("system", "{rules} {context}"), ("human", "{question}")])
    given = {"rules": "Be brief. " * 60, "context": documents(), "question": "Which?"}
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=400).invoke(given)
    assert fitted["rules"] is given["rules"]
    assert rendered_tokens(prompt, fitted) <= 400


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in chat_history %}{{ m.content }} {% endfor %}",
        "{{ chat_history | length }}",
        "{% for m in chat_history[-1:] %}{{ m.content }}{% endfor %}",
    ],
    ids=["texts alone", "their number", "the last"],
)
@pytest.mark.parametrize("shape", [list, lambda turns: [{"role": m.type, "content": m.content} for m in turns]])
def test_a1_messages_that_a_template_prints_in_its_own_way_count_as_printed(template: str, shape: Any) -> None:
    prompt = PromptTemplate.from_template(template + "{{ question }}", template_format="jinja2")
    given = {"chat_history": shape(history(40)), "question": "Which?"}
    full = rendered_tokens(prompt, given)
    assert ContextOptimizer(prompt=prompt, max_input_tokens=full).invoke(given) is given
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=full - 1).invoke(given)
    assert rendered_tokens(prompt, fitted) < full


def test_a1_a_history_that_is_rendered_twice_is_counted_twice() -> None:
    twice = [MessagesPlaceholder("chat_history"), ("human", "{question}"), MessagesPlaceholder("chat_history")]
    prompt = ChatPromptTemplate.from_messages(twice)
    given = {"chat_history": history(20), "question": ""}
    full = rendered_tokens(prompt, given)
    assert ContextOptimizer(prompt=prompt, max_input_tokens=full).invoke(given) is given
    for budget in (full - 1, full // 2, full // 4):
        assert rendered_tokens(prompt, ContextOptimizer(prompt=prompt, max_input_tokens=budget).invoke(given)) <= budget


@pytest.mark.parametrize("question", ["", "Which?"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 1.0])
def test_a13_messages_in_any_form_are_within_the_budget_as_the_prompt_converts_them(
    question: str, share: float
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "inspect", "arguments": '{"a":1,"b":[1,2,3]}'}}
    turn = [
        {"role": "user", "content": SENTENCE},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": SENTENCE, "tool_call_id": "c"},
        ("ai", SENTENCE),
    ]
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{question}")])
    given = {"chat_history": turn * 9, "question": question}
    full = rendered_tokens(prompt, given)
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=int(full * share)).invoke(given)
    assert rendered_tokens(prompt, fitted) <= full * share
    assert (fitted is given) is (share == 1.0)


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_a1_a_placeholder_that_renders_the_newest_messages_alone_is_counted_so(limit: int) -> None:
    placeholder = MessagesPlaceholder("chat_history", n_messages=limit)
    prompt = ChatPromptTemplate.from_messages([placeholder, ("human", "{question}")])
    given = {"chat_history": history(50), "question": "Which?"}
    full = rendered_tokens(prompt, given)
    assert ContextOptimizer(prompt=prompt, max_input_tokens=full).invoke(given) is given
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=full - 1).invoke(given)
    assert rendered_tokens(prompt, fitted) < full


def test_i1_the_optional_history_may_be_absent_or_empty() -> None:
    for given in (
        {"context": documents(), "question": "Which?"},
        {"context": documents(), "question": "Which?", "chat_history": []},
    ):
        fitted = ContextOptimizer(prompt=CHAT, max_input_tokens=400).invoke(given)
        assert fitted.keys() == given.keys()
        assert rendered_tokens(CHAT, fitted) <= 400


def test_i1_a_history_of_pairs_and_dicts_is_understood() -> None:
    mixed = [("human", SENTENCE), {"role": "assistant", "content": SENTENCE}] * 10
    given = {"context": [], "question": "Which?", "chat_history": mixed}
    fitted = ContextOptimizer(prompt=CHAT, max_input_tokens=300).invoke(given)
    assert rendered_tokens(CHAT, fitted) <= 300
    assert all(
        any(item is original for original in mixed) or "omitted]" in str(item) for item in fitted["chat_history"]
    )


def test_i1_tuples_stay_tuples() -> None:
    given = {"context": tuple(documents()), "chat_history": tuple(history()), "question": "Which?"}
    fitted = ContextOptimizer(prompt=JINJA, max_input_tokens=300).invoke(given)
    assert (type(fitted["context"]), type(fitted["chat_history"])) == (tuple, tuple)
    assert rendered_tokens(JINJA, fitted) <= 300


def test_i1_the_last_message_is_the_query_where_the_input_has_none() -> None:
    prompt = ChatPromptTemplate.from_messages([("system", "Be brief. {context}"), ("placeholder", "{messages}")])
    asked = HumanMessage("Which lantern hangs over pier seven?")
    given = {"context": documents(), "messages": [*history(), asked]}
    fitted = ContextOptimizer(prompt=prompt, max_input_tokens=400).invoke(given)
    assert fitted["messages"][-1] is asked
    assert rendered_tokens(prompt, fitted) <= 400
