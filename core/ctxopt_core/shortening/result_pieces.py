"""The pieces of a tool result: how it is split, and how the chosen ones are joined with marks in the gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.shortening.omission_notes import NoteInPlace
from ctxopt_core.shortening.truncate import omission_marker
from ctxopt_core.text.boundaries import cluster_end, cluster_start, word_end, word_start
from ctxopt_core.text.identifiers import placed_identifiers

GAP = "…"
# Longer lines are split at punctuation, and longer pieces at blanks. Smaller pieces fit a budget better, larger ones
# keep a record of a log or of JSON together.
_LONG_LINE = 160  # characters
_LONGEST_PIECE = 240  # characters
_BORDER = re.compile(r"[,;{}\[\]]+[ \t]*|[.!?]+[ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultText:
    """One string of a tool result, which has `lines_before` before it. The note has a reference unless it is None."""

    text: str
    reference: str | None = None
    lines_before: int = 0


class CutText:
    """A tool result's string of which pieces are chosen.

    `split_first` and `split_last` come before the pieces at the ends are chosen. Pieces are chosen by adding their
    numbers to `chosen`, and `rendered` joins them. At most `most_characters` are split into pieces, half of them at
    either end. If `wide`, the widest gap says how much was left out.
    """

    __slots__ = ("_costs", "_counter", "_marker", "_named", "chosen", "complete", "pieces", "result")

    def __init__(self, result: ResultText, counter: TokenCounter, most_characters: int, *, wide: bool) -> None:
        self.result = result
        self.pieces = pieces_of(result.text, most_characters)
        self.complete = len(result.text) <= most_characters
        self.chosen: set[int] = set()
        self._counter = counter
        self._costs: dict[int, int] = {}
        self._named: dict[int, dict[str, None]] | None = None
        self._marker = _marker_for(result, wide=wide)

    @property
    def marker_cost(self) -> int:
        """The tokens of the widest mark."""
        return self._counter.count(self._marker(0, len(self.result.text)))

    def piece(self, n: int) -> str:
        """Return a piece."""
        start, stop = self.pieces[n]
        return self.result.text[start:stop]

    def cost(self, n: int) -> int:
        """Return the tokens of a piece."""
        found = self._costs.get(n)
        if found is None:
            found = self._costs[n] = self._counter.count(self.piece(n))
        return found

    def named(self, n: int) -> tuple[str, ...]:
        """Return the identifiers in a piece."""
        if self._named is None:
            self._named = {}
            at = 0
            for first, last in _joined(self.pieces):
                for position, identifier in placed_identifiers(self.result.text, first, last):
                    while self.pieces[at][1] <= position:
                        at += 1
                    self._named.setdefault(at, {})[identifier] = None
        return tuple(self._named.get(n, ()))

    def split_first(self, budget: int) -> None:
        """Split the first piece so that its first part is within `budget` tokens."""
        start, stop = self.pieces[0]
        text = self.result.text
        reach = start + self._counter.prefix_length(text[start:stop], budget)
        self._split(0, max(start, word_end(text, reach)) or cluster_start(text, reach))

    def split_last(self, budget: int) -> None:
        """Split the last piece so that its last part is within `budget` tokens."""
        start, stop = self.pieces[-1]
        text = self.result.text
        reach = stop - self._counter.suffix_length(text[start:stop], budget)
        word = word_start(text, reach)
        self._split(len(self.pieces) - 1, word if word < stop else cluster_end(text, reach))

    def _split(self, n: int, border: int) -> None:
        start, stop = self.pieces[n]
        if start < border < stop:
            self.pieces[n : n + 1] = [(start, border), (border, stop)]
            self.chosen = {i + (i > n) for i in self.chosen}
            self._costs.clear()
            self._named = None

    def rendered(self) -> str:
        """Return the chosen pieces with marks in the gaps; an empty string when nothing was chosen."""
        if not self.chosen:
            return ""
        if len(self.chosen) == len(self.pieces) and self.complete:
            return self.result.text
        text, spans = self.result.text, _joined(self.pieces[n] for n in sorted(self.chosen))
        edges = [0, *(edge for span in spans for edge in span), len(text)]
        gaps = [(edges[n], edges[n + 1]) for n in range(0, len(edges), 2)]
        widest = max(gaps, key=lambda gap: gap[1] - gap[0])
        parts: list[str] = []
        for gap, span in zip(gaps, [*spans, (0, 0)], strict=True):
            if gap == widest:
                marker = self._marker(*gap)
                parts.append(
                    marker.lstrip("\n") if gap[0] == 0 else marker.rstrip("\n") if gap[1] == len(text) else marker
                )
            elif gap[0] < gap[1]:
                parts.append(GAP + "\n" if text[gap[1] - 1] == "\n" and gap[1] < len(text) else GAP)
            parts.append(text[slice(*span)])
        return "".join(parts)


def _marker_for(result: ResultText, *, wide: bool) -> Callable[[int, int], str]:
    if result.reference is not None:
        return NoteInPlace(result.text, result.reference, result.lines_before).marker_for
    return (lambda start, stop: omission_marker(stop - start)) if wide else (lambda _start, _stop: GAP)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in which those that touch are joined."""
    found: list[tuple[int, int]] = []
    for start, stop in spans:
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return found


def pieces_of(text: str, most_characters: int) -> list[tuple[int, int]]:
    """Return where each piece of a string starts and stops, in order; together they are the string.

    Of a string with more than `most_characters` only the pieces at its head and at its tail are returned.
    """
    if len(text) <= most_characters:
        return _pieces_between(text, 0, len(text))
    head = cluster_start(text, most_characters // 2)
    tail = cluster_start(text, len(text) - most_characters // 2)
    return [*_pieces_between(text, 0, head)[:-1], *_pieces_between(text, tail, len(text))[1:]]


def _pieces_between(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    borders = [start]
    position = start
    while position < stop:
        line_break = text.find("\n", position, stop)
        end = stop if line_break < 0 else line_break + 1
        if end - position > _LONG_LINE:
            borders.extend(m.end() for m in _BORDER.finditer(text, position, end) if _is_border(text, m.end()))
        if borders[-1] != end:
            borders.append(end)
        position = end
    return [part for piece in pairwise(borders) for part in _short_parts(text, *piece)]


def _is_border(text: str, position: int) -> bool:
    return position >= len(text) or text[position].isascii() or cluster_start(text, position) == position


def _short_parts(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Split a piece without punctuation at its blanks, or where a character ends."""
    parts: list[tuple[int, int]] = []
    while stop - start > _LONGEST_PIECE:
        blank = text.rfind(" ", start + 1, start + _LONGEST_PIECE) + 1
        end = blank if blank > 0 and _is_border(text, blank) else cluster_start(text, start + _LONGEST_PIECE)
        if end <= start:
            break
        parts.append((start, end))
        start = end
    parts.append((start, stop))
    return parts
