"""A chat model that fits every request into its own context window before it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig

from ctxopt_core.adapters import OptimizedModel, RequestSettings, empty_model
from langchain_ctxopt.errors import RetriesWhatMayChange
from langchain_ctxopt.optimizer import ContextOptimizer
from langchain_ctxopt.per_call_optimizer import PerCallOptimizer
from langchain_ctxopt.provider_calls import FittedMessages, fitting_methods
from langchain_ctxopt.run_settings import RUN_KEY, with_run_settings

if TYPE_CHECKING:
    _ChatModel = BaseChatModel
else:
    _ChatModel = object  # the model's own class brings the base class, with the fields that it has changed

_OWNER = "with_optimizer"
_RUNTIME_ARGUMENTS = ("stop", "run_manager")


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
            "alternatives, retries or fallbacks; one that a run configures is fitted by `ContextOptimizer(model=...)` "
            "in front of it, or by `ContextOptimizerMiddleware` in an agent"
        )
        raise TypeError(message)
    plain = model.plain_class if isinstance(model, OptimizedChatModel) else type(model)
    return _optimized(model, plain, PerCallOptimizer.of(settings, _OWNER))


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
        run = arguments.pop(RUN_KEY, {})
        return self.fit_settings.optimizer_for(self.bind(**arguments) if arguments else self, run=run)

    def __init_subclass__(cls, **options: Any) -> None:
        """Put the fitting in front of the methods of the model's own class that ask the provider."""
        super().__init_subclass__(**options)
        plain = next((base for base in cls.__mro__ if base is not cls and issubclass(base, BaseChatModel)), None)
        for name, method in ({} if plain is None else fitting_methods(plain)).items():
            setattr(cls, name, method)

    def invoke(self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:  # noqa: A002
        """Return the answer to the request that fits."""
        return super().invoke(input, config, **with_run_settings(config, kwargs))

    async def ainvoke(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Return what `invoke` returns; the request is fitted in a worker thread."""
        return await super().ainvoke(input, config, **with_run_settings(config, kwargs))

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """Stream the answer to the request that fits."""
        yield from super().stream(input, config, **with_run_settings(config, kwargs))

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """Stream what `stream` streams; the request is fitted in a worker thread."""
        async for chunk in super().astream(input, config, **with_run_settings(config, kwargs)):
            yield chunk

    def stream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Stream events; version `v3` calls the model without `stream`."""
        given = with_run_settings(config, kwargs) if kwargs.get("version") == "v3" else kwargs
        return super().stream_events(input, config, **given)

    def astream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Stream events; version `v3` calls the model without `astream`."""
        if kwargs.get("version") == "v3":
            return self._astream_events_v3(input, config, **with_run_settings(config, kwargs))
        return super().astream_events(input, config, **kwargs)

    async def _astream_events_v3(self, given: Any, config: RunnableConfig | None, **kwargs: Any) -> Any:
        return await super().astream_events(given, config, **kwargs)

    def fitted_messages(self, messages: list[BaseMessage], arguments: Mapping[str, Any]) -> FittedMessages:
        """Return the messages of one request that fit; what was fitted already is returned as it is.

        Args:
            messages: The messages.
            arguments: The arguments of the call.

        Raises:
            RequestOverflowError: What may not be cut is larger than the input budget.
        """
        if isinstance(messages, FittedMessages):
            return messages
        decisive = {name: value for name, value in arguments.items() if name not in _RUNTIME_ARGUMENTS}
        optimized = self.optimizer(**decisive).fit(messages)
        self._keep_report(optimized.report)
        return FittedMessages(optimized.value)

    def sent_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call without the settings of its run, which are for the fitting alone."""
        return {name: value for name, value in arguments.items() if name != RUN_KEY}


def _optimized(model: BaseChatModel, plain: type[BaseChatModel], fitting: PerCallOptimizer) -> OptimizedChatModel:
    # `plain` makes the class concrete.
    copied = empty_model(OptimizedChatModel, plain, fitting)  # type: ignore[type-abstract]
    copied.__setstate__(model.model_copy().__getstate__())
    copied.optimizer()  # a model without a window is an error now, not at the first call
    return copied
