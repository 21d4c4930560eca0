"""The part of `with_optimizer` that adapters share: a model of a new class with settings, the last report, pickling."""

from __future__ import annotations

import copy
import pickle

from ctxopt_core import ContextBudget, ContextRequest, Message, plan
from ctxopt_core.adapters import OptimizedModel, empty_model

REPORT = plan(ContextRequest(history=(Message(role="user", content="Hello"),)), ContextBudget(context_window=100))


class Plain:
    """Answers."""

    name = "plain"


class Fitting(OptimizedModel):
    def call(self) -> None:
        self._keep_report(REPORT)


def test_an_optimized_model_is_one_of_the_class_of_the_model_and_has_its_name() -> None:
    model = empty_model(Fitting, Plain, {"limit": 9})

    assert isinstance(model, Plain)
    assert (type(model).__name__, type(model).__doc__) == ("Plain", "Answers.")
    assert (model.plain_class, model.fit_settings) == (Plain, {"limit": 9})


def test_models_of_the_same_class_share_the_last_report_and_others_do_not() -> None:
    model, other = empty_model(Fitting, Plain, {}), empty_model(Fitting, Plain, {})
    copied = copy.copy(model)
    model.call()

    assert model.last_report is REPORT
    assert other.last_report is None
    # `copy` makes models as `pickle` does: of a new class.
    assert copied.last_report is None
    assert type(model)().last_report is REPORT


def test_it_can_be_pickled_with_its_fields_and_settings() -> None:
    model = empty_model(Fitting, Plain, {"limit": 9})
    model.name = "mine"
    loaded = pickle.loads(pickle.dumps(model))  # noqa: S301 - its own dump

    assert (loaded.name, loaded.fit_settings, loaded.last_report) == ("mine", {"limit": 9}, None)
    assert isinstance(loaded, Fitting)
