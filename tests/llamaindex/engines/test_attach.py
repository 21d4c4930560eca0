"""What `attach` holds, and what it refuses: parts of others, a second engine, models with another window."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import (
    LongContextReorder,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
    SimilarityPostprocessor,
)
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.storage.docstore import SimpleDocumentStore

from chat_engine_runs import ScriptedRetriever, nodes_of, preset_history
from llamaindex_ctxopt import EngineOptimizer, EnginePartsError, with_optimizer
from made_up_texts import text_of
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM

QUESTION = "Which lantern is broken?"
MANY = tuple(nodes_of(*[300] * 30))
KINDS = ("context", "condense plus context", "condense question", "simple", "query", "citation")
kinds = pytest.mark.parametrize("kind", KINDS)
ways = pytest.mark.parametrize("way", ["sync", "async"])


def engine_of(kind: str, llm: Any, parts: Any, *, memory: Any = None, nodes: Any = MANY, after: Any = ()) -> Any:
    """Return an engine with the parts of an optimizer or a session, and what is to go after its postprocessor."""
    processors = [parts.postprocessor(), *after]
    if memory is None and kind not in {"query", "citation"}:
        memory = parts.memory() if callable(parts.memory) else parts.memory
    retriever = ScriptedRetriever(nodes)
    if kind == "context":
        return ContextChatEngine.from_defaults(retriever, llm=llm, memory=memory, node_postprocessors=processors)
    if kind == "condense plus context":
        return CondensePlusContextChatEngine.from_defaults(
            retriever, llm=llm, memory=memory, node_postprocessors=processors
        )
    if kind == "simple":
        return SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    if kind == "citation":
        return CitationQueryEngine(
            retriever, llm=llm, response_synthesizer=get_response_synthesizer(llm=llm), node_postprocessors=processors
        )
    inner = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=processors)
    if kind == "query":
        return inner
    return CondenseQuestionChatEngine.from_defaults(query_engine=inner, llm=llm, memory=memory)


async def asked(engine: Any, way: str = "sync", **options: Any) -> Any:
    name = "chat" if hasattr(engine, "chat") else "query"
    if way == "async":
        return await getattr(engine, f"a{name}")(QUESTION, **options)
    return getattr(engine, name)(QUESTION, **options)


@kinds
@pytest.mark.parametrize("of", ["optimizer", "session"])
def test_l6_a_second_engine_or_a_second_time_is_an_error_that_changes_nothing(kind: str, of: str) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    parts = optimizer if of == "optimizer" else optimizer.session()
    memory = None if of == "session" or kind in {"query", "citation"} else parts.memory()  # type: ignore[operator]
    engine = engine_of(kind, llm, parts, memory=memory)
    assert parts.attach(engine) is engine
    plan, guarded = parts._planner.plan, getattr(engine, "_llm", None)
    with pytest.raises(EnginePartsError, match=r"`engine` is attached already: .* make a new engine"):
        parts.attach(engine)
    with pytest.raises(EnginePartsError, match=r"has an engine already: .*`optimizer\.session\(memory\)`"):
        parts.attach(engine_of(kind, llm, parts, memory=memory))
    with pytest.raises(EnginePartsError, match="`engine` is attached already"):
        EngineOptimizer(llm=llm).attach(engine)
    assert parts._planner.plan is plan
    assert getattr(engine, "_llm", None) is guarded
    parts._planner.source and parts._planner.source.set(preset_history(20))  # type: ignore[attr-defined]
    engine.chat(QUESTION) if hasattr(engine, "chat") else engine.query(QUESTION)
    assert len(llm.calls) == (2 if "condense" in kind else 1)
    assert llm.over == []


@pytest.mark.parametrize("kind", ["context", "condense plus context", "condense question", "simple"])
@pytest.mark.parametrize("memory", ["of another", "of another session", "stock", "none was made"])
def test_l5_an_engine_with_a_memory_of_others_is_refused_and_left_as_it_was(kind: str, memory: str) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    foreign: Any = {
        "of another": EngineOptimizer(llm=llm).memory,
        "of another session": lambda: optimizer.session().memory,
        "stock": lambda: ChatMemoryBuffer.from_defaults(token_limit=900),
        "none was made": lambda: ChatMemoryBuffer.from_defaults(token_limit=900),
    }[memory]()
    if memory != "none was made":
        optimizer.memory()
    engine, plan = engine_of(kind, llm, optimizer, memory=foreign), optimizer._planner.plan
    with pytest.raises(EnginePartsError, match=r"is not of this optimizer or session.*`memory\(inner\)`"):
        optimizer.attach(engine)
    assert engine._llm is llm
    assert optimizer._planner.plan is plan
    optimizer.session()  # it can still be used


@pytest.mark.parametrize("kind", ["context", "condense plus context", "condense question", "query", "citation"])
@pytest.mark.parametrize("part", ["postprocessor", "retriever"])
def test_l5_an_engine_with_a_postprocessor_of_another_session_is_refused(kind: str, part: str) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    mine, other = optimizer.session(), optimizer.session()
    engine = engine_of(kind, llm, mine)
    inner = getattr(engine, "_query_engine", engine)
    if part == "postprocessor":
        inner._node_postprocessors = [other.postprocessor()]
    else:
        inner._retriever = other.retriever(inner._retriever)
    with pytest.raises(EnginePartsError, match="a postprocessor or retriever of another optimizer or session"):
        mine.attach(engine)


@pytest.mark.parametrize("kind", ["context", "condense plus context", "condense question", "query"])
@pytest.mark.parametrize(
    "part",
    [
        MetadataReplacementPostProcessor(target_metadata_key="window"),
        PrevNextNodePostprocessor(docstore=SimpleDocumentStore()),
    ],
    ids=["MetadataReplacement", "PrevNext"],
)
def test_l5_what_makes_nodes_longer_after_they_were_fitted_is_refused(kind: str, part: Any) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    with pytest.raises(EnginePartsError, match=r"after `postprocessor\(\)`.* put it before"):
        optimizer.attach(engine_of(kind, llm, optimizer, after=[part]))
    session = optimizer.session()
    before = engine_of(kind, llm, session)
    inner = getattr(before, "_query_engine", before)
    inner._node_postprocessors = [part, *inner._node_postprocessors]
    assert session.attach(before) is before
    for harmless in (LongContextReorder(), SimilarityPostprocessor(similarity_cutoff=0.1)):
        session = optimizer.session()
        engine = engine_of(kind, llm, session, after=[harmless])
        assert session.attach(engine) is engine


@kinds
@ways
@pytest.mark.parametrize("model", [ScriptedLLM, ScriptedCompletionLLM, "guarded"])
async def test_l6_the_smaller_of_both_windows_holds(kind: str, way: str, model: Any) -> None:
    """Which of the two is larger, and whether the optimizer has a model or a limit, makes no difference."""
    for of_optimizer, of_engine in ((16_000, 3_900), (3_900, 16_000)):
        for named in (False, True):
            make: Any = ScriptedLLM if model == "guarded" else model
            llm = make(context_window=of_engine, num_output=256)
            given = with_optimizer(llm) if model == "guarded" else llm
            optimizer = (
                EngineOptimizer(context_window=of_optimizer, output_reserve=256)
                if named
                else EngineOptimizer(llm=make(context_window=of_optimizer, num_output=256))
            )
            session = optimizer.session()
            session.memory.set(preset_history(60))
            engine = session.attach(engine_of(kind, given, session))
            response = await asked(engine, way)
            assert max(call.tokens for call in llm.calls) <= 3_900 - 256
            assert len(llm.calls) == (2 if "condense" in kind else 1)
            assert kind == "simple" or not hasattr(response, "source_nodes") or len(response.source_nodes) >= 5
            assert session.budget.input_budget == 3_900 - 256
            assert given.metadata.context_window == of_engine  # the model that was given is as it was


def test_l6_the_models_of_a_condensing_engine_have_windows_of_their_own() -> None:
    condensing, answering = ScriptedLLM(context_window=16_000), ScriptedLLM(context_window=3_000)
    session = EngineOptimizer(llm=condensing).session()
    session.memory.set(preset_history(60))
    inner = RetrieverQueryEngine.from_args(
        ScriptedRetriever(MANY), llm=answering, node_postprocessors=[session.postprocessor()]
    )
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=inner, llm=condensing, memory=session.memory)
    session.attach(engine).chat(QUESTION)
    assert [len(condensing.calls), len(answering.calls)] == [1, 1]
    assert condensing.calls[0].tokens > 5_000
    assert answering.calls[0].tokens > 0.7 * (3_000 - 256)
    assert answering.over == []


MODES = ("compact", "refine", "tree_summarize", "accumulate", "compact_accumulate", "simple_summarize")
HELPERS: dict[str, dict[str, Any]] = {
    "chunk limit": {"chunk_size_limit": 600},
    "small chunk limit": {"chunk_size_limit": 150, "chunk_overlap_ratio": 0.5},
    "window": {"context_window": 2_000, "num_output": 100},
    "window and limit": {"context_window": 2_000, "num_output": 500, "chunk_size_limit": 300},
}
helpers = pytest.mark.parametrize("helper", HELPERS)


@helpers
@ways
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", ["synthesizer", "Settings"])
async def test_l6_the_prompt_helper_of_a_synthesizer_is_read(
    mode: Any, where: str, way: str, helper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = PromptHelper(**HELPERS[helper])
    monkeypatch.setattr(Settings, "_prompt_helper", made if where == "Settings" else None)
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    synthesizer = get_response_synthesizer(
        llm=llm, response_mode=mode, prompt_helper=made if where == "synthesizer" else None
    )
    engine = RetrieverQueryEngine(ScriptedRetriever(MANY), synthesizer, node_postprocessors=[optimizer.postprocessor()])
    response = await asked(optimizer.attach(engine), way)
    assert llm.over == []
    assert response.source_nodes
    if mode in {"refine", "accumulate"}:  # one call for each node is what these modes are
        assert len(llm.calls) == len(response.source_nodes) or "small" in helper
    else:
        assert len(llm.calls) == 1
    report = optimizer.last_report
    assert report is not None
    assert len(report.documents) == 30
    assert sum(row.state != "dropped" for row in report.documents) == len(response.source_nodes)
    assert report.tokens_before > 9_000
    assert report.within_budget


@helpers
@ways
@pytest.mark.parametrize("kind", ["context", "condense plus context"])
@pytest.mark.parametrize("attach", [False, True])
async def test_l6_the_prompt_helper_in_settings_is_read_for_chat_engines(
    kind: str, way: str, helper: str, attach: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "_prompt_helper", PromptHelper(**HELPERS[helper]))
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    session = optimizer.session()
    session.memory.set(preset_history(60))
    engine = engine_of(kind, llm, session)
    if attach:
        session.attach(engine)
    for _ in range(3):
        before = len(llm.calls)
        response = await asked(engine, way)
        assert len(llm.calls) - before == (2 if "condense" in kind else 1)
        assert response.source_nodes
    assert llm.over == []
    if "window" not in helper:
        assert llm.calls[-1].text.count("Earlier") > 8  # what the documents may not use is the history's


@pytest.mark.parametrize("name", ["context_window", "num_output"])
@pytest.mark.parametrize("kind", ["context", "query"])
def test_l6_a_window_that_was_set_in_settings_is_read(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_prompt_helper", None)
    monkeypatch.setattr(Settings, "_llm", None)
    setattr(Settings, name, {"context_window": 2_000, "num_output": 1_500}[name])
    llm = ScriptedLLM()
    session = EngineOptimizer(llm=llm).session()
    session.memory.set(preset_history(60))
    engine = session.attach(engine_of(kind, llm, session))
    engine.chat(QUESTION) if kind == "context" else engine.query(QUESTION)
    assert len(llm.calls) == 1
    assert llm.over == []


@ways
@pytest.mark.parametrize("kind", ["context", "condense plus context", "simple"])
async def test_l5_a_history_that_is_given_with_the_question_is_fitted(kind: str, way: str) -> None:
    llm = ScriptedLLM(context_window=3_900)
    session = EngineOptimizer(llm=llm).session()
    engine = session.attach(engine_of(kind, llm, session))
    history = preset_history(160)
    await asked(engine, way, chat_history=history)
    assert llm.over == []
    assert len(llm.calls) == (2 if "condense" in kind else 1)
    assert (history[-1].content or "?") in llm.calls[-1].text
    assert len(session.memory.get_all()) == 162


def test_l5_nodes_of_an_earlier_turn_that_go_round_the_postprocessor_are_within_the_window() -> None:
    llm = ScriptedLLM()
    session = EngineOptimizer(llm=llm).session()
    session.memory.set(preset_history(60))
    engine = session.attach(engine_of("context", llm, session, nodes=()))
    engine.chat(QUESTION, prev_chunks=list(MANY))
    assert llm.calls
    assert llm.over == []


def test_l5_a_guard_that_cuts_reports_it_and_one_that_does_not_is_silent() -> None:
    reports: list[Any] = []
    llm = ScriptedLLM()
    session = EngineOptimizer(llm=llm, on_report=reports.append).session()
    engine = session.attach(engine_of("condense question", llm, session))
    engine.chat(QUESTION)
    assert len(reports) == 2  # of the history and of the documents
    engine.chat(QUESTION, chat_history=preset_history(160))
    assert len(reports) == 4
    assert not reports[2].unchanged
    assert all(report.within_budget for report in reports)


def test_l5_a_query_engine_that_all_share_may_be_inside() -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    shared = optimizer.attach(engine_of("query", llm, optimizer))
    for number in range(2):
        session = optimizer.session()
        session.memory.set([ChatMessage(content=text_of(f"Said by {number}:", 50))])
        engine = CondenseQuestionChatEngine.from_defaults(query_engine=shared, llm=llm, memory=session.memory)
        session.attach(engine).chat(QUESTION)
    assert llm.over == []
    assert ["Said by 0" in call.text for call in llm.calls] == [True, False, False, False]


@pytest.mark.parametrize("limit", [900, 1_800])
def test_l6_a_guard_of_the_user_stays_and_its_limit_holds(limit: int) -> None:
    llm = ScriptedLLM()
    guarded = with_optimizer(llm, max_input_tokens=limit, protect=())
    session = EngineOptimizer(llm=llm).session()
    engine = engine_of("simple", guarded, session)
    session.memory.set(preset_history(60))
    session.attach(engine).chat(QUESTION)
    assert engine._llm is guarded
    assert session.budget.input_budget == limit
    assert 0.7 * limit < llm.calls[0].tokens <= limit


def test_sessions_get_the_same_guarded_model() -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    engines = []
    for _ in range(3):
        session = optimizer.session()
        engines.append(session.attach(engine_of("context", llm, session)))
    assert len({id(engine._llm) for engine in engines}) == 1
    assert engines[0]._llm is not llm
    assert type(llm) is ScriptedLLM


class CountingLLM(ScriptedLLM):
    """Counts its calls in a field of its own."""

    count: int = 0

    def _answered(self, *arguments: Any) -> ChatMessage:
        self.count += 1
        return super()._answered(*arguments)


@kinds
def test_l5_the_guarded_model_is_the_one_that_was_given(kind: str) -> None:
    """Its clients, counters and callbacks are used as without `attach`, and what is changed in it holds."""
    llm = CountingLLM()
    session = EngineOptimizer(llm=llm).session()
    engine = session.attach(engine_of(kind, llm, session))
    engine.chat(QUESTION) if hasattr(engine, "chat") else engine.query(QUESTION)
    assert llm.count == len(llm.calls) == 1
    llm.answers = [ChatMessage(role="assistant", content="Changed.")] * 9
    assert str(engine.chat(QUESTION) if hasattr(engine, "chat") else engine.query(QUESTION)) == "Changed."
    assert llm.count == len(llm.calls)
    assert type(llm) is CountingLLM
