"""The tiktoken encodings, loaded without a network.

The files of `cl100k_base` and `o200k_base` are part of the package and are read directly: neither tiktoken's cache
folder nor an environment variable is used. Two more are made of the tokens of `cl100k_base` (see `conservative`), and
`tekken` is read from mistral-common where that is installed. All other encodings are loaded by tiktoken, which reads
`TIKTOKEN_CACHE_DIR` and may download.

Where toktok-rs is installed, it counts the strings for which it returns exactly the counts of tiktoken. Its Unicode
tables are newer than tiktoken's, so that letters of Unicode 17 are letters only in one of the two, and it folds the
long s differently. Strings with such characters are counted by tiktoken. Only releases that were compared over all
characters and by fuzzing are used.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from binascii import a2b_base64
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxopt_core.counting.conservative import BASE, CONSERVATIVE_ENCODINGS, PATTERN, kept_ranks
from ctxopt_core.errors import CtxoptError
from ctxopt_core.models.tekken_file import TEKKEN, TEKKEN_SHA256, tekken_file

if TYPE_CHECKING:
    import tiktoken

_LETTER_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LETTER_LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

# Split patterns, special tokens and checksums are facts of tiktoken 0.14 (MIT); a test compares them with its own.
_PATTERNS = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": "|".join(
        (
            rf"[^\r\n\p{{L}}\p{{N}}]?[{_LETTER_UPPER}]*[{_LETTER_LOWER}]+{_CONTRACTION}",
            rf"[^\r\n\p{{L}}\p{{N}}]?[{_LETTER_UPPER}]+[{_LETTER_LOWER}]*{_CONTRACTION}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}
_SPECIAL_TOKENS = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}
SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
BUNDLED_ENCODINGS = tuple(_PATTERNS)
ADDITIVE_ENCODINGS = frozenset({*BUNDLED_ENCODINGS, *CONSERVATIVE_ENCODINGS, TEKKEN})
"""The encodings whose counts add up at safe cuts (see `split_points`)."""
# Tokens of Tekken that are kept for control and have no string. Its file has more tokens than are used.
_TEKKEN_CONTROL_TOKENS = 1_000

_COMPARED_RELEASES = {"toktok": "0.3.", "tiktoken": "0.14."}

# The long s; then letters, marks and numbers that Unicode 17 has added.
UNLIKE = re.compile(
    "[\u017f\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1\U00010940-\U00010959"
    "\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67\U00011db0-\U00011ddb\U00011de0-\U00011de9"
    "\U00016ea0-\U00016ed3\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6ff\U0002b73a-\U0002b73f\U0002cea2-\U0002cead\U000323b0-\U00033479]"
)

_loaded: dict[str, tiktoken.Encoding] = {}
_loading = threading.Lock()


def load_encoding(name: str) -> tiktoken.Encoding:
    """Return the tiktoken encoding `name`, loading it on first use.

    Raises:
        CtxoptError: tiktoken has no such encoding, or it is not bundled and could not be loaded.
    """
    if name not in _loaded:
        from tiktoken.registry import ENCODINGS

        load = _loader_of(name)
        with _loading:
            if name not in _loaded:
                _loaded[name] = ENCODINGS.get(name) or load(name)
    return _loaded[name]


def _loader_of(name: str) -> Callable[[str], tiktoken.Encoding]:
    if name in _PATTERNS:
        return _bundled
    if name in CONSERVATIVE_ENCODINGS:
        return _conservative
    return _tekken if name == TEKKEN else _from_tiktoken


def _bundled(name: str) -> tiktoken.Encoding:
    import tiktoken

    return tiktoken.Encoding(
        name, pat_str=_PATTERNS[name], mergeable_ranks=_bundled_ranks(name), special_tokens=_SPECIAL_TOKENS[name]
    )


def _bundled_ranks(name: str) -> dict[bytes, int]:
    content = (files("ctxopt_core") / "counting" / "vocabularies" / f"{name}.tiktoken").read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256[name]:
        message = f"the bundled vocabulary {name} is damaged; reinstall ctxopt-core"
        raise CtxoptError(message)
    tokens_and_ranks = content.split()
    return dict(zip(map(a2b_base64, tokens_and_ranks[::2]), map(int, tokens_and_ranks[1::2]), strict=True))


def _conservative(name: str) -> tiktoken.Encoding:
    import tiktoken

    ranks = kept_ranks(name, _bundled_ranks(BASE))
    return tiktoken.Encoding(name, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def _tekken(name: str) -> tiktoken.Encoding:
    import tiktoken

    file = tekken_file()
    if file is None:
        message = f"the vocabulary of {name!r} is part of mistral-common; pip install 'ctxopt-core[mistral]'"
        raise CtxoptError(message)
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != TEKKEN_SHA256:
        message = f"the vocabulary {file.name} of mistral-common is damaged; reinstall mistral-common"
        raise CtxoptError(message)
    read = json.loads(content)
    used = read["config"]["default_vocab_size"] - _TEKKEN_CONTROL_TOKENS
    ranks = {a2b_base64(token["token_bytes"]): token["rank"] for token in read["vocab"][:used]}
    return tiktoken.Encoding(name, pat_str=read["config"]["pattern"], mergeable_ranks=ranks, special_tokens={})


def _from_tiktoken(name: str) -> tiktoken.Encoding:
    import tiktoken

    known = tiktoken.list_encoding_names()
    if name not in known:
        message = f"`encoding` must be one that tiktoken knows ({', '.join(known)}), got {name!r}"
        raise CtxoptError(message)
    try:
        return tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:
        message = (
            f"the vocabulary of {name!r} is not bundled and could not be loaded ({type(error).__name__}); put its file "
            "into a folder and name that folder in TIKTOKEN_CACHE_DIR, or use cl100k_base or o200k_base"
        )
        raise CtxoptError(message) from error


@cache
def fast_count_of(encoding: str) -> Callable[[str], int | None] | None:
    """Load the vocabulary of an encoding and return a function that counts with it, or None if there is none.

    The function returns None for a string that tiktoken has to count.
    """
    if encoding not in BUNDLED_ENCODINGS or find_spec("toktok") is None:
        return None
    for name, release in _COMPARED_RELEASES.items():
        # Another package has the import name `toktok` and no version.
        if not getattr(import_module(name), "__version__", "").startswith(release):
            return None
    # `batch_count`, the documented function, takes 30 microseconds for a string of any length.
    from toktok import _encoding

    tokens_of: Callable[[str], int] = _encoding(encoding).count

    def fast_count(text: str) -> int | None:
        if not text.isascii() and UNLIKE.search(text) is not None:
            return None
        try:
            return tokens_of(text)
        except UnicodeEncodeError:  # surrogates
            return None

    return fast_count
