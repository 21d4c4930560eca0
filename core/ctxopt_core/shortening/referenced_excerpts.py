"""Excerpts of tool results with a note that says where the omitted lines can be read."""

from __future__ import annotations

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.shortening.omission_notes import (
    NoteInPlace,
    OmissionNote,
    is_omitted_mark,
    line_starts,
    notes_in,
    omitted_mark,
)
from ctxopt_core.shortening.truncate import truncate

_LEAST_HEAD = 4  # tokens before the note: fewer are not even a word or two


def referring_excerpt(
    text: str, budget: int, counter: TokenCounter, *, reference: str, lines_before: int = 0
) -> str | None:
    """Return the first that fits: head, note and tail; head and note; a mark. Each has the reference in it.

    An excerpt that is cut again keeps one note, for the same result.

    Args:
        text: The string to shorten; it is over the budget.
        budget: The most tokens of the excerpt.
        counter: Counts the excerpt.
        reference: The result that the string belongs to.
        lines_before: The lines of the result before this string.

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
