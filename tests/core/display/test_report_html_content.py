"""Nothing of a request is shown unless it is asked for, and what is asked for can do nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, Document, Message, ToolCall, fit, trim_history
from ctxopt_core.text.display_text import preview
from hostile_text import hostile_text
from parsed_html import PLAIN_TAGS, elements, parsed_html
from shown_requests import BUDGET, SECRET, WORDS, shown_fit, shown_values

VALUES = shown_values()
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "style": "</style><style>*{display:none}",
    "attribute": '" onmouseover="alert(1)" x="',
    "apostrophe": "' onmouseover='alert(1)",
    "end-of-all": "</td></tr></table></div><h1>gone</h1>",
    "comment": "<!-- --!> <![CDATA[ ]]> <?php ?>",
    "entity": "&lt;script&gt; &#60;b&#62; &amp;",
    "right-to-left": "abc\u202edcba\u2066\u200f",
    "controls": "a\x00b\x1b[31mc\x9bd",
    "surrogate": "a\ud800b",
    "braces": "{{ 7*7 }} {% raw %} ${x} $x^2$",
}


def shown(text, **options):
    """Return the HTML of a fit in which every text and every name is `text`."""
    request = ContextRequest(
        system=text,
        query=f"why {text}",
        documents=[Document(id=text, text=f"{text} " + "word " * 40 * i, score=i) for i in range(5)],
        history=[Message(role="user", name=text if i == 3 else None, content=f"{text} {i}") for i in range(9)]
        + [
            Message(role="assistant", tool_calls=(ToolCall(id="1", name=text, arguments=text),)),
            Message(role="tool", tool_call_id="1", content=text + " word" * 100),
        ],
    )
    return fit(request, BUDGET, counter=WORDS).to_html(**options)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_text(text):
    root = parsed_html(shown(text, show_content=True))

    assert {element.tag for element in elements(root)} <= PLAIN_TAGS
    assert all(not name.startswith("on") for element in elements(root) for name in element.attributes)
    assert preview(text, 160)[:20] in root.whole_text


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\x00", "\x1b", "\x9b", "\ud800"])
def test_nothing_unseen_and_nothing_that_turns_the_line_is_left(mark):
    html = shown(f"abc{mark}def", show_content=True)

    assert mark not in html
    html.encode()


@given(text=hostile_text())
def test_any_text_gives_balanced_html_in_one_encoding(text):
    html = shown(text, show_content=True)

    parsed_html(html)
    html.encode()


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_m3_no_content_is_shown_by_default(value):
    assert SECRET not in value._repr_html_()
    assert SECRET not in value.to_html(standalone=True)
    assert SECRET not in value._repr_mimebundle_()["text/plain"]


@given(
    parts=st.lists(st.sampled_from(["system", "query", "document", "user", "assistant", "call"]), max_size=12),
    limit=st.integers(60, 400),
)
def test_m3_no_content_is_shown_whatever_is_fitted(parts, limit):
    secret = "xyzzy " * 9
    roles = {"user", "assistant"}
    history = [Message(role=part, content=secret) for part in parts if part in roles]
    history += [Message(role="assistant", tool_calls=(ToolCall(id=secret, name=secret, arguments=secret),))] * (
        "call" in parts
    )
    request = ContextRequest(
        system=secret * ("system" in parts),
        query=f"what {secret * ('query' in parts)}",
        documents=[Document(text=secret)] * parts.count("document"),
        history=history,
    )
    fitted = fit(request, ContextBudget(max_input_tokens=limit), counter=WORDS)

    for value in (fitted, fitted.report, fitted.documents, fitted.history):
        assert "xyzzy" not in "".join(value._repr_mimebundle_().values())


def test_content_that_is_asked_for_is_what_is_sent():
    fitted = shown_fit()
    root = parsed_html(fitted.to_html(show_content=True))
    tables = {each.all("caption")[0].whole_text: each for each in root.all("table")}
    documents = tables["Beginnings of documents"].whole_text
    messages = tables["Beginnings of messages, oldest first"]
    kept = [row for row in messages.all("tbody")[0].children if row.children[2].whole_text == "kept"]

    assert f"Where is {SECRET}?" in tables["Beginnings of system prompt, query and sections"].whole_text
    assert f"{SECRET} 0 {SECRET} 0" in documents
    assert {int(row.children[0].whole_text) for row in kept} == set(fitted.history.kept)
    assert fitted.to_html() == fitted.report.to_html()


def test_a_shortened_message_is_shown_as_it_is_sent():
    history = [
        Message(role="user", content="look"),
        Message(role="assistant", tool_calls=(ToolCall(id="1", name="read", arguments="{}"),)),
        Message(role="tool", tool_call_id="1", content="start " + "m " * 900 + "end"),
    ]
    fitted = fit(ContextRequest(history=history), ContextBudget(max_input_tokens=50), counter=WORDS)
    row = parsed_html(fitted.to_html(show_content=True)).all("tbody")[-1].children[-1]
    (sent,) = fitted.messages()[-1].texts

    assert 2 in fitted.history.shortened
    assert row.children[2].whole_text == "shortened"
    assert row.children[3].whole_text == " ".join(sent.split())


@pytest.mark.parametrize("show_content", [False, True], ids=["figures", "content"])
def test_the_size_is_bounded_for_ten_thousand_documents_and_a_hundred_thousand_messages(show_content):
    request = ContextRequest(
        query="why",
        documents=[Document(id=f"{i}" * 200, text=f"word {i}", score=i) for i in range(10_000)],
        history=[Message(role=("user", "assistant")[i % 2], content=f"word {i}") for i in range(100_000)],
    )
    fitted = fit(request, ContextBudget(max_input_tokens=1_000), counter=WORDS)
    html = fitted.to_html(show_content=show_content)

    assert len(html) < 60_000
    assert "... and 9,960 more" in html
    assert html.count(">kept<") > 10 < html.count(">dropped (budget)<")
    assert len(fitted.history._repr_html_()) < 30_000
    assert len(fitted.documents._repr_html_()) < 30_000


def test_the_size_is_bounded_for_a_million_characters():
    long = "x" * 1_000_000
    blank = [Message(role="user", content=" " * 1_000_000), Message(role="user", name=long, content="a " * 500_000)]
    request = ContextRequest(query=long, documents=[Document(id=long, text=long, score=1)] * 50, history=blank)
    fitted = fit(request, ContextBudget(max_input_tokens=1_000), counter=WORDS)

    assert len(fitted.to_html(show_content=True)) < 60_000


def test_a_conversation_of_many_short_stretches_stays_a_small_strip():
    history = [Message(role="user", content="word " * (1 + 90 * (i % 2))) for i in range(2_000)]
    trimming = trim_history(history, 4_000, WORDS)

    assert len(trimming._repr_html_()) < 30_000
