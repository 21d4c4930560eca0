"""The instrumentation event of LlamaIndex that tells of a fit."""

from __future__ import annotations

from typing import Any

from llama_index.core.instrumentation.events import BaseEvent
from pydantic import Field


class ContextOptimizedEvent(BaseEvent):
    """Something was fitted into its budget. It holds counts and reasons, and no content.

    Attributes:
        figures: What is known of the fit without counting the whole input: `FitReport.to_event()`.
    """

    figures: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        """Return the name by which event handlers know it."""
        return "ContextOptimizedEvent"
