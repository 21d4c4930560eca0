"""An LLM that fits every request into its own context window before it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.constants import DEFAULT_NUM_OUTPUTS
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM

from ctxopt_core.adapters import BudgetSettings, OptimizedModel, empty_model, in_worker
from llamaindex_ctxopt.guard.guarded_call import GuardedCall
from llamaindex_ctxopt.guard.request_in_flight import InFlight, in_flight
from llamaindex_ctxopt.models.model_settings import UNLIMITED_ANSWER, assumed_metadata, metadata_of, sent_answer_of
from llamaindex_ctxopt.settings import FitSettings, FitSettingValues

if TYPE_CHECKING:
    _LLM = LLM
else:
    _LLM = object  # the model's own class brings the base class, with the fields that it has changed

_OWNER = "with_optimizer"
_STATE = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
"""The attributes in which pydantic keeps the state of a model."""


def with_optimizer(llm: LLM, **settings: Unpack[FitSettingValues]) -> OptimizedLLM:
    """Return an LLM like `llm` that fits every request into the context window before it is sent.

    It is still an LLM of the same class, with the same fields and clients: `chat`, `complete`, their streaming and
    asynchronous forms, function calling and structured prediction work as before. Whatever calls the LLM is guarded:
    engines, query planning, every step of an agent. Messages, tool schemas and response format of a call are counted
    together. A request that fits is sent as it is. Neither the given LLM nor what is stored elsewhere, such as an
    agent's scratchpad or a memory, is changed. `to_dict` returns the LLM alone, without the settings.

    Args:
        llm: The LLM. The settings of one that is optimized already are replaced.
        settings: How requests are fitted; see `FitSettingValues`. By default the query may not be cut: the last user
            message, or the prompt of `complete`.

    Returns:
        The LLM, with `last_report`, `count_tokens`, `within_budget` and `with_changes` beside its own methods.

    Raises:
        TypeError: `llm` is no LLM or a structured one, or there is no such setting.
        ValueError: A setting is out of its range, or neither the LLM nor the settings say how large the window is.

    Example:
        >>> from llama_index.core.llms import ChatMessage, MockLLM
        >>> from llamaindex_ctxopt import with_optimizer
        >>> llm = with_optimizer(MockLLM(), max_input_tokens=60, token_counter=len)
        >>> chat = [ChatMessage(role="user" if i % 2 == 0 else "assistant", content=f"Line {i}") for i in range(9)]
        >>> llm.within_budget(chat)
        False
        >>> answer = llm.chat(chat)  # the provider gets the messages that fit
        >>> llm.last_report.history.kept, llm.last_report.tokens_after
        (3, 55)
    """
    if isinstance(llm, StructuredLLM):
        message = (
            "`llm` is a StructuredLLM, which asks the LLM inside it with a schema of its own; optimize that one first: "
            "with_optimizer(llm).as_structured_llm(...)"
        )
        raise TypeError(message)
    if not isinstance(llm, LLM):
        message = f"`llm` must be a LlamaIndex LLM, got {type(llm).__name__}"
        raise TypeError(message)
    # LlamaIndex's own state is for pickling: it leaves out clients and callbacks.
    state = BaseModel.__getstate__(llm.model_copy())
    return _optimized(state, _plain_class(llm), FitSettings.of(settings, _OWNER))


def guarded_view(llm: LLM, **settings: Unpack[FitSettingValues]) -> OptimizedLLM:
    """Return `llm` with a guard in front of it: both have the same state, clients and callbacks included.

    The arguments are those of `with_optimizer`, which returns a copy. An engine whose model is replaced by such a view
    still uses the model that it was given.
    """
    state = {name: getattr(llm, name) for name in _STATE}
    return _optimized(state, _plain_class(llm), FitSettings.of(settings, _OWNER))


class OptimizedLLM(OptimizedModel, _LLM):
    """What `with_optimizer` adds to the class of an LLM.

    Its methods have no callback decorators of LlamaIndex: those of the LLM's own class have, and report what is sent.
    """

    plain_class: ClassVar[type[LLM]]
    fit_settings: ClassVar[FitSettings]

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata by which LlamaIndex plans requests: those of the LLM, within the limits of the settings.

        Where the LLM cannot say them, and the settings give a limit, that limit and its class say them.
        """
        limits = self.fit_settings.limits
        own = metadata_of(self)
        if own is None:
            own = assumed_metadata(self, limits) if limits.gives_limit else self.plain_metadata
        return planned_metadata(own, limits, sent_answer_of(self))

    @property
    def plain_metadata(self) -> LLMMetadata:
        """The metadata that the LLM itself reports."""
        return super().metadata  # type: ignore[safe-super]

    def with_changes(self, **changes: Unpack[FitSettingValues]) -> OptimizedLLM:
        """Return a copy with other settings, validated as at construction."""
        settings = {**self.fit_settings.as_dict(), **changes}
        state = BaseModel.__getstate__(self.model_copy())
        return _optimized(state, self.plain_class, FitSettings.of(settings, _OWNER))

    def count_tokens(self, given: Sequence[ChatMessage] | str, *, formatted: bool = False, **arguments: Any) -> int:
        """Return the tokens of a request as it is sent.

        Args:
            given: The messages of a `chat`, or the prompt of a `complete`.
            formatted: Whether the prompt is sent as it is.
            arguments: The other arguments of the call, such as `tools`.
        """
        return self.guarded_call(arguments).count(given, formatted=formatted)

    def within_budget(self, given: Sequence[ChatMessage] | str, *, formatted: bool = False, **arguments: Any) -> bool:
        """Return whether a request is within the input budget; the arguments are those of `count_tokens`."""
        call = self.guarded_call(arguments)
        return call.count(given, formatted=formatted) <= call.model_budget.budget.input_budget

    def guarded_call(self, arguments: Mapping[str, Any]) -> GuardedCall:
        """Return a call with these arguments, which are all but its messages or its prompt."""
        return GuardedCall.of(self, self.fit_settings, arguments)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Fit the messages and chat."""
        fitted, request = self._fitted(messages, kwargs)
        with request.marked():
            return super().chat(fitted, **kwargs)  # type: ignore[safe-super]

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return what `chat` returns; the messages are fitted in a worker thread."""
        fitted, request = await in_worker(self._fitted, messages, kwargs)
        with request.marked():
            return await super().achat(fitted, **kwargs)  # type: ignore[safe-super]

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Fit the messages and stream the answer."""
        fitted, request = self._fitted(messages, kwargs)
        with request.marked():
            return request.stream(super().stream_chat(fitted, **kwargs))  # type: ignore[safe-super]

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Stream what `stream_chat` streams; the messages are fitted in a worker thread."""
        fitted, request = await in_worker(self._fitted, messages, kwargs)
        with request.marked():
            return request.astream(await super().astream_chat(fitted, **kwargs))  # type: ignore[safe-super]

    def complete(self, prompt: str, *args: Any, **kwargs: Any) -> CompletionResponse:
        """Fit the prompt and complete it; all other arguments are passed on as they are."""
        fitted, request = self._fitted_prompt(prompt, args, kwargs)
        with request.marked():
            return super().complete(fitted, *args, **kwargs)  # type: ignore[safe-super]

    async def acomplete(self, prompt: str, *args: Any, **kwargs: Any) -> CompletionResponse:
        """Return what `complete` returns; the prompt is fitted in a worker thread."""
        fitted, request = await in_worker(self._fitted_prompt, prompt, args, kwargs)
        with request.marked():
            return await super().acomplete(fitted, *args, **kwargs)  # type: ignore[safe-super]

    def stream_complete(self, prompt: str, *args: Any, **kwargs: Any) -> CompletionResponseGen:
        """Fit the prompt and stream its completion."""
        fitted, request = self._fitted_prompt(prompt, args, kwargs)
        with request.marked():
            return request.stream(super().stream_complete(fitted, *args, **kwargs))  # type: ignore[safe-super]

    async def astream_complete(self, prompt: str, *args: Any, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Stream what `stream_complete` streams; the prompt is fitted in a worker thread."""
        fitted, request = await in_worker(self._fitted_prompt, prompt, args, kwargs)
        with request.marked():
            return request.astream(await super().astream_complete(fitted, *args, **kwargs))  # type: ignore[safe-super]

    def _fitted(
        self, given: Sequence[ChatMessage] | str, arguments: Mapping[str, Any], *, formatted: bool = False
    ) -> tuple[Any, InFlight]:
        if (current := in_flight(self, given)) is not None:
            return given, current
        fitted, request, report = self.guarded_call(arguments).fit(given, formatted=formatted)
        self._keep_report(self.fit_settings.report(report))
        return fitted, request

    def _fitted_prompt(
        self, prompt: str, positional: tuple[Any, ...], arguments: Mapping[str, Any]
    ) -> tuple[str, InFlight]:
        formatted = bool(positional[0] if positional else arguments.get("formatted"))
        return self._fitted(prompt, arguments, formatted=formatted)


def _plain_class(llm: LLM) -> type[LLM]:
    return llm.plain_class if isinstance(llm, OptimizedLLM) else type(llm)


def _optimized(state: dict[Any, Any], plain: type[LLM], settings: FitSettings) -> OptimizedLLM:
    made = empty_model(OptimizedLLM, plain, settings)
    BaseModel.__setstate__(made, state)
    made.guarded_call({})  # an LLM without a window is an error now, not at the first call
    return made


def planned_metadata(own: LLMMetadata, settings: BudgetSettings, sent_answer: int | None = None) -> LLMMetadata:
    """Return the metadata of a model within the limits of `settings`, so that LlamaIndex packs as much as will fit.

    Many integrations report a `num_output` as large as the window for models with long answers. In LlamaIndex's
    arithmetic that leaves no token for the question, so at most half of the window is reported. A limit that goes with
    each request is reported as it is, since providers check both together.

    Args:
        own: The metadata that the model reports; returned as they are where there is nothing to change.
        settings: The limits of the user.
        sent_answer: The answer limit that goes with each request, in tokens.
    """
    window = settings.context_window or own.context_window
    reported = own.num_output if settings.output_reserve is None else settings.output_reserve
    answer = sent_answer if sent_answer and settings.output_reserve is None else min(reported, window // 2)
    kept_free = DEFAULT_NUM_OUTPUTS if answer == UNLIMITED_ANSWER else answer
    limits = [settings.target_tokens, settings.max_input_tokens, window - kept_free - settings.safety_margin]
    smallest = min(limit for limit in limits if limit is not None)
    planned = {"context_window": smallest + kept_free, "num_output": answer}
    if planned == {"context_window": own.context_window, "num_output": own.num_output}:
        return own
    return own.model_copy(update=planned)
