"""A conversation as LlamaIndex's messages, with the blocks that its integrations make of the providers' answers."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from conversations import Call, Conversation, Step, Turn
from langchain_conversations import PNG, THOUGHT, TOOL
from llama_index.core.base.llms.types import ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage


def llamaindex_messages(conversation: Conversation) -> list[ChatMessage]:
    """Return the messages of a conversation."""
    messages = [ChatMessage(role="system", content=conversation.system)] if conversation.system else []
    for number, turn in enumerate(conversation.turns):
        messages += _turn(turn, number, conversation.provider)
    return messages


def _turn(turn: Turn, number: int, provider: str) -> Iterator[ChatMessage]:
    if turn.instruction:
        yield ChatMessage(role="system", content=turn.instruction)
    for question in turn.questions:
        shown = [ImageBlock(image=base64.b64decode(PNG), image_mimetype="image/png")] if turn.image else []
        yield ChatMessage(role="user", blocks=[TextBlock(text=question), *shown])
    for at, step in enumerate(turn.steps):
        yield _calling(step, f"{number}x{at}", provider)
        yield from (_result(call) for call in step.calls)
    if turn.answer is not None:
        yield ChatMessage(role="assistant", content=turn.answer)


def _calling(step: Step, place: str, provider: str) -> ChatMessage:
    known = {"anthropic": {"signature": f"sig-{place}-" + "c2ln" * 40}, "openai_responses": {"id": f"rs_{place}"}}
    shows_thoughts = step.thinks and provider in {*known, "ollama"}
    thoughts = [ThinkingBlock(content=THOUGHT + place, additional_information=known.get(provider, {}))]
    said = [TextBlock(text=step.text)] if step.text else []
    calls = [
        ToolCallBlock(tool_call_id=call.identity, tool_name=TOOL, tool_kwargs=call.arguments) for call in step.calls
    ]
    return ChatMessage(role="assistant", blocks=[*(thoughts if shows_thoughts else ()), *said, *calls])


def _result(call: Call) -> ChatMessage:
    texts = call.result if isinstance(call.result, list) else [call.result]
    blocks = [TextBlock(text=text) for text in texts]
    extra = {"tool_call_id": call.identity, "name": TOOL}
    return ChatMessage(role="tool", blocks=blocks, additional_kwargs=extra)
