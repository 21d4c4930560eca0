"""The models that people use, by every spelling of their ids; and what must not be taken for one of them."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.models.catalog import builtin_index, builtin_rows
from ctxopt_core.models.model_ids import id_spellings
from ctxopt_core.models.resolve_window import UnknownModelWarning, resolve_window
from real_model_ids import FORTY, MADE_UP, NOT_CHAT, expected_figures

OTHER_KINDS = [(model, kind) for kind, models in NOT_CHAT.items() for model in models.split()]
LISTED = [model for row in builtin_rows() for model in row.ids]
LARGEST: dict[str, int] = {}
for row in builtin_rows():
    for listed in row.ids:
        bare = id_spellings(listed)[-1]
        LARGEST[bare] = max(LARGEST.get(bare, 0), row.input_limit)


@pytest.mark.parametrize(("model", "expected"), [pytest.param(*row, id=row[0]) for row in expected_figures()])
def test_t8_real_ids_get_their_own_figures(model, expected):
    window = resolve_window(model, on_unknown_model="error")

    assert (window.context_window, window.max_input_tokens, window.max_output_tokens) == (
        expected.context_window,
        expected.max_input_tokens,
        expected.max_output_tokens,
    )
    assert ((window.encoding, window.safety_factor), window.source) == (expected.encoding, "catalog")


def test_t8_the_table_holds_forty_ids_and_more_than_a_hundred_and_fifty_others():
    counted = Counter(model for model, _ in expected_figures())

    assert sum(len(models.split()) for models in FORTY.values()) == 40
    assert len(counted) >= 190
    assert max(counted.values()) == 1


@pytest.mark.parametrize(("model", "kind"), OTHER_KINDS)
def test_t9_other_kinds_of_models_are_known_as_what_they_are(model, kind):
    assert builtin_index().find(model).kind == kind


@pytest.mark.parametrize(
    "model", ["gpt-4o-mini-tts", "gpt-image-1.5", "omni-moderation-latest", "dall-e-3", "openai/whisper-1", "veo-3.0"]
)
def test_t9_other_kinds_without_a_window_are_not_taken_for_chat_models(model):
    assert builtin_index().find(model) is None


@pytest.mark.parametrize("model", MADE_UP)
def test_t7_made_up_ids_and_names_of_families_are_not_found(model):
    assert builtin_index().find(model) is None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert resolve_window(model).source == "fallback"

    assert {warning.category for warning in caught} <= {UnknownModelWarning}


@given(st.sampled_from(LISTED), st.text("abcdefghijklmnopqrstuvwxyz", min_size=8, max_size=12))
def test_t7_a_made_up_word_makes_another_model_of_any_id(model, word):
    assert builtin_index().find(f"{model.partition(':')[0].partition('@')[0]}-{word}") is None
    assert builtin_index().find(f"{word}-{model.rpartition('/')[2]}") is None


@given(st.sampled_from(LISTED), st.sampled_from(["openrouter", "acme", "my/own", "azure", "litellm"]))
def test_t8_an_unknown_host_of_a_listed_name_gets_no_more_than_is_known_of_it(model, host):
    name = id_spellings(model)[-1]
    found = builtin_index().find(f"{host}/{name}")

    assert found is None or found.input_limit <= LARGEST[name]
