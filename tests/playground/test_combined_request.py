"""The history and the documents of the playground as one request, and as the file that is downloaded."""

from __future__ import annotations

import json

import pytest

from ctxopt_core import ContextBudget, Document, fit
from ctxopt_core.formats.request_files import read_request
from ctxopt_playground.inputs import combined
from ctxopt_playground.readers.history import read_history

TURNS = [("user", "Which lantern burns longest? " * 20), ("assistant", "The ninth. " * 40), ("user", "And the next?")]
CHAT = [{"role": role, "content": text} for role, text in TURNS]
CALL = [
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "It burns nine hours."},
]
ITEMS = [*({"type": "message", **message} for message in CHAT), *CALL]
SHAPES = [
    pytest.param(CHAT, "messages", id="a list of messages"),
    pytest.param({"messages": CHAT, "model": "gpt-4o"}, "messages", id="a request to Chat Completions"),
    pytest.param(ITEMS, "input", id="a list of items"),
    pytest.param({"input": ITEMS, "model": "gpt-4o"}, "input", id="a request to the Responses API"),
]


@pytest.mark.parametrize("limit", [1_000, 150], ids=["fits", "is cut"])
@pytest.mark.parametrize(("content", "key"), SHAPES)
def test_history_and_documents_lie_in_one_file_in_the_shape_of_the_history(content, key, limit):
    whole = combined(read_history(json.dumps(content)), [Document(id="a", text="The tenth burns ten hours.")], None)
    fitted = fit(whole.request, ContextBudget(max_input_tokens=limit))
    stored = read_request(whole.fitted_json(fitted).decode())

    assert stored.messages_key == key
    assert [document.text for document in stored.request.documents] == ["The tenth burns ten hours."]
    assert fitted.unchanged == (limit == 1_000) == (stored.messages == (ITEMS if key == "input" else CHAT))
    assert fit(stored.request, ContextBudget(max_input_tokens=limit)).unchanged


@pytest.mark.parametrize("limit", [1_000, 150], ids=["fits", "is cut"])
@pytest.mark.parametrize(("content", "key"), [SHAPES[1], SHAPES[3]])
def test_a_batch_line_stays_one(content, key, limit):
    line = {"custom_id": "seven", "body": {**content, "documents": ["of the history"]}}
    whole = combined(read_history(json.dumps(line)), [Document(id="a", text="The tenth burns ten hours.")], None)
    found = json.loads(whole.fitted_json(fit(whole.request, ContextBudget(max_input_tokens=limit))))

    assert found.keys() == line.keys()
    assert found["body"].keys() == line["body"].keys()
    assert found["custom_id"] == "seven"
    assert found["body"]["documents"] == [{"id": "a", "text": "The tenth burns ten hours."}]
    assert (found["body"][key] == content[key]) == (limit == 1_000)
