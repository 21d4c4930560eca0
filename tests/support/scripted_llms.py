"""LlamaIndex LLMs that answer by a script and refuse what is over their window, as a provider does."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any, TypeVar

from llama_index.core.base.llms.generic_utils import chat_response_to_completion_response
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools.types import BaseTool

from llamaindex_requests import rows_of, schema_of
from request_tokens import count_text, recount
from tool_calling_answers import calling, legacy_calling
from window_of_scripts import ModelCall, Scripted, schemas_of

__all__ = ["ModelCall", "ScriptedCompletionLLM", "ScriptedLLM", "calling", "legacy_calling"]

WORDS_OF_A_CHUNK = 25

Item = TypeVar("Item")


class ScriptedLLM(Scripted, FunctionCallingLLM):
    """A chat model that can call tools.

    Args:
        system_role: The role that its provider wants for the system prompt.
        completes_by_chat: Whether `complete` goes through the public `chat`, as in some integrations, or not.
    """

    system_role: MessageRole = MessageRole.SYSTEM
    completes_by_chat: bool = False

    @classmethod
    def class_name(cls) -> str:
        return "ScriptedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.num_output,
            is_chat_model=True,
            is_function_calling_model=True,
            model_name=self.model_name,
            system_role=self.system_role,
        )

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._response("chat", messages, kwargs)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._response("achat", messages, kwargs)

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return _chunks(self._response("stream_chat", messages, kwargs))

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        return _one_by_one(_chunks(self._response("astream_chat", messages, kwargs)))

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        messages = [ChatMessage(role="user", content=prompt)]
        done = self.chat(messages, **kwargs) if self.completes_by_chat else self._response("complete", messages, kwargs)
        return chat_response_to_completion_response(done)

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        messages = [ChatMessage(role="user", content=prompt)]
        if self.completes_by_chat:
            return chat_response_to_completion_response(await self.achat(messages, **kwargs))
        return chat_response_to_completion_response(self._response("acomplete", messages, kwargs))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        messages = [ChatMessage(role="user", content=prompt)]
        if self.completes_by_chat:
            return _completions(self.stream_chat(messages, **kwargs))
        return _completions(_chunks(self._response("stream_complete", messages, kwargs)))

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        messages = [ChatMessage(role="user", content=prompt)]
        if not self.completes_by_chat:
            return _one_by_one(_completions(_chunks(self._response("astream_complete", messages, kwargs))))
        stream = await self.astream_chat(messages, **kwargs)
        return _one_by_one(_completions(iter([chunk async for chunk in stream])))

    def _response(self, method: str, messages: Sequence[ChatMessage], options: dict[str, Any]) -> ChatResponse:
        rows = rows_of(messages)
        tokens = recount(rows, schemas_of(options), self.encoding)
        answer = self._answered(method, messages, rows, tokens, options)
        return ChatResponse(message=answer, raw={})

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        last = ChatMessage(role="user", content=user_msg) if isinstance(user_msg, str) else user_msg
        messages = [*(chat_history or ()), *(() if last is None else (last,))]
        choice = {"tool_choice": "required" if tool_required else "auto"} if tools else {}
        return {"messages": messages, "tools": [schema_of(tool) for tool in tools], **choice, **kwargs}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        calls = rows_of([response.message])[0].get("tool_calls", [])
        if not calls and error_on_no_tool_call:
            message = "Expected at least one tool call"
            raise ValueError(message)
        return [
            ToolSelection(
                tool_id=call["id"],
                tool_name=call["function"]["name"],
                tool_kwargs=json.loads(call["function"]["arguments"] or "{}"),
            )
            for call in calls
        ]


class ScriptedCompletionLLM(Scripted, CustomLLM):
    """A completion model: it gets one text, even for messages."""

    @classmethod
    def class_name(cls) -> str:
        return "ScriptedCompletionLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.context_window, num_output=self.num_output, model_name=self.model_name)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self._completion("complete", prompt, formatted, kwargs)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        done = self._completion("stream_complete", prompt, formatted, kwargs)
        return _completions(_chunks(ChatResponse(message=ChatMessage(role="assistant", content=done.text))))

    def _completion(self, method: str, prompt: str, formatted: bool, options: dict[str, Any]) -> CompletionResponse:
        sent = prompt if formatted or self.completion_to_prompt is None else self.completion_to_prompt(prompt)
        answer = self._answered(method, sent, [], count_text(sent, self.encoding), options)
        return CompletionResponse(text=answer.content or "")


def _chunks(response: ChatResponse) -> Iterator[ChatResponse]:
    """Yield an answer as it grows, the calls in the last chunk."""
    words = (response.message.content or "").split(" ")
    cuts = range(WORDS_OF_A_CHUNK, len(words) + WORDS_OF_A_CHUNK, WORDS_OF_A_CHUNK)
    before = ""
    for cut in cuts:
        text = " ".join(words[:cut])
        message = ChatMessage(role="assistant", content=text) if cut < len(words) else response.message
        yield ChatResponse(message=message, delta=text[len(before) :], raw={})
        before = text


def _completions(stream: Iterator[ChatResponse]) -> Iterator[CompletionResponse]:
    for chunk in stream:
        yield CompletionResponse(text=chunk.message.content or "", delta=chunk.delta)


async def _one_by_one(items: Iterator[Item]) -> AsyncGenerator[Item, None]:
    for item in items:
        yield item
