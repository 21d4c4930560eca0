"""What a request costs: known prices with their tiers, prices of one's own, and nothing where a price is unknown."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import replace

import pytest

from ctxopt_core import ContextBudget, ContextRequest, FitReport, HistoryPolicy, Message, counter_for, plan
from ctxopt_core.models.prices import ModelPrice, cost_of, custom_price, read_prices, table_price

WORDS = counter_for(lambda text: len(text.split()))
MILLION = 1_000_000
OWN = {"gpt-4o": 2.0}


def report(*, model="gpt-4o", before=MILLION, after=MILLION, **figures):
    return FitReport(
        input_budget=after,
        fixed=0,
        reserve=0,
        unchanged=before == after,
        counted_after=after,
        model=model,
        count_before=lambda: {"whole": before},
        **figures,
    )


def test_t15_input_saved_and_cached_cost_follow_the_price_and_the_counts():
    prices = {"gpt-4o": {"input": 2.0, "cached": 0.5}}
    cost = report(before=3 * MILLION, after=MILLION, reused_prefix_tokens=400_000, prices=prices).cost

    assert (cost.input, cost.saved, cost.cached, cost.source) == (2.0, 4.0, pytest.approx(1.4), "user")


def test_t15_without_a_discount_what_is_cached_costs_the_same():
    assert report(reused_prefix_tokens=400_000, prices=OWN).cost.cached == 2.0


def test_t15_what_repeats_is_never_more_than_the_request():
    assert (
        report(after=100, reused_prefix_tokens=900, prices={"gpt-4o": {"input": 2, "cached": 1}}).cost.cached == 0.0001
    )


def test_t15_how_much_is_cached_is_not_told_where_it_is_not_known():
    assert report(prices=OWN).cost.cached is None


@pytest.mark.parametrize(
    ("own", "model", "price"),
    [
        ({"gpt-4o": 9}, "gpt-4o", 9),
        ({"gpt-4o": 9}, "openai/gpt-4o", 9),
        ({"openai/gpt-4o": 9}, "openai/gpt-4o", 9),
        ({"GPT-4o ": 9}, "gpt-4o", 9),
        ({"gpt-4o": 9, "azure/gpt-4o": 8}, "azure/gpt-4o", 8),
        ({"azure/gpt-4o": 8}, "gpt-4o", None),
        ({"gpt-4o": 9}, "gpt-4o-mini", None),
        ({"gpt-4o": 9}, "gpt-4o-2024-08-06", None),
        ({}, "gpt-4o", None),
    ],
    ids=["same", "bare for a path", "path", "case", "the path wins", "path only", "mini", "dated", "none"],
)
def test_t15_an_own_price_holds_for_one_model(own, model, price):
    found = custom_price(model, own)

    assert (found and found.input) == price


def test_t15_an_own_price_overrides_one_model_and_not_the_table():
    pytest.importorskip("genai_prices")
    own = {"gpt-4o": 7.0}

    assert report(model="gpt-4o", prices=own).cost.input == 7.0
    assert report(model="gpt-4.1", prices=own).cost == report(model="gpt-4.1").cost
    assert report(model="gpt-4.1").cost.source.startswith("genai-prices ")


@pytest.mark.parametrize(
    ("prices", "named"),
    [
        ([("gpt-4o", 1)], "prices"),
        ({"": 1}, "prices"),
        ({"gpt-4o": "1"}, "gpt-4o"),
        ({"gpt-4o": True}, "gpt-4o"),
        ({"gpt-4o": -1}, "gpt-4o"),
        ({"gpt-4o": float("nan")}, "gpt-4o"),
        ({"gpt-4o": {"cached": 1}}, "input"),
        ({"gpt-4o": {"input": 1, "output": 2}}, "output"),
        ({"gpt-4o": {"input": 1, "cached": -2}}, "cached"),
    ],
    ids=["list", "blank id", "text", "bool", "negative", "nan", "no input", "unknown field", "negative cached"],
)
def test_a4_a_price_that_is_none_is_refused_at_construction(prices, named):
    with pytest.raises(ValueError, match=named):
        ContextBudget(context_window=1_000, prices=prices)
    with pytest.raises(ValueError, match=named):
        ContextBudget.for_model("gpt-4o", prices=prices)


def test_a_budget_keeps_prices_of_its_own_and_stays_a_value():
    given = {"gpt-4o": 2}
    budget = ContextBudget(context_window=1_000, prices=given)
    given["gpt-4o"] = 9

    assert budget.prices == {"gpt-4o": ModelPrice(input=2.0)}
    assert hash(budget) == hash(ContextBudget(context_window=1_000))
    assert budget != ContextBudget(context_window=1_000)
    assert pickle.loads(pickle.dumps(budget)) == copy.deepcopy(budget) == budget  # noqa: S301
    assert read_prices(budget.prices) == budget.prices


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gpt-6-sol"])
def test_t15_tiers_are_in_the_price(model):
    pytest.importorskip("genai_prices")
    small, large = table_price(model).usd(100_000), table_price(model).usd(1_000_000)

    assert large > 1.9 * 10 * small
    saved = report(model=model, before=1_000_000, after=100_000).cost.saved
    assert saved == pytest.approx(large - small)


def test_t15_the_table_is_that_of_genai_prices():
    genai_prices = pytest.importorskip("genai_prices")
    usage = genai_prices.Usage(input_tokens=5_000, cache_read_tokens=2_000)
    expected = genai_prices.calc_price(usage, "claude-sonnet-4-5", provider_id="anthropic")

    cost = report(model="anthropic/claude-sonnet-4.5", before=9_000, after=5_000, reused_prefix_tokens=2_000).cost
    assert cost.cached == float(expected.input_price)
    assert 0 < cost.cached < cost.input


@pytest.mark.parametrize(
    ("model", "same_as"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("openai:gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("azure_ai/gpt-4o", "azure/gpt-4o"),
        ("mistralai/mistral-large-latest", "mistral/mistral-large-latest"),
        ("claude-sonnet", "claude-sonnet-5-5"),
        ("anthropic/claude-sonnet", "claude-sonnet-5-5"),
    ],
)
def test_t15_a_price_is_found_for_every_spelling_of_an_id(model, same_as):
    pytest.importorskip("genai_prices")

    assert table_price(model).usd(MILLION) == table_price(same_as).usd(MILLION)


def test_t15_an_alias_does_not_have_the_price_of_the_older_model_of_that_name():
    genai_prices = pytest.importorskip("genai_prices")
    oldest = genai_prices.calc_price(genai_prices.Usage(input_tokens=MILLION), "gemini-pro")
    price = table_price("gemini-pro")

    assert price is None or price.usd(MILLION) > float(oldest.input_price)


def test_t15_a_bedrock_id_has_the_price_of_bedrock():
    pytest.importorskip("genai_prices")
    price = table_price("us.anthropic.claude-sonnet-4-5-20250929-v1:0")

    assert (price.provider, price.usd(MILLION)) == ("aws", pytest.approx(3.3))


@pytest.mark.parametrize(
    "model",
    ["my-finetune", "gpt-7-nonexistent", "llama3.1:8b", "ft:gpt-4o:acme", "together/gpt-4o", "llama", "ChatOpenAI", ""],
)
def test_t15_an_unknown_model_has_no_cost(model):
    assert report(model=model).cost is None
    assert "input cost" not in str(report(model=model))
    assert report(model=model).to_dict()["cost"] is None


@pytest.mark.parametrize(
    "model",
    ["ollama/deepseek-r1", "vllm/gpt-oss-120b", "snowflake/claude-3-5-sonnet", "acme/gpt-4o", "meta-llama/gpt-oss-20b"],
)
def test_t15_a_host_whose_prices_are_not_known_does_not_charge_what_others_do(model):
    assert report(model=model).cost is None


def test_t15_without_a_model_there_is_no_cost():
    assert report(model=None, prices=OWN).cost is None
    assert cost_of(None, before=1, after=1, repeated=None, prices=OWN) is None


def test_t15_a_fit_reports_its_cost_and_what_repeats():
    turns = [Message(role=r, content=f"word {i} " * 10) for i in range(40) for r in ("user", "assistant")]
    budget = ContextBudget.for_model("gpt-4o", target_tokens=300, prices={"gpt-4o": {"input": 1_000, "cached": 100}})
    fitted = plan(ContextRequest(history=turns), budget, counter=WORDS, history=HistoryPolicy(stable_prefix=True))

    assert fitted.reused_prefix_tokens > 0
    assert fitted.cost.input == pytest.approx(fitted.tokens_after / 1_000)
    assert fitted.cost.saved == pytest.approx(fitted.tokens_saved / 1_000)
    assert fitted.cost.cached == pytest.approx(fitted.cost.input - fitted.reused_prefix_tokens * 0.0009)


def test_t15_the_report_shows_it_and_can_be_priced_anew():
    priced = report(before=3 * MILLION, prices={"gpt-4o": 0.5})

    assert "input cost" in str(priced)
    assert "$0.5; $1.00 saved (user)" in str(priced)
    assert json.loads(json.dumps(priced.to_dict()))["cost"] == {
        "input": 0.5,
        "saved": 1.0,
        "cached": None,
        "source": "user",
    }
    assert replace(priced, prices={"gpt-4o": 4}).cost.input == 4.0
    assert pickle.loads(pickle.dumps(priced)).cost == priced.cost  # noqa: S301


ASKS_NO_NETWORK = """
import socket, sys, threading
def refuse(*_): raise AssertionError("the network was asked")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from ctxopt_core import ContextBudget, ContextRequest, plan
report = plan(ContextRequest(query="why"), ContextBudget.for_model("gpt-4o"))
event = report.to_event()
assert "genai_prices" not in sys.modules
assert report.cost is not None
assert threading.active_count() == 1
"""


def test_t15_prices_are_loaded_when_a_cost_is_asked_for_and_without_the_network():
    pytest.importorskip("genai_prices")

    subprocess.run([sys.executable, "-c", ASKS_NO_NETWORK], check=True, timeout=120)


WITHOUT_THE_TABLE = """
import sys
from importlib.machinery import PathFinder
class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "genai_prices" else super().find_spec(name, path, target)
sys.meta_path[:] = [Hidden if finder is PathFinder else finder for finder in sys.meta_path]
from ctxopt_core import ContextBudget, ContextRequest, plan
assert plan(ContextRequest(query="why"), ContextBudget.for_model("gpt-4o")).cost is None
assert plan(ContextRequest(query="why"), ContextBudget.for_model("gpt-4o", prices={"gpt-4o": 1})).cost is not None
"""


def test_t15_without_genai_prices_only_own_prices_are_known():
    subprocess.run([sys.executable, "-c", WITHOUT_THE_TABLE], check=True, timeout=120)
