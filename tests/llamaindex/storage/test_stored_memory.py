"""A memory that was stored is made again: as plain values, as a pickle, and in the context of a workflow."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock, ThinkingBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer, Memory, SimpleComposableMemory
from llama_index.core.storage.chat_store import sql
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, JsonPickleSerializer, JsonSerializer
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from ctxopt_core import HistoryPolicy, Shares, summarizer
from inner_memories import Logbook, database, inner_memory
from llamaindex_chats import ENCODING, long_chat
from llamaindex_ctxopt import ContextOptimizerMemory, EngineOptimizer
from llamaindex_ctxopt.storage.message_list_memory import MessageListMemory
from llamaindex_messages import PNG, to_messages
from llamaindex_requests import rows_of
from made_up_texts import text_of
from scripted_llms import ScriptedLLM, calling, legacy_calling
from shape_rows import result, user

STORABLE = ("MessageListMemory", "ChatMemoryBuffer", "ChatSummaryMemoryBuffer", "Memory", "Logbook")
LIMITS = ("context_window", "max_input_tokens", "output_reserve", "safety_margin", "target_tokens", "trigger", "shares")

pytestmark = [
    # LlamaIndex looks at all attributes of an agent, and asks a step whether it runs.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step"),
]


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the databases that loaded memories make for themselves."""
    made: list[AsyncEngine] = []

    def noted(*arguments: Any, **options: Any) -> AsyncEngine:
        made.append(create_async_engine(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(sql, "create_async_engine", noted)
    yield
    for engine in made:
        asyncio.run(engine.dispose())


def by_json(memory: ContextOptimizerMemory) -> ContextOptimizerMemory:
    return ContextOptimizerMemory.from_dict(json.loads(json.dumps(memory.to_dict())))


def by_pickle(memory: ContextOptimizerMemory) -> ContextOptimizerMemory:
    loaded = pickle.loads(pickle.dumps(memory))  # noqa: S301
    assert isinstance(loaded, ContextOptimizerMemory)
    return loaded


def by_serializer(memory: ContextOptimizerMemory) -> ContextOptimizerMemory:
    loaded = JsonSerializer().deserialize(JsonSerializer().serialize(memory))
    assert isinstance(loaded, ContextOptimizerMemory)
    return loaded


WAYS = pytest.mark.parametrize("stored_and_loaded", [by_json, by_pickle, by_serializer])
Way = Callable[[ContextOptimizerMemory], ContextOptimizerMemory]


@WAYS
@pytest.mark.parametrize("kind", STORABLE)
def test_i6_what_is_loaded_shows_the_same_and_goes_on(kind: str, stored_and_loaded: Way) -> None:
    with inner_memory(kind) as inner:
        memory = ContextOptimizerMemory.from_defaults(inner=inner, max_input_tokens=400, token_counter=ENCODING)
        memory.set(long_chat(10))
        before = memory.get()
        loaded = stored_and_loaded(memory)
        assert memory.get() == before
        assert type(loaded.inner) is type(inner)
        assert loaded.get_all() == memory.get_all() == long_chat(10)
        assert loaded.get() == before
        loaded.put(ChatMessage(role="assistant", content="All forty."))
        assert len(loaded.get_all()) == len(memory.get_all()) + 1


@WAYS
def test_i6_a_composed_memory_is_stored_by_its_parts(stored_and_loaded: Way) -> None:
    inner = SimpleComposableMemory.from_defaults(
        primary_memory=MessageListMemory(), secondary_memory_sources=[Logbook(), MessageListMemory()]
    )
    memory = ContextOptimizerMemory.from_defaults(inner=inner, max_input_tokens=4_000, chat_history=long_chat(2))
    inner.secondary_memory_sources[1].put(ChatMessage(content="The ferry is late."))
    loaded = stored_and_loaded(memory).inner
    assert isinstance(loaded, SimpleComposableMemory)
    assert [type(part) for part in loaded.secondary_memory_sources] == [Logbook, MessageListMemory]
    assert loaded.get(input="Late?") == inner.get(input="Late?")


@pytest.mark.parametrize("kind", ["VectorMemory", "SimpleComposableMemory", "Memory with a block"])
def test_i6_a_memory_that_cannot_be_stored_says_so(kind: str) -> None:
    with inner_memory(kind) as inner:
        memory = ContextOptimizerMemory.from_defaults(inner=inner, max_input_tokens=400)
        with pytest.raises(
            ValueError, match=r"`inner` cannot be stored: what \w+\.to_dict gives .* store it by itself"
        ):
            memory.to_dict()


def test_i6_the_figures_of_stock_memories_are_stored() -> None:
    with database() as engine:
        figures: dict[str, Any] = {"token_limit": 900, "token_flush_size": 90, "chat_history_token_ratio": 0.5}
        memory = Memory.from_defaults(session_id="s", async_engine=engine, **figures)
        loaded = by_json(ContextOptimizerMemory.from_defaults(inner=memory, max_input_tokens=400)).inner
        assert {**figures, "session_id": "s"} == {name: getattr(loaded, name) for name in (*figures, "session_id")}
    buffer = ChatMemoryBuffer.from_defaults(token_limit=77, chat_store_key="k")
    loaded = by_json(ContextOptimizerMemory.from_defaults(inner=buffer, max_input_tokens=400)).inner
    assert isinstance(loaded, ChatMemoryBuffer)
    assert (loaded.token_limit, loaded.chat_store_key) == (77, "k")
    summary = ChatSummaryMemoryBuffer.from_defaults(
        token_limit=77, summarize_prompt="Sum up.", count_initial_tokens=True
    )
    loaded = by_json(ContextOptimizerMemory.from_defaults(inner=summary, max_input_tokens=400)).inner
    assert isinstance(loaded, ChatSummaryMemoryBuffer)
    assert (loaded.token_limit, loaded.summarize_prompt, loaded.count_initial_tokens) == (77, "Sum up.", True)


@WAYS
@pytest.mark.parametrize(
    "called",
    [
        pytest.param(calling(("inspect", {"lantern": 7}), ("inspect", {})), id="blocks"),
        pytest.param(legacy_calling(("inspect", {"lantern": 7}), ("inspect", {})), id="objects"),
        pytest.param(legacy_calling(("inspect", {"lantern": 7}), ("inspect", {}), as_dicts=True), id="dicts"),
    ],
)
def test_i6_calls_thoughts_and_media_are_stored(called: ChatMessage, stored_and_loaded: Way) -> None:
    messages = to_messages([user("Lit?"), result("call-0", "Yes."), result("call-1", "No.")])
    messages.insert(1, called)
    thought = ThinkingBlock(content="Hm.", additional_information={"signature": "s"})
    messages.append(ChatMessage(role="assistant", blocks=[thought, TextBlock(text="Some."), ImageBlock(image=PNG)]))
    memory = ContextOptimizerMemory.from_defaults(chat_history=messages, max_input_tokens=4_000)
    loaded = stored_and_loaded(memory)
    assert rows_of(loaded.get_all()) == rows_of(messages)
    assert loaded.get_all()[-1] == messages[-1]


@WAYS
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"llm": ScriptedLLM(context_window=3_000, num_output=200)}, id="model"),
        pytest.param({"llm": "gpt-4o"}, id="model name"),
        pytest.param({"llm": "gpt-4o", "target_tokens": 900, "trigger": 0.9}, id="target_tokens"),
        pytest.param({"context_window": 3_000}, id="window"),
        pytest.param({"max_input_tokens": 900, "safety_margin": 50}, id="input"),
        pytest.param({"context_window": 3_000, "output_reserve": 0, "shares": {"history": 60}}, id="shares"),
        pytest.param({"context_window": 1_000, "token_counter": "o200k_base"}, id="counter"),
        pytest.param(
            {
                "context_window": 1_000,
                "history": HistoryPolicy(placeholder_content="count", keep_first_user_message=False),
            },
            id="policy",
        ),
        pytest.param({"context_window": 1_000, "history": {"strategy": "turns"}, "protect": ["system"]}, id="mapping"),
    ],
)
def test_i6_limits_shares_and_policy_survive(settings: dict[str, Any], stored_and_loaded: Way) -> None:
    memory = ContextOptimizerMemory.from_defaults(chat_history=long_chat(20), **settings)
    loaded = stored_and_loaded(memory)
    old, new = (made._planner.plan for made in (memory, loaded))
    assert [getattr(new.model_budget.budget, name) for name in LIMITS] == [
        getattr(old.model_budget.budget, name) for name in LIMITS
    ]
    assert new.model_budget.budget.input_budget == old.model_budget.budget.input_budget
    assert (new.settings.options.history, new.settings.options.protect) == (
        old.settings.options.history,
        old.settings.options.protect,
    )
    assert loaded.get() == memory.get()
    assert loaded.to_dict() == memory.to_dict()


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        pytest.param({"strategy": lambda view: ()}, "strategy", id="strategy"),
        pytest.param({"scorer": lambda query, texts: [0.0] * len(texts)}, "scorer", id="scorer"),
        pytest.param(
            {"strategy": "summarize", "summarizer": summarizer(lambda text: text)}, "summarizer", id="summarizer"
        ),
        pytest.param({"on_summary_failure": lambda error: None}, "on_summary_failure", id="on failure"),
        pytest.param({"summary_errors": (OSError,)}, "summary_errors", id="classes"),
    ],
)
def test_i6_functions_in_the_policy_cannot_be_stored_and_the_error_names_them(policy: Any, named: str) -> None:
    memory = ContextOptimizerMemory.from_defaults(max_input_tokens=400, history=policy)
    for store in (memory.to_dict, lambda: pickle.dumps(memory)):
        with pytest.raises(ValueError, match=f"`history` cannot be stored with {named}"):
            store()


def test_i6_functions_that_only_count_or_listen_are_left_out() -> None:
    memory = ContextOptimizerMemory.from_defaults(max_input_tokens=400, token_counter=len, on_report=print)
    assert by_json(memory)._planner.plan.settings.on_report is None


def test_i6_a_memory_of_a_planner_is_loaded_with_a_budget_of_its_own() -> None:
    optimizer = EngineOptimizer(context_window=3_000, output_reserve=256, shares=Shares(history=40))
    memory = optimizer.memory()
    memory.set(long_chat(40))
    loaded = by_json(memory)
    assert loaded.get() == memory.get()
    assert loaded._planner is not memory._planner
    assert loaded.last_report is not None


@WAYS
def test_i6_what_an_optimizer_sends_beside_the_history_is_counted_by_a_loaded_memory(stored_and_loaded: Way) -> None:
    tool = FunctionTool.from_defaults(lambda place: place, name="look_up", description=text_of("Tool:", 300))
    optimizer = EngineOptimizer(
        context_window=3_000,
        output_reserve=256,
        system_prompt=text_of("System:", 500),
        prefix_messages=[ChatMessage(content=text_of("Example:", 200))],
        tools=[tool],
        escape_template_names=False,
    )
    memory = optimizer.memory()
    memory.set([*long_chat(40), ChatMessage(content="What is {query_str}?"), ChatMessage("Braces.", role="assistant")])
    loaded = stored_and_loaded(memory)
    assert loaded.get() == memory.get()
    assert loaded.get(input="And now?") == memory.get(input="And now?")
    assert loaded.get(input="And now?")[-2].content == "What is {query_str}?"
    assert loaded.to_dict() == memory.to_dict()


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({"module": "pathlib", "name": "Path", "value": {}}, "must name a BaseMemory, got pathlib.Path"),
        ({"module": "json", "name": "dumps", "value": {}}, "must name a BaseMemory, got json.dumps"),
    ],
)
def test_i6_what_is_loaded_must_be_a_memory(state: dict[str, Any], error: str) -> None:
    stored = ContextOptimizerMemory.from_defaults(max_input_tokens=400).to_dict()
    with pytest.raises(TypeError, match=error):
        ContextOptimizerMemory.from_dict({**stored, "inner": state})


def harbour() -> str:
    """Return the log of the harbour."""
    return "Forty lanterns."


def agent_of(llm: ScriptedLLM) -> FunctionAgent:
    return FunctionAgent(tools=[FunctionTool.from_defaults(harbour)], llm=llm)


@pytest.mark.parametrize("serializer", [JsonSerializer(), JsonPickleSerializer()], ids=["json", "pickle"])
@pytest.mark.parametrize("kind", STORABLE)
async def test_i6_issues_19228_18475_18069_the_context_of_an_agent_is_restored_and_goes_on(
    kind: str, serializer: JsonSerializer
) -> None:
    done = ChatMessage(role="assistant", content="Done.")
    llm = ScriptedLLM(answers=[calling(("harbour", {})), done, calling(("harbour", {})), done])
    with inner_memory(kind) as inner:
        memory = ContextOptimizerMemory.from_defaults(llm=llm, inner=inner)
        agent = agent_of(llm)
        context = Context(agent)
        await agent.run("What does it say?", ctx=context, memory=memory)
        stored = json.loads(json.dumps(context.to_dict(serializer=serializer)))
        again = agent_of(llm)
        restored = Context.from_dict(again, stored, serializer=serializer)
        handler = again.run("And now?", ctx=restored)
        await handler
        assert handler.ctx is not None
        loaded = await handler.ctx.store.get("memory")
        assert isinstance(loaded, ContextOptimizerMemory)
        assert type(loaded.inner) is type(inner)
        assert [message.role.value for message in loaded.get_all()] == ["user", "assistant", "tool", "assistant"] * 2
        assert len(memory.get_all()) == 4
    assert "Forty lanterns." in llm.calls[2].text
