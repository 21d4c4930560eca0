"""Messages of frameworks, as messages of a chat API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.playground.chat_rows import check_says_something
from ctxopt_core.playground.langchain_dumps import is_langchain_message, row_of_langchain
from ctxopt_core.playground.llamaindex_dumps import is_llamaindex_message, row_of_llamaindex
from ctxopt_core.playground.pasted_json import UnreadablePasteError


def is_message(value: object) -> bool:
    """Tell whether a JSON value is a message by itself."""
    if is_langchain_message(value):
        return True
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "messages" not in value


def chat_rows(messages: Sequence[Any]) -> list[Any]:
    """Return messages in their order, those of LangChain and of LlamaIndex in the shape of OpenAI's chat API.

    Raises:
        UnreadablePasteError: One of them cannot be one, or says nothing.
    """
    return [_chat_row(message, index) for index, message in enumerate(messages)]


def _chat_row(message: Any, index: int) -> Any:
    try:
        if is_langchain_message(message):
            return row_of_langchain(message)
        if is_llamaindex_message(message):
            return row_of_llamaindex(message)
        check_says_something(message)
    except (TypeError, ValueError) as error:
        wrong = f"`messages[{index}]`: {error}"
        raise UnreadablePasteError(wrong) from error
    return message
