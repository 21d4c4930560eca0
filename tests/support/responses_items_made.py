"""Items of OpenAI's Responses API: builders, strategies, and what is wrong with what a fit has left of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

from hypothesis import strategies as st

from request_tokens import count_text
from shape_rows import SENTENCE

Item = dict[str, Any]
IMAGE = {"type": "input_image", "image_url": "https://lamps.example/pier.png"}


def said(role: str, content: Any, **more: Any) -> Item:
    return {"role": role, "content": content, **more}


def written(words: str, **more: Any) -> Item:
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part], **more}


def reasoning(words: str = "", **more: Any) -> Item:
    summary = [{"type": "summary_text", "text": words}] if words else []
    return {"type": "reasoning", "summary": summary, "encrypted_content": "c2VhbGVk" * 40, **more}


def call(identity: str, arguments: str = "{}", **more: Any) -> Item:
    return {"type": "function_call", "call_id": identity, "name": "look", "arguments": arguments, **more}


def output(identity: str, content: Any = "lit", **more: Any) -> Item:
    return {"type": "function_call_output", "call_id": identity, "output": content, **more}


def searched(**more: Any) -> Item:
    return {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "pier"}, **more}


def clicked(identity: str, **more: Any) -> list[Item]:
    shot = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    return [
        {"type": "computer_call", "call_id": identity, "action": {"type": "click", "x": 1, "y": 2}, **more},
        {"type": "computer_call_output", "call_id": identity, "output": shot},
    ]


def reference(identity: str) -> Item:
    return {"type": "item_reference", "id": identity}


@cache
def _prose(most: int = 12) -> st.SearchStrategy[str]:
    return st.builds(lambda number, head: f"{head} " + SENTENCE * number, st.integers(0, most), st.sampled_from("QRST"))


@cache
def _question() -> st.SearchStrategy[Item]:
    parts = st.builds(lambda words, media: [{"type": "input_text", "text": words}, *media], _prose(), _media())
    return st.builds(said, st.just("user"), st.one_of(_prose(), parts))


@cache
def _media() -> st.SearchStrategy[list[Item]]:
    return st.sampled_from([[], [], [IMAGE]]).map(list)


@cache
def _before() -> st.SearchStrategy[list[Item]]:
    """Draw what a model writes before it calls or answers."""
    thoughts = st.lists(st.one_of(st.just(""), _prose(3)).map(reasoning), max_size=2)
    others = st.sampled_from([[], [], [searched()], [{"type": "of_tomorrow", "id": "x", "said": SENTENCE}]])
    return st.builds(lambda a, b: [*a, *map(dict, b)], thoughts, others)


@cache
def _step() -> st.SearchStrategy[list[Item]]:
    contents = st.one_of(
        _prose(40), st.builds(lambda words, media: [{"type": "input_text", "text": words}, *media], _prose(), _media())
    )
    answers = st.lists(contents, min_size=1, max_size=3)
    spoken = st.lists(_prose(2).map(written), max_size=1)
    return st.builds(_step_items, _before(), spoken, answers, _prose(4), st.booleans())


def _step_items(before: list[Item], spoken: list[Item], answers: list[Any], where: str, clicks: bool) -> list[Item]:
    if clicks:
        return [*before, *spoken, *clicked("call_c")]
    names = [f"call_{letter}" for letter, _ in zip("abc", answers, strict=False)]
    calls = [call(name, json.dumps({"where": where})) for name in names]
    return [*before, *spoken, *calls, *map(output, names, answers)]


@cache
def _turn() -> st.SearchStrategy[list[Item]]:
    steps = st.lists(_step(), max_size=3).map(lambda groups: [item for group in groups for item in group])
    answer = st.builds(lambda a, b: [*a, written(b)], _before(), _prose())
    return st.builds(lambda a, b, c: [a, *b, *c], _question(), steps, answer)


@cache
def responses_inputs(max_turns: int = 4) -> st.SearchStrategy[list[Item]]:
    """Draw the input of a request that the API would take; each item has an id of its own, and so has each call."""
    turns = st.lists(_turn(), max_size=max_turns)
    tail = st.lists(_step(), max_size=2)
    return st.builds(
        lambda a, b, c: _numbered([item for group in (*a, [b], *c) for item in group]), turns, _question(), tail
    )


def _numbered(items: list[Item]) -> list[Item]:
    """Number items and calls; calls of one step share a number, so that results still name theirs."""
    numbers, step = count(), 0
    found: list[Item] = []
    for before, item in zip([None, *items], items, strict=False):
        opens = item.get("type", "").endswith("_call") and (
            before is None or "call_id" not in before or _answers(before)
        )
        step += opens and "call_id" in item
        named = {"call_id": f"{item['call_id']}{step}"} if "call_id" in item else {}
        found.append({**item, **named, "id": f"item_{next(numbers)}"})
    return found


def _answers(item: Item) -> bool:
    return str(item.get("type", "")).endswith("_output")


def least_tokens(items: Sequence[Item]) -> int:
    """Return tokens that a request of these items counts at least: its texts, calls and renderer."""
    return 3 + sum(map(_least_of, items))


def _least_of(item: Item) -> int:
    kind = item.get("type", "message")
    if kind in {"message", "function_call_output"}:
        content = item.get("content", item.get("output"))
        texts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        images = 0 if isinstance(content, str) else sum(part["type"] == "input_image" for part in content)
        return 4 + sum(map(count_text, texts)) + 700 * images
    if kind == "function_call":
        return count_text(item["call_id"]) + count_text(item["name"]) + count_text(item["arguments"])
    return sum(count_text(part["text"]) for part in item["summary"]) if kind == "reasoning" else 0


def responses_problems(before: Sequence[Item], after: Sequence[Item]) -> Iterator[str]:
    """Yield what is wrong with the items that are left."""
    where = {item["id"]: index for index, item in enumerate(before)}
    kept = [where[item["id"]] for item in after if "id" in item]
    if kept != sorted(set(kept)):
        yield f"items are repeated or in another order: {kept}"
    for item in after:
        if "id" in item:
            yield from _changes(before[where[item["id"]]], item)
        elif item["role"] != "assistant" or "omitted" not in item["content"]:
            yield f"an item was invented: {item}"
    calls = [item["call_id"] for item in after if "call_id" in item and not _answers(item)]
    results = [item["call_id"] for item in after if _answers(item)]
    if sorted(calls) != sorted(results):
        yield f"calls {calls} and results {results}"
    yield from _parted(before, set(kept))
    question = max(index for index, item in enumerate(before) if item.get("role") == "user")
    if question not in kept:
        yield "the question is lost"


def _changes(old: Item, new: Item) -> Iterator[str]:
    changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    if not changed <= {"content", "output", "arguments"} or old["id"] != new["id"]:
        yield f"{changed} of {old['id']} are not as they were"
    if "arguments" in changed:
        json.loads(new["arguments"])
    if isinstance(new.get("content"), list) and not new["content"]:
        yield f"nothing is left in {new['id']}"


def _parted(before: Sequence[Item], kept: set[int]) -> Iterator[str]:
    """Yield reasoning without the item that follows it, and items without the reasoning before them."""
    for index, item in enumerate(before[:-1]):
        if item.get("type") == "reasoning" and (index in kept) is not (index + 1 in kept):
            yield f"{item['id']} is reasoning, and was parted from the item behind it"
