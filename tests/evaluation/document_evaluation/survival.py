"""What a packing kept: the answer, the evidence, and how much of the budget it used."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from document_evaluation.cases import COUNTER, SEPARATOR, Case

Kept = Sequence[tuple[int, str]]
UNSPACED = frozenset({"ja", "zh", "th"})
_NOT_WORDS = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


class Metrics(Protocol):
    """The metrics that come with the sets."""

    def doc_survival(self, it: Any, kept: Mapping[str, str], context: int, /) -> tuple[float, float] | None:
        """Return the share of the evidence that is kept letter by letter, and whether all of it is."""

    def answer_token_recall(self, answers: Sequence[str], kept_text: str, /) -> float | None:
        """Return the share of the answers' content words that stand in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One packing of one item.

    Args:
        number: The place of the item in its set.
        id: The item.
        lang: Its language, where the set has more than one.
        budget: The name of the budget: `20%` or `256`.
        answer: The share of the answer in the kept texts; None where there is none to look for.
        recall: The share of the evidence that is kept, whatever its white space; None for the documents of a
            conversation, whose gold is whole passages, of which the reference answer needs a part.
        complete: Whether all of it is.
        verbatim: The share that is kept letter by letter, with what stands around a span also beyond its sentence.
        used: Tokens of the kept texts, joined, by tokens of the budget.
        larger: Whether all texts together are larger than the budget.
        over: Whether the budget is broken.
        failed: Whether the candidate raised an error.
        ms: Milliseconds of CPU time.
    """

    number: int
    id: str
    lang: str = ""
    budget: str
    answer: float | None
    recall: float | None
    complete: bool
    verbatim: float
    used: float
    larger: bool
    over: bool = False
    failed: bool = False
    ms: float = 0.0

    def row(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)


def measure(case: Case, budget_name: str, kept: Kept | None, ms: float, metrics: Metrics) -> Outcome:
    """Measure what is kept of a case; None for a candidate that raised an error."""
    budget = case.budget(budget_name)
    text = SEPARATOR.join(part for _, part in kept or ())
    tokens = COUNTER.count(text)
    exact: dict[str, str] = {}
    for index, part in kept or ():
        name = case.passages[index].id
        exact[name] = f"{exact[name]}\n{part}" if name in exact else part
    by_id = {name: plain_spaces(part) for name, part in exact.items()}
    found = [any(plain_spaces(span) in by_id.get(name, "") for span in spans) for name, spans in evidence(case)]
    return Outcome(
        number=case.number,
        id=str(case.item["id"]),
        lang=case.item.get("lang", ""),
        budget=budget_name,
        answer=answer_share(case, text, metrics),
        recall=_recall(case, found),
        complete=all(found),
        verbatim=(metrics.doc_survival(case.item, exact, case.context) or (0.0,))[0],
        used=tokens / budget,
        larger=case.whole > budget,
        over=tokens > budget,
        failed=kept is None,
        ms=ms,
    )


def _recall(case: Case, found: Sequence[bool]) -> float | None:
    if "messages" in case.item:
        return None
    return sum(found) / len(found) if found else 0.0


def evidence(case: Case) -> list[tuple[str, list[str]]]:
    """Return each unit of evidence: its document, and the texts of which one has to be kept.

    A span is widened by the case's context as far as its sentence goes, to tell the annotated place from other
    mentions of the same words. A gold document without spans is one unit.
    """
    units: list[tuple[str, list[str]]] = []
    for document in case.item["documents"]:
        if document["gold"]:
            text, spans = document["text"], document.get("evidence_spans")
            parts = [_widened(text, start, stop, case.context) for start, stop in spans or [[0, len(text)]]]
            alternatives = case.item.get("evidence_mode") == "any_span"
            units += [(document["id"], parts)] if alternatives else [(document["id"], [part]) for part in parts]
    return units


def _widened(text: str, start: int, stop: int, context: int) -> str:
    first, last = max(0, start - context), min(len(text), stop + context)
    for end in _SENTENCE_END.finditer(text, first, start):
        first = end.end()
    end_after = _SENTENCE_END.search(text, max(start, stop - 2), last)
    return text[first : max(stop, end_after.start() + 1) if end_after else last]


def plain_spaces(text: str) -> str:
    """Return a text with one blank for every run of white space."""
    return " ".join(text.split())


def answer_share(case: Case, text: str, metrics: Metrics) -> float | None:
    """Return how much of the answer stands in the text.

    1.0 or 0.0 for an answer that is found in the documents, word by word; the share of its content words for one that
    was written for a conversation; None for yes and no, and for one that not even all documents hold.
    """
    answers = case.item["answers"]
    if "messages" in case.item:
        return metrics.answer_token_recall(answers, text)
    unspaced = case.item.get("lang", "")[:2] in UNSPACED
    wanted = [plain for answer in answers if (plain := normalized(answer)) not in {"", "yes", "no"}]
    if not any(_stands_in(plain, SEPARATOR.join(case.texts), unspaced=unspaced) for plain in wanted):
        return None
    return float(any(_stands_in(plain, text, unspaced=unspaced) for plain in wanted))


def normalized(text: str) -> str:
    """Return a text in lower case, as its words alone, without English articles."""
    words = _NOT_WORDS.sub(" ", unicodedata.normalize("NFKC", text).lower())
    return " ".join(_ARTICLES.sub(" ", words).split())


def _stands_in(plain: str, text: str, *, unspaced: bool) -> bool:
    if unspaced:
        return plain.replace(" ", "") in normalized(text).replace(" ", "")
    return f" {plain} " in f" {normalized(text)} "
