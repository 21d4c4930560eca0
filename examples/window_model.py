"""A fake chat model that enforces its context window as a provider does: it counts what it receives, and refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ctxopt_core.counting.encodings import load_encoding

# Tokens around each message and around the whole request, by OpenAI's published counting rule for chat models.
TOKENS_PER_MESSAGE = 3
TOKENS_PER_REQUEST = 3
CHUNK_REFERENCE = re.compile(r"^\[(\S+#\d+)\]", re.MULTILINE)
WORD_WITH_BLANKS = re.compile(r"\S+\s*")


class WindowedChatModel(BaseChatModel):
    """Answers what it received, and raises `ContextOverflowError` when that and the answer do not fit its window.

    It shares nothing with the optimizer but the vocabulary file: tokens are counted here, over the messages as they
    arrive.

    Args:
        model_name: Its name.
        context_window: Input and answer together, in tokens.
        max_tokens: The longest answer, in tokens. Input and answer together must fit into the window.
    """

    model_name: str = "gpt-4o-demo-8k"
    context_window: int = 8192
    max_tokens: int = 2048

    def model_post_init(self, context: Any, /) -> None:
        """Publish the window as LangChain's model profile, where the optimizer finds it."""
        super().model_post_init(context)
        if self.profile is None:
            self.profile = {"max_input_tokens": self.context_window, "max_output_tokens": self.max_tokens}

    @property
    def input_limit(self) -> int:
        """The most tokens that a request may have."""
        return self.context_window - self.max_tokens

    @property
    def _llm_type(self) -> str:
        return "windowed-double"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Send the schemas of `tools` along with every request."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        received = self._accept(messages, kwargs.get("tools", ()))
        text = _account_of(messages, received)
        answer = AIMessage(content=text, usage_metadata=_usage(received, _text_tokens(text)))
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        received = self._accept(messages, kwargs.get("tools", ()))
        text = _account_of(messages, received)
        for word in WORD_WITH_BLANKS.findall(text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word))
            if run_manager is not None:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
        usage = _usage(received, _text_tokens(text))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage, chunk_position="last"))

    def _accept(self, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]) -> int:
        received = request_tokens(messages, tools)
        if received > self.input_limit:
            message = (
                f"This model's maximum context length is {self.context_window} tokens. However, your request has "
                f"{received + self.max_tokens} tokens ({received} in the messages and tools, {self.max_tokens} for the "
                "answer). Please reduce the length of the messages."
            )
            raise ContextOverflowError(message)
        return received


def request_tokens(messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]] = ()) -> int:
    """Return the tokens of a chat request by the published rule.

    Tool schemas are counted as compact JSON, which is more than OpenAI charges. Every fit leaves tokens free for that.
    """
    rows = convert_to_openai_messages(list(messages), text_format="string")
    schemas = [json.dumps(tool, separators=(",", ":"), ensure_ascii=False) for tool in tools]
    return TOKENS_PER_REQUEST + sum(map(_row_tokens, rows)) + sum(map(_text_tokens, schemas))


def _row_tokens(row: dict[str, Any]) -> int:
    texts = [row["role"], row.get("content"), row.get("name"), row.get("tool_call_id")]
    for call in row.get("tool_calls", ()):
        texts += [call["id"], call["function"]["name"], call["function"]["arguments"]]
    return TOKENS_PER_MESSAGE + bool(row.get("name")) + sum(_text_tokens(text) for text in texts if text)


def _text_tokens(text: str) -> int:
    return len(load_encoding("o200k_base").encode_ordinary(text))


def _account_of(messages: Sequence[BaseMessage], received: int) -> str:
    """Return the answer, which says what can be seen in the request and nothing else."""
    chunks = [found for message in messages for found in CHUNK_REFERENCE.findall(message.text)]
    seen = f"{len(chunks)} chunks: {', '.join(chunks)}" if chunks else "no chunk"
    return (
        f"I received {received} tokens in {len(messages)} messages. I can see {seen}. "
        f"The question at the end is: {messages[-1].text}"
    )


def _usage(received: int, answered: int) -> UsageMetadata:
    return UsageMetadata(input_tokens=received, output_tokens=answered, total_tokens=received + answered)
