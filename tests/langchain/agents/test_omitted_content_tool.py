"""An agent reads what was left out of a tool result with a tool of its own, from the messages of its own run."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from ctxopt_core import HistoryPolicy, TiktokenCounter
from ctxopt_core.shortening.omission_notes import notes_in, stored_results
from langchain_ctxopt import ContextOptimizerMiddleware, omitted_content_tool
from langchain_ctxopt.message_views import view_of
from scripted_model import ScriptedModel, calling

O200K = TiktokenCounter("o200k_base")
THREAD: Any = {"configurable": {"thread_id": "1"}}
LOG = "\n".join(f"{hour:04d} the keeper noted {hour * 37 % 1_000} gulls" for hour in range(1_500))


@tool
def read_log() -> str:
    """Read the log book."""
    return LOG


class ReadingModel(ScriptedModel):
    """Calls a tool; then, given an excerpt, reads on where its note says; then answers."""

    def _answer(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        answer = super()._answer(messages, options)
        found = [note for message in messages if isinstance(message, ToolMessage) for note in notes_in(message.text)]
        if not found or len(self.heard) > 2:
            return answer
        note = found[0][0]
        args = {"reference": note.reference, "start_line": note.start_line, "max_lines": 5}
        return calling(("read_omitted_content", args), start=10)


def agent_of(*earlier: BaseMessage, **options: Any) -> tuple[ReadingModel, Any]:
    model = ReadingModel(window=1_500, answers=[calling(("read_log", {})), AIMessage("Done."), AIMessage("Done.")])
    tools = [read_log, omitted_content_tool(**options)]
    agent = create_agent(
        model,
        tools,
        system_prompt="You keep the log book.",
        middleware=[ContextOptimizerMiddleware(history=HistoryPolicy(recoverable_tool_results=True))],
        checkpointer=InMemorySaver(),
    )
    if earlier:
        agent.update_state(THREAD, {"messages": list(earlier)})
    return model, agent


def check(model: ReadingModel, messages: list[BaseMessage]) -> None:
    """The model saw an excerpt, read the first lines that it lacked, and the state holds everything."""
    [log, read] = [message for message in messages if isinstance(message, ToolMessage)]
    assert (log.text, log.name) == (LOG, "read_log")
    [excerpt] = [message for message in model.heard[1] if isinstance(message, ToolMessage)]
    [(note, start, _)] = notes_in(excerpt.text)
    first = excerpt.text[:start].count("\n") + 1
    assert note.start_line == first + 1
    heading, *lines = read.text.split("\n")
    assert heading == f"[lines {first + 1} to {first + 5} of 1500; go on with start_line {first + 6}]"
    assert lines == LOG.split("\n")[first : first + 5]
    assert model.heard[2][-1].text == read.text
    assert not model.refused


@pytest.mark.parametrize(
    "earlier",
    [
        pytest.param([], id="a new run"),
        pytest.param(
            [SystemMessage("Be brief."), HumanMessage("Hello."), AIMessage("Hello.")], id="system in the state"
        ),
        pytest.param([HumanMessage(f"Question {i}? " * 40) for i in range(20)], id="after messages that are dropped"),
    ],
)
async def test_h24_the_agent_reads_the_omitted_lines_word_for_word(earlier: list[BaseMessage]) -> None:
    model, agent = agent_of(*earlier)
    agent.invoke({"messages": [HumanMessage("How many gulls?")]}, THREAD)
    check(model, agent.get_state(THREAD).values["messages"])
    model, agent = agent_of(*earlier)
    await agent.ainvoke({"messages": [HumanMessage("How many gulls?")]}, THREAD)
    check(model, (await agent.aget_state(THREAD)).values["messages"])


def test_h24_the_model_sees_neither_the_state_nor_a_default_that_it_may_exceed() -> None:
    schema = omitted_content_tool(max_lines=50).tool_call_schema.model_json_schema()
    assert list(schema["properties"]) == ["reference", "start_line", "max_lines"]
    assert schema["required"] == ["reference"]
    assert [schema["properties"][name].get("default") for name in ("start_line", "max_lines")] == [1, 50]
    assert "additionalProperties" not in schema


MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("How many gulls?"),
    AIMessage("", tool_calls=[{"name": "read_log", "args": {}, "id": "c1"}]),
    ToolMessage(LOG, tool_call_id="c1"),
    ToolMessage([{"type": "text", "text": "one\ntwo"}, {"type": "text", "text": "three"}], tool_call_id="c2"),
    ToolMessage("", tool_call_id="c3"),
    HumanMessage([{"type": "tool_result", "tool_use_id": "c4", "content": "four"}, {"type": "text", "text": "secret"}]),
]
REFERENCES = [found.reference for message in MESSAGES for found in stored_results(view_of(message))]


def read(reference: Any, **given: Any) -> str:
    options = given.pop("options", {})
    return omitted_content_tool(**options).invoke({"reference": reference, "messages": MESSAGES, **given})


@pytest.mark.parametrize(
    ("reference", "given", "expected"),
    [
        pytest.param(REFERENCES[0], {"start_line": 1_501}, "The result has 1,500 lines;", id="beyond the end"),
        pytest.param(REFERENCES[0], {"start_line": -4, "max_lines": -1}, "[lines 1 to 1 of 1500;", id="below one"),
        pytest.param(f'"{REFERENCES[0]}"', {"max_lines": 2}, "[lines 1 to 2 of 1500;", id="quoted"),
        pytest.param(int(REFERENCES[0]), {"max_lines": 2}, "[lines 1 to 2 of 1500;", id="a number"),
        pytest.param(REFERENCES[1], {}, "[lines 1 to 3 of 3]\none\ntwo\nthree", id="parts"),
        pytest.param(REFERENCES[2], {}, "The result holds no text.", id="no text"),
        pytest.param(REFERENCES[3], {}, "[lines 1 to 1 of 1]\nfour", id="a result inside a message"),
        pytest.param("123", {}, "No tool result of this conversation has the reference '123'.", id="unknown"),
        pytest.param("1", {}, "No tool result", id="the place of a message of a user"),
        pytest.param("", {}, "No tool result", id="empty"),
        pytest.param("c1", {}, "No tool result", id="the id of a call"),
        pytest.param("x" * 9_000, {}, "No tool result", id="very long"),
    ],
)
def test_h24_the_model_gets_a_text_whatever_it_asks_for(reference: Any, given: Any, expected: str) -> None:
    found = read(reference, **given)
    assert found.startswith(expected)
    assert len(found) < 400
    assert "secret" not in found


@pytest.mark.parametrize("most", [100, 333, 2_000])
def test_h24_an_answer_is_bounded_in_lines_and_tokens(most: int) -> None:
    found = read(REFERENCES[0], max_lines=10_000, options={"max_tokens": most})
    assert 0.8 * most < O200K.count(found) <= most
    last = int(found.split()[3])
    assert found.split("\n")[1:] == LOG.split("\n")[:last]
    assert len(read(REFERENCES[0], max_lines=10_000, options={"max_lines": 7}).split("\n")) == 8


def test_h24_a_counter_of_one_s_own_counts() -> None:
    assert len(read(REFERENCES[0], options={"max_tokens": 100, "token_counter": len})) <= 100


@pytest.mark.parametrize(
    "options", [{"max_tokens": 99}, {"max_tokens": True}, {"max_lines": 0}, {"max_lines": 1.5}], ids=str
)
def test_h24_a_bound_that_leaves_nothing_is_refused(options: Any) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` must be a whole number"):
        omitted_content_tool(**options)


def test_h24_the_references_of_a_result_do_not_depend_on_where_it_stands() -> None:
    moved = [*MESSAGES[:1], *MESSAGES[3:]]
    tool_of_run = omitted_content_tool()
    for messages in (MESSAGES, moved, moved[::-1]):
        found = tool_of_run.invoke({"reference": REFERENCES[0], "messages": messages, "max_lines": 1})
        assert found.split("\n")[1] == LOG.split("\n")[0]
