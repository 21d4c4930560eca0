"""Reads requests: one from a file, or one from each line of a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from ctxopt_core.formats.request_files import RequestFile, read_request

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson", ".jsonlines"})
STANDARD = Path("-")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

F = TypeVar("F", bound=Callable[..., Any])

line_option = click.option(
    "--line",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    help="The line of FILE that holds the request, for a file with one on each.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a file.

    Args:
        number: Its number in the file, from 1.
        content: Its bytes, without the line break.
        size: The bytes that it takes in the file.
    """

    number: int
    content: bytes
    size: int


def file_argument(command: F) -> F:
    """Add the argument FILE to a command; `-` is the standard input."""
    kind = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
    return click.argument("file", type=kind)(command)


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; `-` is the standard input."""
    if file == STANDARD:
        yield sys.stdin.buffer
        return
    with file.open("rb") as stream:
        yield stream


def holds_lines(file: Path) -> bool:
    """Return whether the name of a file says that it holds a request on each line."""
    return file.suffix.lower() in LINE_SUFFIXES


def request_of_file(file: Path, line: int | None = None) -> tuple[RequestFile, bytes]:
    """Return the request that a file holds, and its bytes.

    Args:
        file: The file.
        line: The number of the line that holds the request; None for the whole file.

    Raises:
        ValueError: There is no such request.
        TypeError: A part of it has no known shape.
    """
    with opened(file) as stream:
        content = stream.read().removeprefix(_BYTE_ORDER_MARK) if line is None else _line_of(stream, line)
    try:
        return read_request(decoded(content)), content
    except ValueError as error:
        if line is None and holds_lines(file):
            message = f"{error}; name one request of a file of lines with --line"
            raise ValueError(message) from error
        raise


def lines_of(stream: IO[bytes]) -> Iterator[Line]:
    """Yield the lines that are not blank, one in memory at a time, without the byte order mark of the file."""
    for number, line in enumerate(stream, start=1):
        content = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        if stripped := content.strip():
            yield Line(number=number, content=stripped, size=len(line))


def decoded(content: bytes) -> str:
    """Decode UTF-8.

    Raises:
        ValueError: They are not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        message = f"not UTF-8: byte {byte:#04x} at position {error.start}; convert it to UTF-8 first"
        raise ValueError(message) from error


def is_terminal() -> bool:
    """Return whether the standard error stream is a terminal."""
    return sys.stderr.isatty()


def _line_of(stream: IO[bytes], number: int) -> bytes:
    for line in lines_of(stream):
        if line.number == number:
            return line.content
        if line.number > number:
            break
    message = f"there is no request on line {number}"
    raise ValueError(message)
