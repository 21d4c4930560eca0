"""Query engines with structured answers, and query engines around other ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import (
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool, ToolMetadata

from chat_engine_runs import nodes_of
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from made_up_texts import text_of
from node_inputs import FixedRetriever, joined
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM, calling

QUERY = "When did the ferry keep its record?"
MANY = nodes_of(*[300] * 20)
GUIDANCE = text_of("What goes into this field.", 120)


class Record(BaseModel):
    """An entry of the log."""

    ferry: str = Field(description=GUIDANCE)
    year: int = Field(description=GUIDANCE)


class LongRecord(BaseModel):
    """An entry with much guidance."""

    ferry: str = Field(description=text_of("Which ferry it is.", 800))


ANSWER = calling(("Record", {"ferry": "Maple", "year": 1907}))
asking = pytest.mark.parametrize("way", ["query", "aquery"])
attaching = pytest.mark.parametrize("attach", [False, True], ids=["alone", "attached"])


async def asked(engine: Any, way: str) -> Any:
    return await engine.aquery(QUERY) if way == "aquery" else engine.query(QUERY)


def inner_engine(llm: Any, **options: Any) -> RetrieverQueryEngine:
    optimizer = EngineOptimizer(llm=llm)
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(MANY), llm=llm, node_postprocessors=[optimizer.postprocessor()], **options
    )
    return optimizer.attach(engine)


@asking
@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE])
async def test_i7_the_schema_of_a_structured_llm_is_counted(mode: ResponseMode, guarded: bool, way: str) -> None:
    double = ScriptedLLM(answers=[ANSWER])
    llm = (with_optimizer(double) if guarded else double).as_structured_llm(Record)
    response = await asked(inner_engine(llm, response_mode=mode), way)
    assert (len(double.calls), double.over) == (1, [])
    assert json.loads(str(response)) == {"ferry": "Maple", "year": 1907}
    assert double.calls[0].schemas
    assert joined(response.source_nodes) in double.calls[0].text
    assert len(response.source_nodes) >= 8


@asking
@pytest.mark.parametrize("model", [ScriptedLLM, ScriptedCompletionLLM], ids=["by a call", "by an instruction"])
@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE, ResponseMode.REFINE])
async def test_i7_the_schema_of_a_structured_answer_is_counted(mode: ResponseMode, model: Any, way: str) -> None:
    """LlamaIndex does not count the schema of `output_cls`."""
    by_call = model is ScriptedLLM
    answer = ANSWER if by_call else ChatMessage(role="assistant", content='{"ferry": "Maple", "year": 1907}')
    llm = model(answers=[answer] * 20)
    response = await asked(inner_engine(llm, response_mode=mode, output_cls=Record), way)
    assert llm.over == []
    assert len(llm.calls) == (len(response.source_nodes) if mode == ResponseMode.REFINE else 1)
    assert all(bool(call.schemas) == by_call and (by_call or GUIDANCE in call.text) for call in llm.calls)
    assert response.response == Record(ferry="Maple", year=1907)


@pytest.mark.parametrize(("tools", "over"), [((), 1), ((LongRecord,), 0)], ids=["not told", "told"])
def test_i7_alone_the_optimizer_is_told_of_the_schema_by_its_tools(tools: Any, over: int) -> None:
    llm = ScriptedLLM(answers=[calling(("LongRecord", {"ferry": "Maple"}))])
    optimizer = EngineOptimizer(llm=llm, tools=tools)
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(MANY),
        llm=llm,
        node_postprocessors=[optimizer.postprocessor()],
        response_mode=ResponseMode.TREE_SUMMARIZE,
        output_cls=LongRecord,
    )
    with pytest.raises(ValueError, match="maximum context length") if over else nullcontext():
        engine.query(QUERY)
    assert (len(llm.calls), len(llm.over)) == (1, over)


class TwoQuestions(BaseQuestionGenerator):
    """Asks each tool one question."""

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        return [
            SubQuestion(sub_question=f"{query.query_str} ({tool.name})", tool_name=tool.get_name()) for tool in tools
        ]

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        return self.generate(tools, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None


class Last(BaseSelector):
    """Selects the last choice."""

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=len(choices) - 1, reason="It is the last.")])

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None


class Louder(BaseQueryTransform):
    """Asks in capital letters."""

    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        return QueryBundle(query_bundle.query_str.upper())

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None


def tools_of(llm: Any) -> list[QueryEngineTool]:
    return [QueryEngineTool.from_defaults(inner_engine(llm), name=name, description=name) for name in ("log", "ledger")]


@asking
@pytest.mark.parametrize("model", [ScriptedLLM, ScriptedCompletionLLM])
async def test_i7_each_sub_question_is_one_call_and_so_is_the_summary(model: Any, way: str) -> None:
    llm = model()
    engine = SubQuestionQueryEngine(
        TwoQuestions(), get_response_synthesizer(llm=llm), tools_of(llm), verbose=False, use_async=False
    )
    response = await asked(engine, way)
    assert (len(llm.calls), llm.over) == (3, [])
    assert "Answer 1:" in llm.calls[2].text
    assert "Answer 2:" in llm.calls[2].text
    assert all(call.tokens > 2_900 for call in llm.calls[:2])
    assert len(response.source_nodes) >= 2 + 2 * 9


@asking
async def test_i7_a_router_asks_the_engine_that_is_selected_once(way: str) -> None:
    llm = ScriptedLLM()
    engine = RouterQueryEngine(Last(), tools_of(llm), llm=llm, summarizer=None)
    response = await asked(engine, way)
    assert (len(llm.calls), llm.over) == (1, [])
    assert joined(response.source_nodes) in llm.calls[0].text


@asking
async def test_i7_a_transformed_question_is_what_is_fitted(way: str) -> None:
    llm = ScriptedLLM()
    response = await asked(TransformQueryEngine(inner_engine(llm), Louder()), way)
    assert (len(llm.calls), llm.over) == (1, [])
    assert QUERY.upper() in llm.calls[0].text
    assert joined(response.source_nodes) in llm.calls[0].text


@pytest.mark.parametrize("kind", [SubQuestionQueryEngine, RouterQueryEngine])
def test_an_engine_around_others_is_not_attached_itself(kind: Any) -> None:
    llm = ScriptedLLM()
    engine: Any = RouterQueryEngine(Last(), tools_of(llm), llm=llm)
    if kind is SubQuestionQueryEngine:
        engine = SubQuestionQueryEngine(TwoQuestions(), get_response_synthesizer(llm=llm), tools_of(llm))
    with pytest.raises(TypeError, match="of an engine around others attach the inner ones"):
        EngineOptimizer(llm=llm).attach(engine)
