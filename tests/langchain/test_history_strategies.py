"""History strategies behind LangChain's objects: forced for one call, and with a model that summarizes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from pydantic import Field

from ctxopt_core import HistoryPolicy, HistoryView, summarizer
from langchain_ctxopt import ContextOptimizer, ContextOptimizerMiddleware, pre_model_hook, with_optimizer
from langchain_requests import sent_tokens
from scripted_model import ScriptedModel

ANSWER = "They spoke of lanterns and of piers."


def chat(turns: int) -> list[BaseMessage]:
    return [
        message
        for n in range(turns)
        for message in (
            HumanMessage(f"Where does lantern {n} hang, and who lights it?", id=f"q{n}"),
            AIMessage(f"Lantern {n} hangs at pier {n} of the harbour, and the keeper lights it.", id=f"a{n}"),
        )
    ]


ASKED = [*chat(60), HumanMessage("And the weather?", id="query")]


class Summaries(GenericFakeChatModel):
    """A model that answers the same, and counts how often."""

    asked: int = 0
    broken: bool = False
    loops: list[Any] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        self.asked += 1
        if self.broken:
            message = "down"
            raise OSError(message)
        return super()._generate(messages, *args, **options)

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        self.loops.append(asyncio.get_running_loop())
        return self._generate(messages)


def model(**options: Any) -> Summaries:
    return Summaries(messages=iter([AIMessage(ANSWER)] * 50), **options)


def summarizing(source: Any, **options: Any) -> ContextOptimizer:
    history = {"strategy": "summarize", "summarizer": summarizer(source, **options)}
    return ContextOptimizer(max_input_tokens=700, history=history)


def test_i11_a_strategy_can_be_forced_for_one_call():
    optimizer = ContextOptimizer(max_input_tokens=700)
    forced = optimizer.fit(ASKED, history=HistoryPolicy(strategy="sliding_window", max_messages=5))

    assert [message.id for message in forced.value] == ["q58", "a58", "q59", "a59", "query"]
    assert forced.report.strategy == "sliding_window"
    assert optimizer.fit(ASKED).report.strategy == "relevance"


def test_i11_a_task_can_be_forced_for_one_call():
    optimizer = ContextOptimizer(max_input_tokens=700)
    plain = {message.id for message in optimizer.fit(ASKED).value}
    forced = optimizer.fit(ASKED, ranking_query="Where does lantern 17 hang?")

    assert {"q17", "a17"} <= {message.id for message in forced.value}
    assert not {"q17", "a17"} & plain
    assert forced.value[-1].id == "query"


def test_i11_a_forced_task_ranks_the_documents_too():
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    optimizer = ContextOptimizer(prompt=prompt, max_input_tokens=60, documents_as="documents")
    documents = [Document(f"Lantern {n} hangs at pier {n}. " * 3, id=str(n)) for n in range(20)]
    value = {"context": documents, "question": "Tell me."}

    kept = optimizer.fit(value, ranking_query="Where is lantern 13?").value["context"]
    assert kept[0].id == "13"


def test_h16_a_model_summarizes_once_for_several_requests():
    source = model()
    optimizer = summarizing(source)
    for end in range(61, 121, 2):
        fitted = optimizer.fit(ASKED[:end])
        assert sent_tokens(fitted.value) <= 700
    assert 1 <= source.asked <= 10
    assert any(ANSWER in message.text for message in fitted.value)


def test_i10_h16_awaited_the_result_is_the_same():
    plain = summarizing(model()).invoke(ASKED)
    awaited = asyncio.run(summarizing(model()).ainvoke(ASKED))

    assert [message.text for message in awaited] == [message.text for message in plain]


PROMPT = ChatPromptTemplate([("system", "Be brief."), MessagesPlaceholder("chat_history"), ("human", "{question}")])
VALUES = {"chat_history": ASKED[:-1], "question": "And the weather?"}


@pytest.mark.parametrize("before", [True, False], ids=["before the prompt", "after the prompt"])
def test_h16_in_a_chain_the_answering_model_gets_the_summary(before):
    source, answering = model(), ScriptedModel(window=800)
    history = {"strategy": "summarize", "summarizer": summarizer(source)}
    step = ContextOptimizer(prompt=PROMPT if before else None, max_input_tokens=700, history=history)
    chain = step | PROMPT | answering if before else PROMPT | step | answering

    assert chain.invoke(VALUES).text == "Done."
    [heard] = answering.heard
    assert sum(ANSWER in message.text for message in heard) == 1
    assert heard[-1].text == "And the weather?"
    assert (source.asked, source.loops, answering.refused) == (1, [], [])


async def test_h16_i10_in_an_awaited_chain_the_summary_is_awaited_on_the_callers_loop():
    source, answering = model(), ScriptedModel(window=800)
    history = {"strategy": "summarize", "summarizer": summarizer(source)}
    chain = ContextOptimizer(prompt=PROMPT, max_input_tokens=700, history=history) | PROMPT | answering

    assert (await chain.ainvoke(VALUES)).text == "Done."
    assert source.loops == [asyncio.get_running_loop()]
    assert sum(ANSWER in message.text for message in answering.heard[0]) == 1


def test_h16_a_model_that_is_down_is_done_without():
    fitted = summarizing(model(broken=True)).fit(ASKED)

    assert fitted.report.fallback == "turns"
    assert fitted.report.notes == ("the summarizer failed with OSError",)
    assert sent_tokens(fitted.value) <= 700


def test_h16_two_optimizers_share_a_store():
    store: dict[str, str] = {}
    first, second = model(), model()
    once = summarizing(first, store=store, name="fake").invoke(ASKED)
    again = summarizing(second, store=store, name="fake").invoke(ASKED)

    assert (first.asked, second.asked) == (1, 0)
    assert [message.text for message in once] == [message.text for message in again]


def test_h16_a_summarizer_that_is_set_up_wrongly_is_not_taken_for_one_that_is_down():
    async def only_awaited(transcript: str) -> str:
        return transcript

    with pytest.raises(TypeError, match="can only be awaited"):
        summarizing(only_awaited).invoke(ASKED)
    with pytest.raises(ValueError, match="must be more than the instructions have"):
        summarizing(model(), max_input_tokens=10).invoke(ASKED)


def newest(view: HistoryView) -> list[int]:
    return [index for turn in view.turns[-2:] for index in turn]


POLICIES = [
    pytest.param({"strategy": "auto"}, "relevance", id="auto"),
    pytest.param(
        {"strategy": "turns", "placeholder_content": "excerpts", "placeholder_max_percent": 10}, "turns", id="turns"
    ),
    pytest.param({"strategy": "relevance", "recent_percent": 50}, "relevance", id="relevance"),
    pytest.param({"strategy": "sliding_window", "max_messages": 5}, "sliding_window", id="sliding window"),
    pytest.param({"strategy": "summarize"}, "summarize", id="summarize"),
    pytest.param({"strategy": "hybrid", "max_summary_tokens": 50}, "hybrid", id="hybrid"),
    pytest.param({"strategy": newest}, "newest", id="a function"),
    pytest.param({"stable_prefix": True, "recoverable_tool_results": True}, "turns", id="a stable prefix"),
]


def given(policy: dict[str, Any]) -> dict[str, Any]:
    summarizing = policy.get("strategy") in ("summarize", "hybrid")
    return {**policy, "summarizer": summarizer(model())} if summarizing else policy


@pytest.mark.parametrize("as_mapping", [True, False], ids=["mapping", "policy"])
@pytest.mark.parametrize(("policy", "strategy"), POLICIES)
def test_i3_i4_every_way_to_use_it_takes_every_policy(policy, strategy, as_mapping):
    reports: list[Any] = []
    history = given(policy) if as_mapping else HistoryPolicy(**given(policy))
    settings: Any = {"history": history, "on_report": reports.append}
    plain = ScriptedModel(window=700)
    with_optimizer(plain, **settings).invoke(ASKED)
    create_agent(plain, [], middleware=[ContextOptimizerMiddleware(**settings)]).invoke({"messages": ASKED})
    pre_model_hook(plain, **settings).invoke({"messages": ASKED})
    ContextOptimizer(model=plain, **settings).invoke(ASKED)

    assert [report.strategy for report in reports] == [strategy] * 4
    assert all(report.within_budget and not report.unchanged for report in reports)
    assert plain.refused == []
    assert len(plain.heard) == 2


@pytest.mark.parametrize("hidden", [True, False], ids=["with nostream", "without"])
def test_h16_the_tag_nostream_keeps_summaries_out_of_an_agents_stream(hidden):
    source = model().with_config(tags=["nostream"]) if hidden else model()
    history = {"strategy": "summarize", "summarizer": summarizer(source)}
    agent = create_agent(ScriptedModel(window=700), [], middleware=[ContextOptimizerMiddleware(history=history)])
    streamed = [chunk.text for chunk, _ in agent.stream({"messages": ASKED}, stream_mode="messages")]

    assert ("lanterns" in "".join(streamed)) is not hidden
    assert "Done." in "".join(streamed)
