"""The instrumentation event that LlamaIndex's event handlers get for each fit."""

from __future__ import annotations

from typing import Any

from llama_index.core.instrumentation.events import BaseEvent
from pydantic import Field


class ContextOptimizedEvent(BaseEvent):
    """A request or its documents were fitted into their budget. The event holds counts and reasons, and no content.

    Attributes:
        figures: `FitReport.to_event()`: the figures of the fit that are known without counting the whole input.

    Example:
        >>> from llama_index.core.instrumentation import get_dispatcher
        >>> from llama_index.core.instrumentation.event_handlers import BaseEventHandler
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llamaindex_ctxopt import ContextOptimizedEvent, ContextOptimizerPostprocessor
        >>> class Printer(BaseEventHandler):
        ...     def handle(self, event, **kwargs):
        ...         if isinstance(event, ContextOptimizedEvent):
        ...             print(event.figures["tokens_after"], "of", event.figures["input_budget"], "tokens")
        >>> dispatcher, printer = get_dispatcher(), Printer()
        >>> dispatcher.add_event_handler(printer)
        >>> nodes = [NodeWithScore(node=TextNode(text=f"Note {i}: the kiln is hot."), score=i / 9) for i in range(9)]
        >>> kept = ContextOptimizerPostprocessor(max_tokens=60, token_counter=len).postprocess_nodes(nodes)
        50 of 60 tokens
        >>> dispatcher.event_handlers.remove(printer)
    """

    figures: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event, as event handlers get it."""
        return "ContextOptimizedEvent"
