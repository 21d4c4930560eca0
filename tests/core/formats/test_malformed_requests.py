"""Requests with something wrong in them are refused with the place, the rule, what is there, and what to do."""

from __future__ import annotations

import time

import pytest

from command_runs import chat, run, stored_lines
from ctxopt_core.formats.request_files import read_request, request_file
from responses_items_made import call, output, reasoning

HELLO = {"role": "user", "content": "hello"}


def with_message(**fields):
    return {"messages": [HELLO, {"role": "assistant", "content": "hi", **fields}]}


def with_part(part):
    return with_message(content=[{"type": "text", "text": "hi"}, part])


def with_item(item):
    return {"input": [HELLO, item]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(
            {"messages": [HELLO, 5]}, "`messages[1]` must be an object with a string `role`, got int", id="row"
        ),
        pytest.param(with_message(role=[]), "`messages[1].role` must be a string such as user", id="role"),
        pytest.param([HELLO, {"role": []}], "`messages[1].role` must be a string such as user", id="role in a list"),
        pytest.param({"messages": [{"content": "x"}]}, "`messages[0].role` must be a string such as user", id="none"),
        pytest.param(
            with_message(content=5), "`messages[1].content` must be a string or a list of parts, got int", id="c"
        ),
        pytest.param(with_message(name=[]), "`messages[1].name` must be a string, got list; leave it out", id="name"),
        pytest.param(
            with_message(tool_calls=True),
            "`messages[1].tool_calls` must be a list of calls, got bool; leave it",
            id="t",
        ),
        pytest.param(with_message(tool_calls=[5]), "`messages[1].tool_calls[0]` must be a call, got int", id="a call"),
        pytest.param(
            with_message(tool_calls=[{"id": 5}]),
            "`messages[1].tool_calls[0].id` must be a string, got int",
            id="id",
        ),
        pytest.param(
            with_message(tool_calls=[{"id": "a", "function": "look"}]),
            "`messages[1].tool_calls[0].function` must be an object with `name` and `arguments`, got str",
            id="function of a call",
        ),
        pytest.param(
            with_message(tool_calls=[{"id": "a", "function": {"name": ["look"]}}]),
            "`messages[1].tool_calls[0].function.name` must be a string, got list",
            id="name of a call",
        ),
        pytest.param(
            with_message(tool_calls=[{"id": "a", "function": {"name": "look", "arguments": [1]}}]),
            "`messages[1].tool_calls[0].function.arguments` must be a string or an object, got list",
            id="arguments",
        ),
        pytest.param(
            with_message(function_call="look"), "`messages[1].function_call` must be an object", id="a legacy call"
        ),
        pytest.param(
            with_message(role="tool", tool_call_id=["a"]),
            "`messages[1].tool_call_id` must be a string, got list",
            id="id",
        ),
        pytest.param(with_part(5), "`messages[1].content[1]` must be a string or an object", id="a part"),
        pytest.param(with_part({"type": []}), "`messages[1].content[1].type` must be a string, got list", id="type"),
        pytest.param(
            with_part({"type": "text", "text": 5}),
            "`messages[1].content[1].text` must be a string, got int",
            id="its text",
        ),
        pytest.param(
            with_part({"type": "tool_use", "id": "a", "name": 5, "input": {}}),
            "`messages[1].content[1].name` must be a string, got int",
            id="name of a tool in use",
        ),
        pytest.param(
            with_part({"type": "tool_result", "tool_use_id": 5}),
            "`messages[1].content[1].tool_use_id` must be a string, got int",
            id="the call of a result",
        ),
        pytest.param(
            with_part({"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text"}]}),
            "`messages[1].content[1].content[0].text` must be a string, got NoneType",
            id="a part of a result",
        ),
        pytest.param({**with_message(), "model": 5}, "`model` must be a string, got int", id="model"),
        pytest.param({**with_message(), "max_tokens": "9"}, "`max_tokens` must be a whole number", id="max_tokens"),
        pytest.param({**with_message(), "tools": {}}, "`tools` must be a list of tools, got dict", id="tools"),
        pytest.param({**with_message(), "tools": [{}, 5]}, "`tools[1]` must be an object", id="a tool"),
        pytest.param({**with_message(), "response_format": True}, "`response_format` must be an object", id="format"),
        pytest.param({**with_message(), "tool_choice": 5}, "`tool_choice` must be a string or an object", id="choice"),
        pytest.param({**with_message(), "system": [{"text": 5}]}, "`system[0].text` must be a string", id="block"),
        pytest.param({"documents": ["x"], "query": ["x", 5]}, "`query[1]` must be a string, got int", id="query"),
        pytest.param({"input": [HELLO, 5]}, "`input[1]` must be an object with a `type`", id="item"),
        pytest.param(with_item({"text": "x"}), "`input[1].type` must be a string such as message", id="no type"),
        pytest.param(with_item({"type": "message"}), "`input[1].role` must be a string", id="a message without a role"),
        pytest.param(with_item(call(5)), "`input[1].call_id` must be a string, got int", id="id of a call"),
        pytest.param(with_item({"type": "function_call"}), "`input[1].call_id` must be a string, got None", id="no id"),
        pytest.param(with_item(call("a", 5)), "`input[1].arguments` must be a string or an object", id="args"),
        pytest.param(with_item(output("a", 5)), "`input[1].output` must be a string or a list of parts", id="output"),
        pytest.param(with_item({**reasoning(), "summary": 5}), "`input[1].summary` must be a list", id="summary"),
        pytest.param(with_item({"type": "item_reference"}), "`input[1].id` must be a string", id="reference"),
        pytest.param({"input": "x", "instructions": ["x"]}, "`instructions` must be a string", id="instructions"),
        pytest.param(
            {"input": "x", "model": "gpt-4o", "previous_response_id": "resp_1"},
            "`previous_response_id` must be left out, since the conversation before it is with OpenAI",
            id="a conversation elsewhere",
        ),
    ],
)
def test_a_fault_is_named_with_its_place_and_a_remedy(content, said):
    with pytest.raises((TypeError, ValueError)) as error:
        request_file(content)
    assert str(error.value).startswith(said)
    assert "; " in str(error.value)


@pytest.mark.parametrize("key", ["messages", "input"])
def test_a_fault_deep_inside_a_file_that_is_sent_along_is_named_with_its_message(key):
    part = {"type": "document", "source": {"type": "content", "content": [5]}}
    with pytest.raises(TypeError, match=rf"^`{key}\[1\]`: a part of a message's `content` must be .* got int"):
        request_file({key: [HELLO, {"role": "user", "content": [part]}]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('{"messages": [], "n": NaN}', "holds NaN, which is no number in JSON", id="NaN"),
        pytest.param('{"messages": [], "n": -Infinity}', "holds -Infinity", id="infinity"),
        pytest.param('{"messages": [], "messages": []}', "key 'messages' of one object twice", id="a key twice"),
        pytest.param('{"messages": [{"role": "user", "role": "a"}]}', "names the key 'role'", id="a key twice inside"),
        pytest.param('{"messages": [] "x"}', "not JSON: ", id="broken"),
    ],
)
def test_json_that_would_not_come_out_as_it_was_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        read_request(text)


def test_the_key_that_an_object_of_very_many_names_twice_is_found_in_linear_time():
    keys = ",".join(f'"k{n}":0' for n in range(40_000))
    start = time.process_time()
    with pytest.raises(ValueError, match="names the key 'k39999' of one object twice"):
        read_request(f'{{"messages": [], {keys}, "k39999": 1}}')
    assert time.process_time() - start < 5


def test_a_batch_names_the_line_and_goes_on(tmp_path):
    bad = {"messages": [HELLO, {"role": "assistant", "tool_calls": True}]}
    path = stored_lines(tmp_path / "in.jsonl", [chat(1, seed=0), bad, chat(1, seed=1)])

    done = run("fit", path, "-m", "gpt-4o", "--out", tmp_path / "out.jsonl")

    assert done.exit_code == 3
    assert done.stderr.startswith("line 2: `messages[1].tool_calls` must be a list of calls, got bool; ")
    assert (tmp_path / "out.jsonl").read_bytes().count(b"\n") == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"model": "gpt-4", "messages": [], "temperature": NaN}', id="NaN"),
        pytest.param('{"model": "gpt-4", "model": "gpt-4o", "messages": []}', id="a key twice"),
    ],
)
def test_a_request_that_readers_would_read_differently_is_not_counted_as_a_text(text):
    done = run("count", "-", "-m", "gpt-4", given=text)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "; " in done.stderr


@pytest.mark.parametrize("text", ['{"n": NaN}', '{"n": 1, "n": 2}', '[{"messages": [NaN}]'])
def test_other_texts_are_counted_whatever_their_numbers_and_keys(text):
    assert "counted as     text" in run("count", "-", "-m", "gpt-4", given=text).stdout


@pytest.mark.parametrize("content", [b"", b" \r\n", b"\xef\xbb\xbf\n"], ids=["empty", "blank", "a byte order mark"])
def test_an_empty_file_says_what_a_request_is(tmp_path, content):
    path = tmp_path / "request.json"
    path.write_bytes(content)
    for command in ("fit", "plan", "explain"):
        done = run(command, path)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "there is nothing to be read; a request is a list of messages" in done.stderr
