"""Which retrieved documents say nothing that a better one does not say as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.shared_substrings import earlier_alike
from ctxopt_core.relevance.bm25 import fold

_PIECES = 12
_ALIKE = 0.5
_SHORT_BYTES = 24
_TRIES = 8
_LONGEST_SEARCHED = 20_000
_OTHER_BLANKS = "\n\t\r\v\f\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"
_FINAL_SIGNS = " .,;:!?…。、؟،۔।\"'”’»)]"
_OPENING_SIGNS = "\"'“‘„«([{¿¡"
_AROUND_WORDS = ".,;:!?…\"'“”‘’„«»()[]{}¿¡؟،۔।"
_UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SENTENCE_ENDS = re.compile("[.!?…]+ |[。।؟۔…]")
_SIGNS_WITHOUT_BLANKS = re.compile("[。、・「」『』〈〉《》【】।؟۔…]")

Redundant = Callable[["_Wording", "_Wording"], bool]


def duplicates(documents: Sequence[Document], order: Sequence[int]) -> dict[int, int]:
    """Return for each redundant document the better one that stands for it, which is never redundant itself.

    Texts are compared in Unicode's NFKC form, case folded, with single blanks, without final punctuation. A document is
    redundant when a better one

    - has the same text;
    - holds its text, from the start of a word to the end of one;
    - holds each of its sentences, word for word and in whatever order; one of a few words together with the sentence
      before it. So a sentence that is repeated, moved or left out makes no difference, nor does punctuation, while a
      number, a name or a "not" that the better one lacks does;
    - has the same id: the same document, or another version of it.

    It takes time linear in the texts. Blank documents are ignored.

    Args:
        documents: All documents.
        order: Those that are compared, best first.
    """
    bests: dict[str, int] = {}
    same_id: dict[int, int] = {}
    for index in order:
        name = documents[index].id
        if name is None or is_blank(documents[index]):
            continue
        if (best := bests.setdefault(name, index)) != index:
            same_id[index] = best
    found = _stand_ins(documents, [index for index in order if index not in same_id], _is_redundant)
    return {**found, **{index: found.get(best, best) for index, best in same_id.items()}}


def contained(documents: Sequence[Document], indices: Sequence[int]) -> dict[int, int]:
    """Return for each document that another one holds whole, a longest one that holds it, whichever ranks better.

    It is for documents of which all will be kept: `duplicates` does not look for a better one in a worse one, since
    that may not be kept.

    Args:
        documents: All documents.
        indices: Those that are compared.
    """
    order = sorted(indices, key=lambda index: -len(comparable(documents[index].text or "")))
    return _stand_ins(documents, order, _Wording.is_in)


def _stand_ins(documents: Sequence[Document], order: Sequence[int], redundant: Redundant) -> dict[int, int]:
    firsts: dict[str, int] = {}
    same: dict[int, int] = {}
    for index in order:
        text = comparable(documents[index].text or "")
        if text and (first := firsts.setdefault(text, index)) != index:
            same[index] = first
    wordings = [_Wording(text=text) for text in firsts]
    alike = earlier_alike(list(firsts), pieces=_PIECES, least_share=_ALIKE)
    stand_in: dict[int, int] = {}
    for number, wording in enumerate(wordings):
        for other in alike.get(number, ()):
            if other not in stand_in and redundant(wording, wordings[other]):
                stand_in[number] = other
                break
    indices = list(firsts.values())
    found = {indices[number]: indices[other] for number, other in stand_in.items()}
    return {**found, **{index: found.get(first, first) for index, first in same.items()}}


def comparable(text: str) -> str:
    """Return a text in the form in which documents are compared; empty for a blank one."""
    folded = fold(text)
    for blank in filter(folded.__contains__, _OTHER_BLANKS):
        folded = folded.replace(blank, " ")
    while "  " in folded:
        folded = folded.replace("  ", " ")
    folded = folded.strip(" ")
    return folded.rstrip(_FINAL_SIGNS) or folded


@dataclass(slots=True, kw_only=True, eq=False)
class _Wording:
    """A text in comparable form, and what was worked out about its words."""

    text: str
    _said: str | None = None
    _sentences: tuple[str, ...] | None = None

    @property
    def said(self) -> str:
        """Its words with a blank before and after each."""
        if self._said is None:
            self._said = _said(self.text)
        return self._said

    @property
    def sentences(self) -> tuple[str, ...]:
        """The words of each sentence, as in `said`."""
        if self._sentences is None:
            self._sentences = tuple(_sentences(self.text))
        return self._sentences

    def is_in(self, other: _Wording) -> bool:
        """Tell whether the text stands in another one, from word border to word border."""
        start = other.text.find(self.text)
        for _ in range(_TRIES):
            if start < 0:
                break
            if _starts_word(other.text, start) and _ends_word(other.text, start + len(self.text)):
                return True
            start = other.text.find(self.text, start + 1)
        return False

    def says_nothing_beside(self, other: _Wording) -> bool:
        """Tell whether another text holds each of its sentences; in a long one, as a sentence too."""
        said = other.said if len(other.said) <= _LONGEST_SEARCHED else frozenset(other.sentences)
        return all(sentence and sentence in said for sentence in self.sentences)


def _is_redundant(worse: _Wording, better: _Wording) -> bool:
    return worse.is_in(better) or worse.says_nothing_beside(better)


def _sentences(text: str) -> Iterator[str]:
    sentence = ""
    for part in filter(str.strip, map(_said, _SENTENCE_ENDS.split(text))):
        if sentence and not (_is_short(part) or _is_short(sentence)):
            yield sentence
            sentence = part
        else:
            sentence += part.lstrip() if sentence else part
    yield sentence


def _said(text: str) -> str:
    """Return the words between blanks without punctuation around them, and a blank before and after each."""
    if not text.isascii():
        text = _SIGNS_WITHOUT_BLANKS.sub(" ", text)
    words = filter(None, [piece.strip(_AROUND_WORDS) for piece in text.split()])
    return f" {' '.join(words)} "


def _is_short(text: str) -> bool:
    return len(text) < _SHORT_BYTES and len(text.encode("utf-8", "surrogatepass")) < _SHORT_BYTES


def _starts_word(text: str, position: int) -> bool:
    if position == 0 or text[position - 1] == " ":
        return True
    before, first = text[position - 1], text[position]
    if _parts_unspaced(before, first):
        return True
    return before in _OPENING_SIGNS and (position == 1 or not text[position - 2].isalnum())


def _ends_word(text: str, position: int) -> bool:
    if position == len(text) or text[position] == " ":
        return True
    last, after = text[position - 1], text[position]
    if _parts_unspaced(last, after):
        return True
    return after in _FINAL_SIGNS and not text[position + 1 : position + 2].isalnum()


def _parts_unspaced(before: str, after: str) -> bool:
    """Tell whether a word may end between two characters because one of them is of a script without blanks."""
    if before.isnumeric() and after.isnumeric():
        return False
    return bool(
        _UNSPACED.match(before) or _UNSPACED.match(after) or before in "。、「」『』" or after in "。、「」『』"
    )
