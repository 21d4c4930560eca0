"""Make the modules of this folder importable by their plain names, and start one server for all the tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = str(Path(__file__).resolve().parent)

if HERE not in sys.path:
    sys.path.insert(0, HERE)

from provider_server import ProviderServer  # noqa: E402  # the path is set above


@pytest.fixture(scope="session")
def server() -> Iterator[ProviderServer]:
    with ProviderServer.started() as started:
        yield started
