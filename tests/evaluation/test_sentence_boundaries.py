"""Sentence boundaries against published hard cases and edited sentences, where that data is at hand."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ctxopt_core.text.sentences import sentence_spans

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lines():
    """The reader of the evaluation data, `name -> items`."""
    data = Path(os.environ.get("CTXOPT_EVAL_DATA") or ROOT.parent / "shared" / "data")
    if not (data / "evaldata.py").is_file():
        pytest.skip(f"no evaluation data in {data}; set CTXOPT_EVAL_DATA")
    sys.path.insert(0, str(data))
    try:
        import evaldata
    finally:
        sys.path.remove(str(data))
    return evaldata.lines


def found_ends(text):
    return {stop for _, stop in sentence_spans(text)}


def test_x6_golden_rules_with_no_language_given(lines):
    cases = list(lines("sbd_golden_rules"))
    right = sum(found_ends(case["text"]) == set(case["ends"]) for case in cases)

    assert len(cases) == 284
    assert right >= 258


# Thai is not split: it has no marks between sentences.
@pytest.mark.parametrize(
    ("language", "least"),
    [
        *(("en", 0.99), ("fr", 0.99), ("es", 0.98), ("de", 0.98), ("tr", 0.98), ("ru", 0.99)),
        *(("ar", 0.99), ("hi", 0.99), ("ko", 0.99), ("zh", 0.98), ("ja", 0.98)),
    ],
)
def test_edited_sentences_are_found(lines, language, least):
    items = [item for item in lines("sbd_ud12") if item["lang"] == language]
    pairs = [(found_ends(item["text"]), set(item["ends"])) for item in items]
    agreed = sum(len(found & wanted) for found, wanted in pairs)

    assert 2 * agreed / sum(len(found) + len(wanted) for found, wanted in pairs) >= least
