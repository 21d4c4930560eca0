"""Packages that an extra brings: where one is missing, the error says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(package: str, message: str) -> Iterator[None]:
    """Import what depends on an optional package in this context.

    Another module that is missing, such as a dependency of the package, stays the error that it is.

    Args:
        package: The package's import name.
        message: What the error says where the package is missing: what needs it, and how it is installed.

    Raises:
        ImportError: The package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise ImportError(message) from error
