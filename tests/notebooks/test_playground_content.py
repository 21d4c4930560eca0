"""The playground without a browser: what is pasted, loaded and given in code, and how it is shown."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest
from hypothesis import given, settings

from ctxopt_core import ContextRequest, Document, Message
from ctxopt_playground import Playground
from drawn_examples import examples
from hostile_text import hostile_text
from parsed_html import elements, parsed_html
from playground_pages import ASKED, DOCUMENTS, ROWS, html_of, lantern_playground, outcome

HOSTILE = "<img src=x onerror=alert(1)>\u202e<|endoftext|>\ud800"


class Dumped:
    """A message as frameworks have it: an object that can say what it holds."""

    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, mode):
        assert mode == "json"
        return self.fields


@pytest.fixture
def playground():
    return lantern_playground()


PASTED = {
    "messages": ([*ROWS, ASKED], 21),
    "objects": ([Dumped(**row) for row in [*ROWS, ASKED]], 21),
    "request": ({"messages": [*ROWS, ASKED], "tools": []}, 21),
    "json": (json.dumps([*ROWS, ASKED]), 21),
    "transcript": ("User: Is it lit?\nAssistant: It is.\nUser: Still?", 3),
}


@pytest.mark.parametrize(("given", "messages"), PASTED.values(), ids=PASTED)
def test_a_history_may_come_in_any_of_these_ways(given, messages):
    playground = Playground(given, target_tokens=900)

    assert len(playground.request.history) == messages
    playground.history = "User: Lit?"
    assert len(playground.request.history) == 1
    playground.history = given
    assert len(playground.request.history) == messages


def test_a_request_that_is_given_is_used_until_something_is_pasted():
    request = ContextRequest(history=[Message(role="user", content="Lit?")], documents=[Document(text="It is.")])
    playground = Playground(request)

    assert playground.request is request
    playground.documents = [Document(id="d", text="It is not.", score=1.0)]
    assert [document.text for document in playground.request.documents] == ["It is not."]
    assert playground.request.history == request.history
    playground.history = [ASKED, ASKED]
    assert len(playground.request.history) == 2
    playground.history = playground.documents = ""
    assert playground.request is request


WRONG = {
    "number": ((7,), TypeError),
    "bytes": ((b"User: Lit?",), TypeError),
    "items": (([7],), TypeError),
    "broken": (("[{",), ValueError),
    "documents": ((None, [7]), TypeError),
    "no_json": (([{"role": "user", "content": object()}],), TypeError),
}


@pytest.mark.parametrize(("arguments", "error"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_is_an_error_in_code(arguments, error):
    with pytest.raises(error):
        Playground(*arguments)


def test_a_broken_paste_is_shown_beside_the_box_and_the_last_results_stay(playground):
    before = playground.comparison

    playground.history = '[{"role": '

    assert "not JSON" in playground.problem
    assert "ctxopt-problem" in playground._page.history.status.value
    assert "From before" in playground._page.outcomes.summary.value
    assert "What is below is from before" in playground._page.outcomes.status.value
    assert [one.tokens_after for one in playground.comparison.outcomes] == [one.tokens_after for one in before.outcomes]
    playground.history = [ASKED]
    assert playground.problem == ""
    assert "from before" not in playground._page.outcomes.status.value


def uploaded(content):
    return (
        {
            "name": "chat.json",
            "type": "",
            "size": len(content),
            "content": memoryview(content),
            "last_modified": datetime.now(UTC),
        },
    )


FILES = {
    "utf_8": json.dumps([ASKED]).encode(),
    "byte_order_mark": json.dumps([ASKED]).encode("utf-8-sig"),
    "utf_16": json.dumps([ASKED]).encode("utf-16"),
    "crlf": b"User: Which lantern burns longest?\r\n",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_loaded_file_is_put_into_the_box(playground, content):
    playground._page.history.upload.value = uploaded(content)

    assert [message.texts[0].strip() for message in playground.request.history] == [ASKED["content"]]
    assert "Which lantern" in playground.history


def test_a_file_that_is_not_text_is_refused_and_another_one_is_read(playground):
    box = playground._page.history

    box.upload.value = uploaded(b"\x89PNG\x00\xff")
    assert "UTF-8" in playground.problem
    box.upload.value = uploaded(json.dumps([ASKED]).encode())
    assert playground.problem == ""
    playground.history = "User: Lit?"
    assert box.upload.value == ()


def test_the_report_is_of_the_chosen_strategy_and_shows_content_only_when_asked(playground):
    shown = playground._page.outcomes

    shown.chosen.value = "sliding_window"
    assert "sliding_window" in shown.report.value
    assert "quiet night" not in "".join(html_of(playground))
    shown.previews.value = True
    assert "quiet night" in shown.report.value
    playground.history = "User: Lit?"
    assert shown.chosen.value == "sliding_window"


def test_the_fitted_request_can_be_downloaded_as_json(playground):
    link = parsed_html(playground._page.outcomes.download.value).all("a")[0]
    _, _, data = link.attributes["href"].partition("base64,")
    content = json.loads(b64decode(data))
    assert len(content["messages"]) == outcome(playground, "auto").fitted.report.history.kept
    texts = outcome(playground, "auto").fitted.document_texts()
    assert texts
    assert tuple(document["text"] for document in content["documents"]) == texts


@pytest.mark.parametrize("asked", [False, True], ids=["counts", "previews"])
def test_hostile_text_is_text(asked):
    rows = [{"role": "user", "content": HOSTILE * 200}, {"role": "assistant", "content": HOSTILE}, ASKED]
    documents = [{"id": HOSTILE, "text": HOSTILE * 99}]
    playground = Playground(rows, documents, model=f"<b>{HOSTILE.replace(chr(0xD800), '')}", target_tokens=300)
    playground._page.outcomes.previews.value = asked

    for html in html_of(playground):
        found = elements(parsed_html(html))
        assert not {"img", "script"} & {element.tag for element in found}
        assert "\ud800" not in html
        assert "\u202e" not in html
        assert not any(name.startswith("on") for element in found for name in element.attributes)


def test_a_request_that_is_too_large_to_be_sent_along_has_no_download():
    playground = Playground([{"role": "user", "content": "Lanterns burn " * 160_000}], model="gpt-4.1")

    assert playground.problem == ""
    assert "too large" in playground._page.outcomes.download.value


def test_a_request_that_cannot_be_written_has_no_download():
    playground = Playground([ASKED])
    deep = []
    for _ in range(10_000):
        deep = [deep]
    combined = playground._page.combined

    unwritable = replace(combined, stored=replace(combined.stored, content=deep))
    playground._page.outcomes.show(unwritable, playground.comparison)

    assert "nested too deeply" in playground._page.outcomes.download.value


@settings(max_examples=examples(60))
@given(history=hostile_text(), documents=hostile_text(), model=hostile_text(3))
def test_whatever_is_typed_is_read_or_refused_and_never_an_error(history, documents, model):
    page = shared_playground()

    page.history, page.documents, page._page.panel.window.model.value = history, documents, model

    assert page.problem or page.comparison.outcomes
    for html in html_of(page):
        parsed_html(html)
        html.encode()
    page.history.encode()
    page.documents.encode()


@cache
def shared_playground():
    return lantern_playground()


def test_the_example_can_be_loaded_again(playground):
    playground._page.example.click()

    assert len(playground.request.history) == 34
    assert playground.settings.target_tokens == 1_536


def test_the_example_goes_as_a_whole():
    playground = Playground()
    assert playground.documents

    playground.history = playground.history.replace("0.9 bar", "0.8 bar")
    assert playground.documents  # it is still the example, which somebody changes
    playground.history = "User: Which lantern burns longest?"
    assert playground.documents == ""
    assert len(playground.request.documents) == 0


TOLD = {
    "messages": ("history", [ASKED, ASKED], "Read as OpenAI JSON: 2 messages."),
    "request": (
        "history",
        {"system": "Be brief.", "messages": [ASKED], "documents": ["It is."]},
        "Read as Anthropic JSON: 1 message, 1 document, a system prompt.",
    ),
    "scores": ("documents", ["It is.", {"text": "Lit.", "score": 1}], "2 documents, 1 with a score."),
    "all_scores": ("documents", [{"text": "Lit.", "score": 1}], "1 document, all with a score."),
    "no_scores": ("documents", "One.\n\nTwo.\n\nThree.", "3 documents, none with a score."),
}


@pytest.mark.parametrize(("box", "given", "sentence"), TOLD.values(), ids=TOLD)
def test_a_box_says_what_was_read(playground, box, given, sentence):
    setattr(playground, box, given)

    assert sentence in getattr(playground._page, box).status.value


def test_a_card_shows_the_outcome_of_documents_if_there_are_any(playground):
    assert "Documents: " in playground._page.outcomes.cards.value
    playground.documents = ""
    assert "Documents: " not in playground._page.outcomes.cards.value


def test_documents_in_both_places_are_those_of_the_second_tab_and_it_says_so(playground):
    playground.history = {"messages": [ASKED], "documents": ["of the first", "of the first, too"]}

    assert [document.id for document in playground.request.documents] == [row["id"] for row in DOCUMENTS]
    assert "not the 2 that came with the history" in playground._page.outcomes.status.value
    playground.documents = ""
    assert len(playground.request.documents) == 2
    assert "second tab" not in playground._page.outcomes.status.value
