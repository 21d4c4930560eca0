"""What holds for the packing of any documents into any budget, recounted with tiktoken itself."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broken_cuts import cut_faults
from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.documents import pack_documents
from ctxopt_core.ranking import score_of
from ctxopt_core.request import Document
from ctxopt_core.tokens import CallableCounter, EstimateCounter, TiktokenCounter
from hostile_text import documents as document_rows
from hostile_text import hostile_text
from request_tokens import count_text

MARKER = " ⟦gap⟧ "
QUERIES = st.sampled_from(["", "lit?", "Who polishes forty brass lanterns?", "初雪", "oil"]) | hostile_text(3)
POLICIES = st.builds(
    DocumentPolicy,
    score_order=st.sampled_from(["higher", "lower"]),
    reading_order=st.sampled_from(["score", "original", "edges"]),
    min_score=st.none() | st.floats(-5, 5),
    max_documents=st.none() | st.integers(1, 5),
    passages=st.sampled_from([True, True, False]),
    passage_marker=st.sampled_from([MARKER, " [...] "]),
)
COUNTERS = {
    "o200k_base": TiktokenCounter("o200k_base"),
    "cl100k_base": TiktokenCounter("cl100k_base"),
    "characters": CallableCounter(len),
    "words": CallableCounter(lambda text: len(text.split())),
    "quarter": CallableCounter(lambda text: len(text) // 4),
    "with_bounds": CallableCounter(lambda text: len(text) // 3 + 2),
    "estimate": EstimateCounter(),
}


@dataclass(frozen=True)
class Template:
    """A frame that sticks to the text, so that costs of parts do not add up."""

    separator: str

    def render(self, index: int, text: str) -> str:
        return f"[{index}]{text}/{index}"


def documents():
    return document_rows().map(
        lambda rows: [Document(text=row["text"], id=row["id"], score=row["score"]) for row in rows]
    )


RENDERINGS = st.sampled_from([None, Template("\n\n"), Template(""), Template(" 9")])


def rendered(packing, documents, rendering):
    texts = [packing.texts.get(index, documents[index].text) for index in packing.kept]
    if rendering is None:
        return "\n\n".join(texts)
    return rendering.separator.join(map(rendering.render, packing.kept, texts))


def are_slices(kept, original, marker):
    """Tell whether the parts between markers stand in the original in this order."""
    position = 0
    for part in kept.split(marker.strip()):
        found = original.find(part.strip(), position)
        if found < 0:
            return False
        position = found + len(part.strip())
    return True


@settings(deadline=None, max_examples=300)
@given(documents(), st.integers(0, 400), QUERIES, POLICIES, RENDERINGS, st.sampled_from(sorted(COUNTERS)))
def test_what_is_kept_counts_no_more_than_the_budget(documents, budget, query, policy, rendering, name):
    before, counter = copy.deepcopy(documents), COUNTERS[name]

    packing = pack_documents(documents, budget, counter, query=query, policy=policy, rendering=rendering)

    text = rendered(packing, documents, rendering)
    assert packing.tokens == (counter.count(text) if packing.kept else 0) <= budget
    if counter.exact and name.endswith("_base"):
        assert count_text(text, name) <= budget
    assert repr(documents) == repr(before)
    assert packing == pack_documents(documents, budget, counter, query=query, policy=policy, rendering=rendering)


@settings(deadline=None, max_examples=300)
@given(documents(), st.integers(0, 400), QUERIES, POLICIES, st.sampled_from(["o200k_base", "words"]))
def test_every_document_is_kept_or_dropped_once_and_nothing_is_invented(documents, budget, query, policy, name):
    packing = pack_documents(documents, budget, COUNTERS[name], query=query, policy=policy)

    assert sorted([*packing.kept, *packing.dropped]) == list(range(len(documents)))
    assert set(packing.texts) <= set(packing.kept) <= set(packing.ranking)
    assert policy.max_documents is None or len(packing.kept) <= policy.max_documents
    assert policy.passages or not packing.texts
    for index, text in packing.texts.items():
        assert text.strip()
        assert are_slices(text, documents[index].text, policy.passage_marker)


@settings(deadline=None, max_examples=200)
@given(documents(), QUERIES)
def test_a_budget_of_the_full_cost_keeps_everything(documents, query):
    counter = COUNTERS["o200k_base"]
    full = pack_documents(documents, 10**6, counter, query=query)

    packing = pack_documents(documents, full.tokens, counter, query=query)

    assert packing.kept == packing.whole == full.kept
    assert set(packing.dropped.values()) <= {"empty"}


@settings(deadline=None, max_examples=200)
@given(documents(), st.integers(1, 300), QUERIES)
def test_d6_something_is_kept_where_a_document_begins_with_a_word(documents, budget, query):
    packing = pack_documents([*documents, Document(text="Lit lanterns glow. " * 9)], budget, COUNTERS["o200k_base"])

    assert packing.kept


@settings(deadline=None, max_examples=200)
@given(documents(), st.integers(0, 300), QUERIES, st.sampled_from([0.25, 2.0, 1024.0]))
def test_d12_scores_times_a_constant_change_nothing(documents, budget, query, factor):
    scaled = [
        document if (score := score_of(document)) is None else replace(document, score=score * factor)
        for document in documents
    ]
    first, second = (pack_documents(each, budget, COUNTERS["o200k_base"], query=query) for each in (documents, scaled))

    assert (first.kept, first.texts, first.dropped) == (second.kept, second.texts, second.dropped)


@settings(deadline=None, max_examples=200)
@given(hostile_text(), st.integers(1, 200), QUERIES)
def test_one_cut_document_has_no_broken_characters(text, budget, query):
    packing = pack_documents([Document(text=text)], budget, COUNTERS["o200k_base"], query=query)

    for kept in packing.texts.values():
        for part in kept.split("[...]"):
            assert part.count("\ufffd") <= text.count("\ufffd")
            if part.strip() and text.startswith(part.strip()):
                assert cut_faults(text, part.strip()) == []


@pytest.mark.parametrize("budget", range(130))
def test_a13_every_budget_up_to_the_full_cost_holds(budget):
    sentence = "Every lantern of the row is brass, and none is lit. "
    documents = [Document(text=sentence * count, score=1 / count) for count in (4, 1, 3, 2)]

    packing = pack_documents(documents, budget, COUNTERS["cl100k_base"], query="Which lantern is lit?")

    assert packing.tokens == count_text(rendered(packing, documents, None), "cl100k_base") <= budget
    assert bool(packing.kept) is (budget > 0)
