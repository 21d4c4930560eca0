"""The strategy `hybrid`: the newest turns, then what the question is about, and a summary of the rest."""

from __future__ import annotations

import pytest

from ctxopt_core import ContextBudget, ContextRequest, Document, HistoryPolicy, Message, fit
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.summaries.model_summarizer import summarizer

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
QUERY = Message(role="user", content="Where is lantern 7?")


def turns(question, answer, number):
    return [
        message
        for n in range(number)
        for message in (
            Message(role="user", content=question.format(n)),
            Message(role="assistant", content=answer.format(n)),
        )
    ]


def fitted(messages, limit=300, documents=(), **options):
    asked = []

    def summarize(transcript):
        asked.append(transcript)
        return "They spoke of lanterns."

    policy = HistoryPolicy(strategy="hybrid", summarizer=summarizer(summarize), **options)
    request = ContextRequest(history=[*messages, QUERY], documents=documents)
    return fit(request, ContextBudget(max_input_tokens=limit), counter=WORDS, history=policy), asked


OLD = turns("Question {} about the harbour?", "The harbour has {} piers.", 10)
HITS = turns("Where is lantern 7? Part {}", "Lantern 7 hangs at pier 7.", 20)
NEWEST = turns("What of the ropes, {}?", "They are coiled well.", 20)


def test_h17_what_is_relevant_is_kept_and_the_rest_summarized():
    messages = turns("Question {0} about lantern {0}?", "Lantern {0} hangs at pier {0} of the harbour.", 40)
    result, [transcript] = fitted(messages)

    assert {14, 15} <= set(result.history.kept)
    assert {78, 79, 80} <= set(result.history.kept)
    assert "They spoke of lanterns." in result.history.placeholder
    assert "Question 7 " not in transcript
    assert result.report.history.summarized == 81 - len(result.history.kept)


@pytest.mark.parametrize(("share", "kept"), [(0, 1), (20, 3), (50, 7), (80, 12)])
def test_h17_the_newest_turns_take_their_share_before_what_is_relevant(share, kept):
    """The newest turns say nothing of what is asked, and of what does there is more than fits.

    What the summary does not need of its tokens is shared, too, so the summary may speak of some of the kept turns.
    """
    result, [transcript] = fitted([*OLD, *HITS, *NEWEST], recent_percent=share)
    newest = [n for n in result.history.kept if 60 <= n < 100]

    assert newest == list(range(100 - 2 * kept, 100))
    assert any(20 <= n < 60 for n in result.history.kept)
    assert f"What of the ropes, {19 - kept}?" in transcript
    assert "What of the ropes, 19?" not in transcript


def test_h17_the_history_is_left_alone_while_it_fits_beside_documents_that_do_not():
    documents = [Document(text=f"Pier {n} is long. " * 40, id=str(n)) for n in range(10)]
    result, asked = fitted(HITS[:4], limit=300, documents=documents)

    assert not result.unchanged
    assert list(result.history.kept) == list(range(5))
    assert result.history.placeholder is None
    assert asked == []
    assert result.report.notes == ()


def test_h16_h17_the_summary_has_its_place_where_the_first_turn_is_about_the_question():
    result, asked = fitted([*HITS, *OLD, *NEWEST])

    assert len(asked) == 1
    assert result.history.placeholder_after == 0
    assert "They spoke of lanterns." in result.history.placeholder
    assert result.report.notes == ()


@pytest.mark.parametrize("limit", [200, 300])
def test_h16_h17_results_without_a_call_are_not_summarized(limit):
    stray = Message(role="tool", content="stray words", tool_call_id="nowhere")
    result, [transcript] = fitted([*OLD, stray, *NEWEST, *HITS, *NEWEST], limit)

    assert "stray" not in transcript
    assert result.history.reason(len(OLD)) == "orphan"
    assert result.report.history.reasons.get("orphan") == 1


@pytest.mark.parametrize("limit", [600, 1_000, 2_500])
@pytest.mark.parametrize("strategy", ["hybrid", "summarize"])
def test_h17_documents_do_not_take_the_room_that_is_kept_for_the_summary(strategy, limit):
    documents = [
        Document(text=f"Lantern {i} hangs at pier {i} and burns {i} hours.", score=1 / (i + 1)) for i in range(300)
    ]
    messages = turns("Question {0} about lantern {0}?", "Lantern {0} hangs at pier {0} of the harbour.", 400)
    policy = HistoryPolicy(strategy=strategy, summarizer=summarizer(lambda _: "They spoke of lanterns. " * 5))
    request = ContextRequest(query="Where is lantern 7?", history=messages, documents=documents)

    result = fit(request, ContextBudget(max_input_tokens=limit), counter=WORDS, history=policy)

    report = result.report
    assert report.fallback is None
    assert "They spoke of lanterns." in result.history.placeholder
    parts = report.fixed + sum(component.after for component in report.components.values())
    assert parts == report.tokens_after <= limit
