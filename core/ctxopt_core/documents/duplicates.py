"""Which retrieved documents are redundant: a better one says the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from ctxopt_core.documents.document import Document, is_blank
from ctxopt_core.documents.shared_substrings import earlier_alike
from ctxopt_core.relevance.bm25 import fold

# Pieces into which a document of median length is cut: enough that each half of it, the least that counts as alike, has
# several; more pieces are shorter, and short ones are shared by chance.
_PIECES = 12
_ALIKE = 0.5  # share of the pieces, by characters; below it most sentences are missing in the other document
_SHORT_BYTES = 24  # UTF-8 bytes, about 6 tokens: "Yes." says nothing without the sentence before it
_TRIES = 8  # occurrences that are looked at for one between word borders; bounds the time for monotonous texts
_LONGEST_SEARCHED = 20_000  # characters of words that are searched for each sentence; in longer ones a set is used
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
    """Return for each redundant document the better one that replaces it, which is never redundant itself.

    Texts are compared in Unicode's NFKC form, case folded, with single blanks, without final punctuation. A document is
    redundant if a better one

    - has the same text;
    - contains its text, from the start of a word to the end of one;
    - contains each of its sentences, word for word and in any order; a sentence of a few words together with the one
      before it. So a sentence that is repeated, moved or left out makes no difference, nor does punctuation, but a
      number, a name or a "not" that the better one lacks does;
    - has the same id: the same document, or another version of it.

    The time is linear in the characters. Blank documents are ignored, and of documents with attachments the texts.
    `order` has the best document first.
    """
    bests: dict[str, int] = {}
    same_id: dict[int, int] = {}
    for index in order:
        name = documents[index].id
        if name is None or is_blank(documents[index]):
            continue
        if (best := bests.setdefault(name, index)) != index:
            same_id[index] = best
    found = _replacements(documents, [index for index in order if index not in same_id], _Wording.is_redundant)
    return {**found, **{index: found.get(best, best) for index, best in same_id.items()}}


def contained(documents: Sequence[Document], indices: Sequence[int]) -> dict[int, int]:
    """Return for each document that another one contains whole, a longest one that contains it, whatever their ranks.

    It is for documents that will all be kept: `duplicates` does not look for a better one in a worse one, which may be
    dropped.
    """
    order = sorted(indices, key=lambda index: -len(comparable(documents[index].text or "")))
    return _replacements(documents, order, _Wording.is_in)


def _replacements(documents: Sequence[Document], order: Sequence[int], redundant: Redundant) -> dict[int, int]:
    firsts: dict[str, int] = {}
    same: dict[int, int] = {}
    for index in order:
        if documents[index].attachments:
            continue
        text = comparable(documents[index].text or "")
        if text and (first := firsts.setdefault(text, index)) != index:
            same[index] = first
    wordings = list(map(_Wording, firsts))
    alike = earlier_alike(list(firsts), pieces=_PIECES, least_share=_ALIKE)
    replaced: dict[int, int] = {}
    for number, wording in enumerate(wordings):
        for other in alike.get(number, ()):
            if other not in replaced and redundant(wording, wordings[other]):
                replaced[number] = other
                break
    indices = list(firsts.values())
    found = {indices[number]: indices[other] for number, other in replaced.items()}
    return {**found, **{index: found.get(first, first) for index, first in same.items()}}


def comparable(text: str) -> str:
    """Return the form in which documents are compared; empty for blank text."""
    folded = fold(text)
    for blank in filter(folded.__contains__, _OTHER_BLANKS):
        folded = folded.replace(blank, " ")
    while "  " in folded:
        folded = folded.replace("  ", " ")
    folded = folded.strip(" ")
    return folded.rstrip(_FINAL_SIGNS) or folded


class _Wording:
    """A document in comparable form. Its words and sentences are computed when they are first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> str:
        """Its words with a blank before and after each."""
        return _words(self.text)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The words of each sentence, as in `words`."""
        return tuple(_sentences(self.text))

    def is_in(self, other: _Wording) -> bool:
        """Return whether another text contains this one, from word border to word border."""
        start = other.text.find(self.text)
        for _ in range(_TRIES):
            if start < 0:
                break
            if _starts_word(other.text, start) and _ends_word(other.text, start + len(self.text)):
                return True
            start = other.text.find(self.text, start + 1)
        return False

    def is_redundant(self, better: _Wording) -> bool:
        """Return whether a better text contains this one or each of its sentences; a long text, as its sentences."""
        if self.is_in(better):
            return True
        words = better.words if len(better.words) <= _LONGEST_SEARCHED else frozenset(better.sentences)
        return all(sentence and sentence in words for sentence in self.sentences)


def _sentences(text: str) -> Iterator[str]:
    sentence = ""
    for part in filter(str.strip, map(_words, _SENTENCE_ENDS.split(text))):
        if sentence and not (_is_short(part) or _is_short(sentence)):
            yield sentence
            sentence = part
        else:
            sentence += part.lstrip() if sentence else part
    yield sentence


def _words(text: str) -> str:
    """Return the words, without punctuation around them, and a blank before and after each."""
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
    """Return whether a word may end between two characters since one of them is of a script without blanks."""
    if before.isnumeric() and after.isnumeric():
        return False
    return bool(
        _UNSPACED.match(before) or _UNSPACED.match(after) or before in "。、「」『』" or after in "。、「」『』"
    )
