"""Search results, documents and files that are sent as text are cut; images go one by one; in every dict format."""

from __future__ import annotations

import copy

import pytest

from anthropic_rows import IMAGE, result, text, use
from ctxopt_core import CallableCounter, ContextBudget, ContextBudgetError, ContextRequest, HistoryPolicy, fit
from ctxopt_core.formats.anthropic_messages import AnthropicMessages, fitted_anthropic, message_from_anthropic
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai
from ctxopt_core.formats.responses.messages import ResponsesMessages, fitted_responses
from shape_rows import SENTENCE

WORDS = CallableCounter(lambda words: len(words.split()))
LONG = SENTENCE * 20
STRATEGIES = ["auto", "turns", "sliding_window", "relevance"]
CACHE = {"type": "ephemeral"}


def hit(number, words=LONG, pieces=1):
    return {
        "type": "search_result",
        "source": f"https://l.example/{number}",
        "title": f"Page {number}",
        "content": [text(f"{number}: {words}") for _ in range(pieces)],
        "citations": {"enabled": True},
        "cache_control": CACHE,
    }


def document(words, **source):
    return {"type": "document", "title": "Plan", "source": source or {"type": "text", "data": words}, "citations": {}}


SOURCES = {
    "search_result": hit(1),
    "search_result of pieces": hit(1, pieces=3),
    "document": document(LONG),
    "document of pieces": document("", type="content", content=[text(LONG), text(LONG)]),
    "document of a string": document("", type="content", content=LONG),
    "text-plain": {"type": "text-plain", "text": LONG, "mime_type": "text/plain", "title": "Plan"},
    "file": {"type": "file", "source_type": "text", "text": LONG},
}


def texts_in(part):
    content = part.get("content")
    source = part.get("source")
    if isinstance(source, dict):
        content = source.get("data", source.get("content"))
    content = part.get("text", content)
    return [content] if isinstance(content, str) else [piece["text"] for piece in content]


def fitted(rows, most, views=AnthropicMessages, apply=fitted_anthropic, strategy="auto", **more):
    given = copy.deepcopy(rows)
    request, budget = ContextRequest(history=views(rows), **more), ContextBudget(max_input_tokens=most)
    found = fit(request, budget, counter=WORDS, history=HistoryPolicy(strategy=strategy))
    left = apply(rows, found.history)
    again = fit(ContextRequest(history=views(left), **more), budget, counter=WORDS)
    assert found.report.tokens_after <= most
    assert again.unchanged
    assert again.report.tokens_after <= found.report.tokens_after
    assert [len(message.texts) for message in found.messages()] == [len(views(left)[i].texts) for i in range(len(left))]
    assert rows == given
    return left


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("most", [150, 400, 2_000])
def test_l18_a_tool_result_of_sixty_search_results_is_cut(strategy, is_read, most):
    rows = [
        {"role": "user", "content": "Which lantern?"},
        {"role": "assistant", "content": [use("a")]},
        {"role": "user", "content": [result("a", [hit(n) for n in range(60)])]},
    ]
    rows += [{"role": "assistant", "content": "Seen. " * 5}, {"role": "user", "content": "So?"}] if is_read else []
    left = fitted(rows, most, strategy=strategy)

    (answer,) = left[2]["content"]
    assert answer["tool_use_id"] == "a"
    numbers = [int(part["title"].split()[1]) for part in answer["content"]]
    assert numbers == list(range(len(numbers)))
    assert 1 <= len(numbers) < (60 if most < 2_000 else 61)
    for part in answer["content"]:
        assert part["content"]
        assert all(piece["text"].strip() for piece in part["content"])
        assert part["citations"] == {"enabled": True}
        assert part["cache_control"] is CACHE


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("most", [60, 120, 200])
def test_l18_a_source_beside_the_question_is_cut_before_it(kind, most):
    rows = [{"role": "user", "content": [copy.deepcopy(SOURCES[kind]), text("Which lantern is broken?")]}]
    (row,) = fitted(rows, most)

    *sources, question = row["content"]
    assert question == text("Which lantern is broken?")
    for source in sources:
        assert {key: source[key] for key in ("type", "title", "citations") if key in source} == {
            key: SOURCES[kind][key] for key in ("type", "title", "citations") if key in SOURCES[kind]
        }
        assert all(words.strip() for words in texts_in(source))
        assert sum(len(words) for words in texts_in(source)) < sum(len(words) for words in texts_in(SOURCES[kind]))


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(
    ("views", "apply"),
    [(OpenAIMessages, fitted_openai), (AnthropicMessages, fitted_anthropic)],
    ids=["openai", "anthropic"],
)
def test_l18_a_source_in_a_result_is_cut_in_both_forms(kind, views, apply):
    source = copy.deepcopy(SOURCES[kind])
    if views is OpenAIMessages:
        call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        rows = [
            {"role": "user", "content": "Which?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": [source]},
        ]
    else:
        rows = [
            {"role": "user", "content": "Which?"},
            {"role": "assistant", "content": [use("a")]},
            {"role": "user", "content": [result("a", [source])]},
        ]
    left = fitted(rows, 90, views, apply)

    (part,) = left[2]["content"] if views is OpenAIMessages else left[2]["content"][0]["content"]
    assert texts_in(part)
    assert all(words.strip() for words in texts_in(part))


def test_l18_what_a_source_says_beside_its_text_is_counted_and_not_searched_for():
    rows = [{"role": "user", "content": [document("The pier is lit."), text("Which lantern?")]}]
    message = message_from_anthropic(rows[0])

    assert message.texts == ("The pier is lit.", "Which lantern?")
    assert message.verbatim == ("Plan",)
    assert [message.texts[i] for i in message.own] == ["Which lantern?"]


def test_l18_a_message_of_a_source_alone_never_becomes_empty():
    rows = [{"role": "user", "content": [hit(1)]}]
    for most in range(1, 60):
        try:
            (row,) = fitted(rows, most)
        except ContextBudgetError:
            continue
        assert row["content"][0]["content"][0]["text"].strip()


@pytest.mark.parametrize(
    ("most", "kept"), [(1_000, 0), (1_600, 1), (3_100, 2), (4_600, 3)], ids=["none", "one", "two", "all"]
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_l18_images_of_a_message_go_one_by_one_and_the_newest_last(most, kept, strategy):
    images = [{**IMAGE, "cache_control": {"type": "ephemeral", "n": n}} for n in range(3)]
    rows = [{"role": "user", "content": [images[0], text("one"), images[1], text("two"), images[2], text("Which?")]}]
    (row,) = fitted(rows, most, strategy=strategy)

    left = [part for part in row["content"] if part["type"] == "image"]
    assert left == images[3 - kept :]
    assert [part["text"] for part in row["content"] if part["type"] == "text"] == [
        *(["[attachment omitted]"] if kept < 3 else []),
        *("one", "two", "Which?"),
    ]
    assert len(rows[0]["content"]) == 6


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_l18_images_of_results_go_one_by_one_too(strategy):
    rows = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [use("a"), use("b")]},
        {"role": "user", "content": [result("a", [dict(IMAGE), dict(IMAGE)]), result("b", [dict(IMAGE)])]},
    ]
    left = fitted(rows, 3_200, strategy=strategy)

    one, other = left[2]["content"]
    assert [part["type"] for part in one["content"]] == ["text", "image"]
    assert [part["type"] for part in other["content"]] == ["image"]


def test_l18_a_file_as_text_in_the_responses_api_is_cut():
    part = {"type": "input_file", "text": LONG, "filename": "plan.txt"}
    rows = [{"role": "user", "content": [part, {"type": "input_text", "text": "Which?"}]}]
    (row,) = fitted(rows, 80, ResponsesMessages, fitted_responses)

    assert row["content"][-1]["text"] == "Which?"
    assert len(row["content"][0]["text"]) < len(LONG)
