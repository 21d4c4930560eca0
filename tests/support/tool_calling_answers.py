"""Answers of a model that call tools, as blocks and as older integrations say it."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel


def calling(*calls: tuple[str, dict[str, Any]], start: int = 0, text: str = "") -> ChatMessage:
    """Return an answer that calls tools, several in parallel, as blocks."""
    blocks: list[Any] = [TextBlock(text=text)] if text else []
    blocks += [
        ToolCallBlock(tool_call_id=f"call-{start + i}", tool_name=name, tool_kwargs=arguments)
        for i, (name, arguments) in enumerate(calls)
    ]
    return ChatMessage(role="assistant", blocks=blocks)


class CalledFunction(BaseModel):
    """The function of an older call."""

    name: str
    arguments: str


class LegacyCall(BaseModel):
    """A call as the object that a provider's own package makes."""

    id: str
    function: CalledFunction
    type: str = "function"


def legacy_calling(
    *calls: tuple[str, dict[str, Any]], start: int = 0, text: str | None = None, as_dicts: bool = False
) -> ChatMessage:
    """Return an answer that calls tools as older integrations say it: in `additional_kwargs`."""
    made = [
        LegacyCall(id=f"call-{start + i}", function=CalledFunction(name=name, arguments=json.dumps(arguments)))
        for i, (name, arguments) in enumerate(calls)
    ]
    listed = [call.model_dump() for call in made] if as_dicts else made
    return ChatMessage(role="assistant", content=text, additional_kwargs={"tool_calls": listed})
