"""The tiktoken encodings, loaded without a network.

The files of `cl100k_base` and `o200k_base` are part of the package and are read directly: neither tiktoken's cache
folder nor an environment variable is used. All other encodings are loaded by tiktoken, which reads
`TIKTOKEN_CACHE_DIR` and may download.
"""

from __future__ import annotations

import hashlib
import threading
from binascii import a2b_base64
from importlib.resources import files
from typing import TYPE_CHECKING

from ctxopt_core.errors import CtxoptError

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

_loaded: dict[str, tiktoken.Encoding] = {}
_loading = threading.Lock()


def load_encoding(name: str) -> tiktoken.Encoding:
    """Return the tiktoken encoding `name`, loading it on first use.

    Raises:
        CtxoptError: tiktoken has no such encoding, or it is not bundled and could not be loaded.
    """
    if name not in _loaded:
        with _loading:
            if name not in _loaded:
                _loaded[name] = _load(name)
    return _loaded[name]


def _load(name: str) -> tiktoken.Encoding:
    from tiktoken.registry import ENCODINGS

    load = _bundled if name in _PATTERNS else _from_tiktoken
    return ENCODINGS.get(name) or load(name)


def _bundled(name: str) -> tiktoken.Encoding:
    import tiktoken

    content = (files("ctxopt_core") / "counting" / "vocabularies" / f"{name}.tiktoken").read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256[name]:
        message = f"the bundled vocabulary {name} is damaged; reinstall ctxopt-core"
        raise CtxoptError(message)
    tokens_and_ranks = content.split()
    ranks = dict(zip(map(a2b_base64, tokens_and_ranks[::2]), map(int, tokens_and_ranks[1::2]), strict=True))
    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens=_SPECIAL_TOKENS[name])


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
