"""The metrics, the references, the bootstrap, the verdict and the page of the evaluation, on items made up for it."""

from __future__ import annotations

import dataclasses

import pytest
from document_evaluation import references
from document_evaluation.candidates import CANDIDATES
from document_evaluation.cases import BUDGETS, COUNTER, SEPARATOR, Case, Passage
from document_evaluation.comparison import differences, paired_difference
from document_evaluation.figures import Results, budget_use, item_values, mean_figure
from document_evaluation.left_out import left_out
from document_evaluation.runs import Cell, run_for
from document_evaluation.survival import Outcome, answer_share, evidence, measure
from document_evaluation.tables import BEGIN, END, left_out_table, report, write_between_markers
from document_evaluation.variants import VARIANTS, WEIGHTS
from document_evaluation.verdict import demands


class Metrics:
    """Stands for the metrics that come with the sets."""

    def doc_survival(self, item, kept, context):
        return 0.25, 0.0

    def answer_token_recall(self, answers, kept_text):
        return 0.75


def case_with(*texts, answers=("seven lamps",), spans=None, context=0, **item):
    documents = [
        {"id": f"d{i}", "text": text, "gold": i == 0, "evidence_spans": spans if i == 0 else None}
        for i, text in enumerate(texts)
    ]
    passages = tuple(Passage(id=f"d{i}", text=text, score=float(9 - i)) for i, text in enumerate(texts))
    return Case(
        number=0,
        item={"id": "q", "question": "How many lamps?", "answers": list(answers), "documents": documents, **item},
        passages=passages,
        whole=COUNTER.count(SEPARATOR.join(texts)),
        context=context,
    )


@pytest.mark.parametrize(
    ("answer", "text", "item", "share"),
    [
        pytest.param("Seven  Lamps!", "There are SEVEN, lamps.", {}, 1.0, id="case and marks"),
        pytest.param("the lamp", "A lamp.", {}, 1.0, id="articles"),
        pytest.param("seven", "seventeen seven", {}, 1.0, id="whole word"),
        pytest.param("lamps", "nothing of it", {}, None, id="not in the documents"),
        pytest.param("Yes", "yes", {}, None, id="yes or no"),
        pytest.param("七盏灯", "有七 盏灯。", {"lang": "zh"}, 1.0, id="without blanks"),
        pytest.param("anything", "text", {"messages": []}, 0.75, id="written for a conversation"),
    ],
)
def test_answer_in_context(answer, text, item, share):
    case = case_with(text, answers=[answer], **item)

    assert answer_share(case, text, Metrics()) == share


def test_an_answer_that_is_lost_is_not_in_context():
    assert answer_share(case_with("Seven lamps."), "Seventeen lamps.", Metrics()) == 0.0


def test_a_span_is_widened_as_far_as_its_sentence_goes():
    text = "Before it. There are seven lamps here. After it."
    start = text.index("seven")

    ((_, (part,)),) = evidence(case_with(text, spans=[[start, start + 11]], context=40))

    assert part == "There are seven lamps here."


def test_evidence_recall_does_not_look_at_white_space():
    case = case_with("Seven lamps\nburn. " * 20, "Other. " * 20, spans=[[0, 17], [18, 35]], evidence_mode="every")

    outcome = measure(case, "50%", [(0, "Seven lamps burn.")], 1.5, Metrics())

    assert (outcome.recall, outcome.complete, outcome.verbatim, outcome.answer) == (1.0, True, 0.25, 1.0)
    assert outcome.larger
    assert not outcome.over


def test_a_packing_over_its_budget_is_told():
    case = case_with("Seven lamps burn. " * 20)

    assert measure(case, "10%", [(0, case.passages[0].text)], 0.0, Metrics()).over
    assert measure(case, "10%", None, 0.0, Metrics()).failed


LONG = tuple(f"Room {i} holds {i} lamps and a chair. " * (3 + 5 * (i % 3)) for i in range(6))
PACKERS = [candidate for candidate in CANDIDATES if candidate.group in {"reference", "bound"}]


@pytest.mark.parametrize("candidate", PACKERS, ids=lambda candidate: candidate.name)
@pytest.mark.parametrize("budget", [1, 5, 32, 100, 300, 10_000])
def test_references_keep_their_budget(candidate, budget):
    case = case_with(*LONG, spans=[[0, 20]])

    kept = candidate.make()(case, budget)

    assert references.joined_tokens(kept) <= budget
    assert all(text in case.passages[index].text for index, text in kept)
    if budget >= 300 and candidate.name != "oracle":
        assert kept


def outcomes(values, *, lang="", **fields):
    return [
        Outcome(
            number=number,
            id=str(number),
            lang=lang,
            budget=budget,
            answer=value,
            recall=value,
            complete=value == 1.0,
            verbatim=value,
            used=0.98,
            larger=True,
            **fields,
        )
        for number, value in enumerate(values)
        for budget in BUDGETS
    ]


def results(**by_candidate):
    return Results(
        outcomes={
            Cell(candidate=name, set="docs_hotpotqa", mode="score"): found for name, found in by_candidate.items()
        }
    )


def test_figures_are_means_over_budgets_and_items():
    found = outcomes([1.0, 0.5])

    assert mean_figure(found) == pytest.approx(0.75)
    assert item_values(found) == {0: 1.0, 1: 0.5}
    assert budget_use([dataclasses.replace(found[0], larger=False, used=0.1), found[1]]) == pytest.approx(0.98)


def test_an_overrun_counts_as_nothing_in_the_net_row_alone():
    found = results(llmslim=outcomes([1.0], over=True), llmslim_net=outcomes([1.0], over=True))

    assert mean_figure(found.of("llmslim", "docs_hotpotqa", "score")) == 1.0
    assert mean_figure(found.of("llmslim_net", "docs_hotpotqa", "score")) == 0.0
    assert [peer.name for peer in found.peers("score")] == ["llmslim_net"]


@pytest.mark.parametrize(
    ("candidate", "mode", "expected"),
    [
        ("llmslim_net", "score", ("llmslim", "score")),
        ("llmslim_net", "shuffled", ("llmslim", "none")),
        ("score_skip", "shuffled", ("score_skip", "shuffled")),
    ],
)
def test_what_is_the_same_by_nature_is_run_once(candidate, mode, expected):
    cell = run_for(Cell(candidate=candidate, set="docs_hotpotqa", mode=mode))

    assert (cell.candidate, cell.mode) == expected


def test_the_bootstrap_is_paired_and_gives_the_same_interval_each_time():
    steady = paired_difference([[0.1] * 50])
    noisy = [paired_difference([[1.0, -1.0] * 50, [0.2] * 10]) for _ in range(2)]

    assert (steady.low, steady.high) == pytest.approx((0.1, 0.1))
    assert noisy[0] == noisy[1]
    assert noisy[0].mean == pytest.approx(0.1)
    assert -0.05 < noisy[0].low < 0.02
    assert 0.18 < noisy[0].high < 0.25


def test_differences_are_between_the_same_items():
    found = results(ours=outcomes([1.0, 0.0]), trimwise=list(reversed(outcomes([0.5, 0.0]))))

    assert differences(found, "ours", "trimwise", "score")["docs_hotpotqa"].mean == pytest.approx(0.25)


def verdict_of(**by_candidate):
    return {demand.wanted.split(",")[0]: demand for demand in demands(results(**by_candidate), "ours")}


@pytest.mark.parametrize(
    ("ours", "reached"), [(0.80, (True, True)), (0.75, (True, False)), (0.65, (False, False))], ids=str
)
def test_the_verdict_against_score_order_and_the_best_peer(ours, reached):
    found = verdict_of(ours=outcomes([ours]), score_skip=outcomes([0.705]), llmslim_net=outcomes([0.60]))

    over_order = found["every cell at least score order minus 1 point"]
    over_best = found["mean over all cells at least 5 points above the best peer"]
    assert (over_order.reached, over_best.reached) == reached
    assert len(over_order.short) == (0 if reached[0] else 16)
    assert "score_skip 0.705" in over_best.figures


def test_the_verdict_on_another_of_ours_compares_it_with_the_default():
    found = demands(results(ours=outcomes([0.8]), ours_embedding=outcomes([0.7])), "ours_embedding")

    assert (found[0].wanted, found[0].reached) == ("mean over all cells at least that of the default", False)
    assert found[0].figures == "0.700 against 0.800: -10.0 points"


def test_the_verdict_names_the_language_that_falls_short():
    english, thai, greek = outcomes([0.9], lang="en"), outcomes([0.79], lang="th"), outcomes([0.85], lang="el")

    found = demands(results(ours=[*english, *thai, *greek]), "ours")
    languages = next(demand for demand in found if demand.wanted.startswith("no language"))

    assert not languages.reached
    assert len(languages.short) == 8
    assert all(cell.startswith("th ") for cell in languages.short)


def test_the_verdict_on_budget_use_violations_and_failures():
    good = verdict_of(ours=outcomes([1.0]))
    bad = verdict_of(ours=[dataclasses.replace(o, used=0.9, failed=True) for o in outcomes([1.0])])

    assert good["mean budget use at least 97 %"].reached
    assert not bad["mean budget use at least 97 %"].reached
    assert good["no budget violation"].reached
    assert bad["no budget violation"].figures == "0 violations, 8 failures in 8 runs"


def test_the_report_holds_the_figures_and_stays_between_its_markers(tmp_path):
    found = results(ours=outcomes([1.0, 0.5]), trimwise=outcomes([0.5, 0.5]))
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{BEGIN}\n\nold\n\n{END}\n\nThe rest.\n", encoding="utf-8")

    write_between_markers(page, report(found))
    once = page.read_text(encoding="utf-8")
    write_between_markers(page, report(found))

    assert page.read_text(encoding="utf-8") == once
    assert once.startswith(f"# Page\n\n{BEGIN}\n\n### Reached or not\n")
    assert once.endswith(f"\n\n{END}\n\nThe rest.\n")
    assert "old" not in once
    assert "| ours | 0.75 0.75 | 0.750 |" in once
    assert "| trimwise | +25.0 [" in once


def test_a_page_without_markers_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"{END} {BEGIN}", encoding="utf-8")

    with pytest.raises(ValueError, match=r"page\.md must have <!-- evaluate: begin -->"):
        write_between_markers(page, "text")


def test_conversations_have_no_recall():
    case = case_with("Seven lamps burn. " * 20, messages=[])

    outcome = measure(case, "50%", [(0, "Seven lamps burn.")], 1.5, Metrics())

    assert (outcome.answer, outcome.recall) == (0.75, None)
    assert mean_figure([dataclasses.replace(outcome, budget=budget) for budget in BUDGETS]) == 0.75


def on_sets(**by_candidate):
    return Results(
        outcomes={
            Cell(candidate=name, set=of, mode="score"): outcomes(values)
            for name, by_set in by_candidate.items()
            for of, values in by_set.items()
        }
    )


def test_weights_and_peer_are_chosen_without_the_set_that_is_left_out():
    other = VARIANTS[0].name
    found = left_out(
        on_sets(
            ours={"docs_hotpotqa": [0.8, 0.8], "docs_musique": [0.6], "docs_zh": [0.7]},
            trimwise={"docs_hotpotqa": [0.7, 0.5], "docs_musique": [0.5], "docs_zh": [0.1]},
            score_skip={"docs_hotpotqa": [0.1, 0.1], "docs_musique": [0.4], "docs_zh": [0.6]},
            **{other: {"docs_hotpotqa": [0.9, 0.9], "docs_musique": [0.4], "docs_zh": [0.7]}},
        )
    )

    assert [(row.set, row.chosen, row.peer) for row in found] == [
        ("docs_hotpotqa", "ours", "score_skip"),
        ("docs_musique", other, "trimwise"),
        ("docs_zh", "ours", "trimwise"),
    ]
    assert [row.figure for row in found] == pytest.approx([0.8, 0.4, 0.7])
    assert found[0].lead.mean == pytest.approx(0.7)


def test_the_left_out_table_ends_with_the_means():
    sets = {"docs_hotpotqa": [0.8, 0.6], "docs_musique": [0.6]}
    lines = left_out_table(on_sets(ours=sets, trimwise={**sets, "docs_musique": [0.5]})).splitlines()

    assert lines[2] == "| docs_hotpotqa | 0.700 | the same | 0.700 | trimwise | +0.0 [+0.0, +0.0] |"
    assert lines[-1] == "| mean | 0.650 |  | +0.000 |  | +5.0 |"


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_packs_with_another_weight_and_leaves_it_as_it_was(variant):
    weights = [getattr(module, name) for module, name in WEIGHTS]

    kept = variant.make()(case_with(*LONG), 60)

    assert kept
    assert [getattr(module, name) for module, name in WEIGHTS] == weights
