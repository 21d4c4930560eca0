"""Calls that a provider answers, calls of OpenAI's Responses API, and answers in a user's message, in LangChain."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from ctxopt_core import ContextBudgetError
from drawn_examples import examples
from langchain_ctxopt import ContextOptimizer
from langchain_ctxopt.message_views import view_of
from shape_rows import SENTENCE

STRATEGIES = ("auto", "turns", "sliding_window", "relevance")
SHOT = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}


def fitted(messages: list[BaseMessage], most: int, strategy: str = "auto", **history: Any) -> list[BaseMessage]:
    optimizer = ContextOptimizer(model="gpt-4o", max_input_tokens=most, history={"strategy": strategy, **history})
    left: list[BaseMessage] = optimizer.invoke(messages)
    assert optimizer.count_tokens(left) <= most
    assert optimizer.invoke(left) == left
    return left


def own(identity: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "look", "input": {"at": 1}, **more}


def calling(*blocks: Any, ids: tuple[str, ...] = ()) -> AIMessage:
    return AIMessage(list(blocks), tool_calls=[{"name": "look", "args": {"at": 1}, "id": name} for name in ids])


def tool(identity: str, text: Any = SENTENCE * 8, **more: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=identity, **more)


def said(text: str = SENTENCE * 3) -> dict[str, Any]:
    return {"type": "text", "text": text}


SERVER_PAIRS = {
    "web_search": ("server_tool_use", "web_search_tool_result", "tool_use_id"),
    "web_fetch": ("server_tool_use", "web_fetch_tool_result", "tool_use_id"),
    "code_execution": ("server_tool_use", "code_execution_tool_result", "tool_use_id"),
    "bash": ("server_tool_use", "bash_code_execution_tool_result", "tool_use_id"),
    "text_editor": ("server_tool_use", "text_editor_code_execution_tool_result", "tool_use_id"),
    "tool_search": ("server_tool_use", "tool_search_tool_result", "tool_use_id"),
    "a tool of tomorrow": ("server_tool_use", "crystal_ball_tool_result", "tool_use_id"),
    "mcp": ("mcp_tool_use", "mcp_tool_result", "tool_use_id"),
    "v1": ("server_tool_call", "server_tool_result", "tool_call_id"),
}


def server(kind: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    call, result, key = SERVER_PAIRS[kind]
    name = f"srvtoolu_{number}"
    found = [
        {"type": "web_search_result", "url": "https://l.example", "title": "Lit", "encrypted_content": "Zm9v" * 60}
    ]
    content = {"output": found} if kind == "v1" else {"content": found}
    return (
        {"type": call, "id": name, "name": "search", "input": {"query": "lanterns"}},
        {"type": result, key: name, **content},
    )


def beside_own_call(kind: str, n: int) -> list[BaseMessage]:
    call, found = server(kind, n)
    return [calling(call, own(f"t{n}"), ids=(f"t{n}",)), tool(f"t{n}"), AIMessage([found, said()])]


def paused(kind: str, n: int) -> list[BaseMessage]:
    call, found = server(kind, n)
    return [AIMessage([said(), call]), AIMessage([found, said()])]


def paused_twice(kind: str, n: int) -> list[BaseMessage]:
    (one, first), (other, second) = server(kind, 2 * n), server(kind, 2 * n + 1)
    return [AIMessage([said(), one]), AIMessage([first, said(), other]), AIMessage([second, said()])]


def code_with_own_calls(kind: str, n: int) -> list[BaseMessage]:
    call, found = server(kind, n)
    by_code = {"caller": {"type": "code_execution_20250825", "tool_id": call["id"]}}
    names = [f"t{n}_{step}" for step in range(3)]
    first, *others = (own(name, **by_code) for name in names)
    rows: list[BaseMessage] = [calling(call, first, ids=(names[0],)), tool(names[0])]
    for name, block in zip(names[1:], others, strict=True):
        rows += [calling(block, ids=(name,)), tool(name)]
    return [*rows, AIMessage([found, said()])]


def in_one_message(kind: str, n: int) -> list[BaseMessage]:
    call, found = server(kind, n)
    return [AIMessage([said(), call, found, said()])]


def results_in_a_user_message(kind: str, n: int) -> list[BaseMessage]:
    call, found = server(kind, n)
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": SENTENCE * 8}
    return [calling(call, own(f"t{n}"), ids=(f"t{n}",)), HumanMessage([result]), AIMessage([found, said()])]


SERVER_EXCHANGES = [
    beside_own_call,
    paused,
    paused_twice,
    code_with_own_calls,
    in_one_message,
    results_in_a_user_message,
]


def ids_in(messages: list[BaseMessage]) -> tuple[Counter[str], Counter[str]]:
    """Return the ids that are called and the ids that are answered, of every block and of every tool's message."""
    called: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for message in messages:
        names = {call["id"] for call in getattr(message, "tool_calls", ())}
        if isinstance(message, ToolMessage):
            answered[message.tool_call_id] += 1
        for part in message.content if isinstance(message.content, list) else ():
            block = part.get("value", part)
            result = next(
                (block[k] for k in ("tool_use_id", "tool_call_id", "approval_request_id") if k in block), None
            )
            kind = block["type"]
            if kind.endswith("_output"):
                result = block["call_id"]
            if result is not None:
                answered[result] += 1
            elif kind in ("mcp_approval_request",) or kind.endswith(("tool_use", "server_tool_call")):
                names.add(block["id"])
            elif "call_id" in block:
                names.add(block["call_id"])
        called.update(names)
    return called, answered


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("exchange", SERVER_EXCHANGES)
@pytest.mark.parametrize("kind", SERVER_PAIRS)
def test_l9_calls_of_the_provider_and_their_results_stay_together(kind: str, exchange: Any, strategy: str) -> None:
    messages: list[BaseMessage] = []
    for n in range(10):
        messages += [HumanMessage(f"{n}: {SENTENCE * 3}"), *exchange(kind, n)]
    messages.append(HumanMessage("And now?"))
    given = copy.deepcopy(messages)
    for most in (700, 900, 1_300, 1_800):
        left = fitted(messages, most, strategy)
        called, answered = ids_in(left)
        assert called == answered
        assert left[-1] is messages[-1]
        assert len(left) < len(messages)
    assert called
    assert messages == given


@pytest.mark.parametrize("exchange", SERVER_EXCHANGES)
def test_l9_an_agent_that_the_provider_searches_for_goes_on(exchange: Any) -> None:
    messages: list[BaseMessage] = [HumanMessage(f"The task. {SENTENCE}")]
    for n in range(12):
        messages += exchange("web_search", n)
        left = fitted(messages, 2_400)
        called, answered = ids_in(left)
        assert called == answered
        assert left[0] is messages[0]
        assert left[-1].id == messages[-1].id
        assert len(left) > 1


@pytest.mark.parametrize("beside", [(), (own("t"),)], ids=["paused", "with a call"])
def test_l9_a_call_that_the_provider_has_not_answered_yet_stays_at_the_end(beside: tuple[dict[str, Any], ...]) -> None:
    call, _ = server("web_search", 1)
    old = [message for n in range(8) for message in (HumanMessage(f"{n} {SENTENCE * 4}"), AIMessage(SENTENCE * 4))]
    tail = [HumanMessage("Look."), calling(call, *beside, ids=tuple(block["id"] for block in beside))]
    tail += [tool(block["id"], SENTENCE) for block in beside]
    left = fitted([*old, *tail], 300)

    assert left[-len(tail) :] == tail


def test_l9_calls_made_by_code_that_still_runs_are_kept_with_it() -> None:
    old = [message for n in range(8) for message in (HumanMessage(f"{n} {SENTENCE * 4}"), AIMessage(SENTENCE * 4))]
    running = [HumanMessage("Look."), *code_with_own_calls("code_execution", 1)[:-1]]
    left = fitted([*old, *running], 900)

    assert [type(message) for message in left[-len(running) :]] == [type(message) for message in running]


@pytest.mark.parametrize("at_end", [False, True])
def test_l9_a_result_without_its_call_and_a_call_without_its_result_go(at_end: bool) -> None:
    (call, _), (_, found) = server("web_search", 1), server("web_search", 2)
    broken = [HumanMessage("One?"), AIMessage([said(), call]), HumanMessage("Two?"), AIMessage([found, said()])]
    rest = [message for n in range(8) for message in (HumanMessage(f"{n} {SENTENCE * 4}"), AIMessage(SENTENCE * 4))]
    messages = [*rest, *broken] if at_end else [*broken, *rest]
    left = fitted([*messages, HumanMessage("And now?")], 400)

    assert ids_in(left) == (Counter(), Counter())


RESPONSES_PAIRS: dict[str, Any] = {
    "computer": ("computer_call", {"action": {"type": "click", "x": 1}}, [SHOT], "computer_call_output"),
    "computer by address": ("computer_call", {"action": {"type": "wait"}}, SHOT["image_url"], "computer_call_output"),
    "local shell": ("local_shell_call", {"action": {"command": ["ls"]}}, SENTENCE * 5, "local_shell_call_output"),
    "shell": ("shell_call", {"action": {"commands": ["ls"]}}, SENTENCE * 5, "shell_call_output"),
    "apply_patch": ("apply_patch_call", {"operation": {"diff": SENTENCE}}, SENTENCE, "apply_patch_call_output"),
    "custom": ("custom_tool_call", {"name": "look", "input": "x"}, SENTENCE * 5, "custom_tool_call_output"),
    "function": ("function_call", {"name": "look", "arguments": "{}"}, SENTENCE * 5, "function_call_output"),
    "tool_search": ("tool_search_call", {"arguments": {"query": "x"}}, SENTENCE, "tool_search_output"),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "non_standard"])
@pytest.mark.parametrize("kind", RESPONSES_PAIRS)
def test_l10_a_call_is_whatever_an_output_answers(kind: str, wrapped: bool, strategy: str) -> None:
    call, fields, content, output = RESPONSES_PAIRS[kind]
    messages: list[BaseMessage] = [HumanMessage("Click through.")]
    for n in range(14):
        block = {"type": call, "id": f"i{n}", "call_id": f"c{n}", **fields}
        block = {"type": "non_standard", "value": block} if wrapped and call.split("_")[0] not in _STANDARD else block
        thought = {"type": "reasoning", "id": f"rs_{n}", "summary": []}
        messages += [AIMessage([thought, said(), block]), tool(f"c{n}", content, additional_kwargs={"type": output})]
    whole = ContextOptimizer(model="gpt-4o", max_input_tokens=100_000).count_tokens(messages)
    left = fitted(messages, whole // 2, strategy)

    called, answered = ids_in(left)
    assert called == answered
    assert 2 <= len(called) < 14
    assert left[0] is messages[0]
    assert left[-1].content == messages[-1].content or kind in ("custom", "function")


_STANDARD = ("function", "custom")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_l10_a_screenshot_is_kept_whole_or_goes_with_its_call(strategy: str) -> None:
    messages: list[BaseMessage] = [HumanMessage("Click through.")]
    for n in range(14):
        call = {"type": "computer_call", "id": f"cu_{n}", "call_id": f"c{n}", "action": {"type": "click"}}
        messages += [AIMessage([call]), tool(f"c{n}", [SHOT], additional_kwargs={"type": "computer_call_output"})]
    for most in (1_500, 3_000, 6_000):
        left = fitted(messages, most, strategy)
        assert all(message.content == [SHOT] for message in left if isinstance(message, ToolMessage))
    with pytest.raises(ContextBudgetError):
        fitted(messages, 400, strategy)


def test_l10_a_wrapped_screenshot_may_not_be_shortened_either() -> None:
    value = {"type": "computer_call_output", "call_id": "c", "output": SHOT}
    view = view_of(tool("c", [{"type": "non_standard", "value": value}]))

    assert view.removable == ()
    assert view.texts == ()
    assert [attachment.fixed for attachment in view.attachments] == [True]


USER_ANSWERS: dict[str, Any] = {
    "apply_patch": ("apply_patch_call", "call_id", {"type": "apply_patch_call_output", "status": "completed"}),
    "approval": ("mcp_approval_request", "id", {"type": "mcp_approval_response", "approve": True}),
    "tool_search": ("tool_search_call", "call_id", {"type": "tool_search_output", "tools": [{"name": "look"}]}),
    "computer": ("computer_call", "call_id", {"type": "computer_call_output", "output": SHOT}),
    "shell": ("shell_call", "call_id", {"type": "shell_call_output", "output": [{"stdout": SENTENCE}]}),
    "function": ("function_call", "call_id", {"type": "function_call_output", "output": SENTENCE * 3}),
    "parts": ("function_call", "call_id", {"type": "function_call_output", "output": [said()]}),
    "custom": ("custom_tool_call", "call_id", {"type": "custom_tool_call_output", "output": SENTENCE * 3}),
    "anthropic": ("tool_use", "id", {"type": "tool_result", "content": SENTENCE * 3}),
}


def _answered(kind: str, n: int, *beside: Any, wrapped: bool = False) -> list[BaseMessage]:
    call, key, result = USER_ANSWERS[kind]
    names = {"tool_use": "tool_use_id", "mcp_approval_request": "approval_request_id"}
    name = f"c{n}"
    block = {"type": call, key: name, "name": "look", "arguments": "{}"}
    answer = {**result, names.get(call, "call_id"): name}
    answer = {"type": "non_standard", "value": answer} if wrapped else answer
    return [AIMessage([said(), block]), HumanMessage([answer, *beside])]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", USER_ANSWERS)
def test_l11_an_answer_in_a_users_message_is_not_the_question(kind: str, strategy: str) -> None:
    messages: list[BaseMessage] = [HumanMessage(f"The task. {SENTENCE * 3}")]
    for n in range(14):
        messages += _answered(kind, n)
    whole = ContextOptimizer(model="gpt-4o", max_input_tokens=100_000).count_tokens(messages)
    left = fitted(messages, whole // 2, strategy)

    called, answered = ids_in(left)
    assert called == answered
    assert left[0] is messages[0]
    assert 2 <= len(called) < 14
    assert "c13" in called


@pytest.mark.parametrize("kind", ["apply_patch", "approval", "computer"])
def test_l11_a_wrapped_answer_is_one_too(kind: str) -> None:
    messages = [
        HumanMessage(f"The task. {SENTENCE * 3}"),
        *(m for n in range(9) for m in _answered(kind, n, wrapped=True)),
    ]
    left = fitted(messages, 700 if kind != "computer" else 4_000)

    called, answered = ids_in(left)
    assert called == answered
    assert left[0] is messages[0]
    assert "c8" in called


@pytest.mark.parametrize("kind", USER_ANSWERS)
def test_l11_words_beside_an_answer_are_what_the_user_says(kind: str) -> None:
    words = {"type": "text", "text": "Rather the blue one."}
    messages = [
        HumanMessage("The task."),
        *(m for n in range(9) for m in _answered(kind, n)),
        *_answered(kind, 9, words),
    ]
    whole = ContextOptimizer(model="gpt-4o", max_input_tokens=100_000).count_tokens(messages)
    left = fitted(messages, whole * 2 // 3)

    called, answered = ids_in(left)
    assert called == answered
    assert left[0] is messages[0]
    assert words in left[-1].content


@pytest.mark.parametrize("kind", USER_ANSWERS)
def test_l11_an_answer_without_its_call_goes_and_the_words_beside_it_stay(kind: str) -> None:
    words = {"type": "text", "text": "Rather the blue one."}
    old = [message for n in range(8) for message in (HumanMessage(f"{n} {SENTENCE * 4}"), AIMessage(SENTENCE * 4))]
    left = fitted([*old, _answered(kind, 1, words)[1]], 300)

    assert left[-1].content == [words]
    assert ids_in(left) == (Counter(), Counter())


def _turns_of_every_kind() -> st.SearchStrategy[list[Any]]:
    served = st.tuples(st.sampled_from(SERVER_EXCHANGES), st.sampled_from(sorted(SERVER_PAIRS)))
    answered = st.tuples(st.just(None), st.sampled_from(sorted(USER_ANSWERS)))
    compacted = st.tuples(st.just(None), st.just("compaction"))
    return st.lists(st.lists(st.one_of(served, answered, compacted), max_size=3), min_size=1, max_size=5)


def _messages_of(turns: list[Any]) -> list[BaseMessage]:
    messages: list[BaseMessage] = []
    for turn in turns:
        messages.append(HumanMessage(f"{len(messages)}: {SENTENCE * 2}"))
        for exchange, kind in turn:
            n = len(messages)
            if exchange is not None:
                messages += exchange(kind, n)
            elif kind == "compaction":
                messages.append(AIMessage([{"type": "compaction", "content": f"{n}: {SENTENCE}"}, said()]))
            else:
                messages += _answered(kind, n)
    return [*messages, HumanMessage("And now?")]


@settings(max_examples=examples(150), deadline=None)
@given(_turns_of_every_kind(), st.sampled_from(STRATEGIES), st.integers(20, 100))
def test_l9_l19_any_mix_of_calls_answers_and_compactions_is_fitted(turns: Any, strategy: str, percent: int) -> None:
    messages = _messages_of(turns)
    before = copy.deepcopy(messages)
    whole = ContextOptimizer(model="gpt-4o", max_input_tokens=100_000).count_tokens(messages)
    try:
        left = fitted(messages, max(1, whole * percent // 100), strategy)
    except ContextBudgetError:
        assert percent < 100
        return
    called, answered = ids_in(left)
    assert called == answered
    assert messages[-1].content.startswith(left[-1].content.split("\n")[0][:3])
    assert messages == before
    compactions = [m for m in messages if isinstance(m.content, list) and m.content[0]["type"] == "compaction"]
    if compactions and len(left) < len(messages):
        assert left[0].content[0] == compactions[-1].content[0]
