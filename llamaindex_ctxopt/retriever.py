"""`ContextOptimizerRetriever`: a retriever with a postprocessor, whose nodes fit into a token budget."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor


class ContextOptimizerRetriever(BaseRetriever):
    """Retrieves nodes by another retriever, and fits them into a token budget.

    It can be used wherever LlamaIndex takes a retriever: in a query engine, a `RetrieverTool` or a `RouterRetriever`.
    The other retriever may have a generous top-k, since the budget and not the number of nodes decides what is kept.
    Where it finds nothing, the result is empty.

    Args:
        retriever: Finds the nodes.
        postprocessor: Fits them; by default a `ContextOptimizerPostprocessor` with the settings.
        callback_manager: Gets the events; by default that of `retriever`.
        settings: The settings of that `ContextOptimizerPostprocessor`, such as `max_tokens`, `model` or `llm`.

    Raises:
        TypeError: `retriever` or `postprocessor` is something else.
        ValueError: A postprocessor and settings of one are given, neither is, or a setting is out of its range.

    Example:
        >>> from llama_index.core import SummaryIndex
        >>> from llama_index.core.schema import TextNode
        >>> from llamaindex_ctxopt import ContextOptimizerRetriever
        >>> index = SummaryIndex([TextNode(text=f"Kiln {i} fires clay.") for i in range(9)])
        >>> retriever = ContextOptimizerRetriever(index.as_retriever(), max_tokens=60, token_counter=len)
        >>> [item.text for item in retriever.retrieve("Which kiln fires clay?")]
        ['Kiln 0 fires clay.', 'Kiln 1 fires clay.', 'Kiln 2 fires clay.']
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        postprocessor: BaseNodePostprocessor | None = None,
        *,
        callback_manager: CallbackManager | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(retriever, BaseRetriever):
            message = f"`retriever` must be a retriever of LlamaIndex, got {type(retriever).__name__}"
            if callable(getattr(retriever, "as_retriever", None)):
                message += "; give its `as_retriever()`"
            raise TypeError(message)
        # A subclass that does not call `__init__` of its base has none yet.
        super().__init__(callback_manager=callback_manager or getattr(retriever, "callback_manager", None))
        self._retriever = retriever
        if postprocessor is None:
            postprocessor = ContextOptimizerPostprocessor(callback_manager=self.callback_manager, **settings)
        elif not isinstance(postprocessor, BaseNodePostprocessor):
            message = f"`postprocessor` must be a node postprocessor of LlamaIndex, got {type(postprocessor).__name__}"
            raise TypeError(message)
        elif settings:
            message = f"give `postprocessor` or settings of one, not both, got {', '.join(sorted(settings))} beside it"
            raise ValueError(message)
        self._postprocessor = postprocessor

    @property
    def retriever(self) -> BaseRetriever:
        """The other retriever, which finds the nodes."""
        return self._retriever

    @property
    def postprocessor(self) -> BaseNodePostprocessor:
        """The postprocessor that fits the nodes."""
        return self._postprocessor

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"retriever": self._retriever}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._postprocessor.postprocess_nodes(self._retriever.retrieve(query_bundle), query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await self._retriever.aretrieve(query_bundle)
        return await self._postprocessor.apostprocess_nodes(found, query_bundle)

    def _handle_recursive_retrieval(self, query_bundle: QueryBundle, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return the nodes as they are: the other retriever has followed their references already."""
        return nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Return the nodes as they are: the other retriever has followed their references already."""
        return nodes
