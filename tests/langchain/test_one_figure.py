"""What counts, what plans, what fits and what raises use one figure and one budget."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompt_values import StringPromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import tool

from chat_model_doubles import NamedModel
from langchain_ctxopt import ContextOptimizer, RequestOverflowError, with_optimizer

PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Answer from this:\n{context}"), MessagesPlaceholder("chat_history"), ("human", "{question}")]
)
DICT = {
    "context": [Document("The lamp on the pier burns nine hours.")],
    "chat_history": [HumanMessage("Hello"), AIMessage("Hi.")],
    "question": "How long does the lamp burn?",
}
INPUTS = [
    pytest.param([HumanMessage("Hello?")], id="messages"),
    pytest.param([SystemMessage("Be kind."), HumanMessage("Hello?")], id="a system message"),
    pytest.param("Hello?", id="a string"),
    pytest.param(StringPromptValue(text="Hello?"), id="a string prompt"),
    pytest.param(PROMPT.invoke(DICT), id="a chat prompt"),
    pytest.param(DICT, id="a dict"),
]


@tool(description="Search. " + "Many words about it. " * 60)
def search(text: str, pages: int, deep: bool, words: list[str]) -> str:
    return text


def optimizer(tokens: int, tools: list[Any], **settings: Any) -> ContextOptimizer:
    return ContextOptimizer(
        model=NamedModel(model_name="gpt-4o"), prompt=PROMPT, target_tokens=tokens, tools=tools, **settings
    )


@pytest.mark.parametrize("tools", [pytest.param([], id="no tools"), pytest.param([search] * 3, id="tools")])
@pytest.mark.parametrize("value", INPUTS)
def test_l28_what_counts_as_within_the_budget_is_fitted_unchanged(value: Any, tools: list[Any]) -> None:
    tokens = optimizer(100_000, tools).count_tokens(value)
    exact = optimizer(tokens, tools, protect=("query",))
    assert exact.count_tokens(value) == tokens
    assert exact.within_budget(value)
    assert exact.plan(value).tokens_after == tokens
    fitted = exact.fit(value)
    assert fitted.report.unchanged
    assert fitted.report.tokens_after == tokens
    assert exact.invoke(value) is value


@pytest.mark.parametrize("tools", [pytest.param([], id="no tools"), pytest.param([search] * 3, id="tools")])
@pytest.mark.parametrize("value", INPUTS)
def test_l28_one_token_less_is_cut_or_refused_by_all(value: Any, tools: list[Any]) -> None:
    tokens = optimizer(100_000, tools).count_tokens(value)
    short = optimizer(tokens - 1, tools, protect=("query", "system"))
    assert not short.within_budget(value)
    try:
        fitted = short.fit(value)
    except RequestOverflowError as error:
        assert error.available == tokens - 1
        assert optimizer(error.needed or 0, tools, protect=("query", "system")).fit(value).report.within_budget
        with pytest.raises(RequestOverflowError):
            short.plan(value)
    else:
        assert fitted.report.tokens_after == short.plan(value).tokens_after <= tokens - 1


@pytest.mark.parametrize("value", INPUTS[:-1])
def test_l28_a_model_that_fits_its_requests_uses_the_same_figure(value: Any) -> None:
    def guarded(tokens: int) -> Any:
        return with_optimizer(NamedModel(model_name="gpt-4o"), target_tokens=tokens)

    tokens = guarded(100_000).count_tokens(value)
    exact = guarded(tokens)
    assert exact.within_budget(value)
    exact.invoke(value)
    assert exact.last_report.unchanged
    assert exact.last_report.tokens_after == tokens
    assert not guarded(tokens - 1).within_budget(value)


def test_l7_the_error_of_the_front_has_the_figures_and_the_remedies() -> None:
    with pytest.raises(RequestOverflowError) as caught:
        optimizer(900, [search] * 9, protect=("query",)).fit([HumanMessage("Hello? " * 50)])
    error = caught.value
    assert error.available == 900
    assert f"the input budget is {error.available} (fixed" in str(error)
    assert error.costs["tools"] > 900
    assert set(error.remedies) == {"target_tokens", "tools"}
    assert "fewer tools" in str(error)
