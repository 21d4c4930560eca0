"""The names that users may rely on. A change here is a change for them: say it in the changelog."""

import inspect

import pytest

import ctxopt_core
import llamaindex_ctxopt

CORE_NAMES = [
    "Allocation",
    "Attachment",
    "ContextBudget",
    "ContextBudgetError",
    "ContextRequest",
    "CtxoptError",
    "Document",
    "DocumentPolicy",
    "EstimateCounter",
    "FitReport",
    "FittedContext",
    "HistoryPolicy",
    "Message",
    "ModelWindow",
    "Shares",
    "TiktokenCounter",
    "TokenCounter",
    "ToolCall",
    "UnknownModelError",
    "afit",
    "allocate",
    "bm25_scorer",
    "counter_for",
    "embedding_scorer",
    "fit",
    "pack_documents",
    "plan",
    "resolve_window",
    "trim_history",
    "truncate",
]


def test_the_core_exports_exactly_these_names():
    assert sorted(ctxopt_core.__all__) == CORE_NAMES


@pytest.mark.parametrize("name", CORE_NAMES)
def test_each_public_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(ctxopt_core, name))


def test_the_llamaindex_package_exports_nothing_yet():
    assert llamaindex_ctxopt.__all__ == []
