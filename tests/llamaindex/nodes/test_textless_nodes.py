"""Nodes that carry media and no text: multimodal engines need them, and they cost what they show."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.schema import BaseNode, ImageDocument, ImageNode, MediaResource, Node, NodeWithScore, TextNode

from llamaindex_ctxopt.nodes.selection import carries_media, in_their_places
from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor
from node_inputs import ids_of, image_node, joined, joined_tokens, report_on, scored_nodes, text_in, texts_with_scores
from request_tokens import count_text

MEDIUM = MediaResource(url="https://nowhere.invalid/a.bin")
ALT = "a pier " * 8


class Picture(TextNode):
    """A node class of an application whose image must not be asked for."""

    @property
    def image(self) -> str:
        raise ConnectionError


def images(*scores: float | None, **metadata: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=image_node(i, metadata=dict(metadata)), score=score) for i, score in enumerate(scores)]


def fitted(nodes: list[NodeWithScore], **settings: Any) -> list[NodeWithScore]:
    return ContextOptimizerPostprocessor(**settings).postprocess_nodes(nodes, query_str="")


def reasons(nodes: list[NodeWithScore], **settings: Any) -> dict[str, str | None]:
    report = ContextOptimizerPostprocessor(**settings).plan(nodes)
    return {row.id: row.reason for row in report.documents if row.state == "dropped"}


@pytest.mark.parametrize(
    ("node", "carries"),
    [
        pytest.param(ImageNode(image_url="https://nowhere.invalid/a.png"), True, id="an-address"),
        pytest.param(ImageNode(image_path="a.png"), True, id="a-path"),
        pytest.param(ImageNode(image="iVBO"), True, id="base64"),
        pytest.param(ImageNode(), False, id="an-image-node-without-an-image"),
        pytest.param(Node(image_resource=MEDIUM), True, id="an-image"),
        pytest.param(Node(audio_resource=MEDIUM), True, id="a-sound"),
        pytest.param(Node(video_resource=MEDIUM), True, id="a-film"),
        pytest.param(Node(text_resource=MediaResource(text="")), False, id="a-text"),
        pytest.param(ImageDocument(image_resource=MEDIUM), True, id="an-image-document"),
        pytest.param(TextNode(), False, id="a-text-node"),
        pytest.param(Picture(), False, id="a-property"),
    ],
)
def test_i5_media_are_found_in_the_fields_of_a_node(node: BaseNode, carries: bool) -> None:
    assert carries_media(node) is carries


@pytest.mark.parametrize(
    ("kept", "textless", "order"),
    [
        pytest.param((), (2, 0), (0, 2), id="nothing-else"),
        pytest.param((1, 3), (0, 2, 4), (0, 1, 2, 3, 4), id="as-they-came"),
        pytest.param((3, 1), (0, 2, 4), (0, 3, 4, 1, 2), id="another-reading-order"),
        pytest.param((5,), (2, 3), (2, 3, 5), id="before-the-first"),
    ],
)
def test_i5_a_node_without_text_stands_behind_the_one_that_it_came_behind(kept: Any, textless: Any, order: Any) -> None:
    assert in_their_places(kept, textless) == order


def test_i5_images_without_text_stay_in_their_places_and_cost_nothing() -> None:
    found, pictures = texts_with_scores(0.9, 0.8, 0.7), images(0.1, 0.1, 0.1)
    given = [pictures[0], found[0], found[1], pictures[1], found[2], pictures[2]]
    settings = {"max_tokens": joined_tokens(found[:2]), "documents": {"passages": False}}
    kept = fitted(given, **settings)
    assert ids_of(kept) == ["image-0", "0", "1", "image-1", "image-2"]
    assert all(any(item is original for original in given) for item in kept)
    report = ContextOptimizerPostprocessor(**settings).plan(given)
    assert report.tokens_after == joined_tokens(found[:2])
    assert report.notes == ("3 of the kept nodes carry media, of which nothing is counted",)
    assert report.cumulative_score == pytest.approx(2.0)
    assert [row.state for row in report.documents] == ["kept", "kept", "kept", "kept", "dropped", "kept"]


def test_i5_images_alone_stay() -> None:
    pictures = images(None, 0.5)
    assert fitted(pictures, max_tokens=1) == pictures


@pytest.mark.parametrize("budget", [1, 20, 40, 60, 100, 160])
def test_i5_what_images_show_of_their_metadata_is_counted(budget: int) -> None:
    given = [*images(0.5, 0.5, 0.5, 0.5, alt=ALT), *texts_with_scores(0.9, 0.8, 0.7, 0.6)]
    kept = fitted(given, max_tokens=budget)
    assert 0 < joined_tokens(kept) <= budget
    assert len(kept) < len(given)


@pytest.mark.parametrize("words", [0, 1, 5, 40])
def test_i5_what_fits_exactly_stays_whole_and_with_a_token_less_it_does_not(words: int) -> None:
    given = [*images(0.9, alt="a pier" * words), *texts_with_scores(0.8), *images(0.7)]
    full = joined_tokens(given)
    assert [id(item) for item in fitted(given, max_tokens=full)] == [id(item) for item in given]
    assert joined_tokens(fitted(given, max_tokens=full - 1)) < full


def test_d14_the_report_says_what_each_image_shows() -> None:
    given = [*images(0.9, alt=ALT), *texts_with_scores(0.8), NodeWithScore(node=image_node(1), score=0.7)]
    report = ContextOptimizerPostprocessor(max_tokens=999).plan(given)
    shown = [joined(given[:1]), joined(given[1:2])]
    assert list(report.document_tokens) == [*(count_text(text + "\n\n") for text in shown), 0]


def test_i5_images_take_at_most_half_of_a_budget_from_texts() -> None:
    given = [*images(*[0.9] * 9, alt=ALT), *texts_with_scores(*[0.5] * 9)]
    kept = fitted(given, max_tokens=120)
    pictures = [item for item in kept if not text_in(item)]
    assert 0 < joined_tokens(pictures) <= 60
    assert joined_tokens([item for item in kept if text_in(item)]) > 40
    assert reasons(given, max_tokens=120)["image-8"] == "budget"


def test_i5_a_counter_that_rounds_does_not_lead_over_the_budget() -> None:
    given = [*images(*[0.9] * 9, alt=ALT), *texts_with_scores(*[0.5] * 9)]

    def count(text: str) -> int:
        return len(text) // 40

    for budget in range(1, 40):
        kept = fitted(given, max_tokens=budget, token_counter=count)
        assert count(joined(kept)) <= budget


@pytest.mark.parametrize(
    ("documents", "kept", "dropped"),
    [
        pytest.param({"max_documents": 2}, ["0", "image-0"], {"1": "count", "image-1": "count"}, id="the-two-best"),
        pytest.param(
            {"max_documents": 1}, ["image-0"], {"0": "count", "1": "count", "image-1": "count"}, id="the-best"
        ),
        pytest.param({"min_score": 0.5}, ["0", "image-0"], {"1": "score", "image-1": "score"}, id="those-that-score"),
    ],
)
def test_d10_limits_apply_to_images_too(documents: Any, kept: list[str], dropped: dict[str, str]) -> None:
    given = [*images(0.95, 0.1), *texts_with_scores(0.9, 0.2)]
    assert sorted(ids_of(fitted(given, max_tokens=999, documents=documents))) == kept
    assert reasons(given, max_tokens=999, documents=documents) == dropped


def test_i5_where_only_images_would_be_left_a_part_of_the_best_text_is_kept() -> None:
    text = NodeWithScore(node=TextNode(text=report_on("ferry", 1, 90), id_="text"), score=0.9)
    kept = fitted([*images(0.5), text], max_tokens=50, documents={"passages": False})
    assert ids_of(kept) == ["image-0", "text"]
    assert 40 <= joined_tokens(kept) <= 50


def test_i5_where_no_text_fits_images_are_kept_and_the_report_says_so() -> None:
    given = [*images(0.5), *scored_nodes(1)]
    settings = {"max_tokens": 5}
    assert fitted(given, **settings) == given[:1]
    notes = ContextOptimizerPostprocessor(**settings).plan(given).notes
    assert notes[0] == "no text fits into the budget, not even in part; nodes of media without text are kept"
    assert reasons(given, **settings) == {"n0": "budget"}
