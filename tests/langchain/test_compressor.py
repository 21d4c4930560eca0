"""The compressor's contract: what it keeps of a document, what it counts, and what it refuses."""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.prompts import PromptTemplate

from chat_model_doubles import ListeningModel, NamedModel
from compressor_inputs import CITED, Chunk, chunks, is_cut_of, joined_tokens, report_on
from ctxopt_core import BudgetWarning, ContextBudget, DocumentPolicy, Shares
from langchain_ctxopt import ContextOptimizerCompressor

QUERY = "When did the ferry keep its record?"
WHOLE = DocumentPolicy(passages=False)


def kept_ids(found: list[Document], **settings: Any) -> list[str | None]:
    return [document.id for document in ContextOptimizerCompressor(**settings).compress_documents(found, "")]


def scored(*scores: Any, key: str = "score") -> list[Document]:
    return [
        Document(page_content=report_on("lantern", i, 2), id=str(i), metadata={key: s}) for i, s in enumerate(scores)
    ]


def test_i2_it_is_a_document_compressor_of_langchain() -> None:
    assert isinstance(ContextOptimizerCompressor(max_tokens=9), BaseDocumentCompressor)


def test_i2_what_fits_comes_back_as_the_identical_objects_in_a_list_of_its_own() -> None:
    given = chunks()
    kept = ContextOptimizerCompressor(max_tokens=10_000).compress_documents(given, QUERY)
    assert kept is not given
    assert [id(document) for document in kept] == [id(document) for document in given]


@pytest.mark.parametrize("budget", [30, 60, 100, 200, 400, 700])
def test_i2_ids_metadata_and_subclasses_stay_and_the_input_is_not_changed(budget: int) -> None:
    given = chunks()
    before = copy.deepcopy(given)
    kept = ContextOptimizerCompressor(max_tokens=budget).compress_documents(given, QUERY)
    assert given == before
    assert kept
    for document in kept:
        original = given[document.metadata["n"]]
        assert document is original or is_cut_of(document, original)


def test_i2_a_document_that_is_kept_in_part_has_metadata_of_its_own() -> None:
    chunk = Chunk(page_content=report_on("ferry", 1, 40), id="c", metadata={"score": 1, "deep": {"k": [1]}}, page=7)
    [kept] = ContextOptimizerCompressor(max_tokens=60).compress_documents([chunk], QUERY)
    assert is_cut_of(kept, chunk)
    kept.metadata["score"] = 2
    assert chunk.metadata["score"] == 1


@pytest.mark.parametrize("budget", [80, 170, 350])
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="bare-text"),
        pytest.param({"document_separator": ""}, id="no-separator"),
        pytest.param({"document_separator": "\n---\n"}, id="a-separator"),
        pytest.param({"document_prompt": CITED}, id="metadata-in-the-template"),
        pytest.param({"document_prompt": "{n}. {page_content} ({deep})", "document_separator": " | "}, id="a-text"),
        pytest.param({"document_prompt": "{page_content} {page_content}"}, id="the-text-twice"),
        pytest.param({"document_prompt": CITED, "documents": {"reading_order": "edges"}}, id="edges"),
        pytest.param({"document_prompt": CITED, "documents": WHOLE}, id="whole-documents-only"),
    ],
)
def test_i2_the_budget_holds_for_documents_as_the_prompt_will_hold_them(settings: dict[str, Any], budget: int) -> None:
    compressor = ContextOptimizerCompressor(max_tokens=budget, **settings)
    kept = compressor.compress_documents(chunks(), QUERY)
    tokens = joined_tokens(kept, template=compressor.document_prompt, separator=compressor.document_separator)
    assert tokens <= budget
    assert tokens == compressor.plan(chunks(), QUERY).tokens_after
    assert tokens > budget - 70


@pytest.mark.parametrize(
    ("arrange", "settings", "kept"),
    [
        pytest.param(lambda found: found, {}, ["a", "b"], id="best-first"),
        pytest.param(lambda found: found[::-1], {"ranking": "score"}, ["a", "b"], id="best-last"),
        pytest.param(lambda found: [found[i] for i in (2, 0, 3, 1)], {"ranking": "score"}, ["a", "b"], id="mixed"),
        pytest.param(
            lambda found: found[::-1],
            {"ranking": "score", "reading_order": "original"},
            ["b", "a"],
            id="read-as-they-came",
        ),
        pytest.param(lambda found: found, {"score_order": "lower"}, ["d", "c"], id="distances"),
    ],
)
def test_i2_scores_decide_whatever_the_order_of_arrival(
    arrange: Callable[[list[Document]], list[Document]], settings: dict[str, Any], kept: list[str]
) -> None:
    found = [
        Document(page_content=report_on("lantern", i, 2), id=name, metadata={"score": score})
        for i, (name, score) in enumerate({"a": 0.9, "b": 0.7, "c": 0.5, "d": 0.3}.items())
    ]
    budget = joined_tokens(found[:2]) + 4
    assert kept_ids(arrange(found), max_tokens=budget, documents={"passages": False, **settings}) == kept


@pytest.mark.parametrize("seed", range(3))
def test_i2_edges_puts_the_best_first_and_the_second_best_last(seed: int) -> None:
    found = scored(0.9, 0.8, 0.7, 0.6)
    random.Random(seed).shuffle(found)
    assert kept_ids(found, max_tokens=999, documents={"reading_order": "edges"}) == ["0", "2", "3", "1"]


@pytest.mark.parametrize(
    ("found", "score", "kept"),
    [
        pytest.param(scored(0.1, 0.9, 0.5, 0.7, key="relevance_score"), None, ["1", "3"], id="relevance_score"),
        pytest.param(scored(0.1, 0.9, 0.5, 0.7, key="rank"), "rank", ["1", "3"], id="a-key"),
        pytest.param(scored(0.1, 0.9, 0.5, 0.7), lambda d: -d.metadata["score"], ["0", "2"], id="a-function"),
        pytest.param(scored(None, -2, math.nan, -1), None, ["3", "1"], id="none-and-nan-are-last"),
        pytest.param(scored("HIGH", 0.2, "LOW", 0.1), None, ["1", "3"], id="words-are-no-scores"),
        pytest.param(scored(1, 1, 1, 1), None, ["0", "1"], id="equal-scores-as-they-came"),
    ],
)
def test_i2_a_score_is_found_under_a_key_or_by_a_function(found: list[Document], score: Any, kept: list[str]) -> None:
    budget = joined_tokens(found[:2]) + 4
    assert kept_ids(found, max_tokens=budget, documents=WHOLE, score_key=score) == kept


@pytest.mark.parametrize("query", [QUERY, "", "  "], ids=["asked", "empty", "blank"])
def test_i2_no_documents_are_no_documents(query: str) -> None:
    assert ContextOptimizerCompressor(max_tokens=9).compress_documents([], query) == []


def test_i2_blank_documents_are_left_out() -> None:
    found = [Document(page_content=" \n", id="blank", metadata={"score": 9}), *scored(0.3)]
    assert kept_ids(found, max_tokens=500) == ["0"]


def test_i2_a_template_larger_than_the_budget_leaves_nothing_and_says_so() -> None:
    compressor = ContextOptimizerCompressor(max_tokens=11, document_prompt="long " * 30 + "{page_content}")
    with pytest.warns(BudgetWarning, match="no document fits into the budget of 11 tokens.*`document_prompt`"):
        assert compressor.compress_documents(chunks(3), QUERY) == []
    assert compressor.compress_documents(chunks(3), QUERY) == []
    report = compressor.plan(chunks(3), QUERY)
    assert [row.reason for row in report.dropped_documents] == ["budget"] * 3
    assert report.notes == ("no document fits into the budget, not even in part",)


def test_i2_documents_without_a_needed_key_are_an_error_that_names_it() -> None:
    compressor = ContextOptimizerCompressor(max_tokens=50, document_prompt=CITED)
    with pytest.raises(ValueError, match="source"):
        compressor.compress_documents(scored(1, 2), QUERY)


@pytest.mark.parametrize(
    ("documents", "query", "message"),
    [
        pytest.param([], None, "`query` must be a string, got NoneType; give ''", id="no-query"),
        pytest.param([], ["kiln"], "`query` must be a string, got list", id="a-list-as-query"),
        pytest.param(None, "kiln", "`documents` must be a list of LangChain documents, got NoneType", id="none"),
        pytest.param("kiln", "kiln", "`documents` must be a list of LangChain documents, got str", id="joined-text"),
        pytest.param(["kiln"], "kiln", "item 0 of the documents .* got str; wrap strings", id="texts"),
    ],
)
async def test_i2_other_kinds_of_input_are_a_type_error(documents: Any, query: Any, message: str) -> None:
    compressor = ContextOptimizerCompressor(max_tokens=50)
    with pytest.raises(TypeError, match=message):
        compressor.compress_documents(documents, query)
    with pytest.raises(TypeError, match=message):
        await compressor.acompress_documents(documents, query)


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        pytest.param({"max_tokens": 300}, 300, id="max-tokens"),
        pytest.param({"max_tokens": "300"}, 300, id="digits"),
        pytest.param({"max_tokens": 9_000, "model": "gpt-4"}, 9_000, id="the-model-decides-the-tokenizer-only"),
        pytest.param({"max_tokens": 300, "model": ListeningModel()}, 300, id="a-model-without-a-name"),
        pytest.param({"model": "gpt-4"}, ContextBudget.for_model("gpt-4").input_budget // 2, id="half-by-default"),
        pytest.param({"model": "gpt-4", "share": 100}, ContextBudget.for_model("gpt-4").input_budget, id="all-of-it"),
        pytest.param({"model": NamedModel(model_name="gpt-4", max_tokens=192), "share": 25}, 2_000, id="an-object"),
        pytest.param({"model": NamedModel(model_name="gpt-4", max_tokens=192), "share": 12.5}, 1_000, id="a-fraction"),
    ],
)
def test_i2_the_budget_is_a_limit_or_a_share_of_a_models_window(settings: dict[str, Any], tokens: int) -> None:
    assert ContextOptimizerCompressor(**settings).budget_tokens == tokens


def test_i2_the_default_share_is_that_of_the_documents() -> None:
    documents = ContextOptimizerCompressor(model="gpt-4").budget_tokens
    assert documents == Shares().split(ContextBudget.for_model("gpt-4").input_budget).documents


def test_i2_the_model_decides_the_tokenizer() -> None:
    encodings = [
        ContextOptimizerCompressor(max_tokens=50, **settings).plan(chunks(), QUERY).encoding
        for settings in ({}, {"model": "gpt-4"}, {"model": "gpt-4o"}, {"model": "gpt-4", "token_counter": "o200k_base"})
    ]
    assert encodings == ["o200k_base", "cl100k_base", "o200k_base", "o200k_base"]


def test_i2_a_function_can_count() -> None:
    compressor = ContextOptimizerCompressor(max_tokens=20, token_counter=lambda text: len(text.split()))
    kept = compressor.compress_documents(chunks(), QUERY)
    assert 16 <= sum(len(document.page_content.split()) for document in kept) <= 20


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({}, "give `max_tokens`, or a `model`", id="neither"),
        pytest.param({"share": 50}, "give it with `model` and without `max_tokens`", id="a-share-of-nothing"),
        pytest.param({"max_tokens": 9, "share": 50}, "give it with `model` and without `max_tokens`", id="both"),
        pytest.param({"max_tokens": 9, "model": "gpt-4", "share": 50}, "without `max_tokens`", id="all-three"),
        pytest.param({"max_tokens": 0}, "`max_tokens` must be a whole number of tokens, at least 1, got 0", id="zero"),
        pytest.param({"max_tokens": -3}, "got -3", id="negative"),
        pytest.param({"max_tokens": 1.5}, "got 1.5", id="a-fraction"),
        pytest.param({"max_tokens": True}, "got True", id="a-truth-value"),
        pytest.param({"model": "gpt-4", "share": 0}, "`share` must be a percentage above 0", id="no-share"),
        pytest.param({"model": "gpt-4", "share": 101}, "`share` must be a percentage from 0 to 100", id="over-100"),
        pytest.param({"model": "gpt-4", "share": 0.001}, "`share` of 7168 input tokens is less than", id="tiny"),
        pytest.param({"max_tokens": 9, "top_n": 3}, "top_n", id="a-name-that-is-none"),
        pytest.param(
            {"max_tokens": 9, "documents": {"top_n": 3}}, "DocumentPolicy has no setting `top_n`", id="a-policy-too"
        ),
        pytest.param({"max_tokens": 9, "document_prompt": 3}, "`document_prompt` must be a prompt template", id="int"),
    ],
)
def test_i2_settings_are_checked_when_it_is_made(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ContextOptimizerCompressor(**settings)


def test_i2_it_cannot_be_changed_but_copied_with_changes() -> None:
    reports: list[Any] = []
    compressor = ContextOptimizerCompressor(max_tokens=50, on_report=reports.append, token_counter=len)
    with pytest.raises(ValueError, match="frozen"):
        compressor.max_tokens = 60
    changed = compressor.with_changes(max_tokens=60)
    assert (compressor.budget_tokens, changed.budget_tokens) == (50, 60)
    assert (changed.on_report, changed.token_counter) == (compressor.on_report, len)
    with pytest.raises(ValueError, match="at least 1"):
        compressor.with_changes(max_tokens=0)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"max_tokens": 90}, id="a-limit"),
        pytest.param({"model": "gpt-4", "share": 12.5}, id="a-model"),
        pytest.param(
            {"max_tokens": 90, "document_prompt": CITED, "document_separator": "\n", "score_key": "s"}, id="texts"
        ),
        pytest.param({"max_tokens": 90, "documents": {"reading_order": "edges", "min_score": 0.5}}, id="a-policy"),
    ],
)
def test_i2_dumped_pickled_and_copied_it_is_the_same_compressor(settings: dict[str, Any]) -> None:
    compressor = ContextOptimizerCompressor(**settings)
    assert ContextOptimizerCompressor(**compressor.model_dump()) == compressor
    assert ContextOptimizerCompressor.model_validate_json(compressor.model_dump_json()) == compressor
    assert pickle.loads(pickle.dumps(compressor)) == compressor  # noqa: S301
    assert copy.deepcopy(compressor) == compressor
    assert compressor != compressor.with_changes(document_separator="~")


def test_i2_a_template_that_a_text_cannot_make_is_dumped_as_it_is() -> None:
    jinja = PromptTemplate.from_template("{{ page_content }}", template_format="jinja2")
    compressor = ContextOptimizerCompressor(max_tokens=50, document_prompt=jinja)
    assert "{{" not in compressor.model_dump_json(include={"max_tokens"})
    assert pickle.loads(pickle.dumps(compressor)).document_prompt == jinja  # noqa: S301


def test_i2_a_share_as_an_exact_fraction_is_rounded_down() -> None:
    assert ContextOptimizerCompressor(model="gpt-4", share=Fraction(100, 3)).budget_tokens == 7_168 // 3
