"""One compression: retrieved documents are packed into a token budget, and the report says what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document as LangChainDocument

from ctxopt_core import DocumentPolicy, FitReport, pack_documents
from ctxopt_core.adapters import ModelBudget, packed_report
from langchain_ctxopt.documents import ScoreOf, TemplatedDocuments, document_views, with_text

_NOTHING_FITS = "no document fits into the budget, not even in part"
_NOTHING_FITS_WHOLE = "no document fits into the budget whole, and the policy keeps none in part"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """What a compression returns.

    Args:
        documents: The kept documents in reading order: whole ones are the identical objects, the others are copies.
        report: What was kept, cut and dropped, and why.
        lost_everything: Whether there were documents to keep, and none of them fitted into the budget.
    """

    documents: list[LangChainDocument]
    report: FitReport
    lost_everything: bool


def compress(
    rendering: TemplatedDocuments,
    query: str,
    max_tokens: int,
    model_budget: ModelBudget,
    policy: DocumentPolicy,
    score: str | ScoreOf | None,
) -> Compression:
    """Choose what to keep of the documents of `rendering`, so that they have at most `max_tokens` when it joins them.

    Raises:
        TypeError: An item is not a LangChain document, or a score function returned something else than a number.
        ValueError: A document lacks a metadata key that the template needs.
    """
    originals, counter = rendering.originals, model_budget.counter
    views = document_views(originals, score)
    packing = pack_documents(views, max_tokens, counter, query=query, policy=policy, rendering=rendering)
    kept = [with_text(originals[i], packing.texts.get(i, originals[i].page_content)) for i in packing.kept]
    lost_everything = not packing.kept and "budget" in packing.dropped.values()
    nothing_fits = _NOTHING_FITS if policy.passages else _NOTHING_FITS_WHOLE

    def count_before() -> int:
        rendered = (rendering.render(i, original.page_content) for i, original in enumerate(originals))
        return counter.count(rendering.separator.join(rendered))

    notes = (nothing_fits,) if lost_everything else ()
    report = packed_report(views, packing, max_tokens, model_budget, count_before=count_before, notes=notes)
    return Compression(documents=kept, report=report, lost_everything=lost_everything)


def query_and_documents(
    values: Any, query_keys: Sequence[str], documents_keys: Sequence[str]
) -> tuple[str, Sequence[LangChainDocument]]:
    """Return the first string under one of the query's keys and the first list under one of the documents' keys.

    Raises:
        TypeError: `values` is no mapping.
        ValueError: There is no string or no list under the keys.
    """
    if not isinstance(values, Mapping):
        message = (
            f"the compressor takes a dict with a query and documents, got {type(values).__name__}; give it "
            "{'query': ..., 'documents': ...}"
        )
        raise TypeError(message)
    query = next((values[key] for key in query_keys if isinstance(values.get(key), str)), None)
    if query is None:
        raise ValueError(_missing(values, "string", query_keys, "query_key"))
    lists = (values[key] for key in documents_keys if is_list(values.get(key)))
    documents = next(lists, None)
    if documents is None:
        raise ValueError(_missing(values, "list of documents", documents_keys, "documents_key"))
    return query, documents


def is_list(value: object) -> bool:
    """Return whether a value can be a list of documents."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _missing(values: Mapping[Any, Any], kind: str, keys: Sequence[str], setting: str) -> str:
    there = ", ".join(f"{key!r} ({type(value).__name__})" for key, value in values.items()) or "nothing"
    return f"the input has no {kind} under {' or '.join(map(repr, keys))}, it has {there}; name the key as `{setting}`"
