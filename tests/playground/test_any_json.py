"""Whatever JSON is pasted, it is read whole and in order, or refused as unreadable."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextBudgetError, fit
from ctxopt_core.formats.json_values import as_json
from ctxopt_core.formats.openai_messages import message_from_openai
from ctxopt_core.formats.request_files import fitted_content
from ctxopt_playground.readers.history import history_of, read_history
from ctxopt_playground.readers.json import UnreadablePasteError
from drawn_examples import examples
from hostile_text import openai_messages

KEYS = (
    *("role", "content", "type", "text", "tool_calls", "function", "name", "arguments", "id", "kwargs", "lc", "data"),
    *("messages", "input", "output", "call_id", "blocks", "block_type", "additional_kwargs", "refusal", "summary"),
    *("tool_call_id", "function_call", "system", "tools", "documents", "query", "model", "instructions"),
)
WORDS = ("user", "assistant", "human", "ai", "tool", "constructor", "function_call", "reasoning", "text")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner | st.sampled_from(WORDS), max_size=5)
        | st.fixed_dictionaries({"role": st.sampled_from(WORDS), "content": inner}, optional={"name": inner})
    ),
    max_leaves=12,
)


def said(messages):
    """Return who says what. An empty part says nothing; a note of an attachment stands elsewhere in a file."""
    return [(message.role, sorted(text for text in message.texts if text)) for message in messages]


@settings(max_examples=examples(150))
@given(rows=openai_messages())
def test_every_conversation_is_read_whole_and_in_order(rows):
    rows = json.loads(json.dumps(rows))
    expected = [message_from_openai(row) for row in rows]
    for text in (
        json.dumps(rows),
        json.dumps({"messages": rows}, ensure_ascii=False),
        "\n".join(map(json.dumps, rows)),
    ):
        assert list(read_history(text).request.history) == expected


@settings(max_examples=examples(100))
@given(rows=openai_messages(well_formed=True), target=st.integers(50, 3_000))
def test_what_was_read_can_be_cut_written_and_read_again(rows, target):
    found = history_of(json.loads(json.dumps(rows)))
    try:
        fitted = fit(found.request, ContextBudget(target_tokens=target), counter=len)
    except ContextBudgetError:
        return
    written = json.loads(as_json(fitted_content(found.stored, fitted)))

    assert said(history_of(written).request.history) == said(fitted.messages())


@settings(max_examples=examples(400))
@given(value=json_values)
def test_any_json_is_read_or_refused(value):
    try:
        request = history_of(value).request
    except UnreadablePasteError as error:
        assert str(error)
        return
    with suppress(ContextBudgetError):
        fit(request, ContextBudget(target_tokens=10), counter=len)


def test_a_value_that_was_read_is_not_changed():
    value = {"messages": [{"type": "human", "content": "Which key?"}]}
    before = json.dumps(value)
    history_of(value)

    assert json.dumps(value) == before
