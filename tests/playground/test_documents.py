"""Pasted documents are read from JSON of the usual shapes and from plain text, in order and with ids."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from ctxopt_core import Document
from ctxopt_playground.readers.documents import read_documents
from ctxopt_playground.readers.json import UnreadablePasteError
from drawn_examples import examples
from hostile_text import documents as document_rows
from hostile_text import hostile_text

SEVEN, EIGHT = "Gate 7 has a door.", "Gate 8 has none."
BOTH = [("1", SEVEN, None), ("2", EIGHT, None)]


def lines(*values):
    return "\n".join(map(json.dumps, values))


def rows_of(documents):
    return [(document.id, document.text, document.score) for document in documents]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\n ", [], id="blank"),
        pytest.param(SEVEN, [("1", SEVEN, None)], id="a sentence"),
        pytest.param(f"{SEVEN}\n\n{EIGHT}", BOTH, id="a blank line between"),
        pytest.param(f"\n{SEVEN}\n \t\n{EIGHT}\n", BOTH, id="a line of white space between"),
        pytest.param(f"{SEVEN}\r\n\r\n{EIGHT}\r\n", BOTH, id="line breaks of Windows"),
        pytest.param(f"{SEVEN}\n---\n{EIGHT}", BOTH, id="a rule between"),
        pytest.param(f"---\n{SEVEN}\n ----- \n\n{EIGHT}\n---\n", BOTH, id="rules around"),
        pytest.param("a\n\nb\n---\nc", [("1", "a\n\nb", None), ("2", "c", None)], id="blank lines between rules"),
        pytest.param("a -- b\n--\nc", [("1", "a -- b\n--\nc", None)], id="two dashes"),
        pytest.param(json.dumps([SEVEN, EIGHT]), BOTH, id="a list of texts"),
        pytest.param(json.dumps([{"text": SEVEN}, {"content": EIGHT}]), BOTH, id="objects with text or content"),
        pytest.param(json.dumps([{"page_content": SEVEN}, EIGHT]), BOTH, id="an object and a text"),
        pytest.param(json.dumps({"documents": [SEVEN, {"text": EIGHT}]}), BOTH, id="under documents"),
        pytest.param(json.dumps({"query": "q", "source_nodes": [{"node": {"text": SEVEN}}, EIGHT]}), BOTH, id="nodes"),
        pytest.param(json.dumps({"text": SEVEN}), [("1", SEVEN, None)], id="one object"),
        pytest.param(lines({"text": SEVEN}, {"text": EIGHT}), BOTH, id="an object on each line"),
        pytest.param(lines([{"text": SEVEN}, 0.5], [EIGHT, 0.25]), [("1", SEVEN, 0.5), ("2", EIGHT, 0.25)], id="pairs"),
        pytest.param(
            json.dumps([{"text": SEVEN, "id": "d7", "score": 0.5}]), [("d7", SEVEN, 0.5)], id="an id and a score"
        ),
        pytest.param(
            json.dumps([{"text": SEVEN, "id": 7}, {"text": EIGHT}]), [("7", SEVEN, None), BOTH[1]], id="7 as id"
        ),
        pytest.param(
            json.dumps([SEVEN, {"text": EIGHT, "id": "1"}, SEVEN]),
            [(None, SEVEN, None), ("1", EIGHT, None), ("3", SEVEN, None)],
            id="an id that is the number of another",
        ),
        pytest.param(json.dumps([{"text": SEVEN, "id": ""}]), [("1", SEVEN, None)], id="an empty id"),
        pytest.param(
            json.dumps([{"text": SEVEN, "relevance_score": 0.5}]), [("1", SEVEN, 0.5)], id="the score of a reranker"
        ),
        pytest.param(
            json.dumps([{"text": SEVEN, "metadata": {"relevance_score": 0.5}}, {"text": EIGHT, "metadata": None}]),
            [("1", SEVEN, 0.5), BOTH[1]],
            id="a score in the metadata",
        ),
        pytest.param(
            json.dumps([{"text": SEVEN, "score": 0, "metadata": {"score": 0.5}}]), [("1", SEVEN, 0)], id="a score of 0"
        ),
        pytest.param(
            json.dumps([{"text": SEVEN, "metadata": {"score": "HIGH"}}]), [("1", SEVEN, None)], id="a word in metadata"
        ),
        pytest.param(json.dumps([{"text": None}]), [("1", None, None)], id="no text"),
        pytest.param(
            json.dumps([{"node": {"id_": "n7", "text": SEVEN}, "score": 0.5}]), [("n7", SEVEN, 0.5)], id="a scored node"
        ),
        pytest.param(
            json.dumps([{"id_": "n7", "text_resource": {"text": SEVEN}}]), [("n7", SEVEN, None)], id="a text resource"
        ),
        pytest.param(
            "[Draft] Gate 7\n\n{name} has a key",
            [("1", "[Draft] Gate 7", None), ("2", "{name} has a key", None)],
            id="brackets in prose",
        ),
    ],
)
def test_each_shape_is_recognized(text, documents):
    assert rows_of(read_documents(text)) == documents


def test_metadata_and_source_are_kept():
    given_metadata = {"source": "gates.md", "page": 7}
    (document,) = read_documents(json.dumps([{"text": SEVEN, "metadata": given_metadata}]))

    assert document == Document(text=SEVEN, id="1", source="gates.md", metadata=given_metadata)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(json.dumps([SEVEN, 7]), "document 2: .* got an? int", id="a number"),
        pytest.param(json.dumps([SEVEN, {"body": EIGHT}]), "document 2: .* got an object without", id="no text"),
        pytest.param(json.dumps({"messages": []}), "document 1: .* got an object without", id="a conversation"),
        pytest.param(json.dumps([{"text": 7}]), "document 1: `text` .* got int", id="a text of 7"),
        pytest.param(
            json.dumps([{"text": SEVEN, "score": "HIGH"}]), "document 1: `score` .* got str", id="a word as score"
        ),
        pytest.param(json.dumps([[SEVEN, EIGHT]]), "document 1: `score` .* got str", id="a pair of texts"),
        pytest.param(json.dumps([[SEVEN]]), "document 1: .* got a list", id="a list in a list"),
        pytest.param(lines({"text": SEVEN}) + "\n{oops", "line 2: not JSON", id="a line that is no JSON"),
        pytest.param('[{"text": "Gate 7"', "not JSON", id="cut off"),
        pytest.param('[{"text": "Gate 7", "score": NaN}]', "NaN, which is no number in JSON", id="not a number"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, message):
    with pytest.raises(UnreadablePasteError, match=message):
        read_documents(text)


@settings(max_examples=examples(100))
@given(rows=document_rows())
def test_every_document_is_read_in_order(rows):
    rows = [{**row, "score": row["score"] if _is_json_number(row["score"]) else None} for row in rows]
    rows = json.loads(json.dumps(rows))

    named = {row["id"] for row in rows}
    numbers = [str(number) if str(number) not in named else None for number in range(1, len(rows) + 1)]
    assert rows_of(read_documents(json.dumps(rows))) == [
        (row["id"] or number, row["text"], row["score"]) for row, number in zip(rows, numbers, strict=True)
    ]


def _is_json_number(score):
    return score is not None and abs(score) < 100


@settings(max_examples=examples(100))
@given(text=hostile_text(20))
def test_nothing_but_white_space_is_lost_of_a_plain_text_without_rules(text):
    text = text.replace("-", "")
    found = read_documents(f"a {text}")
    written = "".join(f"a {text}".split())

    assert "".join("".join(document.text.split()) for document in found) == written
