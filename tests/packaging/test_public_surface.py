"""The names that users may rely on. A change here is a change for them: say it in the changelog."""

import inspect
from dataclasses import fields

import pytest

import ctxopt_core
import ctxopt_playground
import langchain_ctxopt
import llamaindex_ctxopt
from ctxopt_core.adapters import BudgetSettings, RequestSettings

CORE_NAMES = [
    "Allocation",
    "AnthropicRequestCounter",
    "Attachment",
    "BudgetWarning",
    "CallableCounter",
    "ChatRenderer",
    "ContextBudget",
    "ContextBudgetError",
    "ContextRequest",
    "CtxoptError",
    "Document",
    "DocumentPolicy",
    "EstimateCounter",
    "FitReport",
    "FittedContext",
    "FittedMessages",
    "HistoryPolicy",
    "HistoryStrategy",
    "HistoryView",
    "Message",
    "ModelWindow",
    "Packing",
    "PlainDocuments",
    "Replay",
    "ReplayArguments",
    "RequestRenderer",
    "Scorer",
    "Section",
    "ServerStateError",
    "Shares",
    "Summarizer",
    "SummaryError",
    "TextSource",
    "TiktokenCounter",
    "TokenCounter",
    "ToolCall",
    "ToolResult",
    "Trimming",
    "UnknownModelError",
    "UnknownModelWarning",
    "afit",
    "allocate",
    "bm25_scorer",
    "counter_for",
    "embedding_scorer",
    "fit",
    "fit_messages",
    "pack_documents",
    "plan",
    "replay",
    "resolve_window",
    "summarizer",
    "sweep",
    "trim_history",
    "truncate",
]
LANGCHAIN_NAMES = [
    "ContextOptimizer",
    "ContextOptimizerCompressor",
    "ContextOptimizerMiddleware",
    "OptimizedInput",
    "RequestOverflowError",
    "omitted_content_tool",
    "pre_model_hook",
    "replay",
    "with_optimizer",
]

LLAMAINDEX_NAMES = [
    "ContextOptimizedEvent",
    "ContextOptimizerMemory",
    "ContextOptimizerPostprocessor",
    "ContextOptimizerRetriever",
    "EngineOptimizer",
    "EnginePartsError",
    "EngineSession",
    "replay",
    "with_optimizer",
]
PACKAGES = [ctxopt_core, ctxopt_playground, langchain_ctxopt, llamaindex_ctxopt]


def test_the_core_exports_exactly_these_names():
    assert sorted(ctxopt_core.__all__) == CORE_NAMES


@pytest.mark.parametrize("name", CORE_NAMES)
def test_each_public_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(ctxopt_core, name))


def test_the_playground_exports_one_name():
    assert ctxopt_playground.__all__ == ["Playground"]
    assert inspect.getdoc(ctxopt_playground.Playground)


def test_the_langchain_package_exports_exactly_these_names():
    assert sorted(langchain_ctxopt.__all__) == LANGCHAIN_NAMES
    assert all(inspect.getdoc(getattr(langchain_ctxopt, name)) for name in LANGCHAIN_NAMES)


def test_the_llamaindex_package_exports_exactly_these_names():
    assert sorted(llamaindex_ctxopt.__all__) == LLAMAINDEX_NAMES
    assert all(inspect.getdoc(getattr(llamaindex_ctxopt, name)) for name in LLAMAINDEX_NAMES)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_names_that_are_not_public_are_an_attribute_error(package):
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = package.no_such_name


def test_every_setting_of_a_budget_is_a_setting_of_every_front():
    names = {setting.name for setting in fields(BudgetSettings)}

    assert names <= set(RequestSettings.__annotations__)
    assert names <= set(langchain_ctxopt.ContextOptimizer.model_fields)


@pytest.mark.parametrize("package", [ctxopt_core, langchain_ctxopt, llamaindex_ctxopt])
def test_u5_dir_shows_the_public_names_alone(package):
    assert dir(package) == sorted(package.__all__)
