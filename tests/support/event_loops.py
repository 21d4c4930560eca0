"""An event loop for a test that is not async, which LlamaIndex would otherwise make and never close."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_event_loop() -> Iterator[None]:
    """Give the thread an event loop, and close it at the end."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.close()
        asyncio.set_event_loop(None)
