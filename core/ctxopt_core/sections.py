"""Extra sections of a request, such as saved memories: each has its own token budget and keeps its newest entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ctxopt_core.tokens import TokenCounter
from ctxopt_core.truncation import truncate


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Texts that are sent beside the four components, such as what an agent remembers of its user.

    It is whole as long as the whole request fits. In a request that does not fit it is cut to its own budget first, and
    what is left of it is then fixed. What goes is only left out of the request; nothing is deleted from anywhere.

    Args:
        name: What the report calls it.
        entries: Its texts, oldest first.
        max_tokens: The most that it may count in a request that is cut, as it is rendered, its framing included.

    Raises:
        TypeError: `name` is no text, or `entries` is no sequence of texts.
        ValueError: `name` is empty, or `max_tokens` is no number of tokens.
    """

    name: str
    entries: Sequence[str]
    max_tokens: int

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            message = f"`name` of a section must be a text, got {type(self.name).__name__}"
            raise TypeError(message)
        if not self.name:
            message = "`name` of a section must not be empty; the report calls the section by it"
            raise ValueError(message)
        tokens = self.max_tokens
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            message = f"`max_tokens` of section {self.name!r} must be a number of tokens, 0 or more, got {tokens!r}"
            raise ValueError(message)
        object.__setattr__(self, "entries", _as_entries(self.name, self.entries))

    @property
    def text(self) -> str:
        """Its entries, one a line."""
        return "\n".join(self.entries)

    def with_entries(self, entries: Sequence[str]) -> Section:
        """Return the section with other entries; itself where they are the same."""
        return self if tuple(entries) == self.entries else replace(self, entries=entries)


def _as_entries(name: str, entries: object) -> tuple[str, ...]:
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Sequence):
        message = (
            f"`entries` of section {name!r} must be a sequence of texts, oldest first, got {type(entries).__name__}; "
            "put a single text into a list"
        )
        raise TypeError(message)
    others = [type(entry).__name__ for entry in entries if not isinstance(entry, str)]
    if others:
        message = f"`entries` of section {name!r} must be texts, got {others[0]}; pass the text of each"
        raise TypeError(message)
    return tuple(entries)


def cut_section(section: Section, counter: TokenCounter, measure: Callable[[Sequence[str]], int]) -> Section:
    """Return a section with its newest entries that fit its own budget, in their order.

    1. Entries are kept whole, from the newest one back to the first that does not fit.
    2. Where not even the newest one fits, its head is kept up to a sentence border; nothing where that says nothing.
    3. `measure` of what is kept is at most `max_tokens`.

    Args:
        section: The section.
        counter: Counts texts.
        measure: Tells what the section counts, rendered, with the given entries. It is asked a few times, and never
            with an entry that alone counts more than `max_tokens`.
    """
    entries, most = section.entries, section.max_tokens
    # Most often all that could fit by their own counts do.
    low, high = 0, _most_entries(entries, most, counter)
    tried = high
    while low < high:
        if measure(entries[len(entries) - tried :]) <= most:
            low = tried
        else:
            high = tried - 1
        tried = (low + high + 1) // 2
    if low or not entries:
        return section.with_entries(entries[len(entries) - low :])
    head = _cut_entry(entries[-1], most, counter, measure)
    return section.with_entries((head,) if head else ())


def _most_entries(entries: Sequence[str], most: int, counter: TokenCounter) -> int:
    """Return how many of the newest entries count at most `most` tokens by themselves."""
    left, taken = most, 0
    for entry in reversed(entries):
        if counter.exceeds(entry, left):
            break
        left -= counter.count(entry)
        taken += 1
    return taken


def _cut_entry(entry: str, most: int, counter: TokenCounter, measure: Callable[[Sequence[str]], int]) -> str:
    """Return the longest head of an entry that fits; an empty text where nothing of it that says something does."""
    room = most
    while room > 0:
        head = truncate(entry, room, counter)
        if not head.strip():
            break
        measured = measure((head,))
        if measured <= most:
            return head
        # What stands around the text, or how many times it is rendered, shows in the first figure.
        room = min(room - 1, room * most // measured)
    return ""
