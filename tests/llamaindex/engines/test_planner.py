"""Documents and history of one engine share a budget, whichever is asked for first, and whatever comes between."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode

from chat_engine_runs import FIVE, ScriptedRetriever, nodes_of, preset_history
from ctxopt_core import ContextBudgetError
from llamaindex_ctxopt import EngineOptimizer
from llamaindex_ctxopt.memory import ContextOptimizerMemory
from llamaindex_requests import sent_tokens
from made_up_texts import text_of
from scripted_llms import ScriptedLLM

QUESTION = "Which lantern is broken?"
Parts = tuple[list[NodeWithScore], list[ChatMessage]]


class Engine:
    """What an engine has of an optimizer, and the two orders in which engines ask for it."""

    def __init__(self, history: Sequence[ChatMessage] = (), *, attached: bool = False, **settings: Any) -> None:
        llm = ScriptedLLM()
        self.optimizer = EngineOptimizer(llm=llm, **settings)
        self.memory: ContextOptimizerMemory = self.optimizer.memory()
        self.postprocessor = self.optimizer.postprocessor()
        self.memory.set(list(history))
        if attached:
            self.optimizer.attach(ContextChatEngine.from_defaults(ScriptedRetriever(FIVE), llm=llm, memory=self.memory))

    def documents_first(self, nodes: Sequence[NodeWithScore] = FIVE, question: str = QUESTION) -> Parts:
        packed = self.postprocessor.postprocess_nodes(list(nodes), query_str=question)
        return packed, self.memory.get(input=question)

    def history_first(
        self, nodes: Sequence[NodeWithScore] = FIVE, question: str = QUESTION, condensed: str = QUESTION
    ) -> Parts:
        history = self.memory.get(input=question)
        return self.postprocessor.postprocess_nodes(list(nodes), query_str=condensed), history

    async def adocuments_first(self, nodes: Sequence[NodeWithScore] = FIVE) -> Parts:
        packed = await self.postprocessor.apostprocess_nodes(list(nodes), query_str=QUESTION)
        return packed, await self.memory.aget(input=QUESTION)

    async def ahistory_first(self, nodes: Sequence[NodeWithScore] = FIVE) -> Parts:
        history = await self.memory.aget(input=QUESTION)
        return await self.postprocessor.apostprocess_nodes(list(nodes), query_str=QUESTION), history

    def fits(self, parts: Parts, question: str = QUESTION) -> bool:
        return self.optimizer.fits_one_call(parts[0], question, parts[1])


def tokens_of(nodes: Sequence[NodeWithScore]) -> int:
    return sum(sent_tokens([ChatMessage(content=node.node.get_content())]) for node in nodes)


def joint(history: Sequence[ChatMessage], nodes: Sequence[NodeWithScore] = FIVE) -> Parts:
    return Engine(history).documents_first(nodes)


SIZES = pytest.mark.parametrize(
    ("messages", "sizes"),
    [
        pytest.param(60, (300,) * 5, id="long history"),
        pytest.param(60, (100,), id="long history, few documents"),
        pytest.param(60, (1_500, 1_500, 1_500), id="both long"),
        pytest.param(4, (900, 900, 900, 900), id="short history, many documents"),
        pytest.param(60, (40,) * 60, id="small documents"),
        pytest.param(60, (), id="no documents"),
        pytest.param(0, (900, 900, 900, 900), id="no history"),
        pytest.param(2, (300,), id="all fits"),
    ],
)


@SIZES
@pytest.mark.parametrize("attached", [False, True], ids=["usual prompts", "attached"])
async def test_i7_i10_both_orders_give_the_same_in_one_call(
    messages: int, sizes: tuple[int, ...], attached: bool
) -> None:
    history, nodes = preset_history(messages), nodes_of(*sizes)
    first = Engine(history, attached=attached).documents_first(nodes)
    assert Engine(history, attached=attached).fits(first)
    other = Engine(history, attached=attached).history_first(nodes)
    if nodes:
        assert other == first
    else:
        assert len(other[1]) <= len(first[1])
    assert await Engine(history, attached=attached).adocuments_first(nodes) == first
    assert await Engine(history, attached=attached).ahistory_first(nodes) == other


def test_i7_documents_and_history_borrow_from_each_other() -> None:
    long, few = preset_history(60), nodes_of(100)
    many = nodes_of(*[900] * 4)
    _, beside_many = joint(long, many)
    _, beside_few = joint(long, few)
    packed_alone, _ = joint((), many)
    packed_beside, _ = joint(long, many)
    usable = 4_000 - 256 - 500
    assert 0.15 * usable < sent_tokens(beside_many) < 0.35 * usable
    assert sent_tokens(beside_few) > 0.75 * usable
    assert 0.5 * usable < tokens_of(packed_beside) < tokens_of(packed_alone)
    assert tokens_of(packed_alone) > 0.85 * usable


def test_i5_i6_whole_nodes_are_the_identical_objects_and_messages_are_copies() -> None:
    engine = Engine(preset_history(60))
    packed, history = engine.documents_first()
    assert all(kept is given for kept, given in zip(packed, FIVE, strict=True))
    stored = {id(message) for message in engine.memory.get_all()}
    assert not stored & {id(message) for message in history}
    assert len(engine.memory.get_all()) == 60


def test_i7_the_list_that_was_handed_out_becomes_the_joint_result() -> None:
    engine = Engine(preset_history(60))
    held = engine.memory.get(input=QUESTION)
    before = list(held)
    few = engine.postprocessor.postprocess_nodes(nodes_of(100), query_str=QUESTION)
    assert (few, list(held)) == joint(preset_history(60), nodes_of(100))
    assert len(held) > len(before)
    held.append(ChatMessage(content="The engine's own."))
    assert len(engine.memory.get_all()) == 60


def test_i7_room_is_kept_for_as_many_documents_as_the_last_time_within_their_share() -> None:
    lengths = []
    for sizes in ((100,), (300,) * 5, (900,) * 9):
        engine = Engine(preset_history(60))
        engine.history_first(nodes_of(*sizes))
        lengths.append(sent_tokens(engine.memory.get(input="Another one?")))
    assert lengths[0] > lengths[1] + 800 > lengths[2] + 800
    assert sent_tokens(Engine(preset_history(60)).memory.get(input="Another one?")) == pytest.approx(
        lengths[2], abs=220
    )


def copied_list(history: list[ChatMessage]) -> list[ChatMessage]:
    return list(history)


def with_prefix(history: list[ChatMessage]) -> list[ChatMessage]:
    return [*history]


@pytest.mark.parametrize("copy", [copied_list, with_prefix])
@pytest.mark.parametrize("sizes", [(100,), (300,) * 5, (1_500,) * 3])
def test_i7_documents_are_fitted_beside_a_history_of_which_the_engine_made_another_list(
    copy: Callable[[list[ChatMessage]], list[ChatMessage]], sizes: tuple[int, ...]
) -> None:
    engine, nodes = Engine(preset_history(60)), nodes_of(*sizes)
    history = copy(engine.memory.get(input=QUESTION))
    before = list(history)
    gc.collect()
    packed = engine.postprocessor.postprocess_nodes(nodes, query_str="Is the broken lantern lit?")
    assert history == before
    assert engine.fits((packed, history))
    assert tokens_of(packed) >= min(tokens_of(nodes), 0.45 * 3_244)


@pytest.mark.parametrize("order", [Engine.documents_first, Engine.history_first])
def test_i7_the_same_question_twice_gives_the_same_and_a_message_between_is_seen(order: Callable[..., Parts]) -> None:
    engine = Engine(preset_history(60))
    first = order(engine)
    assert order(engine) == first
    engine.memory.put(ChatMessage(content=QUESTION))
    engine.memory.put(ChatMessage(role="assistant", content=text_of("It is the seventh.", 100)))
    packed, history = order(engine)
    assert [message.content for message in history[-2:]] == [m.content for m in engine.memory.get_all()[-2:]]
    assert engine.fits((packed, history))


def test_i7_a_message_that_is_put_between_documents_and_history_is_in_the_history() -> None:
    engine = Engine(preset_history(60))
    packed = engine.postprocessor.postprocess_nodes(list(FIVE), query_str=QUESTION)
    engine.memory.put(ChatMessage(role="assistant", content="Put in between."))
    history = engine.memory.get(input=QUESTION)
    assert history[-1].content == "Put in between."
    assert engine.fits((packed, history))


@pytest.mark.parametrize("order", [Engine.documents_first, Engine.history_first])
def test_i7_an_engine_that_failed_leaves_nothing_behind(order: Callable[..., Parts]) -> None:
    engine = Engine(preset_history(60))
    with pytest.raises(ContextBudgetError):
        order(engine, question=text_of("Far too long:", 4_000))
    engine.memory.get(input="A question whose documents never came.")
    assert order(engine) == joint(preset_history(60))


def test_i7_a_question_that_the_memory_ends_with_is_the_one_of_the_documents() -> None:
    engine = Engine([*preset_history(60), ChatMessage(content=QUESTION)])
    parts = engine.documents_first()
    assert engine.fits(parts)


def test_i7_a_condensed_question_ranks_the_documents_and_the_users_own_is_counted() -> None:
    needle = "The seventh lantern of Quillmere was broken by hail in 1907."
    long = f"{text_of('Log:', 3_000)} {needle} {text_of('More of the log:', 3_000)}"
    nodes, question = [NodeWithScore(node=TextNode(text=long), score=1.0)], text_of("And that one?", 200)
    engine = Engine(preset_history(60))
    parts = engine.history_first(nodes, question, condensed="When was the seventh lantern of Quillmere broken?")
    assert needle in parts[0][0].node.get_content()
    assert engine.fits(parts, question)
    assert not engine.fits((parts[0], preset_history(60)), question)


def test_i7_optimizers_inside_one_another_keep_their_turns_apart() -> None:
    outer, inner = Engine(preset_history(60)), Engine(preset_history(20))
    outer.history_first(nodes_of(100))
    held = outer.memory.get(input=QUESTION)
    assert inner.documents_first() == joint(preset_history(20))
    packed = outer.postprocessor.postprocess_nodes(nodes_of(*[1_500] * 3), query_str="Condensed.")
    assert outer.fits((packed, held))
    first = outer.postprocessor.postprocess_nodes(list(FIVE), query_str=QUESTION)
    inner.history_first()
    assert (first, outer.memory.get(input=QUESTION)) == joint(preset_history(60))


def test_i7_another_thread_does_not_see_an_open_turn_and_what_it_gets_fits_too() -> None:
    engine = Engine(preset_history(60))
    held = engine.memory.get(input=QUESTION)
    before = list(held)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(engine.documents_first).result() == joint(preset_history(60))
        assert list(held) == before
        packed = engine.postprocessor.postprocess_nodes(list(FIVE), query_str=QUESTION)
        assert (packed, list(held)) == joint(preset_history(60))
        elsewhere = pool.submit(engine.memory.get, input=QUESTION).result()
    assert engine.fits((packed, elsewhere))


async def test_i7_tasks_do_not_see_each_others_turns() -> None:
    engine, start = Engine(preset_history(60)), asyncio.Event()

    async def ask(number: int) -> bool:
        question = f"Question {number}?"
        nodes = nodes_of(*[200 * (number + 1)] * 5)
        await start.wait()
        history = await engine.memory.aget(input=question)
        await asyncio.sleep(0)
        packed = await engine.postprocessor.apostprocess_nodes(nodes, query_str=f"Condensed {number}")
        return engine.fits((packed, history), question)

    tasks = [asyncio.create_task(ask(number)) for number in range(8)]
    start.set()
    assert all(await asyncio.gather(*tasks))


def test_i7_without_a_memory_the_documents_may_take_all() -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    nodes = nodes_of(*[300] * 30)
    packed = optimizer.postprocessor().postprocess_nodes(nodes, query_str=QUESTION)
    assert tokens_of(packed) > 0.85 * 3_244
    assert optimizer.fits_one_call(packed, QUESTION)
    memory = optimizer.memory()
    assert optimizer.postprocessor().postprocess_nodes(nodes, query_str=QUESTION) == packed
    memory.set(preset_history(60))
    beside = optimizer.postprocessor().postprocess_nodes(nodes, query_str=QUESTION)
    assert tokens_of(beside) < tokens_of(packed)
    del memory
    gc.collect()
    assert optimizer.postprocessor().postprocess_nodes(nodes, query_str=QUESTION) == beside


def test_i7_without_a_postprocessor_the_documents_share_stays_free() -> None:
    engine = Engine(preset_history(60))
    for number in range(3):
        history = engine.memory.get(input=f"Question {number}?")
        assert engine.fits((nodes_of(1_500), history), f"Question {number}?")
        assert not engine.fits((nodes_of(2_600), history), f"Question {number}?")
