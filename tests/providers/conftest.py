"""Make the modules of these folders importable by their plain names, and start one server for all the tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent

for folder in (HERE, HERE / "rules", HERE / "server"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from provider_server import ProviderServer  # noqa: E402  # the path is set above


@pytest.fixture(scope="session")
def server() -> Iterator[ProviderServer]:
    with ProviderServer.started() as started:
        yield started


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop for all the asynchronous clients, which keep their connections on it."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def langchain_run(server: ProviderServer, loop: asyncio.Runner) -> Callable[[str], Any]:
    """Make LangChain's client of a provider once; it is imported only where a test asks for it."""
    from langchain_runs import LangChainRun

    return cache(lambda provider: LangChainRun.of(server, provider, loop))


@pytest.fixture(scope="session")
def llamaindex_run(server: ProviderServer, loop: asyncio.Runner) -> Callable[[str], Any]:
    """Make LlamaIndex's client of a provider once."""
    from llamaindex_runs import LlamaIndexRun

    return cache(lambda provider: LlamaIndexRun.of(server, provider, loop))
