"""A chat model that fits every request into its own context window before it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.callbacks import Callbacks
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableConfig

from ctxopt_core.adapters import OptimizedModel, RequestSettings, empty_model, in_worker
from langchain_ctxopt.errors import RetriesWhatMayChange
from langchain_ctxopt.optimizer import ContextOptimizer
from langchain_ctxopt.per_call_optimizer import PerCallOptimizer

if TYPE_CHECKING:
    _ChatModel = BaseChatModel
else:
    _ChatModel = object  # the model's own class brings the base class, with the fields that it has changed

_OWNER = "with_optimizer"


def with_optimizer(model: BaseChatModel, **settings: Unpack[RequestSettings]) -> OptimizedChatModel:
    """Return a chat model like `model` that fits every request into the context window before it is sent.

    It is still a model of the same class, with the same fields, clients and arguments: `invoke`, `stream`, `batch`,
    their asynchronous forms, `bind_tools` and `with_structured_output` work as before. System prompt, messages, tool
    schemas and response format of a call are counted together, in the window of the model as it is called. What fits
    is sent as it is. `last_report` is the report of the last request. The model that was given is not changed. What
    LangChain's `dumps` stores is the model alone.

    Args:
        model: The chat model itself; tools and other arguments are bound to what is returned. The settings of a model
            that is optimized already are replaced.
        settings: How requests are fitted; see `RequestSettings`. By default the query may not be cut.

    Raises:
        TypeError: `model` is no chat model, or there is no such setting.
        ValueError: A setting is out of its range, or neither model nor settings say how large the window is.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> from langchain_ctxopt import with_optimizer
        >>> fake = FakeListChatModel(responses=["It is attached."])
        >>> model = with_optimizer(fake, max_input_tokens=110, token_counter=len)  # a character is a token
        >>> messages = [HumanMessage("My order is 4711."), AIMessage("Sent! " * 20), HumanMessage("And the invoice?")]
        >>> model.invoke(messages).text
        'It is attached.'
        >>> model.last_report.tokens_before, model.last_report.tokens_after
        (182, 108)
    """
    if not isinstance(model, BaseChatModel):
        message = (
            f"`model` must be a chat model, got {type(model).__name__}; optimize the model first, then bind tools, "
            "alternatives, retries or fallbacks"
        )
        raise TypeError(message)
    plain = model.plain_class if isinstance(model, OptimizedChatModel) else type(model)
    return _optimized(model, plain, PerCallOptimizer.of(settings, _OWNER))


class FittedMessages(list[BaseMessage]):
    """Messages that were fitted already: a model that cannot stream passes them from `stream` to `generate`."""

    __slots__ = ()


class FittedPrompt(ChatPromptValue):
    """A prompt that was fitted already."""

    def to_messages(self) -> list[BaseMessage]:
        """Return its messages, marked as fitted."""
        return FittedMessages(self.messages)


class OptimizedChatModel(RetriesWhatMayChange, OptimizedModel, _ChatModel):
    """What `with_optimizer` adds to the class of a chat model."""

    plain_class: ClassVar[type[BaseChatModel]]
    fit_settings: ClassVar[PerCallOptimizer]

    def with_changes(self, **changes: Unpack[RequestSettings]) -> OptimizedChatModel:
        """Return a copy with other settings, validated as at construction."""
        settings = {**self.fit_settings.settings, **changes}
        return _optimized(self, self.plain_class, PerCallOptimizer.of(settings, _OWNER))

    def count_tokens(self, given: LanguageModelInput) -> int:
        """Return how many tokens an input has when this model is sent it."""
        return self.optimizer().count_tokens(self._convert_input(given))

    def within_budget(self, given: LanguageModelInput) -> bool:
        """Return whether an input is within the model's input budget."""
        return self.optimizer().within_budget(self._convert_input(given))

    def optimizer(self, **arguments: Any) -> ContextOptimizer:
        """Return the optimizer of one call.

        Args:
            arguments: Arguments of the call, such as the ones that `bind_tools` binds.
        """
        return self.fit_settings.optimizer_for(self.bind(**arguments) if arguments else self)

    def generate(
        self,
        messages: list[list[BaseMessage]],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Fit each request and generate the answers."""
        return super().generate(self._fitted(messages, kwargs), stop, callbacks, **kwargs)

    async def agenerate(
        self,
        messages: list[list[BaseMessage]],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return what `generate` returns; requests are fitted in a worker thread."""
        fitted = await in_worker(self._fitted, messages, kwargs)
        return await super().agenerate(fitted, stop, callbacks, **kwargs)

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """Fit the request and stream the answer."""
        yield from super().stream(self._fitted_prompt(input, kwargs), config, **kwargs)

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """Stream what `stream` streams; the request is fitted in a worker thread."""
        prompt = await in_worker(self._fitted_prompt, input, kwargs)
        async for chunk in super().astream(prompt, config, **kwargs):
            yield chunk

    def stream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Stream events; version `v3` calls the model without `stream`, so that the request is fitted here."""
        if kwargs.get("version") == "v3":
            input = self._fitted_prompt(input, kwargs)  # noqa: A001
        return super().stream_events(input, config, **kwargs)

    def astream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Stream events; version `v3` calls the model without `astream`, so that the request is fitted here."""
        if kwargs.get("version") == "v3":
            return self._astream_events_of_fitted(input, config, **kwargs)
        return super().astream_events(input, config, **kwargs)

    async def _astream_events_of_fitted(self, given: Any, config: RunnableConfig | None, **kwargs: Any) -> Any:
        prompt = await in_worker(self._fitted_prompt, given, kwargs)
        return await super().astream_events(prompt, config, **kwargs)

    def _fitted_prompt(self, given: LanguageModelInput, arguments: Mapping[str, Any]) -> FittedPrompt:
        [messages] = self._fitted([self._convert_input(given).to_messages()], arguments)
        return FittedPrompt(messages=messages)

    def _fitted(self, requests: list[list[BaseMessage]], arguments: Mapping[str, Any]) -> list[list[BaseMessage]]:
        optimizer = self.optimizer(**arguments)
        return [
            messages if isinstance(messages, FittedMessages) else self._fit(optimizer, messages)
            for messages in requests
        ]

    def _fit(self, optimizer: ContextOptimizer, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        optimized = optimizer.fit(messages)
        self._keep_report(optimized.report)
        return optimized.value  # type: ignore[no-any-return]


def _optimized(model: BaseChatModel, plain: type[BaseChatModel], fitting: PerCallOptimizer) -> OptimizedChatModel:
    # `plain` makes the class concrete.
    copied = empty_model(OptimizedChatModel, plain, fitting)  # type: ignore[type-abstract]
    copied.__setstate__(model.model_copy().__getstate__())
    copied.optimizer()  # a model without a window is an error now, not at the first call
    return copied
