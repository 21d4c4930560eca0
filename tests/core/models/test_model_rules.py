"""The rules by which `scripts/update_models.py` makes one table of sources that disagree."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import pytest

from ctxopt_core.models.catalog import CatalogRow

SCRIPTS = str(Path(__file__).resolve().parents[3] / "scripts")
TODAY = date(2026, 11, 30)


@pytest.fixture(scope="module")
def scripts():
    """The modules of the script, importable while these tests run."""
    sys.path.insert(0, SCRIPTS)
    try:
        import model_rules
        import model_sources
    finally:
        sys.path.remove(SCRIPTS)
    return model_rules, model_sources


def reviewed(*ids: str, window: int, limit: int | None = None, answer: int | None = None) -> CatalogRow:
    return CatalogRow(
        ids=ids,
        context_window=window,
        max_input_tokens=limit,
        max_output_tokens=answer,
        tokenizer="other",
        sources=("litellm",),
        checked=TODAY,
    )


REVIEWED = (
    reviewed("gpt-5", window=400_000, limit=272_000, answer=128_000),
    reviewed("qwen3", window=32_768),
    reviewed("gpt-4", window=8_192, answer=4_096),
)


def table_of(scripts, *said: tuple[str, str, int] | tuple[str, str, int, int]):
    rules, sources = scripts
    listings = [
        sources.Listing(source=source, model=model, limit=limit, answer=answer[0] if answer else None)
        for source, model, limit, *answer in said
    ]
    return rules.build_table(REVIEWED, {"newest": "gpt-5"}, listings, TODAY)


def figures(row: CatalogRow) -> tuple[int, int | None, int | None]:
    return row.context_window, row.max_input_tokens, row.max_output_tokens


@pytest.mark.parametrize(
    ("said", "model", "expected"),
    [
        pytest.param([("litellm", "xai/grok-9", 100_000)], "grok-9", (100_000, None, None), id="home-owns-the-name"),
        pytest.param(
            [("litellm", "xai/grok-9", 100_000), ("langchain", "xai/grok-9", 90_000)],
            "grok-9",
            (90_000, None, None),
            id="the-smaller",
        ),
        pytest.param(
            [("litellm", "xai/grok-9", 60_000, 40_000), ("genai-prices", "xai/grok-9", 100_000)],
            "grok-9",
            (100_000, 60_000, 40_000),
            id="window-and-input-limit",
        ),
        pytest.param(
            [("litellm", "xai/grok-9", 60_000, 60_000)], "grok-9", (60_000, None, None), id="an-answer-of-the-window"
        ),
        pytest.param([("litellm", "openai/gpt-5", 10_000)], "gpt-5", (400_000, 272_000, 128_000), id="reviewed-stands"),
        pytest.param(
            [("litellm", "openai/gpt-5-2025-08-07", 900_000)],
            "gpt-5-2025-08-07",
            (400_000, 272_000, 128_000),
            id="one-source-does-not-raise-a-snapshot",
        ),
        pytest.param(
            [("litellm", "dashscope/qwen3-8b-2507", 262_144), ("genai-prices", "dashscope/qwen3-8b-2507", 262_144)],
            "qwen-3-8b-2507",
            (262_144, None, None),
            id="two-sources-raise-a-snapshot",
        ),
        pytest.param(
            [("litellm", "openai/gpt-5-2025-08-07", 128_000)],
            "gpt-5-2025-08-07",
            (128_000, None, 128_000),
            id="one-source-lowers-a-snapshot",
        ),
        pytest.param(
            [("litellm", "host/gpt-5", 1_000_000)], "host/gpt-5", (400_000, 272_000, 128_000), id="no-host-above-home"
        ),
        pytest.param([("litellm", "host/gpt-5", 64_000)], "host/gpt-5", (64_000, None, 128_000), id="host-below-home"),
        pytest.param(
            [("litellm", "host/gpt-5", 64_000), ("langchain", "host/gpt-5", 272_000), ("x", "host/gpt-5", 400_000)],
            "host/gpt-5",
            (400_000, 272_000, 128_000),
            id="two-sources-say-as-home",
        ),
        pytest.param(
            [("litellm", "host/qwen3-8b", 131_072)], "host/qwen-3-8b", (131_072, None, None), id="open-weights-by-host"
        ),
        pytest.param([("litellm", "host/qwen3-8b", 131_072)], "qwen-3-8b", (32_768, None, None), id="bare-is-reviewed"),
        pytest.param([("litellm", "host/one-7b", 20_000)], "one-7b", (20_000, None, None), id="one-host-lends-it"),
        pytest.param(
            [("litellm", "a/one-7b", 131_072, 9_000), ("litellm", "b/one-7b", 131_000)],
            "one-7b",
            (131_000, None, 9_000),
            id="hosts-that-agree-lend-it-too",
        ),
        pytest.param(
            [("litellm", "a/one-7b", 2_048), ("litellm", "b/one-7b", 20_000)],
            "a/one-7b",
            (20_000, None, None),
            id="a-placeholder-is-replaced",
        ),
    ],
)
def test_t7_the_rules(scripts, said, model, expected):
    assert figures(table_of(scripts, *said).rows[model]) == expected


@pytest.mark.parametrize(
    ("said", "name"),
    [
        pytest.param([("a", "a/one-7b", 20_000), ("a", "b/one-7b", 90_000)], "one-7b", id="hosts-that-differ"),
        pytest.param([("a", "a/chat", 20_000)], "chat", id="a-name-without-a-number"),
    ],
)
def test_t7_a_bare_name_that_is_ambiguous_is_listed_as_such(scripts, said, name):
    table = table_of(scripts, *said)

    assert name not in table.rows
    assert table.ambiguous == {name}


def test_t9_a_small_window_marks_an_older_model_and_a_tiny_one_is_left_out(scripts):
    table = table_of(scripts, ("litellm", "a/one-7b", 4_096), ("litellm", "a/two-7b", 1_000))

    assert (table.rows["a/one-7b"].kind, table.rows["one-7b"].kind) == ("legacy", "legacy")
    assert "a/two-7b" not in table.rows


def test_an_alias_and_the_name_of_a_family_are_never_listed(scripts):
    table = table_of(scripts, ("litellm", "openai/newest", 9_000), ("litellm", "mistral/mistral", 9_000))

    assert set(table.rows) & {"newest", "mistral"} == set()


def test_what_the_sources_disagree_about_is_listed(scripts):
    table = table_of(scripts, ("litellm", "a/one-7b", 20_000), ("langchain", "a/one-7b", 90_000))

    assert [(one.model, one.said, one.taken) for one in table.disagreements] == [
        ("a/one-7b", (("litellm", 20_000), ("langchain", 90_000)), 20_000)
    ]


def test_ids_with_the_same_figures_share_a_row_and_the_reviewed_come_first(scripts):
    rules, _ = scripts
    table = table_of(scripts, ("litellm", "azure/eu/gpt-5", 272_000), ("litellm", "a/one-7b", 20_000))

    assert [row.ids for row in rules.rows_with_ids(table, REVIEWED)] == [
        ("gpt-5", "azure/eu/gpt-5"),
        ("qwen3",),
        ("gpt-4",),
        ("a/one-7b", "one-7b"),
    ]
