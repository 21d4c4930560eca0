"""A session is one conversation; an optimizer refuses a second memory, whose parts could not be told apart."""

from __future__ import annotations

import asyncio
import gc
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Barrier
from typing import Any

import pytest
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import NodeWithScore

from chat_engine_runs import FIVE, ScriptedRetriever, nodes_of, preset_history
from ctxopt_core import ContextBudgetError, CtxoptError
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer, EnginePartsError
from llamaindex_ctxopt.models import model_settings
from llamaindex_ctxopt.storage.message_list_memory import MessageListMemory
from made_up_texts import text_of
from scripted_llms import ScriptedLLM
from several_users import users_in, word_of

QUESTION = "Which lantern is broken?"


def said_by(user: int) -> list[ChatMessage]:
    """Return a turn; that of each user ends with the same word."""
    return [ChatMessage(content=f"The secret of {word_of(user)}."), ChatMessage(role="assistant", content="Done.")]


def read(messages: list[ChatMessage]) -> set[str]:
    return users_in(" ".join(message.content or "" for message in messages))


@pytest.mark.parametrize("documents_part", ["postprocessor", "retriever", None])
@pytest.mark.parametrize("first", ["memory", "documents"])
@pytest.mark.parametrize("collected", [False, True])
def test_l1_a_second_memory_is_an_error_that_names_the_session(
    documents_part: str | None, first: str, collected: bool
) -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    makers: dict[str | None, Callable[[], object]] = {
        "postprocessor": optimizer.postprocessor,
        "retriever": lambda: optimizer.retriever(ScriptedRetriever(FIVE)),
        None: lambda: None,
    }
    parts = [optimizer.memory] if first == "memory" else []
    held: list[object] = [make() for make in (*parts, makers[documents_part])]
    if first == "documents":
        held.append(optimizer.memory())
    if collected:
        held.clear()
        gc.collect()
    for inner in (None, MessageListMemory(), ChatMemoryBuffer.from_defaults(token_limit=900)):
        with pytest.raises(EnginePartsError, match=r"`optimizer\.session\(memory\)`") as raised:
            optimizer.memory(inner)
        assert isinstance(raised.value, CtxoptError | ValueError)


def test_l1_threads_that_ask_for_a_memory_at_once_get_one() -> None:
    for _ in range(20):
        optimizer, start = EngineOptimizer(context_window=4_000), Barrier(4)

        def claim(_: int, optimizer: EngineOptimizer = optimizer, start: Barrier = start) -> bool:
            start.wait()
            try:
                optimizer.memory()
            except EnginePartsError:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(claim, range(4))) == 1


def test_l1_the_same_messages_are_the_same_conversation() -> None:
    optimizer, inner = EngineOptimizer(llm=ScriptedLLM()), MessageListMemory()
    memory = optimizer.memory(inner)
    assert optimizer.memory(inner) is memory
    assert optimizer.memory(memory) is memory
    again = optimizer.session(memory).memory
    assert again is not memory
    assert again.inner is inner
    again.put(ChatMessage(content="Stored once."))
    assert [message.content for message in memory.get_all()] == ["Stored once."]


@pytest.mark.parametrize("given", ["a key", 3, [], {"role": "user"}, MessageListMemory])
def test_l1_a_memory_that_is_none_is_refused(given: Any) -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    for make in (optimizer.session, optimizer.memory):
        with pytest.raises(TypeError, match="the memory must be a memory of LlamaIndex or None, got"):
            make(given)
    assert optimizer.memory().get_all() == []


def test_l1_the_memory_that_a_postprocessor_needs_is_not_collected() -> None:
    """With a memory that is gone the documents would take the room of the history, or of another one's."""
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    alone = optimizer.postprocessor().postprocess_nodes(nodes_of(*[300] * 30), query_str=QUESTION)
    for parts in (optimizer, optimizer.session()):
        memory = parts.memory() if callable(parts.memory) else parts.memory
        memory.set(preset_history(60))
        postprocessor = parts.postprocessor()
        beside = postprocessor.postprocess_nodes(nodes_of(*[300] * 30), query_str=QUESTION)
        del memory, parts
        gc.collect()
        assert postprocessor.postprocess_nodes(nodes_of(*[300] * 30), query_str=QUESTION) == beside
        assert sum(map(length, beside)) < 0.8 * sum(map(length, alone))


def length(item: NodeWithScore) -> int:
    return len(item.node.get_content())


ORDERS = pytest.mark.parametrize("first", [0, 1], ids=["first user first", "second user first"])


@ORDERS
@pytest.mark.parametrize("question", [QUESTION, ""])
def test_l1_the_reported_case_with_sessions(first: int, question: str) -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    sessions = [optimizer.session(), optimizer.session()]
    for user, session in enumerate(sessions):
        session.memory.set(said_by(user))
    for user in (first, 1 - first):
        sessions[user].postprocessor().postprocess_nodes(list(FIVE), query_str=question)
    for user in (0, 1):
        assert read(sessions[user].memory.get(question)) == {word_of(user)}
    kept = sessions[0]
    del sessions, session
    gc.collect()
    kept.postprocessor().postprocess_nodes(list(FIVE), query_str="R?")
    assert read(kept.memory.get("R?")) == {word_of(0)}


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
async def test_l1_overlapping_turns_of_one_optimizer_with_a_memory_for_each_request(kind: Any) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)

    async def request(user: int) -> None:
        session = optimizer.session()
        session.memory.set(said_by(user))
        engine = kind.from_defaults(
            ScriptedRetriever(FIVE), llm=llm, memory=session.memory, node_postprocessors=[session.postprocessor()]
        )
        await session.attach(engine).achat(QUESTION)
        assert session.last_report is not None
        assert session.last_report.within_budget

    await asyncio.gather(*map(request, range(6)))
    words = [users_in(call.text) for call in llm.calls]
    assert sorted(map(len, words)) == [1] * len(words)
    assert set.union(*words) == {word_of(user) for user in range(6)}


def test_l1_a_turn_that_is_open_belongs_to_its_messages_and_not_to_the_last_of_them() -> None:
    """One memory that is set anew between the two halves of a turn: question and last message are the same."""
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    inner = MessageListMemory()
    memory = optimizer.memory(inner)
    memory.set(said_by(0))
    optimizer.postprocessor().postprocess_nodes(list(FIVE), query_str=QUESTION)
    inner.set(said_by(1))  # past the memory, which would have closed the turn
    assert read(memory.get(QUESTION)) == {word_of(1)}


def test_l1_a_context_that_is_copied_with_an_open_turn_gives_it_to_its_own_session_alone() -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    sessions = [optimizer.session() for _ in range(3)]
    for user, session in enumerate(sessions):
        session.memory.set(said_by(user))
        session.memory.get(QUESTION)  # left open: the engine failed
        session.postprocessor().postprocess_nodes(list(FIVE), query_str=QUESTION)  # and again
    for user, session in enumerate(sessions):
        assert read(copy_context().run(session.memory.get, QUESTION)) == {word_of(user)}
        packed = copy_context().run(session.postprocessor().postprocess_nodes, list(FIVE), None, QUESTION)
        assert packed == list(FIVE)


def test_l1_an_engine_that_failed_between_documents_and_history_leaves_nothing_to_another_user() -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    first, second = optimizer.session(), optimizer.session()
    first.memory.set(said_by(0))
    second.memory.set(said_by(1))
    first.postprocessor().postprocess_nodes(list(FIVE), query_str=QUESTION)
    with pytest.raises(ContextBudgetError):
        first.memory.get(text_of("Far too long:", 4_000))
    assert read(second.memory.get(QUESTION)) == {word_of(1)}


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_l1_a_turn_that_an_engine_left_open_is_not_the_next_one(kind: Any) -> None:
    llm = ScriptedLLM()
    session = EngineOptimizer(llm=llm).session()
    session.memory.set(preset_history(60))
    engine = kind.from_defaults(
        ScriptedRetriever(nodes_of(*[300] * 20)),
        llm=llm,
        memory=session.memory,
        node_postprocessors=[session.postprocessor()],
    )
    session.attach(engine)
    session.memory.get("Short?")  # the engine failed before it had any documents
    question = text_of("A question with many words:", 700)
    engine.chat(question)
    answering = [call for call in llm.calls if "complete" not in call.method]
    assert len(answering) == 1
    assert not answering[0].over
    assert question in answering[0].text


def test_l1_a_handed_out_history_is_changed_by_its_own_session_alone() -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    first, second = optimizer.session(), optimizer.session()
    for user, session in enumerate((first, second)):
        session.memory.set([*said_by(user), *preset_history(60)])
    held = first.memory.get(QUESTION)
    before = list(held)
    second.postprocessor().postprocess_nodes(nodes_of(100), query_str=QUESTION)
    assert held == before
    first.postprocessor().postprocess_nodes(nodes_of(100), query_str=QUESTION)
    assert len(held) > len(before)
    assert read(held) <= {word_of(0)}


@pytest.mark.parametrize("stored", ["dict", "pickle"])
def test_l1_a_stored_memory_goes_on_in_a_session_of_any_optimizer(stored: str) -> None:
    session = EngineOptimizer(llm=ScriptedLLM()).session()
    session.memory.set(said_by(3))
    if stored == "dict":
        loaded: Any = ContextOptimizerMemory.from_dict(session.memory.to_dict())
    else:
        loaded = pickle.loads(pickle.dumps(session.memory))  # noqa: S301
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    others = optimizer.session()
    others.memory.set(said_by(4))
    again = optimizer.session(loaded)
    again.postprocessor().postprocess_nodes(list(FIVE), query_str=QUESTION)
    others.postprocessor().postprocess_nodes(list(FIVE), query_str=QUESTION)
    assert read(again.memory.get(QUESTION)) == {word_of(3)}
    assert read(session.memory.get_all()) == {word_of(3)}


def test_l1_two_engines_of_one_conversation_share_its_memory() -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    one = optimizer.session()
    other = optimizer.session(one.memory)
    for session, kind in ((one, ContextChatEngine), (other, CondensePlusContextChatEngine)):
        engine = kind.from_defaults(
            ScriptedRetriever(FIVE), llm=llm, memory=session.memory, node_postprocessors=[session.postprocessor()]
        )
        session.attach(engine).chat(f"Who is {word_of(1)}?")
    assert len(one.memory.get_all()) == 4
    assert all(users_in(call.text) == {word_of(1)} for call in llm.calls)
    assert llm.over == []


def test_l1_a_session_looks_up_no_model_and_reads_no_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = EngineOptimizer(llm=ScriptedLLM(), system_prompt="Be brief.")
    monkeypatch.setattr(model_settings, "settings_of", None)
    monkeypatch.setattr("llamaindex_ctxopt.engines.engine_plan.default_prompts", None)
    sessions = [optimizer.session() for _ in range(50)]
    assert len({id(session.memory) for session in sessions}) == 50
    assert all(session.budget is optimizer.budget for session in sessions)


def test_l1_reports_belong_to_their_session() -> None:
    seen: list[int] = []
    optimizer = EngineOptimizer(llm=ScriptedLLM(), on_report=lambda report: seen.append(report.history.messages))
    sessions = [optimizer.session() for _ in range(2)]
    for number, session in enumerate(sessions):
        session.memory.set(preset_history(2 * number + 2))
        session.memory.get(QUESTION)
    assert [session.last_report and session.last_report.history.messages for session in sessions] == [2, 4]
    assert optimizer.last_report is None
    assert seen == [2, 4]
