"""Anthropic-shaped rows: builders, a count of its own, and what is wrong with a trimmed conversation."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ctxopt_core import ContextBudget, ContextRequest, FittedContext, counter_for, fit
from ctxopt_core.formats.anthropic_messages import AnthropicMessages, fitted_anthropic
from fitted_rows import is_note
from request_tokens import count_text
from shortened_copies import is_shortened_text

Row = dict[str, Any]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO" * 300}}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE" * 300}}
CACHED = {"cache_control": {"type": "ephemeral"}}
SEALED = {"signature", "encrypted_content"}


def text(words: str, **more: Any) -> Row:
    return {"type": "text", "text": words, **more}


def thinking(words: str) -> Row:
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk" * 50}


def user(*content: Any) -> Row:
    return {"role": "user", "content": _content(content)}


def assistant(*content: Any) -> Row:
    return {"role": "assistant", "content": _content(content)}


def _content(content: tuple[Any, ...]) -> Any:
    """Return one text as a text, anything else as a list of blocks."""
    return content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)


def use(identity: str, **arguments: Any) -> Row:
    return {"type": "tool_use", "id": identity, "name": "look", "input": arguments}


def result(identity: str, content: Any, **more: Any) -> Row:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def call(*identities: str, before: Sequence[Row] = ()) -> Row:
    return {"role": "assistant", "content": [*before, *map(use, identities)]}


def answer(*blocks: Row) -> Row:
    return {"role": "user", "content": list(blocks)}


def fit_anthropic(rows: list[Row], budget: int, *, counter: Any = None, **options: Any) -> tuple[Any, FittedContext]:
    """Fit rows into `budget` tokens and return what is left of them, the very list when it was unchanged."""
    request = ContextRequest(history=AnthropicMessages(rows))
    counter = counter or counter_for("o200k_base")
    fitted = fit(request, ContextBudget(max_input_tokens=budget), counter=counter, **options)
    return (rows if fitted.unchanged else fitted_anthropic(rows, fitted.history)), fitted


def anthropic_tokens(rows: Sequence[Row]) -> int:
    """Count a request: 3, and for each row 3, its role and its blocks; an image 1,500, other media by their kind."""
    return 3 + sum(3 + count_text(row["role"]) + sum(map(_block_tokens, blocks_of(row["content"]))) for row in rows)


def _block_tokens(block: Row) -> int:
    kind = block["type"]
    if kind in {"text", "thinking"}:
        return count_text(block[kind])
    if kind == "image":
        return 1_500
    if kind == "redacted_thinking":
        return math.ceil(len(block["data"]) * 3 / 16)
    if kind == "document":
        return count_text(block["source"]["data"]) if block["source"]["type"] == "text" else 1_000
    if kind == "search_result":
        told = count_text(block["source"]) + count_text(block["title"])
        return told + sum(count_text(part["text"]) for part in block["content"])
    if kind == "tool_use":
        arguments = json.dumps(block["input"], ensure_ascii=False)
        return count_text(block["id"]) + count_text(block["name"]) + count_text(arguments)
    if kind == "tool_result":
        return count_text(block["tool_use_id"]) + sum(map(_block_tokens, blocks_of(block.get("content"))))
    sealed = sum(len(found.get("encrypted_content", "")) for found in blocks_of(block.get("content")))
    told = count_text(json.dumps(_told(block), separators=(",", ":"), ensure_ascii=False))
    return told + (math.ceil(sealed * 3 / 16) if sealed > 400 else 0)


def _told(value: Any) -> Any:
    if isinstance(value, list):
        return [_told(item) for item in value]
    if isinstance(value, dict):
        return {key: _told(inner) for key, inner in value.items() if key not in SEALED | {"cache_control"}}
    return value


def blocks_of(content: Any) -> list[Row]:
    """Return a content as blocks."""
    if isinstance(content, str):
        return [text(content)] if content else []
    return list(content or ())


def all_blocks(rows: Sequence[Row], kind: str) -> list[Row]:
    return [block for row in rows for block in blocks_of(row["content"]) if block["type"] == kind]


def ids(row: Row, kind: str) -> list[str]:
    key = "id" if kind == "tool_use" else "tool_use_id"
    return [block[key] for block in blocks_of(row["content"]) if block["type"] == kind]


def words_of(row: Row) -> list[str]:
    return [block["text"] for block in blocks_of(row["content"]) if block["type"] == "text" and block["text"].strip()]


def alternates(rows: Sequence[Row]) -> bool:
    return all(one["role"] != other["role"] for one, other in pairwise(rows))


def question_of(rows: Sequence[Row]) -> list[str]:
    """Return what the user said last."""
    return next((words_of(row) for row in reversed(rows) if row["role"] == "user" and words_of(row)), [])


def anthropic_problems(before: Sequence[Row], after: Sequence[Row], budget: int) -> Iterator[str]:
    """Name what is wrong with `after`, made from `before` to count at most `budget` tokens."""
    if anthropic_tokens(after) > budget:
        yield f"over budget: {anthropic_tokens(after)} tokens for {budget}"
    yield from pairing_problems(before, after)
    yield from server_problems(before, after)
    if alternates(before) and not alternates(after):
        yield "roles do not alternate"
    if before[0]["role"] == "user" and after[0]["role"] != "user":
        yield "the first row is not the user's"
    said = [words for row in after if row["role"] == "user" for words in words_of(row)]
    question = question_of(before)
    if question and not any(new == old or is_shortened_text(old, new) for old in question for new in said):
        yield "the question is lost"
    for kind in (
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
        "compaction",
    ):
        if not _is_subsequence(all_blocks(before, kind), all_blocks(after, kind)):
            yield f"a {kind} block is not the one that was given"
    if any(row in before and not any(row is old for old in before) for row in after if not is_note(row)):
        yield "a row that was not changed is a copy"
    if any(
        not block["text"].strip() for row in after for block in blocks_of(row["content"]) if block["type"] == "text"
    ):
        yield "a text block is empty"


def pairing_problems(before: Sequence[Row], after: Sequence[Row]) -> Iterator[str]:
    """Name calls without their results and results without their calls; a last call may wait for its results."""
    for index, row in enumerate(after):
        called = ids(after[index - 1], "tool_use") if index else []
        if row["role"] == "user" and sorted(ids(row, "tool_result")) != sorted(called):
            waits = index == len(after) - 1 and set(ids(row, "tool_result")) == set(ids(before[-1], "tool_result"))
            if not (waits and set(called) >= set(ids(row, "tool_result"))):
                yield f"row {index} does not hold the results of the calls before it"
        if row["role"] == "assistant" and ids(row, "tool_use"):
            follows = after[index + 1]["role"] if index + 1 < len(after) else None
            if follows != "user" and not (follows is None and ids(row, "tool_use") == ids(before[-1], "tool_use")):
                yield f"row {index} calls and is not answered"
        kinds = [block["type"] for block in blocks_of(row["content"])]
        if "tool_result" in kinds and sorted(kinds, key="tool_result".__ne__) != kinds:
            yield f"row {index} does not begin with its results"


def server_problems(before: Sequence[Row], after: Sequence[Row]) -> Iterator[str]:
    """Name the provider's own calls without their results; those that are open in the last row may wait for them."""
    called = [block["id"] for block in all_blocks(after, "server_tool_use")]
    found = [block["tool_use_id"] for block in all_blocks(after, "web_search_tool_result")]
    open_before = Counter(block["id"] for block in all_blocks(before, "server_tool_use"))
    open_before -= Counter(block["tool_use_id"] for block in all_blocks(before, "web_search_tool_result"))
    if Counter(found) - Counter(called):
        yield "a result of the provider is without its call"
    if Counter(called) - Counter(found) - open_before:
        yield "a call of the provider is without its result"


def _is_subsequence(whole: list[Row], part: list[Row]) -> bool:
    rest = iter(whole)
    return all(any(block is candidate for candidate in rest) for block in part)
