"""A turn that is still open when the next one begins takes nothing from it, though the question is the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.chat_engine.multi_modal_condense_plus_context import MultiModalCondensePlusContextChatEngine
from llama_index.core.llms import ChatMessage

from chat_engine_runs import FIVE, ScriptedRetriever, nodes_of, preset_history
from llamaindex_ctxopt import EngineOptimizer
from scripted_llms import ScriptedLLM

QUESTION = "Which lantern is broken?"


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("before", ["documents", "documents and history"])
@pytest.mark.parametrize("kind", [CondensePlusContextChatEngine, MultiModalCondensePlusContextChatEngine])
def test_l1_documents_that_were_fitted_for_the_same_question_are_not_those_of_an_engine_that_condenses(
    kind: Any, before: str, held: bool
) -> None:
    llm = ScriptedLLM()
    session = EngineOptimizer(llm=llm).session()
    session.memory.set(preset_history(60))
    models = {"multi_modal_llm" if kind is MultiModalCondensePlusContextChatEngine else "llm": llm}
    engine = kind.from_defaults(
        ScriptedRetriever(nodes_of(*[300] * 20)),
        memory=session.memory,
        node_postprocessors=[session.postprocessor()],
        **models,
    )
    session.attach(engine)
    session.postprocessor().postprocess_nodes(nodes_of(40, 40), query_str=QUESTION)  # shown to the user, say
    shown = session.memory.get(QUESTION) if before == "documents and history" else []
    if not held:
        del shown
    engine.chat(QUESTION)
    assert [call.method for call in llm.calls] == ["complete", "chat"]
    assert not any(call.over for call in llm.calls)


def test_l1_an_answer_that_another_thread_stores_is_not_lost_to_the_same_question() -> None:
    """Engines that stream store the answer in a thread, which cannot close the turn of the one that asked."""
    session = EngineOptimizer(llm=ScriptedLLM()).session()
    session.memory.set(preset_history(2))
    session.postprocessor().postprocess_nodes(list(FIVE), query_str="Go on.")
    first = session.memory.get("Go on.")
    assert session.memory.get("Go on.") == first
    with ThreadPoolExecutor(1) as pool:
        pool.submit(session.memory.put_messages, [ChatMessage(content="Go on."), *preset_history(2)[1:]]).result()
    assert session.memory.get("Go on.") == session.memory.get_all()


def test_l1_documents_that_are_not_found_close_an_earlier_turn_with_the_same_question() -> None:
    session = EngineOptimizer(llm=ScriptedLLM()).session()
    session.memory.set(preset_history(60))
    alone = session.memory.get(QUESTION)
    session.postprocessor().postprocess_nodes(nodes_of(*[300] * 20), query_str=QUESTION)
    session.postprocessor().postprocess_nodes(nodes_of(40), query_str=QUESTION)  # the engine failed after these
    assert session.postprocessor().postprocess_nodes([], query_str=QUESTION) == []
    found = session.memory.get(QUESTION)
    assert len(found) > len(alone)
