"""Counting with toktok-rs, where it is installed and is known to count exactly what tiktoken does.

Its releases follow newer Unicode tables than tiktoken's, so letters of Unicode 17 are none to one of the two; and it
folds the long s otherwise. Texts with such characters are left to tiktoken. What is known holds for the releases that
were compared over all characters and by fuzzing; others are not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

FAST_ENCODINGS = frozenset({"cl100k_base", "o200k_base"})
COMPARED_RELEASES = {"toktok": "0.3.", "tiktoken": "0.14."}

# The long s; then letters, marks and numbers that Unicode 17 has added.
UNLIKE = re.compile(
    "[\u017f\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1\U00010940-\U00010959"
    "\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67\U00011db0-\U00011ddb\U00011de0-\U00011de9"
    "\U00016ea0-\U00016ed3\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6ff\U0002b73a-\U0002b73f\U0002cea2-\U0002cead\U000323b0-\U00033479]"
)


@cache
def fast_count_of(encoding: str) -> Callable[[str], int | None] | None:
    """Return a function from text to its tokens in an encoding, or None where there is no such function.

    The function gives None for a text that tiktoken has to count. The vocabulary is loaded here.
    """
    if encoding not in FAST_ENCODINGS or not _are_compared():
        return None
    # `batch_count`, which toktok names as its interface, takes thirty microseconds for a text of any length.
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
    # Another package is imported by the same name; it tells no version.
    return all(
        getattr(import_module(name), "__version__", "").startswith(release)
        for name, release in COMPARED_RELEASES.items()
    )
