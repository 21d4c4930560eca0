"""The note in an excerpt of a tool result that says where the omitted lines can be read, and the reading of them.

The note has a reference to the result: nine digits that are a hash of the call's id and the result's texts. So it means
the same result whatever else is added to the conversation or dropped from it.

Lines are numbered from 1 over all parts of the result's content. A line longer than 500 characters is several lines, so
that every place in a result has a line of readable length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message
from ctxopt_core.messages.roles import TOOL_ROLES
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.text.boundaries import cluster_start

LONGEST_LINE = 500  # characters: about 125 tokens, so that a few lines fit in the answer of a tool
_DIGITS = 9  # of a reference: two results of a conversation have the same one hardly ever, and models copy it safely
_LEAST_HEAD = 4  # tokens before the note: fewer are not even a word or two
_NOTE = re.compile(r'\n\[\.\.\. ([\d,]+) lines? left out: reference "(\d{9})", start_line (\d+) \.\.\.\]\n?')
_MARK = re.compile(r'\[omitted: reference "(\d{9})"\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """A tool result as the conversation holds it.

    Args:
        reference: The reference to it in notes.
        text: Its texts, on lines of their own.
    """

    reference: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionNote:
    """The note in an excerpt: the result, the first line of which something is left out, and how many such lines."""

    reference: str
    start_line: int
    lines: int

    def __str__(self) -> str:
        lines = f"{self.lines:,} line{'' if self.lines == 1 else 's'}"
        return f'\n[... {lines} left out: reference "{self.reference}", start_line {self.start_line} ...]\n'


def omitted_mark(reference: str) -> str:
    """Return the mark for a result of which nothing is shown."""
    return f'[omitted: reference "{reference}"]'


def is_omitted_mark(text: str) -> bool:
    """Return whether a string is the mark for a result of which nothing is shown."""
    return _MARK.fullmatch(text) is not None


def notes_in(text: str) -> Iterator[tuple[OmissionNote, int, int]]:
    """Yield the notes of an excerpt, each with where it starts and ends."""
    for match in _NOTE.finditer(text):
        lines, reference, start_line = match.groups()
        count = int(lines.replace(",", ""))
        yield OmissionNote(reference=reference, start_line=int(start_line), lines=count), match.start(), match.end()


def reference_to(call_id: str | None, texts: Sequence[str]) -> str:
    """Return the reference to a result: nine digits, a hash of the call that it answers and of its texts."""
    import hashlib

    digest = hashlib.sha256()
    for text in (call_id or "", *texts):
        content = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d " % len(content))
        digest.update(content)
    return f"{int.from_bytes(digest.digest()[:8], 'big') % 10**_DIGITS:0{_DIGITS}d}"


def results_by_text(message: Message) -> dict[int, tuple[str, int]]:
    """Return, by the position of each text that belongs to a result, the reference and the lines before the text."""
    found: dict[int, tuple[str, int]] = {}
    for call_id, positions in _results_of(message):
        texts = [message.texts[i] for i in positions]
        reference = reference_to(call_id, texts)
        before = 0
        for position, text in zip(positions, texts, strict=True):
            found[position] = (reference, before)
            before += len(line_starts(text)) if position + 1 < positions.stop else 0
    return found


def stored_results(message: Message) -> Iterator[StoredResult]:
    """Yield the tool results that a message holds; none for any other message."""
    for call_id, positions in _results_of(message):
        texts = [message.texts[i] for i in positions]
        yield StoredResult(reference=reference_to(call_id, texts), text="\n".join(texts))


def line_starts(text: str) -> list[int]:
    """Return where each line of a string starts."""
    starts: list[int] = []
    start = 0
    while True:
        line_break = text.find("\n", start)
        stop = len(text) if line_break < 0 else line_break
        starts.append(start)
        while stop - start > LONGEST_LINE:
            border = cluster_start(text, start + LONGEST_LINE)
            start = border if border > start else start + LONGEST_LINE
            starts.append(start)
        if line_break < 0:
            return starts
        start = line_break + 1


class NoteInPlace:
    """The marker for an omitted part of a result's text, a `CutMarker`; the result has `lines_before` before `text`."""

    def __init__(self, text: str, reference: str, lines_before: int) -> None:
        self._text = text
        self._reference = reference
        self._before = lines_before
        self._starts = line_starts(text)

    def marker_for(self, start: int, stop: int) -> str:
        """Return the note for the characters in [start, stop)."""
        return str(self.note(start, stop))

    def note(self, start: int, stop: int) -> OmissionNote:
        """Return the note for the characters in [start, stop); white space around a cut is no line."""
        omitted = self._text[start:stop]
        first = bisect_right(self._starts, start + len(omitted) - len(omitted.lstrip()))
        last = bisect_right(self._starts, max(0, start + len(omitted.rstrip()) - 1))
        lines = max(1, last - first + 1)
        # No cut leaves a string without a head: this asks how wide the note can be.
        number = len(self._starts) if start == 0 and stop == len(self._text) else first
        return OmissionNote(reference=self._reference, start_line=self._before + number, lines=lines)


def referring_excerpt(
    text: str, budget: int, counter: TokenCounter, *, reference: str, lines_before: int = 0
) -> str | None:
    """Return the first that fits: head, note and tail; head and note; a mark. Each has the reference in it.

    An excerpt that is cut again keeps one note, for the same result.

    Returns:
        None where not even the mark fits.
    """
    earlier = list(notes_in(text))
    if earlier:
        reference = earlier[0][0].reference
        found = _excerpt_again(text, budget, counter, (earlier[0][1], earlier[-1][2]), lines_before)
    else:
        place = NoteInPlace(text, reference, lines_before)
        found = truncate(text, budget, counter, side="middle", marker=place)
        if text.startswith(found):
            found = _head_and_note(text, budget, counter, place)
    if found:
        return found
    mark = text if is_omitted_mark(text) else omitted_mark(reference)
    return None if counter.exceeds(mark, budget) else mark


def _head_and_note(text: str, budget: int, counter: TokenCounter, place: NoteInPlace) -> str:
    """Return the head of a string and the note after it; an empty string where they do not fit."""
    left = budget - counter.count(place.marker_for(0, len(text)))
    while left >= _LEAST_HEAD:
        head = truncate(text, left, counter)
        joined = head + place.marker_for(len(head), len(text)).rstrip()
        if head and not counter.exceeds(joined, budget):
            return joined
        left -= 1
    return ""


def _excerpt_again(text: str, budget: int, counter: TokenCounter, gap: tuple[int, int], lines_before: int) -> str:
    """Return less of an excerpt's head and tail, around one note for all that is missing now."""
    before, after = text[: gap[0]], text[gap[1] :]
    notes = [note for note, _, _ in notes_in(text)]
    missing = sum(note.lines for note in notes) + max(0, text[gap[0] : gap[1]].count("\n") - 2 * len(notes))
    place = NoteInPlace(before, notes[0].reference, lines_before)
    left = budget - counter.count(str(notes[0]))
    while left >= _LEAST_HEAD:
        head = truncate(before, (left + 1) // 2, counter)
        tail = truncate(after, left - counter.count(head), counter, side="tail") if left > counter.count(head) else ""
        start = place.note(len(head), len(before)).start_line if len(head) < len(before) else notes[0].start_line
        lost = max(0, notes[0].start_line - start) + len(line_starts(after[: len(after) - len(tail)])) - 1
        note = OmissionNote(reference=notes[0].reference, start_line=start, lines=missing + lost)
        joined = head + (str(note) if tail else str(note).rstrip()) + tail
        if head and not counter.exceeds(joined, budget):
            return joined
        left -= 1
    return ""


def read_lines(result: StoredResult, start_line: int, max_lines: int, max_tokens: int, counter: TokenCounter) -> str:
    """Return lines of a stored result after a heading that says which they are.

    Args:
        result: The result.
        start_line: The first line, from 1; a smaller number is the first.
        max_lines: The most lines, at least one.
        max_tokens: The most tokens of what is returned.
        counter: Counts them.
    """
    text, starts = result.text, line_starts(result.text)
    if not text.strip():
        return "The result holds no text."
    if text.endswith("\n"):
        starts.pop()
    first = max(1, start_line)
    if first > len(starts):
        return f"The result has {len(starts):,} lines; there is none with the number {first}."
    ends = [*starts[1:], len(text)]
    begin = starts[first - 1]
    room = max_tokens - counter.count(_heading(first, len(starts), len(starts)))
    last = min(len(starts), first - 1 + max(1, max_lines))
    window = text[begin : ends[last - 1]]
    if counter.exceeds(window, room):
        reach = begin + counter.prefix_length(window, room)
        last = max(first, min(last, bisect_right(ends, reach)))
    while last >= first:
        shown = _heading(first, last, len(starts)) + text[begin : ends[last - 1]].removesuffix("\n")
        if not counter.exceeds(shown, max_tokens):
            return shown
        last -= 1
    heading = f"[part of line {first} of {len(starts)}]\n"
    return heading + truncate(text[begin : ends[first - 1]], max_tokens - counter.count(heading) - 1, counter)


def _heading(first: int, last: int, lines: int) -> str:
    more = f"; go on with start_line {last + 1}" if last < lines else ""
    return f"[lines {first} to {last} of {lines}{more}]\n"


def _results_of(message: Message) -> Iterator[tuple[str | None, range]]:
    if message.role in TOOL_ROLES:
        yield message.tool_call_id or message.name, range(len(message.texts))
    for result in message.tool_results:
        yield result.call_id, result.texts
