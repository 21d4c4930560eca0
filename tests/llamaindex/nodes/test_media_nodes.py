"""Nodes that carry media: what the media cost, by what is known of them, and which nodes are kept."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, DocumentBlock, ImageBlock, TextBlock
from llama_index.core.schema import (
    BaseNode,
    ImageDocument,
    ImageNode,
    MediaResource,
    Node,
    NodeWithScore,
    QueryBundle,
    TextNode,
)

from ctxopt_core import ContextBudgetError, TiktokenCounter
from ctxopt_core.adapters import message_tokens
from llamaindex_ctxopt import ContextOptimizerPostprocessor, ContextOptimizerRetriever, with_optimizer
from llamaindex_ctxopt.messages.media import attachments_of_node
from llamaindex_ctxopt.messages.message_views import view_of
from media_files import base64_text, jpeg, pdf, png, segment, wav
from node_inputs import FixedRetriever, ids_of, image_node, report_on, text_in, text_tokens, texts_with_scores
from scripted_llms import ScriptedLLM

MEDIUM = MediaResource(url="https://nowhere.invalid/a.bin")
ALT = "a pier " * 8
SQUARE = 765  # tokens of 1,024 x 1,024 pixels in gpt-4o: 85 and four tiles of 170
SMALL = 255  # tokens of 512 x 512 pixels: 85 and one tile
# Tokens of 1,024 x 1,024 pixels in Claude before version 4.7, by its page before 2026, which is the larger figure.
CLAUDE = 1_399
UNKNOWN = 850  # tokens of an image of which nothing is known


class Picture(TextNode):
    """A node class of an application whose image must not be asked for."""

    @property
    def image(self) -> str:
        raise ConnectionError


def scored(node: BaseNode, score: float | None = 0.5) -> NodeWithScore:
    return NodeWithScore(node=node, score=score)


def squares(*scores: float | None, caption: str = "", **metadata: str) -> list[NodeWithScore]:
    data = base64_text(png(1024, 1024))
    return [
        scored(
            ImageNode(image=data, text=caption and f"{caption} {i}.", id_=f"image-{i}", metadata=dict(metadata)), score
        )
        for i, score in enumerate(scores)
    ]


def images(*scores: float | None, **metadata: str) -> list[NodeWithScore]:
    return [scored(image_node(i, metadata=dict(metadata)), score) for i, score in enumerate(scores)]


def fitted(nodes: list[NodeWithScore], **settings: Any) -> list[NodeWithScore]:
    return ContextOptimizerPostprocessor(**settings).postprocess_nodes(nodes, query_str="")


def tokens_of(node: BaseNode, model: str = "gpt-4o") -> int:
    plan = ContextOptimizerPostprocessor(model=model, max_tokens=99_999).plan([scored(node)])
    return plan.tokens_after


def in_file(data: bytes, name: str) -> Callable[[Path], str]:
    def written(folder: Path) -> str:
        path = folder / name
        path.write_bytes(data)
        return str(path)

    return written


@pytest.mark.parametrize(
    ("node", "carries"),
    [
        pytest.param(ImageNode(image_url="https://nowhere.invalid/a.png"), 1, id="an-address"),
        pytest.param(ImageNode(image_path="a.png"), 1, id="a-path"),
        pytest.param(ImageNode(image="iVBO"), 1, id="base64"),
        pytest.param(ImageNode(), 0, id="an-image-node-without-an-image"),
        pytest.param(Node(image_resource=MEDIUM), 1, id="an-image"),
        pytest.param(Node(audio_resource=MEDIUM), 1, id="a-sound"),
        pytest.param(Node(video_resource=MEDIUM), 1, id="a-film"),
        pytest.param(Node(image_resource=MEDIUM, audio_resource=MEDIUM, video_resource=MEDIUM), 3, id="all-three"),
        pytest.param(Node(text_resource=MediaResource(text="")), 0, id="a-text"),
        pytest.param(ImageDocument(image_resource=MEDIUM), 1, id="an-image-document"),
        pytest.param(TextNode(), 0, id="a-text-node"),
        pytest.param(Picture(), 0, id="a-property"),
    ],
)
def test_i5_media_are_found_in_the_fields_of_a_node(node: BaseNode, carries: int) -> None:
    assert len(attachments_of_node(node)) == carries


@pytest.mark.parametrize(
    ("made", "tokens"),
    [
        pytest.param(lambda _: ImageNode(image=base64_text(png(1024, 1024))), SQUARE, id="base64-of-a-png"),
        pytest.param(
            lambda _: ImageNode(image=base64_text(jpeg(512, 512, before=segment(0xE1, 9_000)))), SMALL, id="a-jpeg"
        ),
        pytest.param(lambda _: Node(image_resource=MediaResource(data=png(512, 512))), SMALL, id="bytes"),
        pytest.param(
            lambda _: Node(image_resource=MediaResource(data=base64_text(png(512, 512)).encode())),
            SMALL,
            id="base64-bytes",
        ),
        pytest.param(lambda f: ImageNode(image_path=in_file(png(512, 512), "a.png")(f)), SMALL, id="a-path"),
        pytest.param(
            lambda f: Node(image_resource=MediaResource(path=in_file(jpeg(512, 512), "a.jpg")(f))),
            SMALL,
            id="path-of-node",
        ),
        pytest.param(
            lambda _: ImageNode(image_url=f"data:image/png;base64,{base64_text(png(512, 512))}"), SMALL, id="a-data-uri"
        ),
        pytest.param(
            lambda _: Node(image_resource=MediaResource(url=f"data:image/png;base64,{base64_text(png(512, 512))}")),
            SMALL,
            id="a-data-uri-of-a-node",
        ),
        pytest.param(lambda _: ImageNode(image_url="https://nowhere.invalid/a.png"), UNKNOWN, id="an-address"),
        pytest.param(lambda _: ImageNode(image_path="/nowhere/a.png"), UNKNOWN, id="no-such-file"),
        pytest.param(lambda _: ImageNode(image_path="a\0.png"), UNKNOWN, id="no-name-of-a-file"),
        pytest.param(lambda _: ImageNode(image="not base64!"), UNKNOWN, id="no-base64"),
        pytest.param(lambda f: ImageNode(image_path=str(f)), UNKNOWN, id="a-folder"),
        pytest.param(
            lambda _: Node(
                image_resource=MediaResource(data=png(512, 512)), audio_resource=MediaResource(data=wav(30))
            ),
            SMALL + 300,
            id="an-image-and-a-sound",
        ),
        pytest.param(lambda _: ImageDocument(image=png(512, 512)), SMALL, id="an-image-document"),
    ],
)
def test_l2_a_medium_costs_what_its_provider_publishes(
    made: Callable[[Path], BaseNode], tokens: int, tmp_path: Path
) -> None:
    assert tokens_of(made(tmp_path)) == tokens


def test_l2_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    assert tokens_of(ImageNode(image_path=str(tmp_path / "a.png"))) == UNKNOWN


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        pytest.param("gpt-4o", SQUARE, id="openai"),
        pytest.param("claude-3-5-sonnet-20241022", CLAUDE, id="anthropic"),
        pytest.param("gemini-2.5-flash", 4 * 258, id="google"),
        pytest.param("my-own-model", UNKNOWN, id="unknown"),
    ],
)
def test_l2_the_model_decides_by_whose_rule_an_image_is_counted(model: str, tokens: int) -> None:
    assert tokens_of(squares(0.5)[0].node, model) == tokens
    message = ChatMessage(role="user", blocks=[ImageBlock(image=png(1024, 1024)), TextBlock(text="")])
    llm = with_optimizer(ScriptedLLM(model_name=model), max_input_tokens=9_000)
    alone = llm.count_tokens([ChatMessage(role="user", blocks=[TextBlock(text="")])])
    assert llm.count_tokens([message]) == alone + tokens


@pytest.mark.parametrize(
    ("block", "cost"),
    [
        pytest.param(ImageBlock(image=png(1024, 1024)), SQUARE, id="an-image"),
        pytest.param(ImageBlock(image=png(1024, 1024), detail="low"), 85, id="in-low-detail"),
        pytest.param(ImageBlock(image=io.BytesIO(png(512, 512))), SMALL, id="an-open-file"),
        pytest.param(ImageBlock(url=f"data:image/png;base64,{base64_text(png(512, 512))}"), SMALL, id="a-data-uri"),
        pytest.param(ImageBlock(url="https://nowhere.invalid/a.png"), UNKNOWN, id="an-address"),
        pytest.param(DocumentBlock(data=pdf(3)), 1_000, id="a-pdf"),
    ],
)
def test_l2_a_block_of_a_message_costs_what_its_provider_publishes(block: Any, cost: int) -> None:
    from ctxopt_core.counting.counter_wrappers import ModelCounter
    from ctxopt_core.providers.rules import rules_for

    counter = ModelCounter(TiktokenCounter(), rules_for("gpt-4o"))
    bare = message_tokens(view_of(ChatMessage(role="user", blocks=[])), counter)
    assert message_tokens(view_of(ChatMessage(role="user", blocks=[block])), counter) == bare + cost


def test_l2_an_open_file_stays_where_it_was() -> None:
    stream = io.BytesIO(png(512, 512))
    stream.seek(7)
    view_of(ChatMessage(role="user", blocks=[ImageBlock(image=stream)]))
    assert stream.tell() == 7


@pytest.mark.parametrize("budget", [SQUARE, 2 * SQUARE, 4 * SQUARE + 100, 9 * SQUARE])
@pytest.mark.parametrize("query", ["", "Which kiln cracked in the frost of March, and who saw it first of all people?"])
def test_l2_whole_images_are_kept_best_first(budget: int, query: str) -> None:
    given = squares(*(0.9 - n / 50 for n in range(12)))
    postprocessor = ContextOptimizerPostprocessor(model="gpt-4o", max_tokens=budget)
    kept = postprocessor.postprocess_nodes(given, query_str=query)
    assert [id(item) for item in kept] == [id(item) for item in given[: budget // SQUARE]]
    report = postprocessor.last_report
    assert report is not None
    assert report.tokens_after == SQUARE * len(kept) <= budget
    assert report.notes == (f"media of the kept nodes have {SQUARE * len(kept):,} tokens",)
    assert report.tokens_before == 12 * SQUARE
    assert [row.reason for row in report.documents[len(kept) :]] == ["budget"] * (12 - len(kept))


@pytest.mark.parametrize(
    "query", ["", "What record did the ferry keep in the year 1907, and what record did it keep before?"]
)
def test_l2_images_and_texts_share_a_budget(query: str) -> None:
    texts = [scored(TextNode(text=report_on("ferry", n, 20), id_=f"text-{n}"), 0.85 - n / 20) for n in range(6)]
    given = [item for pair in zip(squares(*[0.9 - n / 20 for n in range(6)]), texts, strict=True) for item in pair]
    postprocessor = ContextOptimizerPostprocessor(model="gpt-4o", max_tokens=2_500)
    kept = postprocessor.postprocess_nodes(given, query_str=query)
    pictures = [item for item in kept if isinstance(item.node, ImageNode)]
    assert 1 <= len(pictures) <= 3
    assert len(kept) > len(pictures)
    assert text_tokens([i for i in kept if i not in pictures]) + SQUARE * len(pictures) <= 2_500


def test_l2_an_image_with_text_keeps_the_image_and_a_part_of_the_text() -> None:
    node = Node(
        text_resource=MediaResource(text=report_on("ferry", 1, 90)),
        image_resource=MediaResource(data=png(512, 512)),
        id_="n",
    )
    [kept] = ContextOptimizerPostprocessor(model="gpt-4o", max_tokens=400).postprocess_nodes(
        [scored(node)], QueryBundle("ferry")
    )
    assert isinstance(kept.node, Node)
    assert kept.node.image_resource is not None
    assert kept.node.image_resource.data == node.image_resource.data  # type: ignore[union-attr]
    assert 50 < text_tokens([kept]) <= 400 - SMALL


def test_l2_equal_captions_are_no_duplicates() -> None:
    given = [*squares(0.9, 0.8, 0.7, caption="The kiln"), *texts_with_scores(0.6)]
    for item in given[:3]:
        item.node.set_content("The kiln.")
    kept = ContextOptimizerPostprocessor(model="gpt-4o", max_tokens=2 * SQUARE + 60).plan(given)
    assert "duplicate" not in {row.reason for row in kept.documents}


def test_l2_where_no_image_fits_a_text_stays_and_without_one_there_is_an_error() -> None:
    pictures = squares(0.9, 0.8)
    text = scored(TextNode(text=report_on("ferry", 1, 90), id_="text"), 0.5)
    assert ids_of(fitted([*pictures, text], model="gpt-4o", max_tokens=60)) == ["text"]
    with pytest.raises(ContextBudgetError, match="a larger `max_tokens`") as caught:
        fitted(pictures, model="gpt-4o", max_tokens=60)
    assert (caught.value.needed, caught.value.available) == (SQUARE + 1, 60)


def test_l2_the_report_says_which_figures_are_allowances() -> None:
    given = [*squares(0.9), *images(0.8, 0.7)]
    report = ContextOptimizerPostprocessor(model="gpt-4o", max_tokens=9_000).plan(given)
    total = SQUARE + 2 * UNKNOWN
    assert report.notes == (f"media of the kept nodes have {total:,} tokens, which is an allowance for 2 of 3",)


def test_l2_a_retriever_counts_images_too() -> None:
    retriever = ContextOptimizerRetriever(FixedRetriever(squares(0.9, 0.8, 0.7)), model="gpt-4o", max_tokens=2 * SQUARE)
    assert ids_of(retriever.retrieve("What is it?")) == ["image-0", "image-1"]


def test_l2_a_dump_keeps_whether_media_are_sent() -> None:
    postprocessor = ContextOptimizerPostprocessor(max_tokens=100, multimodal=False)
    assert ContextOptimizerPostprocessor.from_dict(postprocessor.to_dict()).multimodal is False
    with pytest.raises(ValueError, match="multimodal"):
        ContextOptimizerPostprocessor(max_tokens=100, multimodal="no")


@pytest.mark.parametrize("budget", [20, 40, 60, 100, 160])
def test_i5_where_text_alone_is_sent_what_images_show_of_their_metadata_is_counted(budget: int) -> None:
    given = [*images(0.5, 0.5, 0.5, 0.5, alt=ALT), *texts_with_scores(0.9, 0.8, 0.7, 0.6)]
    kept = fitted(given, max_tokens=budget, multimodal=False)
    assert 0 < text_tokens(kept) <= budget
    assert len(kept) < len(given)


def test_l2_where_text_alone_is_sent_images_without_text_cost_nothing() -> None:
    pictures = images(None, 0.5)
    assert fitted(pictures, max_tokens=1, multimodal=False) == pictures
    given = [*images(0.1, 0.1), *texts_with_scores(0.9, 0.8)]
    report = ContextOptimizerPostprocessor(max_tokens=text_tokens(given), multimodal=False).plan(given)
    assert report.unchanged
    assert report.notes == ("2 media of the kept nodes are not sent by this engine, and count nothing",)


@pytest.mark.parametrize(
    ("documents", "kept"),
    [
        pytest.param({"max_documents": 2}, ["0", "image-0"], id="the-two-best"),
        pytest.param({"max_documents": 1}, ["image-0"], id="the-best"),
        pytest.param({"min_score": 0.5}, ["0", "image-0"], id="those-that-score"),
    ],
)
def test_d10_limits_apply_to_images_too(documents: Any, kept: list[str]) -> None:
    given = [*images(0.95, 0.1), *texts_with_scores(0.9, 0.2)]
    policy = {"ranking": "score", **documents}
    assert sorted(ids_of(fitted(given, max_tokens=9_999, documents=policy))) == kept


def test_i5_where_only_unsent_images_would_be_left_a_part_of_the_best_text_is_kept() -> None:
    text = scored(TextNode(text=report_on("ferry", 1, 90), id_="text"), 0.9)
    kept = fitted([*images(0.5), text], max_tokens=50, documents={"passages": False}, multimodal=False)
    assert [item.node.node_id for item in kept if text_in(item)] == ["text"]
    assert 40 <= text_tokens(kept) <= 50
