"""Engines that send the images of nodes: what the model is sent is counted by a rule of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import AudioBlock, ChatMessage, ImageBlock, TextBlock, VideoBlock
from llama_index.core.chat_engine.multi_modal_condense_plus_context import MultiModalCondensePlusContextChatEngine
from llama_index.core.chat_engine.multi_modal_context import MultiModalContextChatEngine
from llama_index.core.prompts import RichPromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.query_engine.multi_modal import SimpleMultiModalQueryEngine
from llama_index.core.schema import ImageNode, MediaResource, Node, NodeWithScore, TextNode
from pydantic import PrivateAttr

from ctxopt_core import ContextBudgetError
from llamaindex_ctxopt import EngineOptimizer
from made_up_texts import text_of
from media_files import base64_text, png
from node_inputs import FixedRetriever, ids_of
from request_tokens import count_text
from scripted_llms import ScriptedLLM

QUERY = "Which kiln cracked in March?"
SYSTEM = "Answer from the pictures and the notes. " * 5
IMAGE = 765  # tokens of 1,024 x 1,024 pixels in gpt-4o: 85 and four tiles of 170


class SeeingLLM(ScriptedLLM):
    """A model of the family of gpt-4o that counts what it is sent: texts, roles, and 765 for each image."""

    model_name: str = "gpt-4o"
    _sent: list[int] = PrivateAttr(default_factory=list)
    _images: list[int] = PrivateAttr(default_factory=list)

    def _response(self, method: str, messages: Sequence[ChatMessage], options: dict[str, Any]) -> Any:
        blocks = [block for message in messages for block in message.blocks]
        images = sum(isinstance(block, ImageBlock) for block in blocks)
        assert not any(isinstance(block, (AudioBlock, VideoBlock)) for block in blocks)
        texts = sum(count_text(block.text) for block in blocks if isinstance(block, TextBlock))
        self._sent.append(texts + images * IMAGE + 4 * len(messages) + 3)
        self._images.append(images)
        plain = [
            message.model_copy(update={"blocks": [b for b in message.blocks if isinstance(b, TextBlock)]})
            for message in messages
        ]
        return super()._response(method, plain, options)

    @property
    def sent(self) -> list[int]:
        """The tokens of each request."""
        return self._sent

    @property
    def images(self) -> list[int]:
        """The images of each request."""
        return self._images


def picture(number: int, score: float, caption: str = "", **metadata: str) -> NodeWithScore:
    node = ImageNode(
        image=base64_text(png(1024, 1024)), text=caption, id_=f"image-{number}", metadata={"n": str(number), **metadata}
    )
    return NodeWithScore(node=node, score=score)


def page(number: int, score: float, characters: int = 2_000) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text_of(f"Page {number}:", characters), id_=f"page-{number}"), score=score)


def both(number: int, score: float) -> NodeWithScore:
    node = Node(
        text_resource=MediaResource(text=text_of(f"Figure {number}:", 400)),
        image_resource=MediaResource(data=png(1024, 1024)),
        id_=f"both-{number}",
    )
    return NodeWithScore(node=node, score=score)


def pictures(count: int) -> list[NodeWithScore]:
    return [picture(n, 0.9 - n / 50) for n in range(count)]


MIXED = [item for n in range(6) for item in (picture(n, 0.9 - n / 20), page(n, 0.88 - n / 20), both(n, 0.86 - n / 20))]


def context(optimizer: EngineOptimizer, llm: Any, nodes: list[NodeWithScore]) -> Any:
    return MultiModalContextChatEngine.from_defaults(
        FixedRetriever(nodes),
        multi_modal_llm=llm,
        memory=optimizer.memory(),
        system_prompt=SYSTEM,
        node_postprocessors=[optimizer.postprocessor()],
    )


def condensing(optimizer: EngineOptimizer, llm: Any, nodes: list[NodeWithScore]) -> Any:
    return MultiModalCondensePlusContextChatEngine.from_defaults(
        FixedRetriever(nodes),
        multi_modal_llm=llm,
        memory=optimizer.memory(),
        system_prompt=SYSTEM,
        node_postprocessors=[optimizer.postprocessor()],
    )


def querying(**settings: Any) -> Callable[[EngineOptimizer, Any, list[NodeWithScore]], Any]:
    def made(optimizer: EngineOptimizer, llm: Any, nodes: list[NodeWithScore]) -> Any:
        return RetrieverQueryEngine.from_args(
            FixedRetriever(nodes),
            llm=llm,
            multimodal=True,
            node_postprocessors=[optimizer.postprocessor()],
            **settings,
        )

    return made


def simple(optimizer: EngineOptimizer, llm: Any, nodes: list[NodeWithScore]) -> Any:
    with pytest.warns(DeprecationWarning, match="SimpleMultiModalQueryEngine"):
        return SimpleMultiModalQueryEngine(
            FixedRetriever(nodes),  # type: ignore[arg-type]
            multi_modal_llm=llm,
            node_postprocessors=[optimizer.postprocessor()],
        )


def ask(engine: Any) -> Any:
    return engine.chat(QUERY) if hasattr(engine, "chat") else engine.query(QUERY)


TEMPLATE = RichPromptTemplate(
    "{% chat role='user' %}"
    + "Look closely, and say what you see. " * 40
    + "{% for message in context_messages %}{% for block in message.blocks %}"
    "{% if block.block_type == 'text' %}{{ block.text }}"
    "{% elif block.block_type == 'image' %}{{ block.inline_url() | image }}{% endif %}"
    "{% endfor %}{% endfor %} {{ query_str }}{% endchat %}"
)
CHATS = [pytest.param(context, id="context"), pytest.param(condensing, id="condense-plus-context")]
QUERIES = [
    pytest.param(querying(), id="compact"),
    pytest.param(querying(response_mode="tree_summarize"), id="tree_summarize"),
    pytest.param(querying(response_mode="simple_summarize"), id="simple_summarize"),
    pytest.param(querying(chat_content_qa_template=TEMPLATE), id="a-template-of-the-user"),
    pytest.param(simple, id="simple-multimodal"),
]


@pytest.mark.parametrize("made", [*CHATS, *QUERIES])
@pytest.mark.parametrize("nodes", [pytest.param(pictures(12), id="images"), pytest.param(MIXED, id="mixed")])
def test_l2_what_an_engine_sends_with_images_is_within_the_window_and_one_call(
    made: Any, nodes: list[NodeWithScore]
) -> None:
    llm = SeeingLLM(context_window=8_192, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    response = ask(optimizer.attach(made(optimizer, llm, nodes)))
    report = optimizer.last_report
    assert report is not None
    assert len(llm.sent) == 1
    assert llm.sent[0] <= report.tokens_after <= report.input_budget
    assert llm.images[0] >= 1
    kept = ids_of(response.source_nodes)
    assert len(kept) == sum(row.state != "dropped" for row in report.documents) < len(nodes)
    assert any(note.startswith("media of the kept nodes have ") for note in report.notes)
    assert kept[0] == "image-0"


@pytest.mark.parametrize("made", [CHATS[0], QUERIES[0], QUERIES[4]])
def test_l2_as_many_images_are_sent_as_fit_best_first(made: Any) -> None:
    llm = SeeingLLM(context_window=8_192, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    nodes = pictures(12)
    response = ask(optimizer.attach(made(optimizer, llm, nodes)))
    kept = response.source_nodes
    # A synthesizer takes an image for 2,125 tokens, whatever the model, and makes a second call of what is over that.
    fit = 3 if made is QUERIES[0].values[0] else 9
    assert ids_of(kept) == [f"image-{n}" for n in range(len(kept))]
    assert len(kept) >= fit
    assert all(item is nodes[n] for n, item in enumerate(kept))


@pytest.mark.parametrize("made", [*CHATS, *QUERIES[:2]])
def test_l2_images_that_all_fit_stay_as_they_came(made: Any) -> None:
    llm = SeeingLLM(context_window=16_000, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    nodes = [page(0, 0.1, 300), picture(1, 0.5), both(2, 0.9)]
    response = ask(optimizer.attach(made(optimizer, llm, nodes)))
    assert [id(item) for item in response.source_nodes] == list(map(id, nodes))
    assert len(llm.sent) == 1
    assert optimizer.last_report is not None
    assert optimizer.last_report.unchanged


@pytest.mark.parametrize("made", CHATS)
def test_l2_history_and_images_share_the_window_turn_after_turn(made: Any) -> None:
    llm = SeeingLLM(context_window=8_192, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    engine = made(optimizer, llm, pictures(12))
    for n in range(30):
        engine._memory.put(ChatMessage(role="user", content=text_of(f"Question {n}:", 400)))
        engine._memory.put(ChatMessage(role="assistant", content=text_of(f"Answer {n}:", 400)))
    optimizer.attach(engine)
    for _ in range(3):
        before = len(llm.sent)
        engine.chat(QUERY)
        report = optimizer.last_report
        assert report is not None
        assert llm.sent[-1] <= report.tokens_after <= report.input_budget
        assert llm.images[-1] >= 1
        assert len(llm.sent) - before == (1 if made is context else 2)
        assert max(llm.sent) <= 8_192 - 256


@pytest.mark.parametrize("made", [*CHATS, *QUERIES[:1]])
async def test_l2_the_asynchronous_way_sends_the_same(made: Any) -> None:
    sent = []
    for asynchronous in (False, True):
        llm = SeeingLLM(context_window=8_192, num_output=256)
        optimizer = EngineOptimizer(llm=llm)
        engine = optimizer.attach(made(optimizer, llm, MIXED))
        if asynchronous:
            await (engine.achat(QUERY) if hasattr(engine, "achat") else engine.aquery(QUERY))
        else:
            ask(engine)
        sent.append((llm.sent, llm.images))
    assert sent[0] == sent[1]


def test_l2_a_citing_engine_with_images_is_within_the_window() -> None:
    llm = SeeingLLM(context_window=8_192, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    engine = CitationQueryEngine.from_args(
        None,  # type: ignore[arg-type]
        llm=llm,
        retriever=FixedRetriever(MIXED),
        multimodal=True,
        node_postprocessors=[optimizer.postprocessor()],
    )
    optimizer.attach(engine).query(QUERY)
    assert len(llm.sent) == 1
    assert llm.sent[0] <= 8_192 - 256
    assert llm.images[0] >= 1


def test_l2_where_text_alone_is_sent_an_image_node_costs_its_text() -> None:
    llm = SeeingLLM(context_window=4_000, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    nodes = [picture(n, 0.9 - n / 50, caption=text_of(f"Caption {n}:", 200)) for n in range(12)]
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(nodes), llm=llm, node_postprocessors=[optimizer.postprocessor()]
    )
    response = optimizer.attach(engine).query(QUERY)
    assert ids_of(response.source_nodes) == ids_of(nodes)
    assert llm.images == [0]
    assert optimizer.last_report is not None
    assert "12 media of the kept nodes are not sent by this engine, and count nothing" in optimizer.last_report.notes


@pytest.mark.parametrize("made", [*CHATS, *QUERIES[:1]])
def test_l2_where_not_one_image_fits_there_is_an_error(made: Any) -> None:
    llm = SeeingLLM(context_window=1_000, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    engine = optimizer.attach(made(optimizer, llm, pictures(3)))
    with pytest.raises(ContextBudgetError, match="no node fits") as caught:
        ask(engine)
    assert llm.sent == []
    assert caught.value.needed is not None
    assert caught.value.needed > 765


def test_l2_without_attach_images_are_taken_to_be_sent() -> None:
    llm = SeeingLLM(context_window=8_192, num_output=256)
    optimizer = EngineOptimizer(llm=llm)
    kept = optimizer.postprocessor().postprocess_nodes(pictures(12), query_str=QUERY)
    assert 8 <= len(kept) < 12
