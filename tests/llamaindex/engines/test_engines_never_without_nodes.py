"""An optimizer keeps something of the nodes whatever its settings say: without any LlamaIndex asks no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from chat_engine_runs import nodes_of, preset_history
from ctxopt_core import ContextBudgetError, FitReport, Shares
from llamaindex_ctxopt import EngineOptimizer
from llamaindex_ctxopt.settings import FitSettingValues
from made_up_texts import text_of
from node_inputs import FixedRetriever
from scripted_llms import ScriptedLLM

QUERY = "When did the ferry keep its record?"
LINES = text_of("Log of the ferry:", 6_000).replace(". ", ".\n")
LABELED = [
    NodeWithScore(node=TextNode(text=LINES, metadata={"file": "ferries.pdf", "section": "Boats, chapter 3"}), score=0.5)
]
NO_DOCUMENTS = Shares(system=10, query=15, documents=0, history=75)

Made = Callable[[EngineOptimizer, ScriptedLLM, Sequence[NodeWithScore]], Any]


def citing(optimizer: EngineOptimizer, llm: ScriptedLLM, nodes: Sequence[NodeWithScore]) -> Any:
    return CitationQueryEngine.from_args(
        None,  # type: ignore[arg-type]
        llm=llm,
        retriever=FixedRetriever(nodes),
        node_postprocessors=[optimizer.postprocessor()],
        citation_chunk_size=60,
        citation_chunk_overlap=10,
    )


def answering(mode: str) -> Made:
    def made(optimizer: EngineOptimizer, llm: ScriptedLLM, nodes: Sequence[NodeWithScore]) -> Any:
        return RetrieverQueryEngine.from_args(
            FixedRetriever(nodes), llm=llm, response_mode=mode, node_postprocessors=[optimizer.postprocessor()]
        )

    return made


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(citing, id="citations"),
        pytest.param(answering("compact"), id="compact"),
        pytest.param(answering("simple_summarize"), id="simple_summarize"),
        pytest.param(answering("tree_summarize"), id="tree_summarize"),
    ],
)
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"documents": {"min_score": 0.9}}, id="below min_score"),
        pytest.param({"shares": NO_DOCUMENTS}, id="share of nothing"),
        pytest.param({"shares": Shares(system=33.5, query=Fraction(1, 3), documents=0, history=Decimal(60))}, id="odd"),
    ],
)
def test_i5_the_best_node_stays_in_part_as_its_engine_renders_it(made: Made, settings: FitSettingValues) -> None:
    llm, reports = ScriptedLLM(), list[FitReport]()
    optimizer = EngineOptimizer(llm=llm, on_report=reports.append, **settings)
    response = optimizer.attach(made(optimizer, llm, LABELED)).query(QUERY)
    assert (len(llm.calls), llm.over) == (1, [])
    assert len(response.source_nodes) >= 1
    assert llm.calls[0].tokens > 2_500
    (report,) = reports
    assert [row.state for row in report.documents] == ["partial"]
    assert report.within_budget
    assert llm.calls[0].tokens <= report.tokens_after <= llm.calls[0].tokens + 50
    assert any("the policy keeps no node" in note for note in report.notes)


@pytest.mark.parametrize("messages", [0, 60])
@pytest.mark.parametrize(
    ("nodes", "states"),
    [
        pytest.param(nodes_of(900, 900, 900, 900, 900), {"kept", "partial", "dropped"}, id="texts"),
        pytest.param(
            [
                NodeWithScore(node=TextNode(text=" ", metadata={"log": text_of("Log:", 5_000)})),
                NodeWithScore(node=TextNode(text=" ", metadata={"file": "ferries.pdf"})),
            ],
            {"dropped", "kept"},
            id="blank",
        ),
    ],
)
def test_i5_i7_what_is_kept_beside_a_share_of_nothing_is_in_the_report(
    nodes: list[NodeWithScore], states: set[str], messages: int
) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm, shares=NO_DOCUMENTS)
    memory = optimizer.memory()
    memory.set(preset_history(messages))
    engine = ContextChatEngine.from_defaults(
        FixedRetriever(nodes), llm=llm, memory=memory, node_postprocessors=[optimizer.postprocessor()]
    )
    response = optimizer.attach(engine).chat(QUERY)
    report = optimizer.last_report
    assert report is not None
    assert (len(llm.calls), llm.over) == (1, [])
    assert {row.state for row in report.documents} <= states
    assert sum(row.state != "dropped" for row in report.documents) == len(response.source_nodes) >= 1
    assert report.within_budget
    assert llm.calls[0].tokens <= report.tokens_after <= llm.calls[0].tokens + 50


def test_i5_without_room_for_a_word_of_any_node_there_is_an_error() -> None:
    heavy = NodeWithScore(node=TextNode(text="Late.", metadata={"log": text_of("Log:", 5_000)}))
    optimizer = EngineOptimizer(llm=ScriptedLLM())
    with pytest.raises(ContextBudgetError, match="no node fits"):
        optimizer.postprocessor().postprocess_nodes([heavy], query_str=QUERY)
