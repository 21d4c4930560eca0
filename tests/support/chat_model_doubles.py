"""Chat models that answer nothing of interest and remember what they were sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from langchain_requests import sent_tokens

SCHEMA_ARGUMENTS = ("tools", "functions", "response_format")


class ListeningModel(BaseChatModel):
    """A model that refuses what is over its window, as a provider does, and keeps what it was sent."""

    window: int = 1_000_000
    reserve: int = 0
    heard: list[list[BaseMessage]] = Field(default_factory=list)
    counted: list[int] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "listening"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **options)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        schemas = [schema for name in SCHEMA_ARGUMENTS for schema in _listed(options.get(name))]
        tokens = sent_tokens(messages, schemas)
        if tokens + self.reserve > self.window:
            message = f"{tokens} tokens and an answer of {self.reserve} are more than {self.window}"
            raise ContextOverflowError(message)
        self.heard.append(messages)
        self.counted.append(tokens)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("lit"))])


class NamedModel(ListeningModel):
    """A model that tells its name and its answer limit."""

    model_name: str = "gpt-4o"
    max_tokens: int | None = None
    model_kwargs: dict[str, Any] = Field(default_factory=dict)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
