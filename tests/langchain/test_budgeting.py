"""From a model and explicit numbers to the budget that inputs are fitted into."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.model_profile import ModelProfile
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ValidationError

from chat_model_doubles import ListeningModel, NamedModel
from ctxopt_core import ContextBudgetError, counter_for
from ctxopt_core.models.resolve_window import UnknownModelWarning
from ctxopt_core.providers.rules import rules_for
from langchain_ctxopt import ContextOptimizer, RequestOverflowError
from langchain_requests import sent_tokens
from request_tokens import count_text

SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
CHAT = [m for i in range(60) for m in (HumanMessage(f"Question {i}?"), AIMessage(SENTENCE * 3))] + [
    HumanMessage("Lit?")
]


def profiled(**profile: Any) -> FakeListChatModel:
    return FakeListChatModel(responses=["x"], profile=ModelProfile(**profile))


@pytest.mark.parametrize(
    ("settings", "window", "reserve", "tokens"),
    [
        pytest.param({"model": "gpt-4"}, 8_192, 1_024, 7_168, id="a name"),
        pytest.param({"model": "gpt-4o"}, 128_000, 4_096, 123_904, id="a name with a large window"),
        pytest.param({"model": " gpt-4 "}, 8_192, 1_024, 7_168, id="blanks around the name"),
        pytest.param({"model": NamedModel(model_name="gpt-4")}, 8_192, 1_024, 7_168, id="a model"),
        pytest.param({"model": NamedModel(model_name="gpt-4", max_tokens=500)}, 8_192, 500, 7_692, id="its max_tokens"),
        pytest.param(
            {"model": NamedModel(model_name="gpt-4", max_tokens=6_000)}, 8_192, 6_000, 2_192, id="a long answer"
        ),
        pytest.param(
            {"model": NamedModel(model_name="gpt-4", max_tokens=500), "output_reserve": 0},
            8_192,
            0,
            8_192,
            id="no reserve",
        ),
        pytest.param({"model": "gpt-4", "output_reserve": 192}, 8_192, 192, 8_000, id="an explicit reserve"),
        pytest.param({"model": "gpt-4", "safety_margin": 168}, 8_192, 1_024, 7_000, id="a margin"),
        pytest.param({"model": "gpt-4", "target_tokens": 3_000}, 8_192, 1_024, 3_000, id="a target"),
        pytest.param({"model": "gpt-4", "context_window": 2_000}, 2_000, 250, 1_750, id="an explicit window wins"),
        pytest.param({"model": "gpt-4", "context_window": "2000"}, 2_000, 250, 1_750, id="a window as text"),
        pytest.param({"model": profiled(max_input_tokens=10_000)}, 10_000, 1_250, 8_750, id="a profile"),
        pytest.param(
            {"model": profiled(max_input_tokens=10_000, max_output_tokens=300)},
            10_000,
            300,
            9_700,
            id="its answer limit",
        ),
        pytest.param(
            {"model": profiled(max_input_tokens=10_000), "context_window": 4_000},
            4_000,
            500,
            3_500,
            id="over a profile",
        ),
        pytest.param({"context_window": 8_000}, 8_000, 1_000, 7_000, id="a window alone"),
        pytest.param({"context_window": 128_000}, 128_000, 4_096, 123_904, id="a large window alone"),
        pytest.param({"context_window": 8_000, "output_reserve": 0}, 8_000, 0, 8_000, id="a window without reserve"),
        pytest.param({"max_input_tokens": 500}, None, 0, 500, id="an input limit alone"),
        pytest.param({"max_input_tokens": "500"}, None, 0, 500, id="an input limit as text"),
        pytest.param({"target_tokens": 500}, None, 0, 500, id="a target alone"),
        pytest.param({"model": ListeningModel(), "max_input_tokens": 500}, None, 0, 500, id="a nameless model"),
        pytest.param(
            {"context_window": 32_768, "output_reserve": 4_096, "safety_margin": 2_048, "target_tokens": 16_000},
            32_768,
            4_096,
            16_000,
            id="all of them",
        ),
    ],
)
def test_a2_the_budget_is_what_the_window_leaves(
    settings: dict[str, Any], window: int | None, reserve: int, tokens: int
) -> None:
    budget = ContextOptimizer(**settings).budget
    assert (budget.context_window, budget.output_reserve, budget.input_budget) == (window, reserve, tokens)


@pytest.mark.parametrize(
    ("model", "source", "encoding", "exact"),
    [
        ("gpt-4o", "catalog", "o200k_base", True),
        (NamedModel(model_name="gpt-4"), "catalog", "cl100k_base", True),
        (profiled(max_input_tokens=9_000), "live", "o200k_base", False),
    ],
)
def test_t9_the_report_says_where_the_window_comes_from(model: Any, source: str, encoding: str, exact: bool) -> None:
    report = ContextOptimizer(model=model).plan("Lit?")
    assert (report.window_source, report.exact) == (source, exact)
    assert encoding in report.encoding


def test_t9_an_unknown_model_gets_the_smallest_window_and_one_warning() -> None:
    with pytest.warns(UnknownModelWarning, match="'lantern-9' is not known") as caught:
        budgets = [ContextOptimizer(model="lantern-9").budget.input_budget for _ in range(3)]
    assert len(caught) == 1
    assert len(set(budgets)) == 1
    assert budgets[0] < 8_192


def test_t9_an_unknown_model_with_explicit_numbers_warns_of_nothing() -> None:
    assert ContextOptimizer(model="lantern-8", context_window=2_000).budget.input_budget == 1_750


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({}, ValidationError, "give one of `model`, `context_window`, `max_input_tokens` and `target_tokens`"),
        ({"model": None}, ValidationError, "give one of `model`"),
        ({"model": ""}, ValidationError, "`model` must be the id of a model"),
        ({"model": "   "}, ValidationError, "`model` must be the id of a model"),
        ({"model": 4}, TypeError, "`model` must be a model name"),
        ({"model": True}, TypeError, "`model` must be a model name"),
        ({"model": ListeningModel()}, ValidationError, "ListeningModel says neither its name nor its window"),
        ({"max_input_tokens": 0}, ValidationError, "`max_input_tokens` must be a whole number of tokens, at least 1"),
        ({"max_input_tokens": True}, ValidationError, "at least 1, got True"),
        ({"context_window": 2.5}, ValidationError, "`context_window` must be a whole number"),
        ({"context_window": "many"}, ValidationError, "`context_window` must be a whole number"),
        ({"target_tokens": -1}, ValidationError, "`target_tokens` must be a whole number"),
        ({"context_window": 900, "output_reserve": -1}, ValidationError, "`output_reserve` .* at least 0"),
        ({"context_window": 900, "output_reserve": 900}, ValidationError, "nothing is left for the input"),
        ({"context_window": 900, "safety_margin": 900}, ValidationError, "nothing is left for the input"),
        ({"context_window": 900, "trigger": 0}, ValidationError, "`trigger` must be above 0"),
        ({"context_window": 900, "protect": ("documents",)}, ValidationError, "`protect` may name"),
        ({"context_window": 900, "protect": "query"}, ValidationError, "protect"),
        ({"context_window": 900, "overflow": "ignore"}, ValidationError, "overflow"),
        ({"context_window": 900, "prompt": "{question}"}, ValidationError, "`prompt` must be the prompt template"),
        ({"context_window": 900, "document_prompt": 7}, ValidationError, "`document_prompt` must be a prompt template"),
        ({"context_window": 900, "shares": 7}, ValidationError, "expected Shares or a mapping of its fields, got int"),
        ({"context_window": 900, "shares": {"query": 200}}, ValidationError, "`query` must be a percentage"),
        (
            {"context_window": 900, "shares": {"qurey": 20}},
            ValidationError,
            "Shares has no setting `qurey`; it has documents",
        ),
        ({"context_window": 900, "history": {"strategy": "x"}}, ValidationError, "`strategy` must be"),
        (
            {"context_window": 900, "documents": {"pasages": True}},
            ValidationError,
            "DocumentPolicy has no setting `pasages`",
        ),
        (
            {"context_window": 900, "max_tokens": 7},
            ValidationError,
            "has no setting `max_tokens`.*did you mean `max_input_tokens`",
        ),
        ({"context_window": 900, "token_counter": 7}, TypeError, "`token_counter` must be a model name.* got int"),
        ({"context_window": 900, "score_key": 7}, ValidationError, "score_key"),
    ],
)
def test_t10_settings_are_checked_once_at_construction(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ContextOptimizer(**settings)


def test_a2_a_budget_that_leaves_nothing_is_a_budget_error_underneath() -> None:
    with pytest.raises(ValidationError) as caught:
        ContextOptimizer(context_window=900, output_reserve=900)
    assert isinstance(caught.value.errors()[0]["ctx"]["error"], ContextBudgetError)


def test_i11_changed_settings_are_a_new_optimizer_and_are_checked_as_well() -> None:
    optimizer = ContextOptimizer(model="gpt-4", token_counter=len, protect={"query"})
    changed = optimizer.with_changes(target_tokens=500)
    assert (changed.budget.input_budget, optimizer.budget.input_budget) == (500, 7_168)
    assert (changed.token_counter, changed.protect) == (len, ("query",))
    with pytest.raises(ValidationError, match="tarqet"):
        optimizer.with_changes(tarqet=5)
    with pytest.raises(ValidationError, match="frozen"):
        optimizer.target_tokens = 5


class WordPieces:
    """A tokenizer object, as libraries hand them out."""

    def encode(self, text: str) -> list[str]:
        return text.split()


PIECES = WordPieces()


@pytest.mark.parametrize("counter", [len, "cl100k_base", "gpt-4", PIECES])
def test_t12_a_counter_of_ones_own_takes_the_place_of_the_tokenizer(counter: Any) -> None:
    optimizer = ContextOptimizer(model="gpt-4o", target_tokens=300, token_counter=counter)
    report = optimizer.plan(CHAT)
    assert report.within_budget
    assert report.encoding == {"gpt-4": "cl100k_base", len: "len", PIECES: "WordPieces"}.get(counter, counter)


@tool
def inspect(lantern: int, note: str) -> str:
    """Tell whether a lantern is lit, and write a note of it."""
    return f"{lantern}{note}"


class Verdict(BaseModel):
    """Whether a lantern is lit."""

    lit: bool


@pytest.mark.parametrize("counter", [ListeningModel(), ListeningModel().get_num_tokens], ids=["model", "method"])
def test_t12_t14_a_model_that_langchain_counts_for_with_gpt_2_is_no_counter(counter: Any) -> None:
    with pytest.raises(TypeError, match="for a ListeningModel with the tokenizer of GPT-2, which it downloads; pass"):
        counter_for(counter)


def test_t12_a_model_with_a_tokenizer_of_its_own_counts() -> None:
    class Own(ListeningModel):
        def get_num_tokens(self, text: str) -> int:
            return len(text.split())

    given = ListeningModel(custom_get_token_ids=lambda text: list(text.encode()))

    assert [counter_for(model).count("two words") for model in (Own(), Own().get_num_tokens, given)] == [2, 2, 9]


@pytest.mark.parametrize("tools", [[inspect], [inspect, Verdict], [inspect] * 9], ids=["one", "two", "nine"])
@pytest.mark.parametrize("slack", range(0, 60, 7))
def test_a10_messages_and_schemas_together_are_within_the_window(tools: list[Any], slack: int) -> None:
    schemas = [convert_to_openai_tool(each) for each in tools]
    window = sent_tokens(CHAT[-1:], schemas) + 100 + slack
    model = ListeningModel(window=window, reserve=20)
    bound = model.bind_tools(tools)
    chain = ContextOptimizer(model=bound, context_window=window, output_reserve=20, token_counter="o200k_base") | bound
    chain.invoke(CHAT)
    assert window - 60 - 20 < model.counted[-1] <= window - 20


def test_a10_schemas_count_before_the_prompt_as_well() -> None:
    prompt = ChatPromptTemplate.from_messages([("placeholder", "{messages}")])
    schemas = [convert_to_openai_tool(inspect)]
    optimizer = ContextOptimizer(model=NamedModel().bind_tools([inspect]), target_tokens=300, prompt=prompt)
    fitted = optimizer.invoke({"messages": CHAT})
    assert sent_tokens(prompt.invoke(fitted), schemas) <= 300 < sent_tokens(fitted["messages"], schemas * 2)
    counted = sent_tokens(prompt.invoke(fitted), []) + rules_for("gpt-4o").schema_tokens(schemas, count_text, None)
    assert optimizer.plan({"messages": CHAT}).tokens_after == counted < sent_tokens(prompt.invoke(fitted), schemas)


def test_a12_schemas_that_fill_the_budget_are_an_error_that_says_so() -> None:
    with pytest.raises(RequestOverflowError, match=re.escape("fewer tools")):
        ContextOptimizer(model=NamedModel().bind_tools([inspect] * 9), target_tokens=300).invoke(CHAT)
