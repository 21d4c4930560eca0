"""The report of a fit as a custom event of LangChain's callbacks."""

from __future__ import annotations

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager, Callbacks

from ctxopt_core import FitReport

REPORT_EVENT = "ctxopt_report"
"""The name of the event, and of the same figures in an agent's stream."""


def send_report(report: FitReport, callbacks: Callbacks) -> None:
    """Send a report, without any content, to callbacks as an event of the run that they belong to.

    Args:
        report: The report of a fit.
        callbacks: Handlers or a callback manager; None sends nothing.
    """
    if callbacks is None:
        return
    manager = CallbackManager.configure(callbacks)
    if manager.handlers:
        manager.on_custom_event(REPORT_EVENT, report.to_event(), manager.parent_run_id)


async def asend_report(report: FitReport, callbacks: Callbacks) -> None:
    """Send what `send_report` sends; asynchronous handlers are awaited."""
    if callbacks is None:
        return
    manager = AsyncCallbackManager.configure(callbacks)
    if manager.handlers:
        await manager.on_custom_event(REPORT_EVENT, report.to_event(), manager.parent_run_id)
