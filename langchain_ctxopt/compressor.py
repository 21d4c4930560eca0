"""Retrieved documents fitted into a token budget, as a document compressor or as a step of a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.prompts import BasePromptTemplate, PromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import ConfigDict, Field, PrivateAttr, field_serializer, model_validator

from ctxopt_core import BudgetWarning, DocumentPolicy, FitReport
from ctxopt_core.adapters import (
    BudgetSettings,
    ModelBudget,
    copy_with,
    in_worker,
    plain_fields,
    tokens_of_share,
    warn_once,
)
from langchain_ctxopt.component_keys import USUAL_KEYS
from langchain_ctxopt.compression import Compression, compress, is_list, query_and_documents
from langchain_ctxopt.documents import ScoreOf, TemplatedDocuments
from langchain_ctxopt.errors import TypedConstruction, typed_errors
from langchain_ctxopt.events import asend_report, send_report
from langchain_ctxopt.model_settings import optional_settings
from langchain_ctxopt.run_settings import COMPRESSOR_SETTINGS, run_settings
from langchain_ctxopt.setting_fields import DocumentSettings, DocumentTemplate, Limit, Share, known_settings_only


class ContextOptimizerCompressor(TypedConstruction, BaseDocumentCompressor):
    """Fits the chunks of a retriever into a token budget, counted as the prompt will render them.

    It is a document compressor of LangChain. Use it in a `ContextualCompressionRetriever`, in a
    `DocumentCompressorPipeline` after a compressor that reranks, or as a step of a chain with `as_runnable`. Documents
    that are kept whole are the identical objects; one that is kept in part is returned as a copy with the new text and
    the same class, id and metadata. The documents and the list that are given are not changed.

    The budget is either `max_tokens`, or a part of the input budget of `model`. Where no document fits, not even in
    part, for example because the template alone is larger, none is returned: a `BudgetWarning` is given once for each
    such budget, and each report says it.

    Attributes:
        max_tokens: The most tokens that the kept documents may have together, rendered by `document_prompt` and joined
            by `document_separator`.
        model: A model name or a LangChain model. Without `max_tokens`, its window decides the budget; with it, the
            model only decides the tokenizer.
        share: The part of the model's input budget that documents may take, as a percentage; by default the documents'
            share of `Shares()`, 50. Not with `max_tokens`.
        documents: How documents are chosen, as `DocumentPolicy` or a mapping.
        score_key: Where a document's score is: a metadata key or a function; by default `relevance_score` or `score`.
            `documents.score_order` says which scores are better.
        document_prompt: Formats one document, for counting: the template with which the chain will format it. By
            default a document is its text. A string is taken as a template.
        document_separator: What the chain will join two documents with.
        token_counter: Counts tokens in place of the model's tokenizer: what `ctxopt_core.counter_for` takes.
        on_report: Called with the report of each compression: a `FitReport` of the documents alone.

    Raises:
        ValueError: A setting is out of its range, neither `max_tokens` nor `model` is given, `share` is given without
            a model or beside `max_tokens`, or it is less than one token.
        TypeError: `model` is no model.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_ctxopt import ContextOptimizerCompressor
        >>> compressor = ContextOptimizerCompressor(max_tokens=50, token_counter=len)  # a character is a token
        >>> chunks = ["Rome is old and large.", "Paris is the capital of France.", "Oslo is in Norway."]
        >>> documents = [Document(chunk) for chunk in chunks]
        >>> [kept.page_content for kept in compressor.compress_documents(documents, "What is the capital of France?")]
        ['Paris is the capital of France.']
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, protected_namespaces=())
    _known = model_validator(mode="before")(known_settings_only)

    max_tokens: Limit = None
    model: Any = None
    share: Share = None
    documents: DocumentSettings = DocumentPolicy()
    score_key: str | ScoreOf | None = None
    document_prompt: DocumentTemplate = None
    document_separator: str = "\n\n"
    token_counter: Any = Field(default=None, exclude=True, repr=False)
    on_report: Callable[[FitReport], None] | None = Field(default=None, exclude=True, repr=False)

    _model_budget: ModelBudget = PrivateAttr()
    _budget: int = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Find out budget and tokenizer once."""
        super().model_post_init(context)
        if self.share is not None and (self.max_tokens is not None or self.model is None):
            message = "`share` is a part of the window of `model`: give it with `model` and without `max_tokens`"
            raise ValueError(message)
        if self.max_tokens is None and self.model is None:
            message = "give `max_tokens`, or a `model` whose window says how much fits"
            raise ValueError(message)
        settings = BudgetSettings(max_input_tokens=self.max_tokens, token_counter=self.token_counter)
        self._model_budget = settings.model_budget(optional_settings(self.model, gives_limit=settings.gives_limit))
        budget = self._model_budget.budget
        self._budget = tokens_of_share(self.share, budget) if self.max_tokens is None else self.max_tokens

    @property
    def budget_tokens(self) -> int:
        """The most tokens that the kept documents may have together."""
        return self._budget

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> list[Document]:
        """Return the documents that fit, in the policy's reading order.

        Args:
            documents: The retrieved documents.
            query: The question, by which documents and passages are chosen; an empty string leaves it to the scores.
            callbacks: Receive the report as the event `ctxopt_report`.

        Raises:
            TypeError: `query` is no string, `documents` is no list of LangChain documents, or a score function returned
                something else than a number.
            ValueError: A document lacks a metadata key that `document_prompt` needs.
        """
        compression = self._compressed_and_reported(documents, query)
        send_report(compression.report, callbacks)
        return compression.documents

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> list[Document]:
        """Return what `compress_documents` returns; the work is done in a worker thread.

        A scorer that can be awaited is awaited on the event loop.
        """
        compression = await in_worker(self._compressed_and_reported, documents, query)
        await asend_report(compression.report, callbacks)
        return compression.documents

    def plan(self, documents: Sequence[Document], query: str) -> FitReport:
        """Return the report of what a compression would do. Neither callbacks nor `on_report` receive it."""
        return self.compressed(documents, query).report

    def with_changes(self, **changes: Any) -> ContextOptimizerCompressor:
        """Return a copy with other settings, validated as at construction."""
        return copy_with(self, changes)

    def as_runnable(
        self, *, query_key: str | None = None, documents_key: str | None = None
    ) -> Runnable[dict[str, Any], list[Document]]:
        """Return a step for chains: it takes a dict with a query and documents, and returns the documents that fit.

        It goes after a map, as in `{"documents": retriever, "query": RunnablePassthrough()} | step`, or into
        `RunnablePassthrough.assign(context=step)`, where the other keys stay. An input that lacks one of the two is a
        ValueError that says what the input has.

        Args:
            query_key: Key of the query; by default the first of `question`, `query`, `input` that holds a string.
            documents_key: Key of the documents; by default the first of `context`, `documents` that holds a list.
        """
        query_keys = USUAL_KEYS["query"] if query_key is None else (query_key,)
        documents_keys = USUAL_KEYS["documents"] if documents_key is None else (documents_key,)

        def run(values: dict[str, Any], config: RunnableConfig) -> list[Document]:
            query, documents = query_and_documents(values, query_keys, documents_keys)
            return self.compress_documents(documents, query, callbacks=config.get("callbacks"))

        async def arun(values: dict[str, Any], config: RunnableConfig) -> list[Document]:
            query, documents = query_and_documents(values, query_keys, documents_keys)
            return await self.acompress_documents(documents, query, callbacks=config.get("callbacks"))

        step = RunnableLambda(run, arun, name=type(self).__name__)
        return step.with_types(input_type=dict[str, Any], output_type=list[Document])

    @field_serializer("documents")
    def _plain_policy(self, policy: DocumentPolicy) -> dict[str, Any]:
        return plain_fields(policy)

    @field_serializer("document_prompt")
    def _plain_template(self, template: BasePromptTemplate[str] | None) -> Any:
        """Dump a template as the string that it can be made of, where one can."""
        if not isinstance(template, PromptTemplate) or template.template_format != "f-string":
            return template
        return template.template if PromptTemplate.from_template(template.template) == template else template

    def _of_run(self) -> ContextOptimizerCompressor:
        """Return the compressor with the settings of the run that is going on."""
        given = run_settings(None, known=COMPRESSOR_SETTINGS)
        if "share" in given or "max_tokens" in given:
            given = {"share": None, "max_tokens": None, **given}
        if not given:
            return self
        with typed_errors():
            return self.with_changes(**given)

    def _compressed_and_reported(self, documents: Sequence[Document], query: str) -> Compression:
        of_run = self._of_run()
        compression = of_run.compressed(documents, query)
        if compression.lost_everything:
            message = (
                f"no document fits into the budget of {of_run.budget_tokens} tokens, so that none is returned; raise "
                "`max_tokens` or `share`, or shorten `document_prompt`"
            )
            warn_once(message, BudgetWarning, stacklevel=3)
        if self.on_report is not None:
            self.on_report(compression.report)
        return compression

    def compressed(self, documents: Sequence[Document], query: str) -> Compression:
        """Return the documents that fit and the report. Nothing is sent or logged."""
        if not isinstance(query, str):
            message = f"`query` must be a string, got {type(query).__name__}; give '' to leave the choice to the scores"
            raise TypeError(message)
        if not is_list(documents):
            message = f"`documents` must be a list of LangChain documents, got {type(documents).__name__}"
            raise TypeError(message)
        rendering = TemplatedDocuments(
            originals=documents, template=self.document_prompt, separator=self.document_separator
        )
        return compress(rendering, query, self._budget, self._model_budget, self.documents, self.score_key)
