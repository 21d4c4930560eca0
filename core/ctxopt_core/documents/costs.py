"""What documents count as they stand in the prompt, counted only when asked and no further than asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxopt_core.counting.split_points import SAFE_CUT
from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of
from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.rendering import DocumentRendering

_PROBED_CHARACTERS_PER_TOKEN = 6
_SHORTEST_PROBE = 64
_NEVER_IN_TEMPLATES = "\ue9c3\ue9c7"


class DocumentCosts(Mapping[int, int]):
    """Tokens of each document that is not blank: as it is rendered, and with the separator that follows it.

    A mapping from index to tokens; a document is counted when it is first looked up.

    Args:
        documents: All documents.
        rendering: How a document stands in the prompt.
        counter: Counts the rendered texts.
    """

    __slots__ = ("_costs", "_counter", "_known", "_more_than", "_rendering", "documents", "separator_tokens")

    def __init__(self, documents: Sequence[Document], rendering: DocumentRendering, counter: TokenCounter) -> None:
        self.documents = documents
        self._rendering = rendering
        self._counter = counter
        self._known = cached_counts_of(counter)
        self._costs: dict[int, int] = {}
        self._more_than: dict[int, int] = {}
        self.separator_tokens = counter.count(rendering.separator)

    def __getitem__(self, index: int) -> int:
        known = self._costs.get(index)
        if known is None:
            if not 0 <= index < len(self.documents) or is_blank(self.documents[index]):
                raise KeyError(index)
            known = self._costs[index] = self._counter.count(self._separated(index))
        return known

    def __iter__(self) -> Iterator[int]:
        return (index for index, document in enumerate(self.documents) if not is_blank(document))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the plain counts, without any content."""
        return dict, (dict(self),)

    def text(self, index: int) -> str:
        """Return the text of a document."""
        return self.documents[index].text or ""

    def fits(self, index: int, room: int) -> bool:
        """Tell whether document `index`, as the last one, takes at most `room` tokens."""
        if self._exceeds(index, room + self.separator_tokens):
            return False
        return self[index] <= room or not self._counter.exceeds(self._rendered(index, self.text(index)), room)

    def of_text(self, index: int, text: str) -> int:
        """Return the tokens that document `index` takes with another text."""
        return self._counter.count(self._rendered(index, text) + self._rendering.separator)

    def of_template(self, index: int) -> int:
        """Return the tokens that document `index` takes in the prompt beside its text."""
        return self.of_text(index, "")

    def copies(self, index: int) -> int:
        """Return how many times document `index` as it is rendered holds its text, at least 1."""
        return max(1, self._rendered(index, _NEVER_IN_TEMPLATES).count(_NEVER_IN_TEMPLATES))

    def joined(self, kept: Sequence[int], texts: Mapping[int, str]) -> int:
        """Return the tokens of the kept documents, rendered and joined as the prompt holds them."""
        rendered = (self._rendered(index, texts.get(index) or self.text(index)) for index in kept)
        return self._counter.count(self._rendering.separator.join(rendered))

    def _exceeds(self, index: int, limit: int) -> bool:
        if index in self._costs:
            return self._costs[index] > limit
        if limit <= self._more_than.get(index, -1) or self._counted_exceeds(self._separated(index), limit):
            self._more_than[index] = max(limit, self._more_than.get(index, -1))
            return True
        return self[index] > limit

    def _counted_exceeds(self, text: str, limit: int) -> bool:
        """Tell whether a text counts more than `limit`; a prefix that ends at a safe cut may already prove it."""
        probe = max(_SHORTEST_PROBE, limit * _PROBED_CHARACTERS_PER_TOKEN)
        if len(text) > probe * 2 and self._known(text) is None:
            cut = SAFE_CUT.search(text, probe, probe * 2)
            if cut and self._counter.exceeds(text[: cut.start()], limit):
                return True
        return self._counter.exceeds(text, limit)

    def _separated(self, index: int) -> str:
        return self._rendered(index, self.text(index)) + self._rendering.separator

    def _rendered(self, index: int, text: str) -> str:
        return self._rendering.render(index, text)
