"""What scripted LLMs share: the script, the window that is enforced, and the list of all requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tiktoken
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms.llm import LLM

from llamaindex_requests import schema_of, text_of_rows
from made_up_texts import text_of
from shape_rows import Row

SCHEMA_ARGUMENTS = ("tools", "functions", "response_format")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request as the model got it.

    Args:
        method: The name of the method that was called.
        given: The very object that was passed: a list of messages, or a prompt.
        rows: The messages as a provider gets them, at that moment; none for a completion model.
        options: The other arguments.
        schemas: Tools and other schemas as they are sent.
        tokens: All of it, counted with tiktoken alone.
        over: Whether the window had no room for it and the answer.
    """

    method: str
    given: Any
    rows: tuple[Row, ...]
    options: dict[str, Any]
    schemas: tuple[Any, ...]
    tokens: int
    over: bool

    @property
    def text(self) -> str:
        """What the model could read."""
        return self.given if isinstance(self.given, str) else text_of_rows(self.rows)


class Scripted(LLM):
    """What both kinds of model share.

    Args:
        model_name: What it calls itself; tells the tokenizer, too.
        context_window: The window that its metadata claims, in tokens.
        num_output: The longest answer that its metadata claims.
        real_window: The window that is enforced; by default the claimed one.
        real_output: The room for the answer that is enforced; by default the claimed one.
        answers: The script; after its end come numbered texts.
        answer_tokens: How long those are.
        calls: Every request so far, those over the window as well. Copies share the list.
    """

    model_name: str = "gpt-4-scripted"
    context_window: int = 4_000
    num_output: int = 256
    real_window: int | None = None
    real_output: int | None = None
    answers: list[ChatMessage] = Field(default_factory=list)
    answer_tokens: int = 100
    calls: list[Any] = Field(default_factory=list, exclude=True)

    @property
    def encoding(self) -> str:
        """The tokenizer of the model's name."""
        return tiktoken.encoding_name_for_model(self.model_name)

    @property
    def limit(self) -> int:
        """The most tokens that a request may count."""
        output = self.num_output if self.real_output is None else self.real_output
        return (self.real_window or self.context_window) - max(output, 0)

    @property
    def over(self) -> list[ModelCall]:
        """The requests that were over the window."""
        return [call for call in self.calls if call.over]

    def _answered(self, method: str, given: Any, rows: list[Row], tokens: int, options: dict[str, Any]) -> ChatMessage:
        schemas = schemas_of(options)
        call = ModelCall(
            method=method,
            given=given,
            rows=tuple(rows),
            options=options,
            schemas=tuple(schemas),
            tokens=tokens,
            over=tokens > self.limit,
        )
        self.calls.append(call)
        if call.over:
            window = self.real_window or self.context_window
            requested = tokens + window - self.limit
            message = (
                f"This model's maximum context length is {window} tokens. However, you requested {requested} tokens"
            )
            raise ValueError(message)
        number = sum(not call.over for call in self.calls)
        if number <= len(self.answers):
            return self.answers[number - 1].model_copy(deep=True)
        return ChatMessage(role="assistant", content=text_of(f"Answer {number}:", self.answer_tokens, self.encoding))


def schemas_of(options: dict[str, Any]) -> list[Any]:
    """Return the tools and other schemas among the arguments of a call, as they are sent."""
    given = [options[name] for name in SCHEMA_ARGUMENTS if options.get(name) is not None]
    return [schema_of(tool) for value in given for tool in (value if isinstance(value, list | tuple) else [value])]
