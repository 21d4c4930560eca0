"""What holds for the packing of any documents into any budget, recounted with tiktoken itself."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broken_cuts import cut_faults
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.estimate_counter import EstimateCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import pack_documents
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.documents.ranking import score_of
from drawn_examples import examples
from hostile_text import documents as document_rows
from hostile_text import hostile_text
from request_tokens import count_text

MARKER = " ⟦gap⟧ "
QUERIES = st.sampled_from(["", "lit?", "Who polishes forty brass lanterns?", "初雪", "oil"]) | hostile_text(3)
SELECTIONS = ("auto", "score", "passages", "density", "optimal")
REASONS = {"budget", "score", "duplicate", "empty", "count"}
by_any_selection = pytest.mark.parametrize("selection", SELECTIONS)


def policy_of(*, selection, passages, **others) -> DocumentPolicy:
    return DocumentPolicy(selection=selection, passages=passages or selection == "passages", **others)


POLICIES = st.builds(
    policy_of,
    selection=st.sampled_from(SELECTIONS),
    score_order=st.sampled_from(["higher", "lower"]),
    reading_order=st.sampled_from(["score", "original", "edges"]),
    min_score=st.none() | st.floats(-5, 5),
    max_documents=st.none() | st.integers(1, 5),
    passages=st.sampled_from([True, True, False]),
    gap_marker=st.sampled_from([MARKER, " [...] "]),
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


LANTERNS = tuple(f"Lantern {number} of the long row is brass, and nobody has lit it yet." for number in range(12))


def hostile_documents():
    sources = st.lists(st.sampled_from([None, "a.md", "b.md"]), min_size=8, max_size=8)
    return st.builds(
        lambda rows, sources: [
            Document(text=row["text"], id=row["id"], score=row["score"], source=source)
            for row, source in zip(rows, sources, strict=False)
        ],
        document_rows(),
        sources,
    )


def overlapping_chunks():
    """Draw chunks of one text, which overlap, hold and repeat each other."""
    window = st.tuples(st.integers(0, 11), st.integers(1, 5))
    chunk = st.builds(
        lambda window, score, source: Document(
            text=" ".join(LANTERNS[window[0] : sum(window)]), score=score, source=source
        ),
        window,
        st.none() | st.floats(0, 1),
        st.sampled_from(["a.md", "a.md", "b.md", None]),
    )
    return st.lists(chunk, max_size=7)


def documents():
    return st.one_of(hostile_documents(), overlapping_chunks())


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


@settings(deadline=None, max_examples=examples(300))
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


@settings(deadline=None, max_examples=examples(300))
@given(documents(), st.integers(0, 400), QUERIES, POLICIES, st.sampled_from(["o200k_base", "words"]))
def test_every_document_is_kept_or_dropped_once_and_nothing_is_invented(documents, budget, query, policy, name):
    packing = pack_documents(documents, budget, COUNTERS[name], query=query, policy=policy)

    assert sorted([*packing.kept, *packing.dropped]) == list(range(len(documents)))
    assert set(packing.texts) <= set(packing.kept) <= set(packing.ranking)
    assert policy.max_documents is None or len(packing.kept) <= policy.max_documents
    assert set(packing.dropped.values()) <= REASONS
    for index, text in packing.texts.items():
        assert text.strip()
        assert are_slices(text, documents[index].text, policy.gap_marker)
        assert policy.passages or (documents[index].source and documents[index].text.endswith(text))


@settings(deadline=None, max_examples=examples(200))
@given(documents(), QUERIES)
def test_a_budget_of_the_full_cost_keeps_everything(documents, query):
    counter = COUNTERS["o200k_base"]
    full = pack_documents(documents, 10**6, counter, query=query)

    packing = pack_documents(documents, full.tokens, counter, query=query)

    assert packing.kept == packing.whole == full.kept
    assert set(packing.dropped.values()) <= {"empty"}


@by_any_selection
@settings(deadline=None, max_examples=examples(60))
@given(documents=documents(), budget=st.integers(1, 300), query=QUERIES)
def test_d6_something_is_kept_where_a_document_begins_with_a_word(selection, documents, budget, query):
    documents = [*documents, Document(text="Lit lanterns glow. " * 9)]
    policy = DocumentPolicy(selection=selection)

    assert pack_documents(documents, budget, COUNTERS["o200k_base"], query=query, policy=policy).kept


@by_any_selection
@settings(deadline=None, max_examples=examples(60))
@given(
    documents=documents(),
    budget=st.integers(0, 300),
    query=QUERIES,
    factor=st.sampled_from([2.0, 8.0, 1024.0]),
    passages=st.booleans(),
)
def test_d12_scores_times_a_constant_change_nothing(selection, documents, budget, query, factor, passages):
    policy = policy_of(selection=selection, passages=passages)
    scaled = [
        document if (score := score_of(document)) is None else replace(document, score=score * factor)
        for document in documents
    ]
    first, second = (
        pack_documents(each, budget, COUNTERS["o200k_base"], query=query, policy=policy) for each in (documents, scaled)
    )

    assert (first.kept, first.texts, first.dropped) == (second.kept, second.texts, second.dropped)


@settings(deadline=None, max_examples=examples(100))
@given(overlapping_chunks(), st.integers(20, 200), POLICIES)
def test_d7_no_sentence_of_one_source_is_read_twice_where_chunks_are_kept_whole(documents, budget, policy):
    policy = replace(policy, selection="score", passages=False, min_score=None, max_documents=None)
    documents = [replace(document, source="a.md") for document in documents]

    packing = pack_documents(documents, budget, COUNTERS["o200k_base"], policy=policy)

    if packing.selection:
        text = rendered(packing, documents, None)
        assert all(text.count(sentence) <= 1 for sentence in LANTERNS)


@settings(deadline=None, max_examples=examples(200))
@given(hostile_text(), st.integers(1, 200), QUERIES)
def test_one_cut_document_has_no_broken_characters(text, budget, query):
    packing = pack_documents([Document(text=text)], budget, COUNTERS["o200k_base"], query=query)

    for kept in packing.texts.values():
        for part in kept.split("[...]"):
            assert part.count("\ufffd") <= text.count("\ufffd")
            if part.strip() and text.startswith(part.strip()):
                assert cut_faults(text, part.strip()) == []


@pytest.mark.parametrize("budget", range(0, 180, 2))
def test_a13_every_budget_up_to_the_full_cost_holds(budget):
    ends = {0: 4, 4: 5, 5: 8, 8: 10}
    documents = [Document(text=" ".join(LANTERNS[a:b]), score=1 / (b - a)) for a, b in ends.items()]

    packing = pack_documents(documents, budget, COUNTERS["cl100k_base"], query="Which lantern is lit?")

    assert packing.tokens == count_text(rendered(packing, documents, None), "cl100k_base") <= budget
    assert bool(packing.kept) is (budget > 0)
