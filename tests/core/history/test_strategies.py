"""The strategies are objects of one protocol, found by the names that a policy takes."""

from __future__ import annotations

import typing

import pytest

from ctxopt_core import HistoryPolicy
from ctxopt_core.history.policy import STRATEGIES, StrategyName, strategy_of
from ctxopt_core.history.strategies.custom import CustomStrategy
from ctxopt_core.history.strategies.stable_prefix import StablePrefix, Summarize


def test_every_name_has_a_strategy():
    assert tuple(STRATEGIES) == typing.get_args(StrategyName)


FACTS = [
    pytest.param("auto", {"may_be_stable", "prunes_results"}, id="auto"),
    pytest.param("turns", {"may_be_stable", "prunes_results"}, id="turns"),
    pytest.param("sliding_window", {"takes_max_messages"}, id="sliding_window"),
    pytest.param("relevance", set(), id="relevance"),
    pytest.param("summarize", {"may_be_stable", "moves_in_steps", "summarizes"}, id="summarize"),
    pytest.param("hybrid", {"summarizes"}, id="hybrid"),
]


@pytest.mark.parametrize(("name", "true"), FACTS)
def test_a_strategy_says_what_it_needs(name, true):
    facts = ("summarizes", "moves_in_steps", "may_be_stable", "prunes_results", "takes_max_messages")

    assert {fact for fact in facts if getattr(STRATEGIES[name], fact)} == true


def test_a_stable_prefix_wraps_the_strategy_unless_it_moves_in_steps_itself():
    wrapped = strategy_of("auto", stable_prefix=True)

    assert isinstance(wrapped, StablePrefix)
    assert wrapped.otherwise is STRATEGIES["auto"]
    assert isinstance(strategy_of("summarize", stable_prefix=True), Summarize)
    assert HistoryPolicy(stable_prefix=True).moves_in_steps


def test_a_function_is_a_strategy_without_a_name_in_the_registry():
    def newest(view):
        return []

    assert strategy_of(newest) == CustomStrategy(newest)
    assert CustomStrategy(newest).name.endswith("newest")
