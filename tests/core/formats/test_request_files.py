"""Requests are read from JSON of every usual shape, and written back in the same one."""

from __future__ import annotations

import copy
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_runs import SENTENCE, chat
from ctxopt_core import ContextBudget, Shares, fit
from ctxopt_core.budget.model_budget import ModelBudget, counter_of
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.json_values import as_json, parsed
from ctxopt_core.formats.request_files import fitted_content, read_request, request_file, request_in
from drawn_examples import examples
from hostile_text import hostile_text

HELLO = {"role": "user", "content": "hello world"}
CALL = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": "x"}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": SENTENCE * 20}
OPENAI_CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
DOCUMENTS = [{"id": f"d{i}", "text": f"Lamp {i}. {SENTENCE * 3}", "score": i / 10, "page": i} for i in range(9)]


def model_budget(limit):
    budget = ContextBudget(target_tokens=limit)
    return ModelBudget(budget=budget, counter=counter_of(budget))


def fitted_to(content, limit):
    """Fit JSON content to a limit, and check the promise on what would be sent."""
    before = copy.deepcopy(content)
    stored = request_file(content)
    known = model_budget(limit)
    after = fitted_content(stored, fit(stored.request, known.budget, counter=known.counter))
    assert content == before
    assert count_request(request_file(after).request, known.counter, ChatRenderer()) <= limit
    return after


@pytest.mark.parametrize(
    ("content", "shape", "messages", "documents"),
    [
        pytest.param([HELLO], "openai", 1, 0, id="a list of messages"),
        pytest.param({"messages": [HELLO], "stream": True}, "openai", 1, 0, id="OpenAI"),
        pytest.param({"messages": [HELLO], "system": "Be short."}, "anthropic", 1, 0, id="Anthropic, by its system"),
        pytest.param([HELLO, {"role": "assistant", "content": [CALL]}], "anthropic", 2, 0, id="Anthropic, by a call"),
        pytest.param(
            {"messages": [HELLO, {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}], "system": "x"},
            "openai",
            2,
            0,
            id="OpenAI's calls beside a system prompt",
        ),
        pytest.param({"body": {"messages": [HELLO]}, "custom_id": "1"}, "openai", 1, 0, id="of OpenAI's batches"),
        pytest.param({"params": {"messages": [HELLO], "system": "x"}}, "anthropic", 1, 0, id="of Anthropic's batches"),
        pytest.param({"documents": ["a", {"text": "b"}], "query": "c"}, "openai", 0, 2, id="documents and a query"),
    ],
)
def test_a_request_is_known_by_its_shape(content, shape, messages, documents):
    found = request_file(content)
    assert (found.shape, len(found.request.history), len(found.request.documents)) == (shape, messages, documents)


@pytest.mark.parametrize(
    "text",
    ["", "hello", "{broken", "[1, 2]", "[]", "{}", "null", '{"messages": 5}', '{"query": "x"}', "[" * 9_999],
    ids=lambda text: text[:12] or "nothing",
)
def test_what_is_no_request_is_a_text_to_count_and_an_error_to_fit(text):
    assert request_in(text) is None
    with pytest.raises(ValueError, match=r"JSON|a request is"):
        read_request(text)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param({"messages": [HELLO, 5]}, r"`messages\[1\]` must be an object", id="a message"),
        pytest.param({"messages": [HELLO], "documents": ["x", 5]}, r"`documents\[1\]` must be a string", id="document"),
        pytest.param({"documents": [{"id": "x"}]}, r"`documents\[0\].text` must be there", id="no text"),
        pytest.param(
            {"documents": [{"text": "x", "score": "HIGH"}]}, r"`documents\[0\].score` must be a number", id="score"
        ),
        pytest.param({"documents": ["x"], "query": 7}, "`query`", id="a query"),
        pytest.param({"messages": [HELLO], "system": 7}, "`system`", id="a system prompt"),
        pytest.param({"messages": "x", "documents": ["x"]}, "`messages` must be a list", id="messages"),
    ],
)
def test_what_is_of_no_known_shape_is_an_error_that_names_it(content, said):
    with pytest.raises((TypeError, ValueError), match=said):
        request_file(content)


@pytest.mark.parametrize("text", ['{"n": 1e999}', '{"n": ' + "9" * 5_000 + "}"], ids=["a float", "a whole number"])
def test_numbers_that_would_not_come_out_as_they_were_are_refused(text):
    with pytest.raises(ValueError, match="too large for other readers"):
        parsed(text)


def test_a_byte_order_mark_is_passed_over():
    assert parsed("\ufeff[1]") == [1]
    assert request_in("\ufeff" + json.dumps([HELLO])) is not None


def test_openai_comes_back_with_all_that_is_not_known():
    beside = {"temperature": 0.25, "stop": ["\n"], "metadata": {"deep": [1, {"er": None}]}, "tools": []}
    after = fitted_to(chat(20, **beside), 120)

    assert {key: after[key] for key in beside} == beside
    assert after["messages"][-1] == chat(0)["messages"][-1]
    assert len(after["messages"]) < 42


def test_what_fits_is_the_very_value():
    content = chat(1)
    stored = request_file(content)
    known = model_budget(10_000)
    assert fitted_content(stored, fit(stored.request, known.budget, counter=known.counter)) is content


def test_a_list_comes_back_as_a_list():
    after = fitted_to(chat(20)["messages"], 120)
    assert isinstance(after, list)
    assert 2 <= len(after) < 42


@pytest.mark.parametrize("envelope", ["body", "params"])
def test_the_line_of_a_batch_comes_back_as_one(envelope):
    after = fitted_to({"custom_id": "7", envelope: chat(20, seed=1)}, 120)
    assert after["custom_id"] == "7"
    assert after[envelope]["seed"] == 1
    assert len(after[envelope]["messages"]) < 42


def test_anthropic_blocks_come_back_paired_with_their_system_blocks():
    system = [{"type": "text", "text": SENTENCE * 4, "cache_control": {"type": "ephemeral"}}]
    rows = [
        HELLO,
        {"role": "assistant", "content": "Nine hours. " + SENTENCE * 5},
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [RESULT]},
    ]
    after = fitted_to({"system": system, "messages": rows, "max_tokens": 100}, 120)

    assert after["max_tokens"] == 100
    assert after["system"][0]["cache_control"] == {"type": "ephemeral"}
    parts = [part for row in after["messages"] for part in row["content"] if isinstance(part, dict)]
    assert [part["id"] for part in parts if "id" in part] == ["a"]
    assert [part["tool_use_id"] for part in parts if "tool_use_id" in part] == ["a"]
    roles = [row["role"] for row in after["messages"]]
    assert all(first != second for first, second in pairwise(roles))


def test_a_system_prompt_of_which_nothing_is_left_is_left_out():
    stored = request_file({"system": SENTENCE, "messages": [HELLO]})
    shares = Shares(system=0, query=50, documents=25, history=25)
    assert fitted_content(stored, fit(stored.request, ContextBudget(target_tokens=12, shares=shares))) == {
        "messages": [HELLO]
    }


def test_documents_come_back_in_reading_order_with_what_lies_beside_their_text():
    after = fitted_to({"documents": DOCUMENTS, "query": "Which lamp?", "k": 9}, 120)

    assert after["k"] == 9
    assert after["query"] == "Which lamp?"
    assert 0 < len(after["documents"]) < 9
    by_id = {document["id"]: document for document in DOCUMENTS}
    for document in after["documents"]:
        assert {**document, "text": ""} == {**by_id[document["id"]], "text": ""}


def test_documents_may_be_bare_texts_and_a_query_may_have_entries():
    texts = [document["text"] for document in DOCUMENTS]
    after = fitted_to({"documents": texts, "query": ["Which lamp?", "Answer in Latin."]}, 120)
    assert all(isinstance(document, str) for document in after["documents"])
    assert after["query"] == ["Which lamp?", "Answer in Latin."]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param({"a": "é終"}, '{"a":"é終"}'.encode(), id="text stays readable"),
        pytest.param("\ud800é", b'"\\ud800\\u00e9"', id="a lone surrogate is escaped"),
        pytest.param("\x00", b'"\\u0000"', id="NUL"),
    ],
)
def test_json_is_written_so_that_it_reads_the_same(value, written):
    assert as_json(value) == written
    assert json.loads(written) == value


def test_json_that_is_too_deep_to_be_written_is_an_error():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        as_json(deep)


@settings(max_examples=examples(60), deadline=None)
@given(
    texts=st.lists(hostile_text(), min_size=1, max_size=8),
    documents=st.lists(hostile_text(), max_size=3),
    limit=st.integers(10, 300),
)
def test_hostile_requests_come_back_as_requests_that_fit_or_not_at_all(texts, documents, limit):
    rows = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    content = json.loads(json.dumps({"messages": rows, "documents": documents, "seed": 7}))
    try:
        after = fitted_to(content, limit)
    except ContextBudgetError:
        return
    assert json.loads(as_json(after)) == after
    assert after["seed"] == 7


def test_images_of_a_request_to_anthropic_are_charged_as_claude_does():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    message = {"role": "user", "content": [image, {"type": "text", "text": "What is this?"}]}
    request = request_file({"system": "Be brief.", "messages": [message]}).request

    assert [attachment.provider for attachment in request.history[0].attachments] == ["anthropic"]


@pytest.mark.parametrize(
    ("row", "identity"),
    [("text", None), ({"text": "text"}, None), ({"text": "text", "id": None}, None), ({"text": "text", "id": 7}, "7")],
    ids=["a text", "no id", "null", "a number"],
)
def test_a_document_has_the_id_that_it_came_with_or_none(row, identity):
    documents = request_file({"documents": [row], "query": "Which lamp?"}).request.documents

    assert [(document.id, document.text) for document in documents] == [(identity, "text")]
