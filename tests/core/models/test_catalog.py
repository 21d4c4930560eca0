"""The built-in table of models, and how an id finds its row."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from ctxopt_core.models import catalog
from ctxopt_core.models.catalog import CatalogRow, ModelIndex, builtin_index, builtin_rows, smallest_chat_window
from ctxopt_core.models.model_ids import id_spellings


@dataclass(frozen=True)
class Limit:
    input_limit: int


def find(listed: list[tuple[str, int]], model: str, aliases: dict[str, str] | None = None) -> int | None:
    found = ModelIndex([(name, Limit(tokens)) for name, tokens in listed], aliases).find(model)
    return None if found is None else found.input_limit


@pytest.mark.parametrize(
    ("listed", "model", "limit"),
    [
        pytest.param([("one", 1000), ("host/one", 100)], "host/one", 100, id="the-whole-id-first"),
        pytest.param([("one", 1000), ("host/one", 100)], "other/host/one", 100, id="then-without-the-first-part"),
        pytest.param([("one", 1000), ("host/one", 100)], "other/one", 1000, id="at-last-the-bare-name"),
        pytest.param([("host/one", 100)], "one", 100, id="one-owner-of-the-bare-name"),
        pytest.param([("here/one", 100), ("there/one", 200)], "one", None, id="two-owners-are-ambiguous"),
        pytest.param([("here/one", 100), ("there/one", 200)], "else/one", None, id="ambiguous-from-elsewhere-too"),
        pytest.param([("here/one", 100), ("there/one", 200)], "there/one", 200, id="the-whole-id-is-not-ambiguous"),
        pytest.param(
            [("here/one-8b", 100), ("there/one-8b", 200), ("one", 300)], "one-8b", None, id="ambiguous-ends-it"
        ),
        pytest.param([("one", 200), ("one", 100)], "one", 100, id="listed-twice"),
        pytest.param([("One-latest", 100), ("one", 200)], "one", 100, id="listed-twice-in-two-spellings"),
        pytest.param([("one", 100)], "two", None, id="not-listed"),
    ],
)
def test_t7_whole_id_then_bare_name(listed, model, limit):
    assert find(listed, model) == limit


@pytest.mark.parametrize(
    ("listed", "model", "limit"),
    [
        pytest.param([("gpt-4o", 100), ("gpt-4o-mini", 200)], "gpt-4o-mini-2024-07-18", 200, id="the-longest-wins"),
        pytest.param([("gpt-4o", 100)], "gpt-4o-mini-2024-07-18", None, id="mini-is-another-model"),
        pytest.param([("gpt-4", 100)], "gpt-4.1", None, id="a-further-version-is-another-model"),
        pytest.param([("gpt-4", 100)], "gpt-4.1-2025-04-14", None, id="dated-further-version"),
        pytest.param([("gpt-4", 100)], "gpt-4-0613", 100, id="snapshot"),
        pytest.param([("gpt-4", 100)], "gpt-4-32k", None, id="a-larger-window-is-another-model"),
        pytest.param([("gpt-4", 100)], "gpt-4o", None, id="no-border"),
        pytest.param([("gpt-4", 100), ("gpt-4-turbo", 200)], "gpt-4-turbo-vision", None, id="no-shorter-one-instead"),
        pytest.param([("sonnet-4", 100)], "sonnet-4-20250514", 100, id="eight-digit-date"),
        pytest.param([("sonnet-4", 100)], "sonnet-4-5-20250929", None, id="version-before-the-date"),
        pytest.param([("large", 100)], "large-4", None, id="first-version-number"),
        pytest.param([("command-a", 100)], "command-a-03-2025", 100, id="month-and-year"),
        pytest.param([("llama-3.1", 100)], "llama-3.1-8b-instruct", 100, id="size"),
        pytest.param([("llama-4", 100)], "llama-4-17b-128e-instruct-fp8", 100, id="experts-and-precision"),
        pytest.param([("host/o1", 200), ("o1-preview", 100)], "host/o1-preview", 100, id="not-more-than-its-own"),
        pytest.param([("host/o1", 100), ("o1-preview", 200)], "host/o1-preview", 100, id="the-host-has-less"),
        pytest.param([("mixtral", 100)], "mixtral-8x7b-instruct-v0.1", None, id="unknown-tail"),
        pytest.param(
            [("deepseek-r1", 100)], "deepseek-r1-distill-llama-70b", None, id="a-smaller-copy-is-another-model"
        ),
    ],
)
def test_t8_longest_beginning_at_a_version_border(listed, model, limit):
    assert find(listed, model) == limit


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        pytest.param("newest", 100, id="alias"),
        pytest.param("Newest-latest", 100, id="alias-in-another-spelling"),
        pytest.param("host/newest", 100, id="alias-with-a-path"),
        pytest.param("newest-2", None, id="an-alias-is-no-beginning"),
        pytest.param("newest-instruct", None, id="not-even-of-the-same-model"),
    ],
)
def test_t7_an_alias_stands_for_its_target_only(model, limit):
    assert find([("one-2", 100)], model, aliases={"newest": "one-2"}) == limit


@pytest.mark.parametrize(
    ("alias", "family", "flavor"),
    [
        ("claude-sonnet", "claude", "sonnet"),
        ("claude-opus", "claude", "opus"),
        ("gemini-pro", "gemini", "pro"),
        ("gemini-flash", "gemini", "flash"),
    ],
)
def test_t7_the_usual_aliases_mean_the_newest_model(alias, family, flavor):
    def version(model: str) -> list[int]:
        return [int(part) for part in id_spellings(model)[-1].split("-") if part.isdigit()]

    flavored = [
        model
        for row in builtin_rows()
        for model in row.ids
        if set(id_spellings(model)[-1].split("-")) - set(map(str, range(10))) == {family, flavor}
    ]
    newest = max(flavored, key=version)

    assert builtin_index().find(alias) is builtin_index().find(newest)
    assert len(flavored) > 1


@pytest.mark.parametrize(
    ("model", "context_window", "max_input_tokens", "max_output_tokens"),
    [
        ("gpt-3.5-turbo", 16_385, None, 4_096),
        ("gpt-4", 8_192, None, 4_096),
        ("gpt-4-turbo", 128_000, None, 4_096),
        ("gpt-4o", 128_000, None, 16_384),
        ("gpt-4.1", 1_047_576, None, 32_768),
        ("gpt-5", 400_000, 272_000, 128_000),
        ("o3", 200_000, None, 100_000),
        ("claude-3-5-sonnet", 200_000, None, 8_192),
        ("claude-sonnet-4-5", 200_000, None, 64_000),
        ("gemini-2.5-pro", 1_048_576, None, 65_536),
        ("llama-3", 8_192, None, None),
    ],
)
def test_figures_of_well_known_models(model, context_window, max_input_tokens, max_output_tokens):
    row = builtin_index().find(model)

    assert (row.context_window, row.max_input_tokens, row.max_output_tokens) == (
        context_window,
        max_input_tokens,
        max_output_tokens,
    )


def test_every_row_has_its_sources_and_makes_sense():
    known_sources = {"litellm", "genai-prices", "langchain", "llama-index"}
    for row in builtin_rows():
        assert row.ids, row
        assert row.sources, row
        assert set(row.sources) <= known_sources, row
        assert date(2026, 11, 1) <= row.checked <= date.today(), row
        assert row.max_input_tokens is None or row.max_input_tokens < row.context_window, row
        assert (row.max_output_tokens or 1) <= row.context_window, row


def test_every_listed_id_finds_its_own_row():
    index = builtin_index()

    assert [model for row in builtin_rows() for model in row.ids if index.find(model) is not row] == []


def test_no_id_is_listed_twice():
    counted = Counter(id_spellings(model)[0] for row in builtin_rows() for model in row.ids)

    assert [model for model, times in counted.items() if times > 1] == []


def test_t8_thousands_of_chat_models_are_known():
    assert sum(len(row.ids) for row in builtin_rows() if row.kind == "chat") >= 3_000


def test_the_packed_table_is_small():
    assert len(zlib.compress(Path(catalog.__file__).with_name("models.json").read_bytes(), 9)) < 100_000


def test_ambiguous_names_are_not_found_and_the_same_with_a_host_are():
    hosts = [model for row in builtin_rows() for model in row.ids if "/" in model]
    ambiguous = [model for model in hosts if builtin_index().find(id_spellings(model)[-1]) is None]

    assert len({id_spellings(model)[-1] for model in ambiguous}) > 100
    assert all(builtin_index().find(model) for model in ambiguous)


def row(kind: str, window: int) -> CatalogRow:
    return CatalogRow(
        ids=(kind,), context_window=window, kind=kind, tokenizer="other", sources=("a",), checked=date(2026, 11, 29)
    )


@pytest.mark.parametrize("kind", ["embedding", "vision", "image", "completion"])
def test_t9_only_chat_rows_make_the_smallest_chat_window(kind):
    assert smallest_chat_window([row("chat", 8000), row(kind, 512), row("chat", 9000)]) == 8000


def test_t9_the_table_has_smaller_rows_that_are_no_chat_models():
    assert smallest_chat_window(builtin_rows()) == 8_192
    assert {"embedding", "image", "audio", "rerank", "moderation", "legacy"} <= {
        row.kind for row in builtin_rows() if row.input_limit < 8_192
    }
