"""A callback handler that keeps what the runs of chat models begin with, and how they fail."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage


class RunListener(BaseCallbackHandler):
    """Keeps the messages that a run begins with, and how it ends.

    Args:
        started: The messages of each run.
        failed: The errors of runs.
    """

    def __init__(self) -> None:
        self.started: list[list[BaseMessage]] = []
        self.failed: list[BaseException] = []

    def on_chat_model_start(self, serialized: Any, messages: list[list[BaseMessage]], **_: Any) -> None:
        self.started += messages

    def on_llm_error(self, error: BaseException, **_: Any) -> None:
        self.failed.append(error)
