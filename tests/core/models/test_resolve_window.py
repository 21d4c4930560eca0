"""The window of a model: who knows it, in which order, and what happens if nobody does."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ctxopt_core.errors import UnknownModelError
from ctxopt_core.models.catalog import builtin_index
from ctxopt_core.models.model_window import ModelWindow
from ctxopt_core.models.resolve_window import UnknownModelWarning, WindowSourceWarning, resolve_window
from ctxopt_core.runtime import warn_once

SMALLEST = 8_192


def limits(window: ModelWindow) -> tuple[int | None, int | None, int | None]:
    return window.context_window, window.max_input_tokens, window.max_output_tokens


def broken_source(model: str) -> int:
    raise ConnectionError(model)


@pytest.mark.parametrize(
    ("arguments", "window", "source"),
    [
        pytest.param({}, 128_000, "catalog", id="built-in"),
        pytest.param({"catalog": {"gpt-4o": 3000}}, 3000, "user catalog", id="user"),
        pytest.param({"catalog": {"gpt-4o": 3000}, "live": 2000}, 2000, "live", id="live"),
        pytest.param(
            {"catalog": {"gpt-4o": 3000}, "live": 2000, "context_window": 1000}, 1000, "explicit", id="explicit"
        ),
        pytest.param({"catalog": {"gpt-3": 3000}, "live": {"max_output_tokens": 5}}, 128_000, "catalog", id="silent"),
    ],
)
def test_t9_the_first_source_that_knows_decides(arguments, window, source):
    found = resolve_window("gpt-4o", **arguments)

    assert (found.context_window, found.source) == (window, source)
    assert (found.encoding, found.exact) == ("o200k_base", True)


def test_t9_an_unknown_model_gets_the_smallest_chat_window():
    with pytest.warns(UnknownModelWarning, match=r"'t9-unknown' .* 8192 tokens; pass `context_window`"):
        found = resolve_window("t9-unknown")

    assert (found.context_window, found.source, found.exact) == (SMALLEST, "fallback", False)
    assert found.checked is None


def test_t9_one_warning_per_model_from_any_number_of_threads():
    models = [f"t9-thread-{number}" for number in range(5)] * 20
    with warnings.catch_warnings(record=True) as caught, ThreadPoolExecutor(8) as pool:
        warnings.simplefilter("always")
        list(pool.map(resolve_window, models))

    assert sorted(str(warning.message).split("'")[1] for warning in caught) == sorted(set(models))


def test_m5_the_warning_points_at_the_caller_and_comes_once():
    with pytest.warns(UnknownModelWarning) as caught:
        assert resolve_window("m5-unknown") == resolve_window("m5-unknown")

    assert [warning.filename for warning in caught] == [__file__]


def test_t9_an_unknown_model_can_be_an_error():
    with pytest.raises(UnknownModelError, match="'t9-strict' is not known; pass `context_window`"):
        resolve_window("t9-strict", on_unknown_model="error")


def test_t9_an_explicit_window_makes_a_model_known():
    assert resolve_window("t9-mine", context_window=500, on_unknown_model="error").context_window == 500


def test_t9_a_catalogued_window_says_when_it_was_checked():
    assert resolve_window("gpt-4o").checked == builtin_index().find("gpt-4o").checked


@pytest.mark.parametrize(
    ("model", "arguments", "expected"),
    [
        pytest.param("gpt-5", {}, (400_000, 272_000, 128_000), id="catalog"),
        pytest.param(
            "gpt-5", {"live": {"max_input_tokens": 272_000}}, (400_000, 272_000, 128_000), id="live-input-limit"
        ),
        pytest.param("gpt-5", {"live": 400_000}, (400_000, 272_000, 128_000), id="live-window-keeps-the-input-limit"),
        pytest.param(
            "gpt-5.6", {"live": {"max_input_tokens": 1_050_000}}, (1_050_000, 922_000, 128_000), id="misnamed"
        ),
        pytest.param(
            "gpt-4o", {"live": {"max_input_tokens": 128_000}}, (128_000, None, 16_384), id="limit-is-the-window"
        ),
        pytest.param(
            "t9-a", {"live": {"max_input_tokens": 5000}}, (5000, None, None), id="live-limit-of-an-unknown-model"
        ),
        pytest.param("t9-a", {"max_input_tokens": 5000}, (None, 5000, None), id="explicit-limit-is-taken-as-said"),
        pytest.param(
            "gpt-4o", {"max_input_tokens": 5000}, (128_000, 5000, 16_384), id="explicit-limit-in-a-known-window"
        ),
        pytest.param("gpt-5", {"context_window": 300_000}, (300_000, None, 128_000), id="explicit-window-of-ones-own"),
        pytest.param("gpt-5", {"max_output_tokens": 9}, (400_000, 272_000, 9), id="explicit-answer-limit"),
        pytest.param(
            "gpt-4o", {"live": {"context_window": 0, "max_input_tokens": None}}, (128_000, None, 16_384), id="zero"
        ),
    ],
)
def test_t9_limits_of_one_source_are_completed_not_mixed(model, arguments, expected):
    assert limits(resolve_window(model, **arguments)) == expected


def test_t6_overriding_the_model_changes_window_and_encoding_and_leaves_no_trace():
    before = resolve_window("gpt-4")
    other = resolve_window("gpt-4o", context_window=5000, catalog={"gpt-4": 1}, live=7)

    assert (before.context_window, before.encoding) == (SMALLEST, "cl100k_base")
    assert (other.context_window, other.encoding) == (5000, "o200k_base")
    assert resolve_window("gpt-4") == before


@pytest.mark.parametrize("model", [None, "", " \t", 7, True])
def test_t10_a_model_without_a_name_is_an_error(model):
    with pytest.raises(ValueError, match="`model` must be the id of a model"):
        resolve_window(model)


@pytest.mark.parametrize("tokens", [1000, "1000", " 1000\n"])
def test_t10_amounts_may_be_text_and_blanks_do_not_matter(tokens):
    window = resolve_window("  gpt-4o ", context_window=tokens)

    assert (window.model, window.context_window) == ("gpt-4o", 1000)


@pytest.mark.parametrize("tokens", [0, -1, "0", "-5", "many", "", "1e3", 10.0, True, [1000]])
@pytest.mark.parametrize("name", ["context_window", "max_input_tokens", "max_output_tokens"])
def test_t10_what_is_no_amount_is_an_error(name, tokens):
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number of tokens, at least 1"):
        resolve_window("gpt-4o", **{name: tokens})


@pytest.mark.parametrize(
    ("catalog", "expected"),
    [
        pytest.param({"gpt-4o": 1000}, (1000, None), id="amount"),
        pytest.param({"gpt-4o": "1000"}, (1000, None), id="text"),
        pytest.param(
            {"gpt-4o": {"context_window": 1000, "max_input_tokens": 800, "price": 3}}, (1000, 800), id="mapping"
        ),
        pytest.param({"gpt-4o": replace(resolve_window("gpt-4"), model="mine")}, (8192, None), id="window"),
        pytest.param({"GPT-4o-2024-11-20": 2000, "openai/gpt-4o": 1000}, (1000, None), id="another-spelling"),
        pytest.param(lambda model: {"openai/gpt-4o": 1000}[model], (1000, None), id="function-gets-the-whole-id"),
        pytest.param(lambda _: None, (128_000, None), id="function-that-does-not-know"),
        pytest.param({}, (128_000, None), id="empty"),
    ],
)
def test_t16_a_catalog_of_ones_own_is_asked_first(catalog, expected):
    window = resolve_window("openai/gpt-4o", catalog=catalog)

    assert (window.context_window, window.max_input_tokens) == expected
    assert window.model == "openai/gpt-4o"


def test_t16_it_is_read_again_each_time():
    catalog = {"t16-mine": 1000}
    first = resolve_window("t16-mine", catalog=catalog)
    catalog["t16-mine"] = 2000

    assert (first.context_window, resolve_window("t16-mine", catalog=catalog).context_window) == (1000, 2000)


def test_t16_it_may_name_the_encoding():
    window = resolve_window("t16-llama", catalog={"t16-llama": {"context_window": 9, "encoding": "cl100k_base"}})

    assert (window.encoding, window.exact, window.safety_factor) == ("cl100k_base", True, 1.0)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        pytest.param("broken", "`context_window` must be a whole number", id="text"),
        pytest.param(-5, "`context_window` must be a whole number", id="negative"),
        pytest.param(None, "names neither", id="none"),
        pytest.param({}, "names neither", id="empty"),
        pytest.param({"max_input_tokens": 1.5}, "`max_input_tokens` must be a whole number", id="fraction"),
        pytest.param({"context_window": 10, "encoding": 7}, "`encoding` must be the name", id="encoding"),
    ],
)
def test_t16_a_broken_row_is_skipped_with_one_warning(request, entry, problem):
    broken = f"t16-{request.node.callspec.id}"
    catalog = {broken: entry, "gpt-4o-2024-11-20": 3000, "gpt-4o": 1000}
    with pytest.warns(WindowSourceWarning, match=rf"'{broken}' was skipped: .*{problem}") as caught:
        found = [resolve_window("openai/gpt-4o", catalog=catalog).context_window for _ in range(2)]

    assert found == [1000, 1000]
    assert len(caught) == 1


def test_t16_a_name_that_is_no_text_is_a_broken_row():
    with pytest.warns(WindowSourceWarning, match="of 4 was skipped: `model` must be the id"):
        assert resolve_window("t16-four", catalog={4: 10, "t16-four-8b": 5, "host/t16-four": 20}).context_window == 20


def test_t16_a_broken_live_value_is_skipped_with_a_warning():
    with pytest.warns(WindowSourceWarning, match="the live entry of 'gpt-4-turbo' was skipped"):
        assert resolve_window("gpt-4-turbo", live={"context_window": "lots"}).source == "catalog"


def test_t16_a_source_that_raises_does_not_fail_the_run():
    with pytest.warns(WindowSourceWarning, match="`catalog` raised ConnectionError when asked for 'o3'") as caught:
        found = [resolve_window("o3", catalog=broken_source) for _ in range(2)]

    assert {window.source for window in found} == {"catalog"}
    assert len(caught) == 1


def test_t16_a_catalog_of_another_type_is_an_error():
    with pytest.raises(TypeError, match="`catalog` must be a mapping or a function from model id to window, got list"):
        resolve_window("gpt-4o", catalog=["gpt-4o"])


def test_an_unknown_way_to_handle_unknown_models_is_an_error():
    with pytest.raises(ValueError, match="`on_unknown_model` must be 'fallback' or 'error', got 'ignore'"):
        resolve_window("gpt-4o", on_unknown_model="ignore")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param({}, "`context_window` or `max_input_tokens` must be given", id="no-limit"),
        pytest.param({"context_window": 0}, "`context_window` must be a whole number", id="zero"),
        pytest.param({"context_window": 9, "safety_factor": 0.9}, "`safety_factor` must be at least 1", id="factor"),
        pytest.param({"context_window": 9, "safety_factor": float("nan")}, "`safety_factor` must be", id="nan"),
    ],
)
def test_a_window_is_checked_at_construction(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        ModelWindow(model="mine", encoding="o200k_base", exact=True, **arguments)


def test_the_smaller_limit_is_the_input_limit():
    assert resolve_window("gpt-5").input_limit == 272_000
    assert resolve_window("gpt-4").input_limit == 8_192


def test_m5_the_memory_of_given_warnings_is_bounded(monkeypatch):
    monkeypatch.setattr(warn_once, "_given", set())
    monkeypatch.setattr(warn_once, "_MOST_REMEMBERED", 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for message in ("a", "b", "a", "c", "a"):
            warn_once.warn_once(message, UserWarning, stacklevel=1)

    assert [str(warning.message) for warning in caught] == ["a", "b", "c", "a"]
