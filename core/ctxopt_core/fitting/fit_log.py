"""Two log records for each fit: what became of the context, and what the whole prompt comes to. Figures, no content."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logging import Logger

    from ctxopt_core.reports.fit_report import FitReport

LOGGER = "ctxopt_core"
ATTRIBUTE = "ctxopt"
_DEBUG, _INFO = 10, 20
_CONTEXT = (
    *("unchanged", "messages", "history", "documents", "selection", "sections"),
    *("components", "strategy", "fallback"),
)
_PROMPT = (
    *("unchanged", "model", "context_window", "encoding", "exact"),
    *("input_budget", "reserve", "fixed", "tokens_after"),
)


def log_fit(report: FitReport) -> None:
    """Log a fit to the logger `ctxopt_core`: at INFO when the request was cut, at DEBUG when it fitted as it was.

    1. There are two records, one after the other. Each carries its figures as the attribute `ctxopt`, a plain
       dictionary ready for JSON; `record` in it is `context_budget` or `prompt_budget`.
    2. They hold figures, the names of model, tokenizer, strategy and sections, and neither texts nor document ids.
    3. Nothing is worked out for a level that is off, and the input is never counted for a record: what an unchanged
       request counts is None.
    """
    # Whoever listens has imported `logging`; importing it here would cost each process that does not.
    if "logging" not in sys.modules:
        return
    logger = _logger()
    level = _DEBUG if report.unchanged else _INFO
    if logger.isEnabledFor(level):
        figures = report.to_event()
        _log_context(logger, level, figures)
        _log_prompt(logger, level, figures)


@cache
def _logger() -> Logger:
    import logging

    logger = logging.getLogger(LOGGER)
    logger.addHandler(logging.NullHandler())
    return logger


def _log_context(logger: Logger, level: int, figures: dict[str, Any]) -> None:
    messages, documents, history = figures["messages"], figures["documents"], figures["history"]
    logger.log(
        level,
        "context budget: %d of %d messages kept, %d of them shortened; documents: %d kept, %d in part, %d dropped",
        messages["kept"],
        messages["given"],
        history["shortened"],
        documents["kept"],
        documents["partial"],
        documents["dropped"],
        extra={ATTRIBUTE: {"record": "context_budget", **{name: figures[name] for name in _CONTEXT}}},
    )


def _log_prompt(logger: Logger, level: int, figures: dict[str, Any]) -> None:
    counted = figures["tokens_after"]
    logger.log(
        level,
        "prompt budget: %s %d tokens, %d of them fixed; %d kept free",
        "at most" if counted is None else f"{counted} of",
        figures["input_budget"],
        figures["fixed"],
        figures["reserve"],
        extra={ATTRIBUTE: {"record": "prompt_budget", **{name: figures[name] for name in _PROMPT}}},
    )
