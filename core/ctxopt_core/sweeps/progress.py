"""The progress of long work: a function of the caller's is called, or a bar of tqdm is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from ctxopt_core.runtime.optional_packages import needs

Item = TypeVar("Item")

_NO_TQDM = "a progress bar needs tqdm; install it with: pip install 'ctxopt-core[notebook]', or give a function"


class Progress(Protocol):
    """A function that is called as the work goes on.

    1. It is called once with `done` 0 before the work begins, and once after each piece of it.
    2. It is called on the thread that works. What it raises ends the work.
    """

    def __call__(self, done: int, total: int, /) -> object:
        """Note that `done` of `total` pieces are done."""


def with_progress(items: Iterable[Item], total: int, *, progress: Progress | bool | None) -> Iterator[Item]:
    """Return the items, and report each one that was read to `progress`.

    Args:
        items: The work, done piece by piece as it is read.
        total: How many pieces there are.
        progress: True for a bar of tqdm, which is a widget in a notebook; a function; None or False for neither.

    Raises:
        TypeError: `progress` is none of these.
        ImportError: `progress` is True and tqdm is not installed.
    """
    if progress is None or progress is False:
        return iter(items)
    if progress is True:
        with needs("tqdm", _NO_TQDM):
            from tqdm.auto import tqdm
        return iter(tqdm(items, total=total))
    if not callable(progress):
        message = f"`progress` must be True, None or a function of (done, total), got {type(progress).__name__}"
        raise TypeError(message)
    return _reported(items, total, progress)


def _reported(items: Iterable[Item], total: int, progress: Progress) -> Iterator[Item]:
    progress(0, total)
    for done, item in enumerate(items, start=1):
        yield item
        progress(done, total)
