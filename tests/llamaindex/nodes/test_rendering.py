"""Nodes count as what the prompt will hold of them, whatever their class, and are copied only when they are cut."""

from __future__ import annotations

import math
from typing import Any

import pytest
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from ctxopt_core.documents.rendering import DocumentRendering
from llamaindex_ctxopt.nodes.rendering import NodeRendering, node_views, with_text
from node_inputs import CLASSES, image_node, is_cut_of, joined, node_of, scored_nodes, text_in

SHORT = "In year 1907 the orchard kept record 31."


def scored(node: BaseNode, score: float | None = 0.5) -> NodeWithScore:
    return NodeWithScore(node=node, score=score)


@pytest.mark.parametrize("kind", CLASSES)
def test_i5_a_node_of_any_class_has_a_view(kind: str) -> None:
    item = scored(node_of(kind, 1))
    [view] = node_views([item])
    assert (view.text, view.id, view.score, view.source) == (text_in(item), "n1", 0.5, "shelf-orchard")


@pytest.mark.parametrize("kind", CLASSES)
def test_i5_the_identical_object_comes_back_when_the_text_is_its_own(kind: str) -> None:
    item = scored(node_of(kind))
    assert with_text(item, text_in(item)) is item


@pytest.mark.parametrize("kind", CLASSES)
def test_i5_a_shortened_node_is_a_copy_with_everything_else_as_it_was(kind: str) -> None:
    item = scored(node_of(kind, 1))
    before = repr(vars(item.node))
    cut = with_text(item, SHORT)
    assert text_in(cut) == SHORT
    assert is_cut_of(cut, item)
    cut.node.metadata["topic"] = "changed"
    cut.node.relationships.clear()
    assert repr(vars(item.node)) == before


def test_i5_a_media_resource_keeps_all_but_its_text() -> None:
    resource = MediaResource(text=SHORT * 3, mimetype="text/markdown", url="https://nowhere.invalid/a.md", path="a.md")
    image = MediaResource(url="https://nowhere.invalid/a.png")
    for kind in (Node, Document):
        node = with_text(scored(kind(text_resource=resource, image_resource=image)), SHORT).node
        assert node.text_resource == resource.model_copy(update={"text": SHORT})
        assert node.image_resource is image
    assert resource.text == SHORT * 3


@pytest.mark.parametrize("score", [None, math.nan, 0.0, -2.0])
def test_i5_12497_11587_a_score_stays_what_it_is_when_a_node_is_cut(score: float | None) -> None:
    cut = with_text(scored(node_of("TextNode"), score), SHORT)
    assert repr(cut.score) == repr(score)


@pytest.mark.parametrize("text", [None, SHORT], ids=["whole", "cut"])
@pytest.mark.parametrize("kind", CLASSES)
def test_d5_what_is_rendered_is_what_the_prompt_helper_packs(kind: str, text: str | None) -> None:
    items = [scored(node_of(kind, number)) for number in range(3)]
    rendering: DocumentRendering = NodeRendering(nodes=items)
    texts = [text or text_in(item) for item in items]
    mine = rendering.separator.join(map(rendering.render, range(3), texts))
    chunks = [with_text(item, new).get_content(MetadataMode.LLM) for item, new in zip(items, texts, strict=True)]
    helper = PromptHelper(context_window=4_000, num_output=10, tokenizer=list)
    assert helper.repack(PromptTemplate("{context_str}"), chunks) == [mine]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        pytest.param({}, "a b", id="no-metadata"),
        pytest.param({"metadata": {"k": 1}}, "k: 1\n\na b", id="metadata"),
        pytest.param({"metadata": {"k": 1}, "excluded_llm_metadata_keys": ["k"]}, "a b", id="excluded-for-the-llm"),
        pytest.param({"metadata": {"k": 1}, "excluded_embed_metadata_keys": ["k"]}, "k: 1\n\na b", id="for-embedding"),
        pytest.param({"metadata": {"k": "{x}"}}, "k: {x}\n\na b", id="braces-in-a-value"),
        pytest.param(
            {"metadata": {"k": 1, "l": 2}, "metadata_template": "<{key}={value}>", "metadata_separator": ""},
            "<k=1><l=2>\n\na b",
            id="a-template-of-metadata",
        ),
        pytest.param(
            {"metadata": {"k": 1}, "text_template": "{content} ({metadata_str})"}, "a b (k: 1)", id="a-template"
        ),
    ],
)
def test_d5_9474_13792_12200_7980_17373_only_what_the_llm_sees_is_rendered(fields: dict[str, Any], shown: str) -> None:
    """Metadata that is kept from the LLM costs nothing, however long, and what embeddings see plays no part."""
    for node in (TextNode(text="a b", **fields), Document(text="a b", **fields)):
        assert NodeRendering(nodes=[scored(node)]).render(0, "a b") == shown


def test_d5_white_space_at_the_ends_is_not_rendered() -> None:
    assert NodeRendering(nodes=[scored(TextNode(text="\n a b  \n"))]).render(0, "\n a b  \n") == "a b"


def test_i5_a_whole_node_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[MetadataMode] = []
    content = TextNode.get_content
    monkeypatch.setattr(
        TextNode, "get_content", lambda self, metadata_mode: calls.append(metadata_mode) or content(self, metadata_mode)
    )
    rendering = NodeRendering(nodes=[scored(TextNode(text="a"))])
    assert [rendering.render(0, "a") for _ in range(5)] == ["a"] * 5
    assert calls == [MetadataMode.NONE, MetadataMode.LLM]


@pytest.mark.parametrize(
    "template",
    [
        pytest.param('{"text": "{content}"}', id="json"),
        pytest.param("{content} {}", id="a-place-without-a-name"),
        pytest.param("{content} }", id="a-lonely-brace"),
        pytest.param("{contents}", id="a-name-that-is-none"),
    ],
)
def test_i5_a_template_that_cannot_be_formatted_is_an_error_that_names_the_node(template: str) -> None:
    item = scored(TextNode(text="a", id_="n7", metadata={"k": 1}, text_template=template))
    with pytest.raises(ValueError, match=r"node 'n7' cannot be rendered.*`text_template`.*write other braces twice"):
        NodeRendering(nodes=[item]).render(0, "a")


@pytest.mark.parametrize(
    ("relationships", "source"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d")}, "d", id="one"),
        pytest.param({NodeRelationship.SOURCE: [RelatedNodeInfo(node_id="d")]}, None, id="a-list"),
        pytest.param({NodeRelationship.PARENT: RelatedNodeInfo(node_id="d")}, None, id="a-parent"),
    ],
)
def test_d7_neighbors_are_known_by_their_source(relationships: dict[Any, Any], source: str | None) -> None:
    assert node_views([scored(TextNode(text="a", relationships=relationships))])[0].source == source


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        pytest.param(
            [TextNode(text="a")], "item 0 of the nodes must be a NodeWithScore, got TextNode; wrap", id="bare"
        ),
        pytest.param(["a"], "item 0 of the nodes must be a NodeWithScore, got str", id="a-text-in-a-list"),
        pytest.param("a", "`nodes` must be a list of NodeWithScore, got str", id="a-text"),
        pytest.param(None, "`nodes` must be a list of NodeWithScore, got NoneType", id="none"),
        pytest.param(
            [NodeWithScore.model_construct(node=TextNode(text="a", id_="n7"), score="HIGH")],
            "`score` of document 'n7' must be a number or None",
            id="a-score-in-words",
        ),
    ],
)
def test_d1_other_kinds_of_input_are_a_type_error(nodes: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        node_views(nodes)


def test_i5_an_image_is_never_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        pytest.fail("an image was loaded")

    monkeypatch.setattr(ImageNode, "resolve_image", refuse)
    items = [scored(image_node(metadata={"alt": "a pier"})), scored(image_node(1)), *scored_nodes()]
    rendering = NodeRendering(nodes=items)
    shown = [rendering.render(index, view.text or "") for index, view in enumerate(node_views(items))]
    assert shown[:2] == ["alt: a pier", ""]
    assert "\n\n".join(filter(None, shown)) == joined(items)
