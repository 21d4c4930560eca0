"""The progress of a custom history strategy between the calls of an agent, kept in the agent's state."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, ModelResponse, PrivateStateAttr
from langgraph.types import Command

from ctxopt_core.adapters import run_progress

PROGRESS = "ctxopt_progress"


class ProgressState(AgentState[Any]):
    """An agent's state with the progress of a history strategy, which neither input nor output shows."""

    ctxopt_progress: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


@contextmanager
def progress_in(state: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give strategies a copy of their progress in this run, and yield that copy."""
    progress: dict[str, Any] = copy.deepcopy(dict(state.get(PROGRESS) or {}))
    token = run_progress.set(progress)
    try:
        yield progress
    finally:
        run_progress.reset(token)


def with_progress(
    response: ModelResponse[Any], state: Mapping[str, Any], progress: dict[str, Any] | None
) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
    """Return a response that stores progress in the agent's state; the identical one where nothing changed."""
    if progress is None or progress == dict(state.get(PROGRESS) or {}):
        return response
    return ExtendedModelResponse(model_response=response, command=Command(update={PROGRESS: progress}))
