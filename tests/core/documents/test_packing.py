"""Which documents are kept, in which order, and what the packing says about the others."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass

import pytest

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import Packing, pack_documents
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.documents.rendering import PlainDocuments
from ctxopt_core.errors import ContextBudgetError

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
WHOLE_ONLY = DocumentPolicy(passages=False)


def words(count: int, number: int = 0) -> str:
    """Return that many words; those of no other number are among them."""
    return " ".join(f"brick{number}x{place}" for place in range(count))


def of_costs(*costs: int, scores: tuple[float | None, ...] | None = None) -> list[Document]:
    """Return documents of that many words each, all different, with falling scores unless some are given."""
    scores = scores or tuple(1.0 - number / 100 for number in range(len(costs)))
    return [
        Document(text=words(cost, number), score=score)
        for number, (cost, score) in enumerate(zip(costs, scores, strict=True))
    ]


def pack(documents, budget, **policy) -> Packing:
    return pack_documents(documents, budget, WORDS, policy=DocumentPolicy(**{"passages": False, **policy}))


@dataclass(frozen=True)
class Template:
    """Each document between a heading and a rule."""

    separator: str = "\n\n"

    def render(self, index: int, text: str) -> str:
        return f"Source {index} :\n{text}\n-- end of source --"


@pytest.mark.parametrize(
    ("scores", "ranking"),
    [
        pytest.param((0.2, 0.5, 0.9), (2, 1, 0), id="highest-first"),
        pytest.param((0.5, 0.9, 0.5, 0.9), (1, 3, 0, 2), id="ties-in-arrival-order"),
        pytest.param((None, 0.1, math.nan, -3.0, None), (1, 3, 0, 2, 4), id="missing-and-nan-last"),
        pytest.param((-1.0, 0.0, -0.5), (1, 2, 0), id="zero-and-negatives-are-scores"),
        pytest.param((-math.inf, math.inf, 0), (1, 2, 0), id="infinities"),
        pytest.param((None, None, None), (0, 1, 2), id="none-scored"),
    ],
)
def test_d1_documents_rank_by_score(scores, ranking):
    assert pack(of_costs(*[5] * len(scores), scores=scores), 5).ranking == ranking


def test_d1_an_unscored_document_is_not_dropped_for_it():
    packing = pack(of_costs(10, 10, 10, scores=(None, 0.3, math.nan)), 30, min_score=0.1)

    assert packing.kept == (0, 1, 2)
    assert packing.dropped == {}


def test_d1_a_worded_score_names_the_document():
    with pytest.raises(TypeError, match="'kiln'"):
        Document(text="A kiln.", id="kiln", score="HIGH")


def test_d2_lower_scores_can_be_better():
    packing = pack(of_costs(10, 10, 10, scores=(0.46, 0.40, None)), 20, score_order="lower")

    assert packing.kept == (1, 0)


@pytest.mark.parametrize("policy", [WHOLE_ONLY, DocumentPolicy()], ids=["whole-only", "passages"])
def test_d4_a_document_that_is_too_big_does_not_stop_the_smaller_ones(policy):
    same = pack_documents(of_costs(11, 11, 11, scores=(0.2, 0.5, 0.9)), 25, WORDS, policy=policy)
    between = pack_documents(of_costs(11, 40, 11, 2), 25, WORDS, policy=policy)

    assert (same.kept, same.tokens, dict(same.dropped)) == ((2, 1), 22, {0: "budget"})
    assert (between.kept, between.tokens, dict(between.dropped)) == ((0, 2, 3), 24, {1: "budget"})


def test_d5_a_document_costs_its_template_and_the_separator():
    documents = of_costs(10, 10, 10)
    rendering = Template(separator=" * * ")

    bare = pack_documents(documents, 36, WORDS, policy=WHOLE_ONLY)
    framed = pack_documents(documents, 36, WORDS, policy=WHOLE_ONLY, rendering=rendering)
    roomy = pack_documents(documents, 38, WORDS, policy=WHOLE_ONLY, rendering=rendering)

    assert (len(bare.kept), bare.tokens) == (3, 30)
    assert (len(framed.kept), framed.tokens) == (1, 18)
    assert (len(roomy.kept), roomy.tokens) == (2, 38)


def test_d5_the_last_document_needs_no_separator():
    assert len(pack(of_costs(10, 10), 20).kept) == 2
    counter = TiktokenCounter()
    texts = ["First brick", "Second brick", "Third brick", "Fourth brick"]
    documents = [Document(text=text) for text in texts]
    joined = "\n\n".join(texts[:3])

    packing = pack_documents(documents, counter.count(joined), counter, policy=WHOLE_ONLY)

    assert packing.kept == (0, 1, 2)


@pytest.mark.parametrize("text", [None, "", " ", "\t\n"], ids=["none", "empty", "blank", "white-space"])
def test_d8_blank_documents_are_dropped_as_empty(text):
    documents = [Document(text=text, score=9.0), Document(text="A brick.", score=1.0)]

    for budget in (0, 1, 100):
        packing = pack_documents(documents, budget, WORDS)
        assert packing.dropped[0] == "empty"
        assert 0 not in packing.kept
        assert 0 not in packing.costs
    assert packing.kept == (1,)


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        pytest.param("score", (4, 2, 0, 3, 1), id="score"),
        pytest.param("original", (0, 1, 2, 3, 4), id="original"),
        pytest.param("edges", (4, 0, 1, 3, 2), id="edges"),
    ],
)
@pytest.mark.parametrize("budget", [1000, 50], ids=["all-fit", "one-is-dropped"])
def test_d9_reading_order(order, kept, budget):
    documents = of_costs(10, 10, 10, 10, 10, 10, scores=(0.6, 0.2, 0.8, 0.4, 1.0, 0.1))

    packing = pack(documents[:5] if budget == 1000 else documents, budget, reading_order=order)

    assert packing.kept == kept


def test_d10_minimum_score_count_and_budget_apply_together():
    documents = of_costs(10, 90, 10, 10, 10, 10, scores=(0.9, 0.8, 0.7, 0.6, 0.2, None))

    packing = pack(documents, 50, min_score=0.5, max_documents=2)

    assert packing.kept == (0, 2)
    assert packing.dropped == {1: "budget", 3: "count", 4: "score", 5: "count"}


def test_d10_the_most_documents_hold_even_if_all_fit():
    assert pack(of_costs(10, 10, 10, scores=(0.1, 0.9, 0.5)), 1000, max_documents=2).kept == (1, 2)


def test_d10_a_distance_may_be_at_most_the_minimum_score():
    packing = pack(of_costs(5, 5, 5, scores=(0.2, 0.5, 0.51)), 50, min_score=0.5, score_order="lower")

    assert packing.dropped == {2: "score"}


def test_d14_the_packing_tells_why_and_what_it_costs():
    documents = of_costs(60, 10, 20, 50, 10, scores=(0.9, 0.8, 0.5, None, -0.25))

    packing = pack(documents, 45)

    assert packing.kept == packing.whole == (1, 2, 4)
    assert packing.partial == ()
    assert packing.tokens == 40
    assert packing.dropped == {0: "budget", 3: "budget"}
    assert packing.notable_drops == (0,)
    assert packing.cumulative_score == pytest.approx(1.05)
    assert dict(packing.costs) == {0: 60, 1: 10, 2: 20, 3: 50, 4: 10}
    assert packing.costs.get(9) is None


def test_d14_nothing_stands_out_where_the_best_are_kept():
    assert pack(of_costs(10, 10, 10), 20).notable_drops == ()
    assert pack(of_costs(10, 10), 0).notable_drops == ()
    assert Packing(kept=(0, 1)).notable_drops == ()


def test_a_packing_pickles_without_any_content():
    packing = pack([Document(text="secret brick " * 9, score=0.5), Document(text="brick", score=0.4)], 2)
    pickled = pickle.dumps(packing.costs)

    assert b"secret" not in pickled
    assert pickle.loads(pickled) == {0: 18, 1: 1}  # noqa: S301


def test_a9_nine_of_ten_documents_are_kept_whole():
    counter = TiktokenCounter("cl100k_base")
    body = " ".join(["steady"] * 85)
    documents = [Document(text=f"Document {number} reports:{' ' + body} and nothing else.") for number in range(10)]
    padding = 98 - counter.count(f"{documents[0].text}\n\n")
    documents = [Document(text=document.text.replace(body, body + " steady" * padding)) for document in documents]
    assert {counter.count(f"{document.text}\n\n") for document in documents} == {98}

    packing = pack_documents(documents, 1000 - 58, counter, query="What do they report?")

    assert len(packing.whole) == 9
    assert packing.partial == ()
    assert packing.tokens >= 0.9 * (1000 - 58)


def test_a11_a_dropped_document_frees_its_markup():
    counter = TiktokenCounter()
    documents = [Document(text=f"Shelf {number} holds bricks.") for number in range(1000)]
    rendering = Template()

    packing = pack_documents(documents, 8191, counter, rendering=rendering)

    joined = "\n\n".join(rendering.render(index, documents[index].text) for index in packing.kept)
    assert counter.count(joined) == packing.tokens
    assert 0.97 * 8191 <= packing.tokens <= 8191
    assert len(packing.kept) > 300


def test_everything_that_fits_is_kept_whole_whatever_the_query():
    documents = of_costs(10, 20, 30, scores=(0.1, None, 0.9))

    for query in ("", "brick1x5", "unrelated"):
        packing = pack_documents(documents, 60, WORDS, query=query)
        assert packing.kept == packing.whole == (0, 1, 2)
        assert packing.texts == packing.dropped == {}
        assert packing.selection is None


def test_documents_whose_single_counts_lie_are_all_kept_when_their_join_fits():
    documents = of_costs(*[10] * 20)
    with_bounds = CallableCounter(lambda text: len(text.split()) + 2)

    assert len(pack_documents(documents, 202, with_bounds).kept) == 20


def test_a_budget_of_nothing_keeps_nothing():
    packing = pack_documents(of_costs(10, 10), 0, WORDS)

    assert (packing.kept, packing.tokens, dict(packing.dropped)) == ((), 0, {0: "budget", 1: "budget"})


@pytest.mark.parametrize("budget", [-1, True, 2.5, "10", None], ids=repr)
def test_an_invalid_budget_is_an_error(budget):
    with pytest.raises(ContextBudgetError, match="`budget`"):
        pack_documents(of_costs(10), budget, WORDS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("selection", "best"),
        ("score_order", "up"),
        ("reading_order", "middle"),
        ("min_score", math.nan),
        ("min_score", math.inf),
        ("min_score", True),
        ("min_score", "0.5"),
        ("max_documents", 0),
        ("max_documents", True),
        ("max_documents", 2.0),
        ("passages", "yes"),
        ("gap_marker", " "),
        ("gap_marker", None),
        ("scorer", "bm25"),
    ],
)
def test_a_policy_is_checked_when_it_is_made(name, value):
    with pytest.raises(ValueError, match=f"`{name}`"):
        DocumentPolicy(**{name: value})


def test_passages_cannot_be_switched_off_where_nothing_else_is_kept():
    with pytest.raises(ValueError, match="`passages` must be True with selection='passages'"):
        DocumentPolicy(selection="passages", passages=False)


def test_an_empty_list_gives_an_empty_packing():
    packing = pack_documents([], 100, WORDS, query="brick", rendering=PlainDocuments())

    assert packing == Packing()
