"""Every test that is not async gets an event loop, which LlamaIndex would otherwise make and never close."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from event_loops import own_event_loop


@pytest.fixture(autouse=True)
def event_loop_of_sync_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    function = request.function
    if inspect.iscoroutinefunction(getattr(getattr(function, "hypothesis", None), "inner_test", function)):
        yield
        return
    with own_event_loop():
        yield
