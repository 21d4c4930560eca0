"""Telling how far a long piece of work has come: by a function of the caller's, or by a bar of tqdm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")

_MISSING = "a progress bar needs tqdm; install it with: pip install 'ctxopt-core[notebook]', or give a function"


class Progress(Protocol):
    """Is told how far the work has come.

    1. It is called once with `done` 0 before the work begins, and after each piece of it.
    2. It is called on the thread that works. What it raises ends the work.
    """

    def __call__(self, done: int, total: int, /) -> object:
        """Take note that `done` of `total` pieces are done."""


def check_progress(progress: object) -> None:
    """Check what is given as `progress`, so that a wrong one is known before the work begins.

    Raises:
        TypeError: It is neither None, True, False nor a function.
        ImportError: It is True and tqdm is not installed.
    """
    if progress is True:
        _tqdm()
    elif progress is not None and progress is not False and not callable(progress):
        message = f"`progress` must be True, None or a function of (done, total), got {type(progress).__name__}"
        raise TypeError(message)


def with_progress(items: Iterable[Item], total: int, *, progress: Progress | bool | None) -> Iterator[Item]:
    """Yield the items, and tell `progress` about each one.

    Args:
        items: The work, done piece by piece as it is read.
        total: How many pieces there are.
        progress: True for a bar of tqdm, which is a widget in a notebook; None or False for silence.
    """
    if progress is None or progress is False:
        yield from items
    elif progress is True:
        with _tqdm()(items, total=total) as bar:
            yield from bar
    else:
        progress(0, total)
        for done, item in enumerate(items, start=1):
            yield item
            progress(done, total)


def _tqdm() -> Any:
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "tqdm":
            raise
        raise ImportError(_MISSING) from error
    return tqdm
