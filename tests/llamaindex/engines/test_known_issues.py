"""Reported failures of LlamaIndex applications whose request was too large: what was reported, the stock parts, ours.

A number is an issue or pull request of run-llama/llama_index, unless another repository is named.
"""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import LLM, ChatMessage, MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import NodeWithScore, TextNode

from chat_engine_runs import Engine, ScriptedRetriever, conversation, nodes_of, preset_history
from engine_parts import Kind
from llamaindex_ctxopt import EngineOptimizer, with_optimizer
from made_up_texts import text_of
from node_inputs import FixedRetriever, joined
from scripted_llms import ScriptedLLM

CONTEXT, CONDENSE = "context", "condense_plus_context"
NOT_NON_NEGATIVE = "Calculated available context size .* was not non-negative"
QUERY = "When did the ferry keep its record?"
TEN = nodes_of(*[300] * 10)
ours = pytest.mark.parametrize("kind", ["ours", "ours, attached"])


@ours
def test_issue_16235_a_conversation_that_is_longer_than_the_window_from_the_start(kind: Kind) -> None:
    with conversation("Memory", CONDENSE, preset_history(60), skip_condense=True) as stock:
        assert "was not non-negative" in str(stock.ask().error)
    turn = conversation(kind, CONDENSE, preset_history(60), skip_condense=True).ask()
    assert (turn.error, len(turn.calls), turn.over, turn.nodes_whole) == (None, 1, 0, 5)


class CountedMock(MockLLM):
    """The model that LlamaIndex takes for `llm=None`: window 3,900, and it says what it was sent."""

    sent: list[str] = Field(default_factory=list)

    def chat(self, messages: Any, **kwargs: Any) -> Any:
        self.sent.append("\n".join(message.content or "" for message in messages))
        return super().chat(messages, **kwargs)

    def complete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        self.sent.append(prompt)
        return super().complete(prompt, *args, **kwargs)


def enormous_nodes() -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=f"Volume {number} says: " + "The harbour was calm. " * 2_000), score=0.9)
        for number in range(20)
    ]


@pytest.mark.parametrize("attach", [False, True], ids=["alone", "attached"])
def test_issue_11839_twenty_chunks_of_ten_thousand_tokens_and_no_model(attach: bool) -> None:
    llm = CountedMock(max_tokens=256)
    optimizer = EngineOptimizer(llm=llm)
    engine = ContextChatEngine.from_defaults(
        retriever=FixedRetriever(enormous_nodes()),
        llm=llm,
        memory=optimizer.memory(),
        node_postprocessors=[optimizer.postprocessor()],
    )
    if attach:
        optimizer.attach(engine)
    for number in range(3):
        engine.chat(f"What is in the volumes, {number}?")
        assert "Volume 0 says:" in llm.sent[-1]
    assert len(llm.sent) == 3


def engine_of(llm: LLM, optimizer: EngineOptimizer | None, engine: Engine | None = None) -> Any:
    """Return a query engine, or a chat engine, with the parts of an optimizer or without any."""
    postprocessors = [optimizer.postprocessor()] if optimizer else []
    if engine is None:
        retriever = FixedRetriever(TEN)
        made: Any = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=postprocessors)
        return optimizer.attach(made) if optimizer else made
    kind = {CONTEXT: ContextChatEngine, CONDENSE: CondensePlusContextChatEngine}[engine]
    memory = optimizer.memory() if optimizer else ChatMemoryBuffer.from_defaults(token_limit=3_000)
    made = kind.from_defaults(
        retriever=ScriptedRetriever(TEN), llm=llm, memory=memory, node_postprocessors=postprocessors
    )
    return optimizer.attach(made) if optimizer else made


def ask(engine: Any) -> str:
    return str(engine.query(QUERY) if isinstance(engine, RetrieverQueryEngine) else engine.chat(QUERY))


WRONG_LIMITS = [
    pytest.param({"num_output": 4_000}, {}, id="14722-10470 answer as long as the window"),
    pytest.param(
        {"context_window": 256, "real_window": 4_000}, {"context_window": 4_000}, id="PR19787 window of answers"
    ),
    pytest.param(
        {"context_window": 512, "real_window": 4_000}, {"context_window": 4_000}, id="MetaGPT-1372 window of an unknown"
    ),
]


@pytest.mark.parametrize("engine", [None, CONTEXT, CONDENSE])
@pytest.mark.parametrize(("limits", "settings"), WRONG_LIMITS)
def test_issues_limits_that_leave_nothing_for_the_question(limits: Any, settings: Any, engine: Engine | None) -> None:
    """A guarded model tells LlamaIndex limits that it can work with: those of the settings, half of it for answers."""
    real = {"real_window": 4_000, "real_output": 256}
    stock = ScriptedLLM(**{**real, **limits})
    with pytest.raises(ValueError, match=f"{NOT_NON_NEGATIVE}|Chunk size"):
        ask(engine_of(stock, None, engine))
    double = ScriptedLLM(**{**real, **limits})
    optimizer = EngineOptimizer(llm=double, **settings)
    guarded = optimizer.guard()
    made = engine_of(guarded, optimizer, engine)
    assert "Answer" in ask(made)
    assert (len(double.calls), double.over) == (1, [])
    assert "Document 0:" in double.calls[0].text


class NewerThanItsIntegration(ScriptedLLM):
    """A model whose integration has no entry for its name in its table of windows."""

    @property
    def metadata(self) -> Any:
        message = f"Unknown model {self.model_name!r}. Please provide a valid OpenAI model name"
        raise ValueError(message)


def test_issue_metagpt_1372_a_model_that_its_integration_does_not_know_is_known_by_its_name() -> None:
    """LlamaIndex itself refuses to call such a model; what fits it is known all the same."""
    llm = with_optimizer(NewerThanItsIntegration(model_name="gpt-4"))
    chat = [*preset_history(80), ChatMessage(role="user", content=QUERY)]
    assert (llm.within_budget(chat), llm.within_budget(chat[30:])) == (False, True)
    assert EngineOptimizer("gpt-4").budget.context_window == 8_192


@pytest.mark.parametrize("engine", [None, CONTEXT, CONDENSE])
def test_pr_13139_a_server_whose_window_is_smaller_than_the_framework_believes(engine: Engine | None) -> None:
    """Ollama serves 2,048 tokens unless told otherwise, and cuts what is more without a word."""
    stock = ScriptedLLM(context_window=3_900, real_window=2_048)
    # An error of the model that is a ValueError becomes a warning and no answer.
    assert ask(engine_of(stock, None, engine)) == "Empty Response"
    assert len(stock.over) == 1
    double = ScriptedLLM(context_window=3_900, real_window=2_048)
    optimizer = EngineOptimizer(llm=double, context_window=2_048)
    assert "Answer" in ask(engine_of(double, optimizer, engine))
    assert (len(double.calls), double.over) == (1, [])


@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE])
@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([1_900, 1_900], id="10540 two nodes that all but fit"),
        pytest.param([9_000], id="23155 a chunk larger than the window"),
    ],
)
def test_issues_10540_23155_what_would_be_refined_is_one_call(sizes: list[int], mode: ResponseMode) -> None:
    nodes = nodes_of(*sizes)
    alone, double = ScriptedLLM(), ScriptedLLM()
    RetrieverQueryEngine.from_args(FixedRetriever(nodes), llm=alone, response_mode=mode).query(QUERY)
    optimizer = EngineOptimizer(llm=double)
    engine = RetrieverQueryEngine.from_args(
        FixedRetriever(nodes), llm=double, response_mode=mode, node_postprocessors=[optimizer.postprocessor()]
    )
    response = optimizer.attach(engine).query(QUERY)
    assert len(alone.calls) > len(double.calls) == 1
    assert double.over == []
    assert joined(response.source_nodes) in double.calls[0].text
    assert len(response.source_nodes) == len(nodes)


@ours
def test_issue_16098_a_question_about_everything_finds_more_than_the_window_holds(kind: Kind) -> None:
    retriever = ScriptedRetriever(nodes_of(*[500] * 40))
    talk = conversation(kind, CONDENSE, preset_history(20), retriever=retriever)
    for turn in talk.hold(3):
        assert (turn.error, turn.over, len(turn.calls)) == (None, 0, 2)
        assert turn.turns_visible >= 4


def history_with_arguments() -> list[ChatMessage]:
    """Return a history whose messages carry what an application stores beside them."""
    history = preset_history(20)
    for number, message in enumerate(history):
        message.additional_kwargs = {"trace": text_of(f"Trace {number}:", 200)}
    return history


def test_issue_16125_what_is_stored_beside_messages_is_printed_when_they_are_condensed() -> None:
    with conversation("Memory", CONDENSE, history_with_arguments()) as stock:
        assert "maximum context length" in str(stock.ask().error)
    for engine in ("ours", "ours, attached"):
        talk = conversation(engine, CONDENSE, history_with_arguments())
        for turn in talk.hold(3):
            assert (turn.error, turn.over, len(turn.calls)) == (None, 0, 2)


def test_issue_16125_what_is_left_out_to_condense_a_history_is_reported_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    llm = ScriptedLLM()
    optimizer = EngineOptimizer(llm=llm)
    memory = optimizer.memory()
    history = [
        ChatMessage(content=f"Message {i}.", additional_kwargs={"trace": text_of("Trace:", 300)}) for i in range(40)
    ]
    memory.set(history)
    with caplog.at_level("DEBUG", "ctxopt_core"):
        kept = memory.get(input="And the ferry?")
    report = optimizer.last_report
    assert report is not None
    left_out = 40 - sum(message.content in {given.content for given in history} for message in kept)
    assert left_out >= 20
    assert f"{left_out} messages do not fit into the prompt that condenses the history" in report.notes
    assert [record.ctxopt["record"] for record in caplog.records] == ["context_budget", "prompt_budget"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_issue_12214_what_a_streamed_answer_was_asked_with_is_known(stream: bool) -> None:
    """LlamaIndex's handler counts nothing for streams; the report of the request does not depend on the answer."""
    llm = with_optimizer(ScriptedLLM())
    talk = conversation("ours, attached", CONTEXT, preset_history(60), llm=llm)
    turn = talk.ask(stream=stream)
    report: Any = llm.last_report
    assert report.tokens_after == pytest.approx(turn.calls[0].tokens, abs=3)
