"""The hook for LangGraph's prebuilt agent, and counting without fitting."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxopt import ContextOptimizer, RequestOverflowError, pre_model_hook, with_optimizer
from langchain_requests import rendered_tokens, sent_tokens
from scripted_model import PAGE, TOOLS, ScriptedModel, calling, faults

THREAD: Any = {"configurable": {"thread_id": "1"}}
PROMPT = "You keep the log book of the harbour."
CHAT: list[Any] = [
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]
ANSWERS = [calling(("read", {"page": 1}), ("read", {"page": 2})), AIMessage("Forty.")]


def agent_with(model: Any, hook: Any) -> Any:
    from langgraph.prebuilt import create_react_agent

    with pytest.warns(DeprecationWarning, match="create_react_agent"):
        return create_react_agent(model, TOOLS, prompt=PROMPT, pre_model_hook=hook, checkpointer=InMemorySaver())


@pytest.mark.parametrize("prompt", [None, "", "  ", SystemMessage([])], ids=["none", "empty", "blank", "no-parts"])
def test_i3_a_blank_prompt_costs_no_message(prompt: Any) -> None:
    hook = pre_model_hook(prompt=prompt, max_input_tokens=200)
    run = [HumanMessage("Find the lantern."), calling(("read", {"page": 1}))]
    run.append(ToolMessage(PAGE * 10, tool_call_id=run[-1].tool_calls[0]["id"]))
    fitted = hook.invoke({"messages": run})["llm_input_messages"]
    assert [message.type for message in fitted] == ["human", "ai", "tool"]
    assert fitted[0] is run[0]


def test_i3_the_hook_fits_each_call_of_the_prebuilt_agent() -> None:
    model = ScriptedModel(window=1_000, answers=ANSWERS)
    agent = agent_with(model, pre_model_hook(model, tools=TOOLS, prompt=PROMPT))
    agent.invoke({"messages": CHAT}, THREAD)
    assert model.refused == []
    for heard, before in zip(model.heard, (61, 64), strict=True):
        kept = agent.get_state(THREAD).values["messages"][:before]
        assert faults([heard[0], *kept], heard, model.limit, model.bound[0]["tools"]) == []
        assert [message.text for message in heard if isinstance(message, SystemMessage)] == [PROMPT]
    assert len(agent.get_state(THREAD).values["messages"]) == 65


async def test_i3_the_hook_works_in_asynchronous_agents() -> None:
    model = ScriptedModel(window=1_000, answers=ANSWERS)
    agent = agent_with(model, pre_model_hook(model, tools=TOOLS, prompt=SystemMessage(PROMPT)))
    await agent.ainvoke({"messages": CHAT}, THREAD)
    assert (model.refused, len(model.heard)) == ([], 2)


@pytest.mark.parametrize("state", [{"messages": CHAT}, SimpleNamespace(messages=CHAT)], ids=["mapping", "object"])
def test_i3_the_hook_returns_messages_for_the_model_alone(state: Any) -> None:
    update = pre_model_hook(target_tokens=300).invoke(state)
    assert list(update) == ["llm_input_messages"]
    assert sent_tokens(update["llm_input_messages"]) <= 300
    assert update["llm_input_messages"][-1] is CHAT[-1]
    whole = pre_model_hook(target_tokens=100_000).invoke(state)["llm_input_messages"]
    assert whole == CHAT
    assert whole is not CHAT


def test_i3_the_prompt_of_the_prebuilt_agent_is_counted_and_never_cut() -> None:
    room = pre_model_hook(target_tokens=400, prompt=PAGE * 10).invoke({"messages": CHAT})["llm_input_messages"]
    assert sent_tokens([SystemMessage(PAGE * 10), *room]) <= 400
    with pytest.raises(RequestOverflowError):
        pre_model_hook(target_tokens=400, prompt=PAGE * 40).invoke({"messages": CHAT})


def test_i3_a_prompt_that_cannot_be_counted_is_refused() -> None:
    with pytest.raises(TypeError, match="`prompt` must be a string or a SystemMessage, got function"):
        pre_model_hook(target_tokens=400, prompt=lambda state: [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`overflow` must be 'error' when there is a `prompt`"):
        pre_model_hook(target_tokens=400, prompt=PROMPT, overflow="empty")
    with pytest.raises(TypeError, match="pre_model_hook has no setting `window`"):
        pre_model_hook(window=400)  # type: ignore[call-arg]


def test_i11_tokens_are_counted_and_compared_with_the_budget_without_fitting() -> None:
    model = with_optimizer(ScriptedModel(window=700))
    assert model.count_tokens(CHAT) == sent_tokens(CHAT) > 600
    assert not model.within_budget(CHAT)
    assert model.within_budget("Hi")
    assert model.last_report is None
    optimizer = ContextOptimizer(max_input_tokens=600)
    assert optimizer.count_tokens(CHAT) == sent_tokens(CHAT)
    assert (optimizer.within_budget(CHAT), optimizer.within_budget("Hi")) == (False, True)


@pytest.mark.parametrize("difference", [-1, 0, 1])
def test_i11_the_budget_itself_is_within_it(difference: int) -> None:
    optimizer = ContextOptimizer(max_input_tokens=sent_tokens(CHAT) + difference)
    assert optimizer.within_budget(CHAT) is (difference >= 0)
    assert (optimizer.invoke(CHAT) is CHAT) is (difference >= 0)


def test_i11_a_dict_counts_what_its_prompt_renders() -> None:
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Be brief."), MessagesPlaceholder("history"), ("human", "{q}")]
    )
    values = {"history": CHAT[:-1], "q": "How many lanterns are there?"}
    optimizer = ContextOptimizer(max_input_tokens=600, prompt=prompt, query_key="q")
    assert optimizer.count_tokens(values) == rendered_tokens(prompt, values)
    assert not optimizer.within_budget(values)
    with pytest.raises(ValueError, match="pass `prompt=`"):
        ContextOptimizer(max_input_tokens=600).count_tokens(values)


def test_i11_a_copy_has_other_settings_and_a_call_may_force_its_own() -> None:
    model = with_optimizer(ScriptedModel(window=700))
    smaller = model.with_changes(target_tokens=200, history={"keep_first_user_message": False})
    smaller.invoke(CHAT)
    assert (smaller.last_report.input_budget, model.last_report) == (200, None)
    with pytest.raises(TypeError, match="no setting `window`"):
        model.with_changes(window=7)  # type: ignore[call-arg]
    optimizer = ContextOptimizer(max_input_tokens=600)
    forced = optimizer.fit(CHAT, history={"keep_first_user_message": False}, target_tokens=300)
    assert forced.report.input_budget == 300
    assert forced.value[0] is not CHAT[0]
    assert optimizer.fit(CHAT).value[0] is CHAT[0]
    assert optimizer.fit(CHAT).report.input_budget == 600
