"""Counting with toktok-rs, where it is installed and returns exactly the counts of tiktoken.

Its Unicode tables are newer than tiktoken's, so that letters of Unicode 17 are letters only in one of the two, and it
folds the long s differently. Strings with such characters are counted by tiktoken. Only releases that were compared
over all characters and by fuzzing are used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from ctxopt_core.counting.encodings import BUNDLED_ENCODINGS

_COMPARED_RELEASES = {"toktok": "0.3.", "tiktoken": "0.14."}

# The long s; then letters, marks and numbers that Unicode 17 has added.
UNLIKE = re.compile(
    "[\u017f\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1\U00010940-\U00010959"
    "\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67\U00011db0-\U00011ddb\U00011de0-\U00011de9"
    "\U00016ea0-\U00016ed3\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6ff\U0002b73a-\U0002b73f\U0002cea2-\U0002cead\U000323b0-\U00033479]"
)


@cache
def fast_count_of(encoding: str) -> Callable[[str], int | None] | None:
    """Load the vocabulary of an encoding and return a function that counts with it, or None if there is none.

    The function returns None for a string that tiktoken has to count.
    """
    if encoding not in BUNDLED_ENCODINGS or not _are_compared():
        return None
    # `batch_count`, the documented function, takes 30 microseconds for a string of any length.
    from toktok import _encoding

    tokens_of: Callable[[str], int] = _encoding(encoding).count

    def fast_count(text: str) -> int | None:
        if text.isascii():
            return tokens_of(text)
        if UNLIKE.search(text) is not None:
            return None
        try:
            return tokens_of(text)
        except UnicodeEncodeError:  # surrogates
            return None

    return fast_count


def _are_compared() -> bool:
    if find_spec("toktok") is None:
        return False
    # Another package has the same import name and no version.
    return all(
        getattr(import_module(name), "__version__", "").startswith(release)
        for name, release in _COMPARED_RELEASES.items()
    )
