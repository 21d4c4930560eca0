"""Requests to OpenAI's Responses API are read into groups of items, and written back item by item."""

from __future__ import annotations

import copy
import json

import pytest

from command_runs import run, stored
from ctxopt_core import ContextBudget, fit
from ctxopt_core.budget.model_budget import ModelBudget, counter_of
from ctxopt_core.fitting.measured_request import count_request
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.request_files import fitted_content, request_file
from ctxopt_core.formats.responses.groups import groups_of
from responses_items_made import IMAGE, call, clicked, output, reasoning, reference, said, searched, written
from shape_rows import SENTENCE

ASKED = said("user", "How long does it burn?")
NOTE = "[3 earlier messages omitted]"
APPROVAL = [
    {"type": "mcp_approval_request", "id": "mcpr_1", "name": "look", "arguments": "{}", "server_label": "pier"},
    {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
]
TURN = [ASKED, reasoning(), written("I look."), call("a"), call("b"), output("a"), output("b"), written("Nine hours.")]


def view(*items, **beside):
    return request_file({"model": "gpt-4o", "input": list(items), **beside}).request.history


def fitted_to(content, limit):
    """Fit JSON content to a limit, and check the promise on what would be sent."""
    before = copy.deepcopy(content)
    request, budget = request_file(content), ContextBudget(target_tokens=limit)
    known = ModelBudget(budget=budget, counter=counter_of(budget))
    after = fitted_content(request, fit(request.request, budget, counter=known.counter))
    assert content == before
    assert count_request(request_file(after).request, known.counter, ChatRenderer()) <= limit
    return after


@pytest.mark.parametrize(
    ("items", "sizes"),
    [
        pytest.param([ASKED], [1], id="a message without a type"),
        pytest.param([said("developer", "Be brief."), {**ASKED, "type": "message"}], [1, 1], id="messages of others"),
        pytest.param(TURN, [1, 4, 1, 1, 1], id="reasoning, what is said and parallel calls"),
        pytest.param([reasoning(), reasoning(), call("a"), output("a")], [3, 1], id="reasoning in two items"),
        pytest.param([reasoning(), written("a"), reasoning(), written("b")], [2, 2], id="two answers with reasoning"),
        pytest.param([written("a"), written("b")], [1, 1], id="two answers"),
        pytest.param([reasoning(), searched(), written("a")], [3], id="a search"),
        pytest.param([call("a"), output("a"), call("b"), output("b")], [1, 1, 1, 1], id="one call after the other"),
        pytest.param([call("a"), reasoning(), call("b"), output("a"), output("b")], [3, 1, 1], id="calls apart"),
        pytest.param([*clicked("a"), written("b")], [1, 1, 1], id="a computer that is used"),
        pytest.param([*APPROVAL, written("b")], [1, 1, 1], id="an approval"),
        pytest.param([reference("rs_1"), reference("fc_1"), output("a")], [2, 1], id="references"),
        pytest.param([said("assistant", NOTE), call("a"), output("a")], [1, 1, 1], id="a note"),
        pytest.param([written(NOTE), call("a"), output("a")], [1, 1, 1], id="a note as a part"),
    ],
)
def test_what_a_model_wrote_in_one_go_is_one_group(items, sizes):
    groups = groups_of(items)
    assert [len(group.items) for group in groups] == sizes
    assert [item for group in groups for item in group.items] == items


@pytest.mark.parametrize("first", [said("assistant", "I look."), written("I look.")], ids=["a text", "a part"])
def test_a_call_counts_with_what_is_said_before_it(first):
    views = view(ASKED, first, call("a"), output("a"))

    assert [views.plain(index) for index in range(3)] == [("user", ASKED["content"]), None, None]
    assert (views[1].texts, [made.id for made in views[1].tool_calls]) == (("I look.",), ["a"])


@pytest.mark.parametrize(
    ("item", "is_note"),
    [(said("assistant", NOTE), True), (written(NOTE), True), (said("user", NOTE), False), (written("Nine."), False)],
    ids=["a text", "a part", "of a user", "an answer"],
)
def test_a_note_of_an_earlier_fit_is_known_as_one(item, is_note):
    assert view(ASKED, item)[1].synthetic is is_note


@pytest.mark.parametrize(
    ("items", "calls", "answered"),
    [
        pytest.param([call("a"), call("b"), output("b"), output("a")], ["a", "b"], ["b", "a"], id="parallel calls"),
        pytest.param(clicked("a"), ["a"], ["a"], id="a call of a kind of its own"),
        pytest.param(APPROVAL, ["mcpr_1"], ["mcpr_1"], id="an approval"),
        pytest.param([reference("fc_1"), output("a")], ["a"], ["a"], id="a call that OpenAI has"),
        pytest.param([searched(call_id="s")], [], [], id="what needs no result"),
    ],
)
def test_calls_are_linked_to_their_results(items, calls, answered):
    first, *others = (view(ASKED, *items)[index] for index in range(1, 1 + len(groups_of(items))))
    assert [found.id for found in first.tool_calls] == calls
    assert [(found.role, found.tool_call_id) for found in others] == [("tool", name) for name in answered]


def test_all_that_a_model_reads_is_counted():
    second = {**reasoning(), "content": [{"type": "reasoning_text", "text": "Slowly."}]}
    found = view(ASKED, reasoning("Hours are asked for."), second, written("Nine."))[1]
    assert found.verbatim == ("Hours are asked for.", "Slowly.")
    assert found.texts == ("Nine.",)
    assert [attachment.tokens for attachment in found.attachments] == [8]


def test_an_unknown_item_counts_its_json_and_stays_as_it_is():
    unknown = {"type": "of_tomorrow", "id": "x", "said": SENTENCE}
    assert json.loads(view(ASKED, unknown)[1].verbatim[0]) == unknown
    after = fitted_to({"model": "gpt-4o", "input": [*TURN, said("user", SENTENCE * 9), unknown, ASKED]}, 160)
    assert unknown in after["input"]


def test_a_reference_counts_an_allowance():
    assert [attachment.cost for attachment in view(ASKED, reference("rs_1"))[1].attachments] == [500]


@pytest.mark.parametrize(
    ("content", "groups"),
    [
        pytest.param({"model": "gpt-4o", "input": "hi"}, 1, id="a text"),
        pytest.param({"instructions": "Be brief.", "input": "hi"}, 1, id="a text and instructions"),
        pytest.param({"input": TURN}, 5, id="items"),
        pytest.param(TURN, 5, id="a list of items"),
        pytest.param({"body": {"model": "gpt-4o", "input": TURN}, "url": "/v1/responses"}, 5, id="the line of a batch"),
        pytest.param({"input": TURN, "documents": [SENTENCE]}, 5, id="documents beside it"),
        pytest.param({"model": "gpt-4o", "input": []}, 0, id="nothing"),
    ],
)
def test_a_request_is_known_by_its_input(content, groups):
    found = request_file(content)
    assert (found.shape, len(found.request.history)) == ("responses", groups)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"input": "hi"}, id="a text alone"),
        pytest.param({"model": "text-embedding-3-small", "input": ["a", "b"]}, id="texts to embed"),
        pytest.param({"input": 5}, id="a number"),
        pytest.param([{"type": "human", "content": "x"}], id="other types"),
    ],
)
def test_other_inputs_are_no_request(content):
    assert request_file(content) is None


def test_settings_instructions_tools_and_the_format_of_the_answer_are_read():
    tool = {"type": "function", "name": "look", "parameters": {"type": "object"}}
    form = {"type": "json_schema", "name": "x", "schema": {"type": "object"}}
    beside = {"instructions": "Be brief.", "tools": [tool], "text": {"format": form}, "max_output_tokens": 9}
    found = request_file({"model": "gpt-4o", "input": "hi", **beside})
    assert found.request.system_texts == ("Be brief.",)
    assert list(found.request.tools) == [tool, form]
    assert (found.settings.name, found.settings.answer_tokens) == ("gpt-4o", 9)


def test_what_is_cut_comes_back_in_the_same_shape():
    turns = [[said("user", f"Lamp {number}?"), written(SENTENCE * 3, id=f"msg_{number}")] for number in range(9)]
    items = [item for turn in turns for item in turn]
    content = {"model": "gpt-4o", "instructions": "Be brief.", "input": [*items, ASKED], "store": False, "seed": 7}

    after = fitted_to(content, 160)

    assert {**after, "input": 0} == {**content, "input": 0}
    assert after["input"][-1] is ASKED
    left_out = len(content["input"]) - len(after["input"]) + 1
    note, *changed = [item for item in after["input"] if item not in content["input"]]
    assert note == {"role": "assistant", "content": f"[{left_out} earlier messages omitted]"}
    by_id = {item.get("id"): item for item in items}
    assert all({**item, "content": 0} == {**by_id[item["id"]], "content": 0} for item in changed)


def test_results_are_cut_inside_and_marks_are_texts_of_this_api():
    shown = [{"type": "input_text", "text": SENTENCE * 60}, IMAGE]
    content = {"model": "gpt-4o", "input": [ASKED, reasoning(), call("a"), call("b"), output("a", shown), output("b")]}
    after = fitted_to(content, 300)["input"]
    assert [after[i] for i in (0, 1, 2, 3, 5)] == [content["input"][i] for i in (0, 1, 2, 3, 5)]
    assert after[4]["call_id"] == "a"
    assert {"type": "input_text", "text": "[attachment omitted]"} in after[4]["output"]
    assert {part["type"] for part in after[4]["output"]} == {"input_text"}


def test_a_text_stays_a_text():
    content = {"model": "gpt-4o", "instructions": "Be brief.", "input": SENTENCE * 40}
    after = fitted_to(content, 60)
    assert isinstance(after["input"], str)
    assert content["input"].startswith(after["input"][:40])


def test_the_command_line_reads_and_writes_it(tmp_path):
    path = stored(tmp_path / "request.json", {"model": "gpt-4o", "input": [*TURN * 9, ASKED]})
    whole = run("fit", path, "-q")
    assert whole.stdout_bytes.rstrip(b"\n") == path.read_bytes()
    done = run("fit", path, "--target-tokens", "120", "-q")
    assert done.exit_code == 0
    counted = run("count", "-", "--format", "json", given=done.stdout)
    assert json.loads(counted.stdout)["tokens"] <= 120
    assert run("explain", path, "--target-tokens", "120").exit_code == 0
