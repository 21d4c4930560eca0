"""Messages written down as a text for a model to read, within a token limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import TOOL_ROLES, Message
from ctxopt_core.messages.placeholder import placeholder_text
from ctxopt_core.shortening.head_and_tail import exceeds
from ctxopt_core.shortening.shorten_message import OMITTED
from ctxopt_core.shortening.token_limits import level_down
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates

_INDENT = "\n  "
_LONGEST_NAME = 64
_SHORTEST_TEXT = 24


def transcript_of(
    messages: Sequence[Message],
    counter: TokenCounter,
    max_tokens: int,
    *,
    frame: Callable[[str], str] | None = None,
) -> str:
    """Return messages as lines of `role: text`, `role calls: name(arguments)` and `tool name: result`.

    1. A message starts a line, and all other lines of its text are indented, so that no text can pass for a message.
       Blank lines go, and so does verbatim text such as reasoning, unless a message says nothing else.
    2. Above `max_tokens`, the longest messages are brought down to one common length: head, a mark, and tail.
    3. Where this would leave less than a sentence of each, the oldest go, and a first line says how many.

    Args:
        messages: The messages, oldest first.
        counter: Counts the tokens.
        max_tokens: The most that the transcript counts, together with its frame.
        frame: Puts around a transcript what is sent with it; by default nothing.

    Returns:
        The transcript without its frame; an empty text when the messages say nothing, or nothing fits.
    """
    framed = frame or _unframed
    blocks = list(_blocks(messages))
    whole = "\n".join(block.label + block.body for block in blocks)
    if not whole or not exceeds(framed(whole), max_tokens, counter):
        return whole
    room = max_tokens - counter.count(framed(""))
    step = 0
    while room > 0:
        found = _levelled(blocks, room, counter)
        over = counter.count(framed(found)) - max_tokens
        if over <= 0:
            return found
        # Counts of parts need not add up to that of their join.
        step = max(over, 2 * step)
        room -= step
    return ""


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of one message: the label that is always kept, and what may be shortened."""

    label: str
    body: str


def _unframed(transcript: str) -> str:
    return transcript


def _blocks(messages: Sequence[Message]) -> Iterator[_Block]:
    tools = {call.id: call.name for message in messages for call in message.tool_calls if call.id is not None}
    for message in messages:
        lines = list(_lines(message, tools))
        if lines:
            (first, text), *others = lines
            rest = (f"\n{label}: {_indented(other)}" for label, other in others)
            yield _Block(f"{first}: ", _indented(text) + "".join(rest))


def _lines(message: Message, tools: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of everything that a message says."""
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
    return " ".join(_sendable(name[:_LONGEST_NAME]).replace(":", " ").split())


def _indented(text: str) -> str:
    return _INDENT.join(line.rstrip() for line in _sendable(text).splitlines() if line.strip())


def _sendable(text: str) -> str:
    return joined_surrogates(text) if has_surrogates(text) else text


def _levelled(blocks: list[_Block], room: int, counter: TokenCounter) -> str:
    """Return the newest of the blocks, the longest of them brought down to one length, in about `room` tokens."""
    line_break = counter.count("\n")
    kept = _held(blocks, room, counter)
    head: list[str] = []
    if kept < len(blocks):
        room_beside = room - counter.count(placeholder_text(len(blocks))) - line_break
        kept = max(1, _held(blocks, room_beside, counter))
        head = [placeholder_text(len(blocks) - kept)] if kept < len(blocks) else []
    newest = blocks[-kept:]
    fixed = [*head, *(block.label for block in newest)]
    left = room - sum(map(counter.count, fixed)) - line_break * len(fixed)
    if left <= 0:
        return truncate(newest[-1].label + newest[-1].body, room, counter)
    allowed = level_down([_count(block.body, left, counter) for block in newest], left)
    texts = (block.label + _excerpt(block.body, most, counter) for block, most in zip(newest, allowed, strict=True))
    return "\n".join([*head, *texts])


def _held(blocks: list[_Block], room: int, counter: TokenCounter) -> int:
    """Return for how many of the newest blocks there is room when each is brought down to a short text."""
    line_break = counter.count("\n")
    total = 0
    for number, block in enumerate(reversed(blocks)):
        total += line_break + counter.count(block.label) + _count(block.body, _SHORTEST_TEXT, counter)
        if total > room:
            return number
    return len(blocks)


def _count(text: str, limit: int, counter: TokenCounter) -> int:
    """Return what a text counts, or the limit if that is less."""
    return limit if exceeds(text, limit, counter) else counter.count(text)


def _excerpt(text: str, budget: int, counter: TokenCounter) -> str:
    """Return head, mark and tail within the budget on one line, so that the tail starts no line."""
    found = truncate(text, budget, counter, side="middle", marker=_mark)
    return found or (OMITTED if text and not counter.exceeds(OMITTED, budget) else "")


def _mark(characters: int) -> str:
    return f" [... {characters:,} characters left out ...] "
