"""The words of the field are used, and those that only their author can read are not."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("core/ctxopt_core", "core/ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What providers call the usage of a call is theirs, and is quoted in few places.
NOT_OURS = re.compile(r"usage|Usage|prompt_tokens|count_tokens|call_or_await|cache_read|before 0\.1")
BANNED = re.compile(
    r"\binput_tokens\b|\boutput_tokens\b|\bsummaris|\bcatalogue|\bof one's own\b|\ba text\b|\bof its own accord\b"
    r"|\b(?:colour|neighbour|behaviour|licence|tokenis|normalis|recognis|optimis|neutralis|serialis)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", [*SOURCES, *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_word_is_left_that_only_its_author_can_read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [
        f"{n}: {line.strip()}" for n, line in enumerate(lines, 1) if BANNED.search(line) and not NOT_OURS.search(line)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("word", "names"),
    [
        pytest.param("compaction", {"HistoryPolicy", "trim_history", "ContextOptimizerMiddleware"}, id="compaction"),
        pytest.param(
            "rerank", {"DocumentPolicy", "ContextOptimizerCompressor", "ContextOptimizerPostprocessor"}, id="rerank"
        ),
        pytest.param(
            "chunk", {"Document", "DocumentPolicy", "pack_documents", "ContextOptimizerCompressor"}, id="chunk"
        ),
        pytest.param("prompt cache", {"HistoryPolicy", "FitReport"}, id="prompt cache"),
        pytest.param("retriever", {"ContextOptimizerCompressor", "ContextOptimizerRetriever"}, id="retriever"),
        pytest.param("top-k", {"DocumentPolicy", "ContextOptimizerRetriever"}, id="top-k"),
    ],
)
def test_a_search_of_the_api_for_a_word_of_the_field_finds_what_it_should(word, names):
    packages = [importlib.import_module(name) for name in ("ctxopt_core", "langchain_ctxopt", "llamaindex_ctxopt")]
    found = {
        name
        for package in packages
        for name in package.__all__
        if word in (inspect.getdoc(getattr(package, name)) or "").lower()
    }

    assert names <= found
