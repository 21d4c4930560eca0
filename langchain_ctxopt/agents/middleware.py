"""The middleware of a LangChain agent: each model call receives messages that fit, the state keeps all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.messages import SystemMessage
from langchain_core.runnables.config import ensure_config

from ctxopt_core import FitReport
from ctxopt_core.adapters import RequestSettings, in_worker
from langchain_ctxopt.errors import RequestOverflowError
from langchain_ctxopt.events import REPORT_EVENT, asend_report, send_report
from langchain_ctxopt.optimizer import ContextOptimizer
from langchain_ctxopt.per_call_optimizer import PerCallOptimizer
from langchain_ctxopt.run_settings import run_settings

try:
    from langchain.agents.middleware import types as _types
    from langchain.agents.middleware.types import AgentMiddleware, ExtendedModelResponse, ModelRequest, ModelResponse

    from langchain_ctxopt.agents.call_schemas import schemas_of_call
    from langchain_ctxopt.agents.refusals import Refusal, final_refusal, refusal_in, refusals_are_final
    from langchain_ctxopt.agents.strategy_state import ProgressState, progress_in, with_progress
except ImportError as error:
    _missing = "ContextOptimizerMiddleware needs LangChain's agents; install them: pip install 'ctxopt-core[agents]'"
    raise ImportError(_missing, name="langchain") from error

if TYPE_CHECKING:
    from langchain.agents import AgentState

    _Middleware = AgentMiddleware[AgentState[Any], Any, Any]
else:
    _Middleware = AgentMiddleware

# A part of the tokens of a refused request. How far the provider's count is above ours is not known: a larger part may
# be refused again, and that is raised; a smaller one drops more than it must.
RETRY_FACTOR = 0.75
# A part of what a refusal's figures allow: an assumption. What is kept may have more tokens, by the provider's count,
# than what is left out, and with a larger part the second request is refused more often.
FIGURES_PART = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCall:
    """One model call that fits.

    Args:
        request: The request; the identical one if it fitted.
        report: What was kept, cut and dropped, and why.
        schemas: Tool schemas and response format that were counted with it.
        answer_tokens: The tokens that are kept free for the answer.
        progress: The progress of a custom history strategy; None where there is none.
    """

    request: ModelRequest[Any]
    report: FitReport
    schemas: tuple[Any, ...]
    answer_tokens: int
    progress: dict[str, Any] | None = None


class ContextOptimizerMiddleware(_Middleware):
    """Compaction for agents: fits the messages of each model call into the context window of the model that is called.

    Only what the model receives is changed: the agent's state, and so its checkpoint, keeps every message. System
    prompt, messages, tool schemas and response format are counted together. A request that fits is passed on as the
    identical object. If the provider still refuses a request because of its length, it is fitted once more, by the
    figures of the refusal or to `retry_factor` of the tokens that it had, and sent again; a second refusal is raised.

    A run brings settings of its own in `config["configurable"]["ctxopt"]`, or as `ctxopt` in its context: limits,
    `history`, `ranking_query`.

    A custom history strategy keeps its progress in the agent's state, under `ctxopt_progress`, which neither the
    agent's input nor its output shows.

    Put it last in the list of middleware, which makes it the innermost: then it sees the model that a fallback or a
    router chose, and the tools that a selection left. Each report goes to `on_report`, and to callbacks as the event
    `ctxopt_report`.

    Args:
        retry_factor: The tokens of the second request as a part of those of the refused one, above 0 and below 1,
            where the refusal has no figures; None never sends a request again.
        stream_reports: Whether reports are also written to the agent's stream of the mode `custom`, each as
            `{"ctxopt_report": ...}`.
        settings: How requests are fitted; see `RequestSettings`. By default the query may not be cut, and the window is
            that of the model that is called.

    Raises:
        TypeError: There is no such setting.
        ValueError: A setting is out of its range.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> from langchain_ctxopt import ContextOptimizerMiddleware
        >>> reports = []
        >>> middleware = ContextOptimizerMiddleware(max_input_tokens=110, token_counter=len, on_report=reports.append)
        >>> agent = create_agent(FakeListChatModel(responses=["It is attached."]), middleware=[middleware])
        >>> messages = [HumanMessage("My order is 4711."), AIMessage("Sent! " * 20), HumanMessage("And the invoice?")]
        >>> len(agent.invoke({"messages": messages})["messages"])
        4
        >>> reports[0].tokens_before, reports[0].tokens_after
        (182, 108)
    """

    def __init__(
        self,
        *,
        retry_factor: float | None = RETRY_FACTOR,
        stream_reports: bool = False,
        **settings: Unpack[RequestSettings],
    ) -> None:
        super().__init__()
        self._retry_factor = _checked_factor(retry_factor)
        self._stream_reports = stream_reports
        self._fitting = PerCallOptimizer.of(settings, type(self).__name__)
        self._has_progress = self._fitting.has_custom_strategy
        if self._has_progress:
            self.state_schema = ProgressState

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model with messages that fit.

        Raises:
            RequestOverflowError: What may not be cut is larger than the input budget, or the provider refused the
                request for its length, and the smaller one too. A refusal that says itself that another try cannot
                succeed is raised as it is.
        """
        fitted = self._fitted(request)
        self._send_report(fitted)
        try:
            return with_progress(handler(fitted.request), request.state, fitted.progress)
        except Exception as error:  # clients' errors have no class in common; all but refusals are raised
            refusal = refusal_in(error)
            if self._retry_factor is None or refusal is None:
                raise
            smaller = self._refitted(request, fitted, self._smaller(fitted, refusal), error)
        self._send_report(smaller)
        with refusals_are_final():
            return with_progress(handler(smaller.request), request.state, smaller.progress)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do what `wrap_model_call` does; the messages are fitted in a worker thread."""
        fitted = await in_worker(self._fitted, request)
        await self._asend_report(fitted)
        try:
            return with_progress(await handler(fitted.request), request.state, fitted.progress)
        except Exception as error:  # clients' errors have no class in common; all but refusals are raised
            refusal = refusal_in(error)
            if self._retry_factor is None or refusal is None:
                raise
            smaller = await in_worker(self._refitted, request, fitted, self._smaller(fitted, refusal), error)
        await self._asend_report(smaller)
        with refusals_are_final():
            return with_progress(await handler(smaller.request), request.state, smaller.progress)

    def _fitted(self, request: ModelRequest[Any]) -> FittedCall:
        candidates = [
            (self._optimizer(request, schemas), schemas)
            for schemas in schemas_of_call(request.tools, request.response_format)
        ]
        # The agent decides later how it binds a response format, so the way with the most tokens must fit.
        optimizer, schemas = max(candidates, key=lambda candidate: candidate[0].count_tokens(()))
        return self._fit(optimizer, request, schemas)

    def _optimizer(
        self, request: ModelRequest[Any], schemas: tuple[Any, ...], target_tokens: int | None = None
    ) -> ContextOptimizer:
        run = run_settings(None, context=getattr(request.runtime, "context", None))
        return self._fitting.optimizer_for(_bound_model(request), schemas, target_tokens=target_tokens, run=run)

    def _smaller(self, refused: FittedCall, refusal: Refusal) -> int:
        """Return the tokens of the second request: by the figures of the refusal, else by the factor."""
        tokens, part = refused.report.tokens_after, refusal.part(refused.answer_tokens)
        factor = self._retry_factor or RETRY_FACTOR
        return max(1, int(tokens * (factor if part is None else part * FIGURES_PART)))

    def _refitted(
        self, request: ModelRequest[Any], refused: FittedCall, target_tokens: int, error: Exception
    ) -> FittedCall:
        optimizer = self._optimizer(request, refused.schemas, target_tokens)
        try:
            return self._fit(optimizer, request, refused.schemas)
        except RequestOverflowError as unfit:
            final = final_refusal(error, unfit)
            raise final from (unfit if final is error else error)

    def _fit(self, optimizer: ContextOptimizer, request: ModelRequest[Any], schemas: tuple[Any, ...]) -> FittedCall:
        system = request.system_message
        with progress_in(request.state) if self._has_progress else nullcontext() as progress:
            optimized = optimizer.fit(request.messages if system is None else [system, *request.messages])
        if not optimized.report.unchanged:
            kept = list(optimized.value)
            changed: dict[str, Any] = {"messages": kept}
            if system is not None:
                # The agent sends its system message before the messages.
                first = kept.pop(0) if isinstance(kept[0], SystemMessage) else None
                changed |= {} if first is system else {"system_message": first}
            request = request.override(**changed)
        return FittedCall(
            request=request,
            report=optimized.report,
            schemas=schemas,
            answer_tokens=optimizer.budget.output_reserve,
            progress=progress,
        )

    def _send_report(self, fitted: FittedCall) -> None:
        self._write(fitted)
        send_report(fitted.report, ensure_config().get("callbacks"))

    async def _asend_report(self, fitted: FittedCall) -> None:
        self._write(fitted)
        await asend_report(fitted.report, ensure_config().get("callbacks"))

    def _write(self, fitted: FittedCall) -> None:
        if self._stream_reports and fitted.request.runtime is not None:
            fitted.request.runtime.stream_writer({REPORT_EVENT: fitted.report.to_event()})


if hasattr(_types, "TracePolicy"):
    # Without it every call's messages are recorded once more, which takes long for a long conversation.
    ContextOptimizerMiddleware.trace_policy = _types.TracePolicy(process_inputs=_types.omit_payload)


def _checked_factor(factor: object) -> float | None:
    if factor is None:
        return None
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 0 < factor < 1:
        message = f"`retry_factor` must be above 0 and below 1, or None for no second request, got {factor!r}"
        raise ValueError(message)
    return float(factor)


def _bound_model(request: ModelRequest[Any]) -> Any:
    """Return the model with the arguments of this call, which may name another model or another answer limit."""
    return request.model.bind(**request.model_settings) if request.model_settings else request.model
