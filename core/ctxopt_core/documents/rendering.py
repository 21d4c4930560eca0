"""How documents are rendered into the prompt, and the tokens that they have there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ctxopt_core.counting.split_points import SAFE_CUT
from ctxopt_core.counting.token_counter import TokenCounter, cached_counts_of
from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.providers.rules import rules_of

# Characters per token of the prefix that is counted first. English has 4 to 5, so that a prefix of 6 times the limit is
# as a rule over it; a shorter one would often prove nothing and be counted in vain.
_PROBED_CHARACTERS_PER_TOKEN = 6
_SHORTEST_PROBE = 64  # characters; below it a prefix saves no time
_NEVER_IN_TEMPLATES = "\ue9c3\ue9c7"  # two characters for private use


class DocumentRendering(Protocol):
    """How the prompt holds a document.

    1. `render(index, text)` is exactly what the prompt holds for document `index` when its text is `text`: template,
       metadata and all, but no separator.
    2. `separator` is what the prompt holds between two documents.
    3. Both are pure: equal arguments give equal results.
    """

    @property
    def separator(self) -> str:
        """The string between two documents."""
        ...

    def render(self, index: int, text: str) -> str:
        """Return document `index` as the prompt holds it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDocuments:
    """Documents as their bare texts with a separator between them. It is a `DocumentRendering`.

    Args:
        separator: The string between two documents.

    Example:
        >>> from ctxopt_core import CallableCounter, Document, PlainDocuments, pack_documents
        >>> documents = [Document(text="A kiln."), Document(text="An arch.")]
        >>> pack_documents(documents, 20, CallableCounter(len), rendering=PlainDocuments(separator=" | ")).tokens
        18
    """

    separator: str = "\n\n"

    def render(self, index: int, text: str) -> str:  # noqa: ARG002
        """Return the text itself."""
        return text


def attachment_tokens(document: Document, counter: TokenCounter) -> int:
    """Return the tokens of a document's attachments by the rules of the counter's model."""
    return sum(map(rules_of(counter).attachment_tokens, document.attachments))


class DocumentCosts(Mapping[int, int]):
    """Tokens of each document that is not blank: as it is rendered, its attachments, and the separator that follows it.

    A mapping from index to tokens; a document is counted when it is first looked up.
    """

    __slots__ = (
        "_attached",
        "_costs",
        "_counter",
        "_known",
        "_more_than",
        "_rendering",
        "documents",
        "separator_tokens",
    )

    def __init__(self, documents: Sequence[Document], rendering: DocumentRendering, counter: TokenCounter) -> None:
        self.documents = documents
        self._rendering = rendering
        self._counter = counter
        self._known = cached_counts_of(counter)
        self._costs: dict[int, int] = {}
        self._more_than: dict[int, int] = {}
        self._attached = {i: attachment_tokens(each, counter) for i, each in enumerate(documents) if each.attachments}
        self.separator_tokens = counter.count(rendering.separator)

    def __getitem__(self, index: int) -> int:
        known = self._costs.get(index)
        if known is None:
            if not 0 <= index < len(self.documents) or is_blank(self.documents[index]):
                raise KeyError(index)
            known = self._costs[index] = self._counter.count(self._separated(index)) + self.attached(index)
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

    def fits(self, index: int, limit: int) -> bool:
        """Return whether document `index`, as the last one, takes at most `limit` tokens."""
        if self._exceeds(index, limit + self.separator_tokens):
            return False
        if self[index] <= limit:
            return True
        left = limit - self.attached(index)
        return left >= 0 and not self._counter.exceeds(self._rendered(index, self.text(index)), left)

    def attached(self, index: int) -> int:
        """Return the tokens of the attachments of document `index`."""
        return self._attached.get(index, 0)

    def of_text(self, index: int, text: str) -> int:
        """Return the tokens that document `index` takes with another text."""
        return self._counter.count(self._separated(index, text)) + self.attached(index)

    def of_template(self, index: int) -> int:
        """Return the tokens that document `index` takes in the prompt beside its text."""
        return self.of_text(index, "")

    def copies(self, index: int) -> int:
        """Return how many times document `index` as it is rendered holds its text, at least 1."""
        return max(1, self._rendered(index, _NEVER_IN_TEMPLATES).count(_NEVER_IN_TEMPLATES))

    def joined(self, kept: Sequence[int], texts: Mapping[int, str]) -> int:
        """Return the tokens of the kept documents, rendered and joined as the prompt holds them."""
        rendered = [self._rendered(index, texts.get(index) or self.text(index)) for index in kept]
        shown = [text for index, text in zip(kept, rendered, strict=True) if text or index not in self._attached]
        return self._counter.count(self._rendering.separator.join(shown)) + sum(map(self.attached, kept))

    def _exceeds(self, index: int, limit: int) -> bool:
        if index in self._costs:
            return self._costs[index] > limit
        left = limit - self.attached(index)
        if left < 0 or limit <= self._more_than.get(index, -1) or self._counted_exceeds(self._separated(index), left):
            self._more_than[index] = max(limit, self._more_than.get(index, -1))
            return True
        return self[index] > limit

    def _counted_exceeds(self, text: str, limit: int) -> bool:
        """Return whether `text` has more than `limit` tokens; a prefix that ends at a safe cut may already prove it."""
        probe = max(_SHORTEST_PROBE, limit * _PROBED_CHARACTERS_PER_TOKEN)
        if len(text) > probe * 2 and self._known(text) is None:
            cut = SAFE_CUT.search(text, probe, probe * 2)
            if cut and self._counter.exceeds(text[: cut.start()], limit):
                return True
        return self._counter.exceeds(text, limit)

    def _separated(self, index: int, text: str | None = None) -> str:
        rendered = self._rendered(index, self.text(index) if text is None else text)
        # What is nothing but attachments has no place between separators.
        return rendered + self._rendering.separator if rendered or index not in self._attached else ""

    def _rendered(self, index: int, text: str) -> str:
        return self._rendering.render(index, text)
