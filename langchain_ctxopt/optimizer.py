"""The optimizer as a step of a LangChain chain, before the prompt or after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from ctxopt_core import (
    ChatRenderer,
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    DocumentPolicy,
    FitReport,
    FittedContext,
    HistoryPolicy,
    RequestRenderer,
    Shares,
    TokenCounter,
)
from ctxopt_core.adapters import (
    BudgetSettings,
    FitOptions,
    ModelBudget,
    ModelInfo,
    OnUnknownModel,
    Overflow,
    copy_with,
    count_request,
    fit_with,
    fitted_with,
    in_worker,
    plain_fields,
)
from langchain_ctxopt.component_keys import USUAL_KEYS
from langchain_ctxopt.dict_input import DictInput
from langchain_ctxopt.documents import ScoreOf
from langchain_ctxopt.errors import (
    RequestOverflowError,
    RetriesWhatMayChange,
    TypedConstruction,
    remedies,
    typed_errors,
)
from langchain_ctxopt.events import asend_report, send_report
from langchain_ctxopt.message_input import MessageInput
from langchain_ctxopt.model_settings import is_configurable, optional_settings
from langchain_ctxopt.prompt_renderer import PromptRenderer
from langchain_ctxopt.run_settings import reject_arguments, run_settings
from langchain_ctxopt.setting_fields import (
    DocumentSettings,
    DocumentTemplate,
    HistorySettings,
    Limit,
    Prompt,
    Reserve,
    SectionLimits,
    ShareSettings,
    ToolSchemas,
    known_settings_only,
)

Fitter: TypeAlias = Callable[[ContextRequest, ContextBudget, TokenCounter, RequestRenderer, FitOptions], FittedContext]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizedInput:
    """What `ContextOptimizer.fit` returns.

    Args:
        value: The input, in the kind in which it was given, now within the budget; the identical object if it fitted.
        report: What was kept, cut and dropped, and why.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> from langchain_ctxopt import ContextOptimizer
        >>> messages = [HumanMessage("My order is 4711."), AIMessage("Sent! " * 20), HumanMessage("And the invoice?")]
        >>> optimized = ContextOptimizer(max_input_tokens=110, token_counter=len).fit(messages)
        >>> optimized.report.tokens_before, optimized.report.tokens_after
        (182, 108)
        >>> optimized.value[2] is messages[2]
        True
    """

    value: Any
    report: FitReport


class ContextOptimizer(TypedConstruction, RetriesWhatMayChange, RunnableSerializable[Any, Any]):
    """Fits the input of a chain's prompt, or of its model, into the model's context window.

    Before the prompt it takes and returns the prompt's input dict: documents, history, query and system prompt are each
    cut to their allowance, and everything else is counted by rendering the real prompt. After the prompt, or on any
    list of messages, it takes and returns a `PromptValue`, a list or a string. What fits is returned as the identical
    object.

    Attributes:
        model: A model name or a LangChain model: it decides window, answer reserve, tokenizer and bound tool schemas.
        prompt: The prompt that follows. Needed for dict input.
        tools: Tool schemas that are sent with every request, beside those that are bound to the model.
        context_window: Input and answer together, in tokens; overrides what the model says.
        max_input_tokens: The most tokens that a request may have.
        output_reserve: Tokens kept free for the answer; by default the model's own `max_tokens`, else 4,096 but at
            most an eighth of the window. 0 when only `max_input_tokens` is given.
        safety_margin: Further tokens kept free.
        target_tokens: A further limit of a request, in tokens, below what the model allows.
        trigger: The part of the input budget from which on requests are cut; see `ContextBudget`.
        shares: Guaranteed percentages of the components, as `Shares` or a mapping.
        documents: How documents are chosen, as `DocumentPolicy` or a mapping.
        history: How the conversation is trimmed, as `HistoryPolicy` or a mapping.
        protect: Components that may not be cut: `query`, `system`.
        ranking_query: What documents and history are ranked by, where that is not the query.
        overflow: `error` or `empty`; see `ctxopt_core.fit`.
        query_key: Key of the query; by default the first of `question`, `query`, `input` in the input.
        documents_key: Key of the documents; by default the first of `context`, `documents`.
        history_key: Key of the messages; by default the first of `chat_history`, `history`, `messages`.
        system_key: Key of a system prompt; by default the first of `system`, `system_prompt`.
        sections: The most tokens of further lists of strings or documents, by their key, newest entry last; see
            `ctxopt_core.Section`.
        documents_as: `documents` returns documents; `text` returns them rendered and joined, ready for the template.
        document_prompt: Formats one document, for counting and for `text`. A string is taken as a template.
        document_separator: What joins two documents.
        score_key: Where a document's score is: a metadata key or a function; by default `relevance_score` or `score`.
        token_counter: Counts tokens in place of the model's tokenizer: what `ctxopt_core.counter_for` takes.
        prices: Custom prices for the cost in the report, by model id: USD for a million input tokens.
        attachment_tokens: The tokens of an attachment of unknown size, by its kind.
        on_unknown_model: Whether a model whose window is not known is an error, or has the smallest known window.
        catalog: A custom table of windows, which is asked before the built-in one: a mapping or a function of an id.
        on_report: Called with the report of each fit.

    Raises:
        ValueError: A setting is out of its range, or none of model, window and limit is given.
        RequestOverflowError: The model leaves nothing for the input.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.prompts import ChatPromptTemplate
        >>> from langchain_ctxopt import ContextOptimizer
        >>> prompt = ChatPromptTemplate([("system", "Answer from: {context}"), ("human", "{question}")])
        >>> optimizer = ContextOptimizer(
        ...     prompt=prompt, max_input_tokens=110, documents_as="text", token_counter=len  # a character is a token
        ... )
        >>> chunks = ["Rome is old and large.", "Paris is the capital of France.", "Oslo is in Norway."]
        >>> given = {"question": "What is the capital of France?", "context": [Document(chunk) for chunk in chunks]}
        >>> optimizer.invoke(given)["context"]
        'Paris is the capital of France.'
        >>> chain = optimizer | prompt  # | model
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, protected_namespaces=())
    _known = model_validator(mode="before")(known_settings_only)

    model: Any = None
    prompt: Prompt = None
    tools: ToolSchemas = ()
    context_window: Limit = None
    max_input_tokens: Limit = None
    output_reserve: Reserve = None
    safety_margin: Reserve = 0
    target_tokens: Limit = None
    trigger: float = 1.0
    shares: ShareSettings = Shares()
    documents: DocumentSettings = DocumentPolicy()
    history: HistorySettings = HistoryPolicy()
    protect: tuple[str, ...] = ()
    ranking_query: str = ""
    overflow: Overflow = "error"
    query_key: str | None = None
    documents_key: str | None = None
    history_key: str | None = None
    system_key: str | None = None
    sections: SectionLimits = None
    documents_as: Literal["documents", "text"] = "documents"
    document_prompt: DocumentTemplate = None
    document_separator: str | None = None
    score_key: str | ScoreOf | None = None
    token_counter: Any = Field(default=None, exclude=True, repr=False)
    prices: Mapping[str, Any] | None = None
    attachment_tokens: Mapping[str, int] | None = None
    on_unknown_model: OnUnknownModel = "fallback"
    catalog: Any = Field(default=None, exclude=True, repr=False)
    on_report: Callable[[FitReport], None] | None = Field(default=None, exclude=True, repr=False)

    _model_info: ModelInfo | None = PrivateAttr()
    _model_budget: ModelBudget = PrivateAttr()
    _options: FitOptions = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Find out window, reserve, tokenizer and tools once."""
        super().model_post_init(context)
        self._options = FitOptions(
            documents=self.documents,
            history=self.history,
            protect=frozenset(self.protect),
            ranking_query=self.ranking_query,
            overflow=self.overflow,
        )
        limits = BudgetSettings.of(self)
        self._model_info = optional_settings(self.model, gives_limit=limits.gives_limit)
        self._model_budget = limits.model_budget(self._model_info, self.tools)

    @property
    def budget(self) -> ContextBudget:
        """The budget that inputs are fitted into."""
        return self._model_budget.budget

    def fit(self, value: Any, **changes: Any) -> OptimizedInput:
        """Fit one input and return it together with the report.

        Args:
            value: The prompt's input dict, a `PromptValue`, a list of messages, or a string.
            changes: Other settings, for this call alone.

        Raises:
            RequestOverflowError: What may not be cut is larger than the input budget.
            ValueError: A dict was given without `prompt`, or has none of the keys.
            TypeError: The input is of no kind that a prompt or a model takes.
        """
        if changes:
            return self.with_changes(**changes).fit(value)
        optimized = self._fitted(value)
        if self.on_report is not None:
            self.on_report(optimized.report)
        return optimized

    def plan(self, value: Any, **changes: Any) -> FitReport:
        """Return the report of what `fit` would do. Nothing is changed or logged, and `on_report` is not called."""
        if changes:
            return self.with_changes(**changes).plan(value)
        return self._fitted(value, fitted_with).report

    def count_tokens(self, value: Any) -> int:
        """Return how many tokens an input has as it is, rendered and with the tool schemas."""
        given, renderer = self._read(value)
        return count_request(given.request(self._model_budget.schemas), self._model_budget.counter, renderer)

    def within_budget(self, value: Any) -> bool:
        """Return whether an input is within the input budget as it is."""
        return self.count_tokens(value) <= self.budget.input_budget

    def with_changes(self, **changes: Any) -> ContextOptimizer:
        """Return a copy with other settings, validated as at construction."""
        return copy_with(self, changes)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Return the input within the budget, in the kind in which it was given."""
        reject_arguments(kwargs)
        return self._call_with_config(self._run, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Return what `invoke` returns; the work is done in a worker thread."""
        reject_arguments(kwargs)
        return await self._acall_with_config(self._arun, input, config)

    def _run(self, value: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> Any:
        optimized = self._of_run(config).fit(value)
        send_report(optimized.report, run_manager.get_child())
        return optimized.value

    async def _arun(self, value: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig) -> Any:
        optimized = await in_worker(lambda: self._of_run(config).fit(value))
        await asend_report(optimized.report, run_manager.get_child())
        return optimized.value

    def _of_run(self, config: RunnableConfig) -> ContextOptimizer:
        """Return the optimizer with the settings of a run, and with the model that the run configures."""
        settings = run_settings(config)
        configured = bool(config.get("configurable")) and is_configurable(self.model)
        if not settings and not configured:
            return self
        with typed_errors():
            return self.with_changes(**settings)

    def _fitted(self, value: Any, fitter: Fitter = fit_with) -> OptimizedInput:
        given, renderer = self._read(value)
        try:
            request = given.request(self._model_budget.schemas)
            fitted = fitter(request, self.budget, self._model_budget.counter, renderer, self._options)
            return OptimizedInput(value=given.output(fitted), report=fitted.report)
        except ContextBudgetError as error:
            raise RequestOverflowError.of(
                error.with_remedies(remedies(BudgetSettings.of(self), self.budget, self._model_info))
            ) from error

    def _read(self, value: Any) -> tuple[DictInput | MessageInput, RequestRenderer]:
        if not isinstance(value, dict):
            return MessageInput.of(value), ChatRenderer()
        if self.prompt is None:
            message = (
                "a dict can only be fitted with the prompt that it is meant for; pass `prompt=` to ContextOptimizer, "
                "or place it after the prompt"
            )
            raise ValueError(message)
        given = DictInput.of(
            value,
            self.prompt,
            named={component: getattr(self, f"{component}_key") for component in USUAL_KEYS},
            section_limits=self.sections or {},
            score_key=self.score_key,
            as_text=self.documents_as == "text",
            template=self.document_prompt,
            separator=self.document_separator,
        )
        return given, PromptRenderer.of(self.prompt, given)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True: LangChain can store and load the optimizer."""
        return True

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The settings that are stored as plain values; a token counter that is a function cannot be loaded again."""
        counter = {} if self.token_counter is None else {"token_counter": self.token_counter}
        return {**counter, **{name: plain_fields(getattr(self, name)) for name in ("shares", "documents", "history")}}
