"""An optimizer that is stored and loaded, pickled or copied is the same optimizer."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumpd, dumps, load, loads
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.prompts.chat import HumanMessagePromptTemplate, SystemMessagePromptTemplate
from langchain_core.runnables import RunnableSequence

from chat_model_doubles import NamedModel
from ctxopt_core import DocumentPolicy, HistoryPolicy, Shares, TiktokenCounter
from langchain_ctxopt import ContextOptimizer, RequestOverflowError

PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Answer from {context}"), MessagesPlaceholder("chat_history", optional=True), ("human", "{question}")]
)
ALLOWED = [
    ContextOptimizer,
    ChatPromptTemplate,
    MessagesPlaceholder,
    HumanMessagePromptTemplate,
    SystemMessagePromptTemplate,
    PromptTemplate,
    RunnableSequence,
]
SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
GIVEN = {
    "context": [Document(page_content=SENTENCE * 3, id=str(i), metadata={"score": i}) for i in range(9)],
    "chat_history": [m for i in range(9) for m in (HumanMessage(f"Question {i}?"), AIMessage(SENTENCE * 2))],
    "question": "Which lantern is lit?",
}
OPTIMIZERS = [
    pytest.param(ContextOptimizer(max_input_tokens=300, prompt=PROMPT), id="a limit"),
    pytest.param(ContextOptimizer(model="gpt-4", target_tokens=300, prompt=PROMPT), id="a model by name"),
    pytest.param(
        ContextOptimizer(
            model="gpt-4o",
            target_tokens=400,
            prompt=PROMPT,
            tools=[{"type": "function", "function": {"name": "look", "parameters": {}}}],
            output_reserve=100,
            safety_margin=50,
            trigger=0.9,
            shares=Shares(system=10, query=20, documents=20, history=50),
            documents=DocumentPolicy(passages=False, reading_order="edges", score_order="lower", min_score=7.5),
            history=HistoryPolicy(keep_first_user_message=False, first_message_max_percent=20),
            protect={"query"},
            overflow="empty",
            documents_as="text",
            document_prompt="* {page_content}",
            document_separator="\n",
            score_key="score",
            query_key="question",
            name="fit",
        ),
        id="everything",
    ),
    pytest.param(
        ContextOptimizer(
            max_input_tokens=300,
            prompt=PROMPT,
            shares={"system": Decimal("12.5"), "query": Fraction(25, 2), "documents": 50, "history": 25},
        ),
        id="exact shares",
    ),
    pytest.param(ContextOptimizer(max_input_tokens=300, prompt=PROMPT, token_counter="cl100k_base"), id="a tokenizer"),
]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


def stored_and_loaded(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The function `loads` is in beta")
        return loads(text, allowed_objects=ALLOWED, valid_namespaces=["langchain_ctxopt"])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_i1_a_stored_optimizer_is_loaded_as_it_was(optimizer: ContextOptimizer) -> None:
    loaded = stored_and_loaded(dumps(optimizer))
    assert type(loaded) is ContextOptimizer
    assert loaded == optimizer
    assert loaded.budget == optimizer.budget
    assert loaded.invoke(GIVEN) == optimizer.invoke(GIVEN)
    assert dumps(loaded) == dumps(optimizer)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_i1_a_stored_optimizer_is_plain_json(optimizer: ContextOptimizer) -> None:
    stored = dumpd(optimizer)
    assert stored == json.loads(dumps(optimizer))
    assert stored["id"] == ["langchain_ctxopt", "optimizer", "ContextOptimizer"]
    assert stored["type"] == "constructor"
    assert "not_implemented" not in json.dumps(stored)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_i1_a_copy_is_equal_and_works(optimizer: ContextOptimizer, copied: Any) -> None:
    other = copied(optimizer)
    # A prompt with typed inputs is not equal to its own copy, so it is compared by what it renders.
    assert other.with_changes(prompt=None) == optimizer.with_changes(prompt=None)
    assert other.prompt.invoke(GIVEN) == optimizer.prompt.invoke(GIVEN)
    assert other.invoke(GIVEN) == optimizer.invoke(GIVEN)


def test_i1_a_chain_with_an_optimizer_is_stored_and_loaded() -> None:
    chain = ContextOptimizer(max_input_tokens=300, prompt=PROMPT) | PROMPT
    assert stored_and_loaded(dumps(chain)).invoke(GIVEN) == chain.invoke(GIVEN)


def test_i1_loading_needs_to_be_allowed() -> None:
    stored = dumpd(ContextOptimizer(max_input_tokens=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="not allowed"):
            load(stored, allowed_objects="core")


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"token_counter": len}, id="a counting function"),
        pytest.param({"token_counter": TiktokenCounter()}, id="a counter"),
        pytest.param({"score_key": lambda document: 1.0}, id="a score function"),
        pytest.param({"model": FakeListChatModel(responses=["x"])}, id="a model that cannot be stored"),
    ],
)
def test_i1_what_cannot_be_stored_is_refused_at_loading_and_never_left_out(settings: dict[str, Any]) -> None:
    stored = dumps(ContextOptimizer(max_input_tokens=300, **settings))
    with pytest.raises((NotImplementedError, ValueError)):
        stored_and_loaded(stored)


def test_i1_the_listener_for_reports_is_not_stored() -> None:
    optimizer = ContextOptimizer(max_input_tokens=300, on_report=print)
    assert "print" not in dumps(optimizer)
    assert stored_and_loaded(dumps(optimizer)).on_report is None


def test_i1_no_secret_of_a_model_is_stored() -> None:
    class Keyed(NamedModel):
        key: str = "hush-7"

        @property
        def lc_secrets(self) -> dict[str, str]:
            return {"key": "LANTERN_KEY"}

        @classmethod
        def is_lc_serializable(cls) -> bool:
            return True

    assert "hush-7" not in dumps(ContextOptimizer(model=Keyed()))


def test_i1_the_error_survives_a_process_border() -> None:
    with pytest.raises(RequestOverflowError) as caught:
        ContextOptimizer(max_input_tokens=5).invoke("Which lantern is lit?")
    copied = pickled(caught.value)
    assert type(copied) is RequestOverflowError
    assert (str(copied), copied.needed, copied.available, copied.costs) == (
        str(caught.value),
        caught.value.needed,
        caught.value.available,
        caught.value.costs,
    )


def test_i1_optimizers_compare_by_their_settings() -> None:
    assert ContextOptimizer(model="gpt-4") == ContextOptimizer(model="gpt-4")
    assert ContextOptimizer(model="gpt-4") != ContextOptimizer(model="gpt-4o")
    assert ContextOptimizer(model="gpt-4", token_counter=len) == ContextOptimizer(model="gpt-4", token_counter=len)


def test_i1_the_representation_is_short_and_hides_nothing_that_was_set() -> None:
    assert (
        repr(ContextOptimizer(model="gpt-4", target_tokens=300)) == "ContextOptimizer(model='gpt-4', target_tokens=300)"
    )
