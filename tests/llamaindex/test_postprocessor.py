"""The postprocessor's contract: what it keeps of nodes, what it counts, and what it refuses."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import Document, MediaResource, Node, NodeWithScore, QueryBundle, TextNode

from ctxopt_core import ContextBudget, ContextBudgetError, DocumentPolicy, Shares
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from node_inputs import (
    ids_of,
    is_cut_of,
    joined,
    joined_tokens,
    report_on,
    scored_nodes,
    snapshot,
    text_in,
    texts_with_scores,
)

QUERY = "When did the ferry keep its record?"
WHOLE = DocumentPolicy(passages=False)


def fitted(nodes: list[NodeWithScore], query: str | None = QUERY, **settings: Any) -> list[NodeWithScore]:
    return ContextOptimizerPostprocessor(**settings).postprocess_nodes(nodes, query_str=query)


def test_i5_it_is_a_node_postprocessor_of_llamaindex() -> None:
    assert isinstance(ContextOptimizerPostprocessor(max_tokens=9), BaseNodePostprocessor)
    assert ContextOptimizerPostprocessor.class_name() == "ContextOptimizerPostprocessor"


def test_i5_what_fits_comes_back_as_the_identical_objects_in_a_list_of_its_own() -> None:
    given = scored_nodes()
    kept = fitted(given, max_tokens=joined_tokens(given))
    assert kept is not given
    assert [id(item) for item in kept] == [id(item) for item in given]


@pytest.mark.parametrize("query", [QUERY, None, "input is x\n"], ids=["asked", "no-query", "an-odd-text"])
@pytest.mark.parametrize("budget", [30, 60, 100, 200, 400, 700])
def test_i5_the_budget_holds_and_the_input_is_not_changed(budget: int, query: str | None) -> None:
    given = scored_nodes()
    before = snapshot(given)
    postprocessor = ContextOptimizerPostprocessor(max_tokens=budget)
    kept = postprocessor.postprocess_nodes(given, query_str=query)
    assert snapshot(given) == before
    assert kept
    assert joined_tokens(kept) <= budget
    assert postprocessor.plan(given, query).tokens_after == joined_tokens(kept)
    originals = {item.node.node_id: item for item in given}
    assert all(item is originals[item.node.node_id] or is_cut_of(item, originals[item.node.node_id]) for item in kept)


async def test_i5_20973_19379_the_async_way_keeps_the_same() -> None:
    """Issues 20973, 19379 and pull requests 12663, 7731: what is async must not skip the postprocessor."""
    given = scored_nodes()
    postprocessor = ContextOptimizerPostprocessor(max_tokens=200)
    kept = await postprocessor.apostprocess_nodes(given, QueryBundle(QUERY))
    assert [(i.node.node_id, text_in(i)) for i in kept] == [
        (i.node.node_id, text_in(i)) for i in postprocessor.postprocess_nodes(given, QueryBundle(QUERY))
    ]
    assert len(kept) < len(given)


@pytest.mark.parametrize(
    ("arrange", "settings", "kept"),
    [
        pytest.param(lambda found: found, {}, ["0", "1"], id="best-first"),
        pytest.param(lambda found: found[::-1], {"ranking": "score"}, ["0", "1"], id="best-last"),
        pytest.param(lambda found: [found[i] for i in (2, 0, 3, 1)], {"ranking": "score"}, ["0", "1"], id="mixed"),
        pytest.param(
            lambda found: found[::-1],
            {"ranking": "score", "reading_order": "original"},
            ["1", "0"],
            id="read-as-they-came",
        ),
        pytest.param(lambda found: found, {"score_order": "lower"}, ["3", "2"], id="distances"),
    ],
)
def test_d1_d2_d9_scores_decide_whatever_the_order_of_arrival(
    arrange: Callable[[list[NodeWithScore]], list[NodeWithScore]], settings: dict[str, Any], kept: list[str]
) -> None:
    found = texts_with_scores(0.9, 0.7, 0.5, 0.3)
    budget = joined_tokens(found[:2]) + 4
    assert ids_of(fitted(arrange(found), None, max_tokens=budget, documents={"passages": False, **settings})) == kept


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        pytest.param((None, -2, math.nan, -1), ["3", "1"], id="none-and-nan-are-last"),
        pytest.param((None, None, None, None), ["0", "1"], id="no-scores-as-they-came"),
        pytest.param((-3, 0.0, None, -2), ["1", "3"], id="zero-and-negatives-are-scores"),
        pytest.param((1, 1, 1, 1), ["0", "1"], id="equal-scores-as-they-came"),
    ],
)
def test_d1_12497_11587_nodes_without_a_score_are_last(scores: tuple[Any, ...], kept: list[str]) -> None:
    found = texts_with_scores(*scores)
    assert ids_of(fitted(found, None, max_tokens=joined_tokens(found[:2]) + 4, documents=WHOLE)) == kept


@pytest.mark.parametrize("cutoff", [None, 0.5])
def test_d1_12497_11587_nodes_without_a_score_are_not_dropped_for_it(cutoff: float | None) -> None:
    found = texts_with_scores(None, 0.9, math.nan)
    assert set(ids_of(fitted(found, max_tokens=999, documents={"min_score": cutoff}))) == {"0", "1", "2"}


@pytest.mark.parametrize("seed", range(3))
def test_d9_edges_puts_the_best_first_and_the_second_best_last(seed: int) -> None:
    found = texts_with_scores(0.9, 0.8, 0.7, 0.6)
    random.Random(seed).shuffle(found)
    assert ids_of(fitted(found, max_tokens=999, documents={"reading_order": "edges"})) == ["0", "2", "3", "1"]


def test_d10_all_three_limits_apply() -> None:
    found = texts_with_scores(0.9, 0.8, 0.7, 0.2)
    assert ids_of(fitted(found, max_tokens=999, documents={"min_score": 0.5})) == ["0", "1", "2"]
    assert ids_of(fitted(found, max_tokens=999, documents={"max_documents": 2})) == ["0", "1"]


@pytest.mark.parametrize("kind", [TextNode, Document, Node])
def test_d6_d15_6841_one_very_long_sentence_is_cut_to_a_part(kind: Any) -> None:
    """Issue 6841: one sentence that is longer than the budget."""
    text = "the ferry kept its record " * 400
    node = kind(text_resource=MediaResource(text=text)) if kind is Node else kind(text=text)
    [kept] = fitted([NodeWithScore(node=node, score=1.0)], max_tokens=50)
    assert 40 <= joined_tokens([kept]) <= 50
    assert type(kept.node) is kind


def test_d15_22354_passages_keep_the_order_of_their_node() -> None:
    """Pull request 22354: what is kept of a node stands as it stood there, however it scores."""
    sentences = [f"In year {1900 + i} the mill burnt, and record {i} was lost." for i in range(60)]
    sentences[50] = "The ferry kept its first record in 1950."
    sentences[10] = "The ferry bell rang when the ferry record of the ferry was kept."
    node = NodeWithScore(node=TextNode(text=" ".join(sentences)), score=1.0)
    [kept] = fitted([node], "Which ferry was first?", max_tokens=100)
    found = [text_in(kept).index(sentences[i]) for i in (10, 50)]
    assert found == sorted(found)
    assert " [...] " in text_in(kept)


def test_d10_22425_a_limit_of_no_nodes_is_refused() -> None:
    """Pull request 22425: where nothing is to be kept, all was."""
    with pytest.raises(ValueError, match="`max_documents` must be a whole number of documents, 1 or more, got 0"):
        ContextOptimizerPostprocessor(max_tokens=9, documents={"max_documents": 0})


def test_i5_12613_22392_very_many_nodes_leave_as_many_as_fit() -> None:
    """Issue 12613, pull request 22392: with a large top_k every node was cut to nothing."""
    given = [NodeWithScore(node=TextNode(text=report_on("mill", i, 2)), score=1 / (1 + i)) for i in range(1_000)]
    kept = fitted(given, max_tokens=600)
    assert 540 < joined_tokens(kept) <= 600
    assert all(text_in(item).strip() for item in kept)
    assert kept[0] is given[0]


def test_i5_22839_sentences_are_found_without_nltk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 22839: LlamaIndex's own splitter needs nltk, which refuses data that is hard-linked."""
    monkeypatch.setitem(sys.modules, "nltk", None)
    kept = fitted(scored_nodes(sentences=40), max_tokens=90)
    assert all(text_in(item).removesuffix("[...]").rstrip().endswith(".") for item in kept)
    assert joined_tokens(kept) <= 90


def test_d7_a_node_that_came_twice_is_kept_once_when_not_all_fits() -> None:
    found = texts_with_scores(0.9, 0.8)
    twice = [found[0], NodeWithScore(node=found[0].node, score=0.7), found[1]]
    assert ids_of(fitted(twice, max_tokens=joined_tokens(found) + 5)) == ["0", "1"]


def test_i5_16857_20894_9873_no_nodes_are_no_nodes() -> None:
    assert fitted([], max_tokens=9) == []


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param({"passages": False}, id="too-large-as-a-whole"),
        pytest.param({"min_score": 0.99}, id="scores-below-the-cutoff"),
        pytest.param({"selection": "density", "min_score": 0.99, "passages": False}, id="another-selection"),
    ],
)
def test_i5_16857_20894_9873_something_is_kept_whatever_the_policy(documents: Any) -> None:
    given = scored_nodes(sentences=40)[:4]
    given[0].score, given[2].score = 0.5, 0.9
    postprocessor = ContextOptimizerPostprocessor(max_tokens=100, documents=documents)
    found = postprocessor.postprocess_nodes(given, query_str="")
    assert ids_of(found) == ["n1"]
    assert joined_tokens(found) <= 100
    assert is_cut_of(found[0], given[1])
    assert postprocessor.plan(given, "").notes[0].startswith("the policy keeps no node")


def test_i5_16857_the_best_node_stays_whole_where_it_fits() -> None:
    found = texts_with_scores(0.2, 0.4)
    assert fitted(found, max_tokens=999, documents={"min_score": 0.5}) == [found[1]]


def test_i5_16857_of_blank_nodes_the_first_is_kept_as_it_is() -> None:
    given = [NodeWithScore(node=TextNode(text=text)) for text in ("", "  \n", "")]
    postprocessor = ContextOptimizerPostprocessor(max_tokens=9)
    [kept] = postprocessor.postprocess_nodes(given)
    assert kept is given[0]
    report = postprocessor.plan(given)
    assert [row.state for row in report.documents] == ["kept", "dropped", "dropped"]
    assert report.notes == ("all nodes are blank; one is kept, since without any node no model is asked",)


def test_d8_blank_nodes_go_when_there_are_others() -> None:
    given = [NodeWithScore(node=TextNode(text=" \n", metadata={"page": 3}), score=9), *texts_with_scores(0.3)]
    assert ids_of(fitted(given, max_tokens=99)) == ["0"]
    assert ContextOptimizerPostprocessor(max_tokens=99).plan(given).documents[0].reason == "empty"


@pytest.mark.parametrize(
    ("metadata", "text", "needed"),
    [
        pytest.param({"k": "long " * 50}, "a word", 54, id="metadata-longer-than-the-budget"),
        pytest.param({}, "👩‍👩‍👧‍👦", 2, id="a-sign-of-more-tokens"),
        pytest.param({"k": "long " * 50}, "", 53, id="blank-with-metadata"),
    ],
)
def test_i5_7980_17373_no_room_for_one_word_is_a_typed_error(metadata: Any, text: str, needed: int) -> None:
    """Issues 7980, 17373: metadata that is longer than a chunk."""
    given = [NodeWithScore(node=TextNode(text=text, metadata=metadata), score=1.0)]
    budget = 1 if not metadata else 20
    with pytest.raises(ContextBudgetError, match=f"no node fits into {budget} tokens, not even one word") as caught:
        fitted(given, max_tokens=budget)
    assert caught.value.available == budget
    assert budget < (caught.value.needed or 0) <= needed + 2


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        pytest.param({"max_tokens": 300}, 300, id="max-tokens"),
        pytest.param({"max_tokens": "300"}, 300, id="digits"),
        pytest.param({"max_tokens": 9_000, "model": "gpt-4"}, 9_000, id="the-model-decides-the-tokenizer-only"),
        pytest.param({"model": "gpt-4"}, ContextBudget.for_model("gpt-4").input_budget // 2, id="half-by-default"),
        pytest.param({"model": "gpt-4", "share": 100}, ContextBudget.for_model("gpt-4").input_budget, id="all-of-it"),
        pytest.param({"llm": MockLLM(max_tokens=256), "share": 25}, (3_900 - 256) // 4, id="an-llm"),
        pytest.param({"max_tokens": 300, "llm": MockLLM()}, 300, id="an-llm-and-a-limit"),
    ],
)
def test_i5_the_budget_is_a_limit_or_a_share_of_a_models_window(settings: dict[str, Any], tokens: int) -> None:
    assert ContextOptimizerPostprocessor(**settings).budget_tokens == tokens


def test_i5_the_default_share_is_that_of_the_documents() -> None:
    documents = ContextOptimizerPostprocessor(model="gpt-4").budget_tokens
    assert documents == Shares().split(ContextBudget.for_model("gpt-4").input_budget).documents


def test_i5_a_function_can_count() -> None:
    kept = fitted(scored_nodes(), max_tokens=30, token_counter=lambda text: len(text.split()))
    assert 20 <= len(joined(kept).split()) <= 30
