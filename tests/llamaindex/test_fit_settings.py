"""The settings that planner, guard and memory share, and what is asked of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM

from chat_engine_runs import nodes_of
from ctxopt_core import ContextBudgetError, DocumentPolicy, HistoryPolicy, Shares
from ctxopt_core.models.catalog import builtin_rows, smallest_chat_window
from llamaindex_chats import long_chat
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer, with_optimizer
from llamaindex_ctxopt.models.model_settings import settings_of
from llamaindex_ctxopt.settings import FitSettings, FitSettingValues
from scripted_llms import ScriptedLLM


class Nameless(ScriptedLLM):
    """A model whose integration does not know its name."""

    @property
    def metadata(self) -> LLMMetadata:
        message = f"Unknown model {self.model_name!r}"
        raise ValueError(message)


OWNERS: dict[str, Callable[..., Any]] = {
    "EngineOptimizer": lambda **settings: EngineOptimizer(llm=ScriptedLLM(), **settings),
    "ContextOptimizerMemory": lambda **settings: ContextOptimizerMemory.from_defaults(llm=ScriptedLLM(), **settings),
    "with_optimizer": lambda **settings: with_optimizer(ScriptedLLM(), **settings),
}


@pytest.mark.parametrize("owner", OWNERS)
def test_an_unknown_setting_is_named_with_those_that_there_are(owner: str) -> None:
    with pytest.raises(
        TypeError, match=f"{owner} has no setting `token_limit`, `window`; it has attachment_tokens, catalog"
    ):
        OWNERS[owner](window=9, token_limit=9)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        pytest.param({"context_window": 0}, "context_window.* 0", id="window 0"),
        pytest.param({"context_window": "many"}, "context_window.*'many'", id="window, text"),
        pytest.param({"context_window": True}, "context_window", id="window, bool"),
        pytest.param({"max_input_tokens": -1}, "max_input_tokens.*-1", id="input"),
        pytest.param({"target_tokens": 1.5}, "target.*1.5", id="target_tokens"),
        pytest.param({"output_reserve": -1}, "output_reserve.*-1", id="reserve"),
        pytest.param({"safety_margin": -1}, "safety_margin.*-1", id="margin"),
        pytest.param({"trigger": 0}, "trigger.* 0", id="trigger"),
        pytest.param({"shares": {"history": 101}}, "history.*101", id="share"),
        pytest.param({"shares": {"memory": 1}}, "shares.*memory", id="share of what"),
        pytest.param({"documents": {"nonsense": 1}}, "documents.*nonsense", id="documents"),
        pytest.param({"history": 7}, "history.*int", id="history"),
        pytest.param({"protect": ["nonsense"]}, "protect.*nonsense", id="protect"),
        pytest.param({"overflow": "nonsense"}, "overflow.*nonsense", id="overflow"),
        pytest.param({"on_report": 7}, "on_report.*int", id="listener"),
        pytest.param({"token_counter": 7}, "int", id="counter"),
    ],
)
def test_a_setting_out_of_range_is_named_at_construction(owner: str, settings: dict[str, Any], says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        OWNERS[owner](**settings)


def test_values_may_be_mappings_and_digits() -> None:
    settings = FitSettings.of(
        {
            "context_window": "4000",
            "shares": {"history": 30},
            "history": {"placeholder_content": "count"},
            "documents": {},
        },
        "Test",
    )
    assert settings.limits.context_window == 4_000
    assert settings.limits.shares == Shares(history=30)
    assert (settings.options.history, settings.options.documents) == (
        HistoryPolicy(placeholder_content="count"),
        DocumentPolicy(),
    )
    assert settings.options.protect == {"query"}
    assert FitSettings.of({"protect": "system"}, "Test").options.protect == {"system"}
    assert set(settings.as_dict()) == set(FitSettingValues.__annotations__)
    assert FitSettings.of(settings.as_dict(), "Test") == settings
    assert FitSettings.of({**settings.as_dict(), "target_tokens": 9}, "Test").limits.target_tokens == 9
    with pytest.raises(ValueError, match="target_tokens"):
        FitSettings.of({**settings.as_dict(), "target_tokens": 0}, "Test")


@pytest.mark.parametrize(
    ("window", "output", "budget"),
    [
        pytest.param(4_000, 256, 3_744, id="usual"),
        pytest.param(4_000, 4_000, 2_000, id="issue 14722, all of the window"),
        pytest.param(4_000, 9_000, 2_000, id="more than the window"),
        pytest.param(4_000, -1, 3_500, id="unknown"),
        pytest.param(4_000, 0, 3_500, id="none"),
        pytest.param(128_000, -1, 123_904, id="unknown, large window"),
    ],
)
def test_i7_the_answer_is_left_room_for_whatever_the_metadata_say(window: int, output: int, budget: int) -> None:
    llm = ScriptedLLM(context_window=window, num_output=output)
    assert EngineOptimizer(llm=llm).budget.input_budget == budget


def test_i7_what_the_user_says_overrides_what_the_model_says() -> None:
    llm = ScriptedLLM(context_window=4_000, num_output=256)
    budget = EngineOptimizer(
        llm=llm, context_window=3_000, output_reserve=100, safety_margin=50, target_tokens=2_000
    ).budget
    assert (budget.context_window, budget.output_reserve, budget.safety_margin) == (3_000, 100, 50)
    assert (budget.input_budget, budget.effective_target) == (2_000, 2_000)


@pytest.mark.parametrize(
    ("name", "window"),
    [("gpt-4o-2024-08-06", 128_000), ("gpt-4", 8_192)],
)
def test_i7_a_model_that_its_integration_does_not_know_is_known_by_its_name(name: str, window: int) -> None:
    llm = Nameless(model_name=name)
    optimizer = EngineOptimizer(llm=llm, output_reserve=256)
    assert optimizer.budget.context_window == window
    memory = optimizer.memory()
    memory.set(long_chat(4))
    assert optimizer.postprocessor().postprocess_nodes(nodes_of(300), query_str="Lit?") != []
    assert memory.get(input="Lit?") == long_chat(4)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    assert optimizer.attach(engine) is engine
    assert optimizer.guard().model_name == name  # type: ignore[attr-defined]


def test_i7_of_a_model_that_nobody_knows_the_smallest_window_is_taken_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="quillmere-9"):
        optimizer = EngineOptimizer(llm=Nameless(model_name="quillmere-9"))
    assert optimizer.budget.context_window == smallest_chat_window(builtin_rows())
    given = EngineOptimizer(llm=Nameless(model_name="quillmere-10"), context_window=5_000)
    assert given.budget.context_window == 5_000


def test_i7_a_model_without_a_name_has_its_window() -> None:
    assert settings_of(MockLLM()).name is None
    assert EngineOptimizer(llm=MockLLM()).budget.input_budget == 3_900 - 3_900 // 8


@pytest.mark.parametrize("llm", [7, ScriptedLLM, object(), lambda text: text])
def test_i7_what_is_no_model_is_refused(llm: Any) -> None:
    with pytest.raises(TypeError, match=f"`llm` must be a LlamaIndex LLM, got {type(llm).__name__}; give a limit"):
        EngineOptimizer(llm=llm)


def test_i7_without_a_model_and_a_limit_there_is_no_budget() -> None:
    with pytest.raises(ValueError, match="none says how much fits"):
        EngineOptimizer()
    with pytest.raises(ValueError, match="there is no LLM to guard"):
        EngineOptimizer(context_window=4_000).guard()
    with pytest.raises(ContextBudgetError):
        EngineOptimizer(context_window=600, output_reserve=600)


def test_i7_the_listener_hears_of_every_fit() -> None:
    heard: list[Any] = []
    memory = ContextOptimizerMemory.from_defaults(max_input_tokens=500, on_report=heard.append)
    memory.get()
    memory.get(input="Lit?")
    assert len(heard) == 2
    assert heard[-1] is memory.last_report
