"""A retriever of LlamaIndex whose nodes fit: retrievers take no postprocessors, this one brings its own."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_ctxopt.postprocessor import ContextOptimizerPostprocessor


class ContextOptimizerRetriever(BaseRetriever):
    """Retrieves by another retriever, and fits what that one found into a token budget.

    It goes wherever LlamaIndex takes a retriever: into a query engine, a `RetrieverTool` or a `RouterRetriever`. What
    finds nothing still finds nothing.

    Args:
        retriever: Finds the nodes.
        postprocessor: Fits them; by default a `ContextOptimizerPostprocessor` of the settings.
        callback_manager: Where events go; by default where those of `retriever` go.
        settings: The settings of that `ContextOptimizerPostprocessor`, such as `max_tokens`, `model` or `llm`.

    Raises:
        TypeError: `retriever` or `postprocessor` is something else.
        ValueError: A postprocessor and settings of one are given, neither is, or a setting is out of its range.
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
        self._postprocessor = _postprocessor_of(postprocessor, settings, self.callback_manager)

    @property
    def retriever(self) -> BaseRetriever:
        """The retriever that finds the nodes."""
        return self._retriever

    @property
    def postprocessor(self) -> BaseNodePostprocessor:
        """What fits them."""
        return self._postprocessor

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"retriever": self._retriever}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._postprocessor.postprocess_nodes(self._retriever.retrieve(query_bundle), query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await self._retriever.aretrieve(query_bundle)
        return await self._postprocessor.apostprocess_nodes(found, query_bundle)

    def _handle_recursive_retrieval(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
    ) -> list[NodeWithScore]:
        """Leave the nodes: what they lead to was retrieved before they were fitted."""
        return nodes

    async def _ahandle_recursive_retrieval(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
    ) -> list[NodeWithScore]:
        """Leave the nodes: what they lead to was retrieved before they were fitted."""
        return nodes


def _postprocessor_of(
    given: BaseNodePostprocessor | None, settings: dict[str, Any], callback_manager: CallbackManager
) -> BaseNodePostprocessor:
    if given is None:
        return ContextOptimizerPostprocessor(callback_manager=callback_manager, **settings)
    if not isinstance(given, BaseNodePostprocessor):
        message = f"`postprocessor` must be a node postprocessor of LlamaIndex, got {type(given).__name__}"
        raise TypeError(message)
    if settings:
        message = f"give `postprocessor` or settings of one, not both, got {', '.join(sorted(settings))} beside it"
        raise ValueError(message)
    return given
