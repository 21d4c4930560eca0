"""A conversation as LangChain's messages, with the blocks that each provider's integration makes of its answers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from conversations import Call, Conversation, Step, Turn
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
TOOL = "look_up"
THOUGHT = "The user asks about the lamps, so I look the word up first. "


def langchain_messages(conversation: Conversation) -> list[BaseMessage]:
    """Return the messages of a conversation."""
    messages: list[BaseMessage] = [SystemMessage(conversation.system)] if conversation.system else []
    for number, turn in enumerate(conversation.turns):
        messages += _turn(turn, number, conversation)
    return messages


def _turn(turn: Turn, number: int, conversation: Conversation) -> Iterator[BaseMessage]:
    if turn.instruction:
        yield SystemMessage(turn.instruction)
    for question in turn.questions:
        content: Any = [{"type": "text", "text": question}, IMAGE] if turn.image else question
        yield HumanMessage(content, name=turn.name)
    for at, step in enumerate(turn.steps):
        yield _calling(step, f"{number}x{at}", conversation.provider)
        yield from (_result(call) for call in step.calls)
    specials = SPECIALS.get(conversation.provider, ())
    if turn.special and specials and not (conversation.thinking and conversation.provider == "anthropic"):
        yield from specials[turn.special % len(specials)](number)
    if turn.answer is not None:
        yield AIMessage(turn.answer)
    elif turn.special and specials:
        yield HumanMessage(turn.questions[-1])


def _result(call: Call) -> ToolMessage:
    content: Any = call.result
    if isinstance(content, list):
        content = [{"type": "text", "text": text} for text in content]
    status = "error" if call.failed else "success"
    return ToolMessage(content, tool_call_id=call.identity, name=TOOL, status=status)


def _tool_calls(step: Step) -> list[dict[str, Any]]:
    return [{"name": TOOL, "args": call.arguments, "id": call.identity} for call in step.calls]


def _calling(step: Step, place: str, provider: str) -> AIMessage:
    return CALLING.get(provider, _plain)(step, place)


def _plain(step: Step, place: str) -> AIMessage:
    return AIMessage(step.text, tool_calls=_tool_calls(step))


def _claude(step: Step, place: str) -> AIMessage:
    if not step.thinks:
        return _plain(step, place)
    blocks: list[Any] = [{"type": "thinking", "thinking": THOUGHT + place, "signature": f"sig-{place}-" + "c2ln" * 40}]
    if place.startswith("1"):
        blocks.insert(0, {"type": "redacted_thinking", "data": f"data-{place}-" + "ZGF0YQ" * 30})
    blocks += [{"type": "text", "text": step.text}] if step.text else []
    blocks += [{"type": "tool_use", "id": call.identity, "name": TOOL, "input": call.arguments} for call in step.calls]
    return AIMessage(blocks, tool_calls=_tool_calls(step))


def _reasoned(step: Step, place: str) -> AIMessage:
    if not step.thinks:
        return _plain(step, place)
    blocks: list[Any] = [
        {
            "type": "reasoning",
            "id": f"rs_{place}",
            "summary": [{"type": "summary_text", "text": THOUGHT}],
            "encrypted_content": f"enc-{place}-" + "c2VhbGVk" * 60,
        }
    ]
    blocks += [
        {
            "type": "function_call",
            "id": f"fc_{place}_{at}",
            "call_id": call.identity,
            "name": TOOL,
            "arguments": '{"word": "lamp"}',
        }
        for at, call in enumerate(step.calls)
    ]
    return AIMessage(blocks, tool_calls=_tool_calls(step))


def _gemini(step: Step, place: str) -> AIMessage:
    if not step.thinks:
        return _plain(step, place)
    signature = base64.b64encode(f"signature {place} ".encode() * 8).decode()
    kept = {"__gemini_function_call_thought_signatures__": {step.calls[0].identity: signature}}
    return AIMessage(step.text, tool_calls=_tool_calls(step), additional_kwargs=kept)


def _thinking_aloud(step: Step, place: str) -> AIMessage:
    kept = {"reasoning_content": THOUGHT} if step.thinks else {}
    return AIMessage(step.text, tool_calls=_tool_calls(step), additional_kwargs=kept)


CALLING: dict[str, Callable[[Step, str], AIMessage]] = {
    "anthropic": _claude,
    "openai_responses": _reasoned,
    "google": _gemini,
    "ollama": _thinking_aloud,
}

# What only one provider has: calls that it answers itself, and calls that are no functions.


def _web_search(number: int) -> list[dict[str, Any]]:
    page = {
        "type": "web_search_result",
        "title": "Lamps",
        "url": "https://lamps.example",
        "encrypted_content": f"page-{number}-" + "RW5j" * 100,
        "page_age": None,
    }
    return [
        {
            "type": "server_tool_use",
            "id": f"srvtoolu_{number}",
            "name": "web_search",
            "input": {"query": "lamps"},
        },
        {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number}", "content": [page]},
    ]


def _claude_search(number: int) -> list[BaseMessage]:
    return [AIMessage([*_web_search(number), {"type": "text", "text": "The page says that it burns."}])]


def _claude_search_beside_a_call(number: int) -> list[BaseMessage]:
    asked, found = _web_search(number)
    own = {"name": TOOL, "args": {"word": "oil"}, "id": f"toolu_beside_{number}"}
    block = {"type": "tool_use", "id": own["id"], "name": TOOL, "input": own["args"]}
    return [
        AIMessage([asked, block], tool_calls=[own]),
        ToolMessage("Oil: what lamps burn. " * 20, tool_call_id=own["id"], name=TOOL),
        AIMessage([found, {"type": "text", "text": "Both say that it burns."}]),
    ]


def _openai_search(number: int) -> list[BaseMessage]:
    search = {
        "type": "web_search_call",
        "id": f"ws_{number}",
        "status": "completed",
        "action": {"type": "search", "query": "lamps"},
    }
    return [AIMessage([search, {"type": "text", "text": "The page says that it burns.", "id": f"msg_{number}"}])]


def _computer(number: int) -> list[BaseMessage]:
    call = {
        "type": "computer_call",
        "id": f"cu_{number}",
        "call_id": f"call_cu_{number}",
        "action": {"type": "screenshot"},
        "pending_safety_checks": [],
        "status": "completed",
    }
    shot = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
    return [
        AIMessage([call]),
        ToolMessage([shot], tool_call_id=f"call_cu_{number}", additional_kwargs={"type": "computer_call_output"}),
    ]


def _custom_tool(number: int) -> list[BaseMessage]:
    call = {
        "type": "custom_tool_call",
        "id": f"ctc_{number}",
        "call_id": f"call_ct_{number}",
        "name": "run_code",
        "input": "print(1)",
    }
    output = {"type": "custom_tool_call_output", "output": "1\n" * 30}
    return [AIMessage([call]), ToolMessage([output], tool_call_id=f"call_ct_{number}")]


def _patch(number: int) -> list[BaseMessage]:
    call = {
        "type": "apply_patch_call",
        "id": f"apc_{number}",
        "call_id": f"call_ap_{number}",
        "operation": {"type": "update_file", "path": "lamp.py", "diff": "+lit = True\n" * 20},
        "status": "completed",
    }
    output = {
        "type": "apply_patch_call_output",
        "call_id": f"call_ap_{number}",
        "status": "completed",
        "output": "Patched. " * 40,
    }
    return [AIMessage([call]), HumanMessage([output])]


def _approval(number: int) -> list[BaseMessage]:
    asked = {
        "type": "mcp_approval_request",
        "id": f"mcpr_{number}",
        "name": "burn",
        "arguments": "{}",
        "server_label": "harbour",
    }
    given = {"type": "mcp_approval_response", "approval_request_id": f"mcpr_{number}", "approve": True}
    return [AIMessage([asked]), HumanMessage([given])]


def _reasoned_search(number: int) -> list[BaseMessage]:
    thoughts = {"type": "reasoning", "id": f"rs_s{number}", "summary": [], "encrypted_content": f"s{number}" * 200}
    return [AIMessage([thoughts, *_openai_search(number)[0].content])]


def _claude_code(number: int) -> list[BaseMessage]:
    ran = {
        "type": "server_tool_use",
        "id": f"srvtoolu_c{number}",
        "name": "code_execution",
        "input": {"code": "print(1)\n" * 20},
    }
    result = {"type": "code_execution_result", "stdout": "1\n" * 40, "stderr": "", "return_code": 0, "content": []}
    found = {"type": "code_execution_tool_result", "tool_use_id": ran["id"], "content": result}
    return [AIMessage([{"type": "text", "text": "I run it."}, ran, found, {"type": "text", "text": "It burns."}])]


def _cached_question(number: int) -> list[BaseMessage]:
    if number > 2:  # at most four marks in a request
        return []
    kept = {"type": "text", "text": "The log book of the harbour. " * 40, "cache_control": {"type": "ephemeral"}}
    return [AIMessage("Show me the book."), HumanMessage([kept])]


def _result_in_a_user_message(number: int) -> list[BaseMessage]:
    call = {"name": TOOL, "args": {"word": "wick"}, "id": f"toolu_user_{number}"}
    block = {"type": "tool_use", "id": call["id"], "name": TOOL, "input": call["args"]}
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "A wick drinks oil. " * 30}
    return [AIMessage([block], tool_calls=[call]), HumanMessage([result])]


def _picture_in_a_result(number: int) -> list[BaseMessage]:
    call = {"name": TOOL, "args": {"word": "lamp"}, "id": f"toolu_picture_{number}"}
    shown = [{"type": "text", "text": "The lamp. " * 30}, IMAGE]
    return [AIMessage("", tool_calls=[call]), ToolMessage(shown, tool_call_id=call["id"], name=TOOL)]


Special = Callable[[int], list[BaseMessage]]
SPECIALS: dict[str, tuple[Special, ...]] = {
    "anthropic": (
        _claude_search,
        _claude_search_beside_a_call,
        _claude_code,
        _cached_question,
        _result_in_a_user_message,
        _picture_in_a_result,
    ),
    "openai_responses": (_openai_search, _computer, _custom_tool, _patch, _approval, _reasoned_search),
}
