"""A chat model that answers by a script and refuses what is over its window, for agents that run for real."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from pydantic import Field

from chat_model_doubles import ListeningModel
from langchain_requests import rows_of
from view_problems import problems

PAGE = "The lamplighter polishes forty brass lanterns before the first snow arrives on the long pier. "


class ScriptedModel(ListeningModel):
    """Gives the answers of a script, the last one for ever; `window`, of which it enforces every token, may be hidden.

    Args:
        model_name: What it calls itself.
        answers: The script.
        claimed: The window that its profile tells; by default the real one.
        max_tokens: The longest answer, which the window must have room for.
        bound: The arguments that came with each request.
        refused: How many requests were over the window.
    """

    model_name: str = "gpt-4o-scripted"
    answers: list[AIMessage] = Field(default_factory=lambda: [AIMessage("Done.")])
    claimed: int | None = None
    max_tokens: int = 100
    bound: list[dict[str, Any]] = Field(default_factory=list)
    refused: list[int] = Field(default_factory=list)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self.reserve = self.max_tokens
        if self.profile is None:
            self.profile = {"max_input_tokens": self.claimed or self.window, "max_output_tokens": self.max_tokens}

    @property
    def limit(self) -> int:
        """The most tokens that a request may count."""
        return self.window - self.max_tokens

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages, options))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages, options)
        for word in answer.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(word))
        calls = [
            {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": index}
            for index, call in enumerate(answer.tool_calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=calls))

    def _answer(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        try:
            super()._generate(messages, **options)
        except ContextOverflowError:
            self.refused.append(len(messages))
            raise
        self.bound.append(options)
        given = self.answers[min(len(self.heard), len(self.answers)) - 1]
        return given.model_copy(update={"id": None})


def calling(*calls: tuple[str, dict[str, Any]], start: int = 0, text: str = "") -> AIMessage:
    """Return an answer that calls tools, several in parallel."""
    made = [{"name": name, "args": args, "id": f"call-{start + i}"} for i, (name, args) in enumerate(calls)]
    return AIMessage(text, tool_calls=made)


@tool
def read(page: int, times: int = 40) -> str:
    """Read a page of the harbour's log book.

    Args:
        page: Its number.
        times: How long it is.
    """
    return f"Page {page}. " + PAGE * times


@tool
def look_up(word: str) -> str:
    """Look a word up in the dictionary of the harbour."""
    return f"{word}: a word of sailors."


TOOLS = [read, look_up]


def faults(before: Sequence[BaseMessage], after: Sequence[BaseMessage], budget: int, tools: Sequence[Any] = ()) -> list:
    """Return what is wrong with a request that was made from `before`, by the independent checker."""
    return problems(rows_of(list(before)), rows_of(list(after)), budget=budget, tools=list(tools))
