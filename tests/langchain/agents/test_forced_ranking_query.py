"""A task that is forced for one call: documents and history are ranked by it in place of the query."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from ctxopt_core import ContextBudget, ContextRequest, Document, Message, afit, fit, plan
from langchain_ctxopt import ContextOptimizer

TASK = "Where does lantern 13 hang?"
BUDGET = ContextBudget(max_input_tokens=400)
REQUEST = ContextRequest(
    query="Tell me.",
    documents=[Document(id=str(n), text=f"Lantern {n} burns {n} hours. " * 3) for n in range(20)],
    history=[
        message
        for n in range(30)
        for message in (
            Message(role="user", content=f"Who lights lantern {n}?"),
            Message(role="assistant", content=f"The keeper of pier {n} lights lantern {n}."),
        )
    ],
)
PROMPT = ChatPromptTemplate(
    [("system", "{context}"), MessagesPlaceholder("chat_history"), ("human", "{question}")],
)
CHAT: list[BaseMessage] = [
    message
    for n in range(30)
    for message in (
        HumanMessage(f"Who lights lantern {n}?", id=f"q{n}"),
        AIMessage(f"The keeper of pier {n} lights lantern {n}.", id=f"a{n}"),
    )
]
VALUES: dict[str, Any] = {
    "context": [LangChainDocument(f"Lantern {n} burns {n} hours. " * 3, id=str(n)) for n in range(20)],
    "chat_history": CHAT,
    "question": "Tell me.",
}


def test_i11_a_task_ranks_documents_and_history_in_place_of_the_query():
    plain, forced = fit(REQUEST, BUDGET), fit(REQUEST, BUDGET, ranking_query=TASK)

    assert forced.documents.kept[0] == 13
    assert 13 not in plain.documents.kept
    assert {26, 27} <= set(forced.history.kept)
    assert not {26, 27} & set(plain.history.kept)
    assert forced.query == ("Tell me.",)


def test_i11_a_task_goes_before_a_query_that_says_something():
    request = ContextRequest(query="Where does lantern 4 hang?", documents=REQUEST.documents)
    budget = ContextBudget(max_input_tokens=60)

    assert fit(request, budget).documents.kept[0] == 4
    assert fit(request, budget, ranking_query=TASK).documents.kept[0] == 13


def test_i11_awaited_and_planned_the_task_counts_too():
    forced = fit(REQUEST, BUDGET, ranking_query=TASK)

    assert asyncio.run(afit(REQUEST, BUDGET, ranking_query=TASK)).history == forced.history
    assert plan(REQUEST, BUDGET, ranking_query=TASK) == forced.report
    assert forced.report != fit(REQUEST, BUDGET).report


@pytest.mark.parametrize("blank", ["", " \n"], ids=["empty", "white space"])
def test_i11_a_blank_task_is_none(blank):
    request = ContextRequest(query=TASK, documents=REQUEST.documents)
    fitted = fit(request, ContextBudget(max_input_tokens=60), ranking_query=blank)

    assert fitted.documents.kept[0] == 13


@pytest.mark.parametrize("task", [13, None, ["lantern"]], ids=["a number", "None", "a list"])
def test_i11_a_task_that_is_no_text_is_refused(task):
    with pytest.raises(TypeError, match="`ranking_query` must be a string"):
        fit(REQUEST, BUDGET, ranking_query=task)


def test_i11_for_one_call_of_the_optimizer_task_and_strategy_are_forced_together():
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=400)
    forced = optimizer.fit(VALUES, ranking_query=TASK, history={"strategy": "turns"})

    assert forced.value["context"][0].id == "13"
    assert forced.report.strategy == "turns"
    assert not {"q13", "a13"} & {message.id for message in forced.value["chat_history"]}
    assert optimizer.ranking_query == ""
    assert optimizer.fit(VALUES).report.strategy == "relevance"


def test_i11_a_plan_takes_the_settings_of_one_call_as_a_fit_does():
    reports: list[Any] = []
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=400, on_report=reports.append)
    planned = optimizer.plan(VALUES, ranking_query=TASK, history={"strategy": "sliding_window", "max_messages": 5})

    assert reports == []
    assert planned.strategy == "sliding_window"
    assert (
        planned
        == optimizer.fit(VALUES, ranking_query=TASK, history={"strategy": "sliding_window", "max_messages": 5}).report
    )


def test_i11_in_a_chain_a_copy_has_the_task():
    kept = (
        ContextOptimizer(max_input_tokens=300)
        .with_changes(ranking_query=TASK)
        .invoke([*CHAT, HumanMessage("Tell me.")])
    )

    assert {"q13", "a13"} <= {message.id for message in kept}
    assert kept[-1].text == "Tell me."
