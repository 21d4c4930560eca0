"""Messages as a transcript for a model that summarizes them, within a token limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.placeholder import placeholder_text
from ctxopt_core.messages.roles import TOOL_ROLES
from ctxopt_core.shortening.shorten_message import OMITTED
from ctxopt_core.shortening.truncate import exceeds, level_down, truncate
from ctxopt_core.text.surrogates import joined_surrogates

_INDENT = "\n  "
_MARK = " [... {:,} characters left out ...] "
# Characters. OpenAI allows names of 64; a longer one would let a name fill the transcript.
_LONGEST_NAME = 64
# Tokens: about one sentence. If fewer would be left of each message, the oldest messages are left out instead.
_SHORTEST_BODY = 24


def transcript_of(
    messages: Sequence[Message],
    counter: TokenCounter,
    max_tokens: int,
    *,
    frame: Callable[[str], str] = str,
) -> str:
    """Return messages as lines of `role: text`, `role calls: name(arguments)` and `tool name: result`.

    1. Each message starts on a new line and the other lines of its text are indented, so that no text can look like a
       message. Blank lines are left out, and so is verbatim text such as reasoning, unless a message has nothing else.
    2. Over `max_tokens`, the longest messages are cut to one common length: head, a mark, and tail.
    3. If that would leave less than a sentence of each, the oldest are left out, and a first line says how many.

    Args:
        messages: The messages, oldest first.
        counter: Counts the tokens.
        max_tokens: The most that the transcript may have together with its frame, in tokens.
        frame: Puts around a transcript what is sent with it; by default nothing.

    Returns:
        The transcript without its frame; empty if the messages have no text, or nothing fits.
    """
    blocks = list(_blocks(messages))
    whole = "\n".join(block.label + block.body for block in blocks)
    if not whole or not exceeds(frame(whole), max_tokens, counter):
        return whole
    budget = max_tokens - counter.count(frame(""))
    step = 0
    while budget > 0:
        found = _shortened(blocks, budget, counter)
        over = counter.count(frame(found)) - max_tokens
        if over <= 0:
            return found
        # The counts of the parts need not add up to that of the whole.
        step = max(over, 2 * step)
        budget -= step
    return ""


class _Block(NamedTuple):
    """The lines of one message: the label, which is kept whole, and the body, which may be shortened."""

    label: str
    body: str


def _blocks(messages: Sequence[Message]) -> Iterator[_Block]:
    tools = {call.id: call.name for message in messages for call in message.tool_calls if call.id is not None}
    for message in messages:
        lines = list(_lines(message, tools))
        if lines:
            (first, text), *others = lines
            rest = (f"\n{label}: {_indented(other)}" for label, other in others)
            yield _Block(f"{first}: ", _indented(text) + "".join(rest))


def _lines(message: Message, tools: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each part of a message."""
    texts = message.texts
    speaker = _speaker(message, tools)
    for result in message.tool_results:
        yield _tool(tools.get(result.call_id or "")), "\n".join(texts[i] for i in result.texts)
    spoken = "\n".join(texts[i] for i in message.spoken)
    if not spoken.strip() and not message.tool_calls and not message.tool_results:
        spoken = "\n".join(message.verbatim)
    if spoken.strip() or message.role in TOOL_ROLES:
        yield speaker, spoken
    if message.attachments:
        yield f"{speaker} attaches", ", ".join(attachment.kind for attachment in message.attachments)
    for call in message.tool_calls:
        yield f"{speaker} calls", f"{_one_line(call.name)}({call.arguments})"


def _speaker(message: Message, tools: Mapping[str, str]) -> str:
    if message.role in TOOL_ROLES:
        return _tool(message.name or tools.get(message.tool_call_id or ""))
    return f"{_one_line(message.role)} {_one_line(message.name or '')}".strip() or "assistant"


def _tool(name: str | None) -> str:
    return f"tool {_one_line(name or '')}".strip()


def _one_line(name: str) -> str:
    return " ".join(joined_surrogates(name[:_LONGEST_NAME]).replace(":", " ").split())


def _indented(text: str) -> str:
    return _INDENT.join(line.rstrip() for line in joined_surrogates(text).splitlines() if line.strip())


def _shortened(blocks: list[_Block], budget: int, counter: TokenCounter) -> str:
    """Return the newest blocks in about `budget` tokens, the longest of them cut to one length."""
    line_break = counter.count("\n")
    kept = _fitting(blocks, budget, counter)
    head: list[str] = []
    if kept < len(blocks):
        beside = budget - counter.count(placeholder_text(len(blocks))) - line_break
        kept = max(1, _fitting(blocks, beside, counter))
        head = [placeholder_text(len(blocks) - kept)] if kept < len(blocks) else []
    newest = blocks[-kept:]
    fixed = [*head, *(block.label for block in newest)]
    left = budget - sum(map(counter.count, fixed)) - line_break * len(fixed)
    if left <= 0:
        return truncate(newest[-1].label + newest[-1].body, budget, counter)
    allowed = level_down([_count_up_to(left, block.body, counter) for block in newest], left)
    texts = (block.label + _excerpt(block.body, most, counter) for block, most in zip(newest, allowed, strict=True))
    return "\n".join([*head, *texts])


def _fitting(blocks: list[_Block], budget: int, counter: TokenCounter) -> int:
    """Return how many of the newest blocks fit if each is cut to a short text."""
    line_break = counter.count("\n")
    total = 0
    for number, block in enumerate(reversed(blocks)):
        total += line_break + counter.count(block.label) + _count_up_to(_SHORTEST_BODY, block.body, counter)
        if total > budget:
            return number
    return len(blocks)


def _count_up_to(limit: int, text: str, counter: TokenCounter) -> int:
    return limit if exceeds(text, limit, counter) else counter.count(text)


def _excerpt(text: str, budget: int, counter: TokenCounter) -> str:
    """Return head, mark and tail within the budget; the mark has no line break, so that the tail starts no line."""
    found = truncate(text, budget, counter, side="middle", marker=_MARK.format)
    return found or (OMITTED if text and not counter.exceeds(OMITTED, budget) else "")
