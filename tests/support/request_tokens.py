"""Count an OpenAI-shaped request with tiktoken alone, so that the tests do not trust the code under test.

The rule is the published one for chat requests: 3 tokens per message, the tokens of role and content, 1 more
for a name, and 3 once per request. Names, arguments and ids of tool calls and the tool schemas are counted as text.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]

MEDIA_ALLOWANCE: Mapping[str, int] = {"image": 850, "audio": 500, "file": 1000, "other": 500}
"""Tokens charged for a media part of a kind, whatever the length of its data."""

TOKENS_PER_MESSAGE = 3
TOKENS_PER_REQUEST = 3
VOCABULARY_URL = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
LONG_WHITESPACE = re.compile(r"[^\S\r\n]{200000,}")
WHITESPACE_PIECE = 128_000
TEXT_KEYS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "text-plain": "text",
    "refusal": "refusal",
    "thinking": "thinking",
}


def recount(
    messages: Sequence[Row],
    tools: Sequence[Row] = (),
    encoding: str = "o200k_base",
    media: Mapping[str, int] = MEDIA_ALLOWANCE,
) -> int:
    """Return the tokens of a whole request; 0 for no messages and no tools."""
    if not messages and not tools:
        return 0
    rows = sum(count_message(message, encoding, media) for message in messages)
    schemas = count_text(json.dumps(list(tools), separators=(",", ":"), ensure_ascii=False), encoding) if tools else 0
    return rows + schemas + TOKENS_PER_REQUEST


def count_message(message: Row, encoding: str = "o200k_base", media: Mapping[str, int] = MEDIA_ALLOWANCE) -> int:
    """Return the tokens of one message without the 3 tokens of the request."""
    texts = [message["role"], *_call_texts(message)]
    texts += [message[key] for key in ("name", "tool_call_id") if message.get(key)]
    total = TOKENS_PER_MESSAGE + (1 if message.get("name") else 0)
    total += sum(count_text(text, encoding) for text in texts)
    has_calls = bool(message.get("tool_calls"))
    return total + _count_content(message.get("content"), encoding, media, has_calls=has_calls)


def _call_texts(message: Row) -> Iterator[str]:
    for call in message.get("tool_calls") or ():
        yield from (call.get("id") or "", *_function_texts(call.get("function") or {}))
    yield from _function_texts(message.get("function_call") or {})


def _function_texts(function: Row) -> tuple[str, str]:
    return function.get("name") or "", arguments_text(function.get("arguments"))


def arguments_text(arguments: Any) -> str:
    """Return call arguments as the text that is sent: strings as they are, objects as JSON."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)


def _count_content(content: Any, encoding: str, media: Mapping[str, int], *, has_calls: bool) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return count_text(content, encoding)
    return sum(_count_part(part, encoding, media, has_calls=has_calls) for part in content)


def _count_part(part: Any, encoding: str, media: Mapping[str, int], *, has_calls: bool) -> int:
    if isinstance(part, str):
        return count_text(part, encoding)
    kind = part.get("type", "text")
    if kind in TEXT_KEYS:
        return count_text(part.get(TEXT_KEYS[kind]) or "", encoding)
    if kind == "reasoning":
        return count_text(json.dumps(part.get("reasoning") or part.get("summary") or "", ensure_ascii=False), encoding)
    if kind in {"tool_use", "tool_call"}:
        arguments = arguments_text(part.get("input") or part.get("args"))
        texts = () if has_calls else (part.get("name") or "", part.get("id") or "", arguments)
        return sum(count_text(text, encoding) for text in texts)
    if kind == "tool_result":
        nested = _count_content(part.get("content"), encoding, media, has_calls=False)
        return nested + count_text(part.get("tool_use_id") or "", encoding)
    return media[media_kind(part) or "other"]


def media_kind(part: Any) -> str | None:
    """Return `image`, `audio`, `file` or `other` for a media part, None for a part of text or of a call."""
    kind = "text" if isinstance(part, str) else part.get("type", "text")
    if kind in TEXT_KEYS or kind in {"reasoning", "redacted_thinking", "tool_use", "tool_call", "tool_result"}:
        return None
    families = (("image", ("image",)), ("audio", ("audio",)), ("file", ("file", "document")))
    return next((family for family, words in families if any(word in kind for word in words)), "other")


@lru_cache(maxsize=4096)
def count_text(text: str, encoding: str = "o200k_base") -> int:
    """Return the tokens of `text` read as ordinary text, however hostile it is."""
    return sum(len(load_encoding(encoding).encode(piece, disallowed_special=())) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Cut whitespace runs that the tokenizer cannot take at once; any other text is one piece."""
    start = 0
    for run in LONG_WHITESPACE.finditer(text):
        for cut in range(run.start() + WHITESPACE_PIECE, run.end() - 1, WHITESPACE_PIECE):
            yield text[start:cut]
            start = cut
    yield text[start:]


@lru_cache(maxsize=4)
def load_encoding(name: str) -> Any:
    """Build a private tiktoken encoding from a vocabulary on disk; neither network nor tiktoken's registry is used."""
    import tiktoken
    from tiktoken_ext.openai_public import ENCODING_CONSTRUCTORS

    cache_name = hashlib.sha1(VOCABULARY_URL.format(name=name).encode(), usedforsecurity=False).hexdigest()
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    with tempfile.TemporaryDirectory() as directory:
        shutil.copyfile(_vocabulary_file(name, cache_name), Path(directory, cache_name))
        os.environ["TIKTOKEN_CACHE_DIR"] = directory
        try:
            return tiktoken.Encoding(**ENCODING_CONSTRUCTORS[name]())
        finally:
            os.environ.pop("TIKTOKEN_CACHE_DIR")
            if before is not None:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


def _vocabulary_file(name: str, cache_name: str) -> Path:
    places = (
        ("ctxopt_core", f"counting/vocabularies/{name}.tiktoken"),
        ("llama_index.core", f"_static/tiktoken_cache/{cache_name}"),
    )
    for package, relative in places:
        for root in _package_roots(package):
            if Path(root, relative).is_file():
                return Path(root, relative)
    message = f"no vocabulary file for {name!r}: install ctxopt-core or llama-index-core"
    raise FileNotFoundError(message)


def _package_roots(package: str) -> Iterable[str]:
    top, _, rest = package.partition(".")
    spec = importlib.util.find_spec(top)
    roots = (spec.submodule_search_locations or ()) if spec else ()
    return [str(Path(root, *rest.split("."))) if rest else root for root in roots]
