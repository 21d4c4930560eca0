"""The memory is a view of another one: the same at every call, in copies, whole exchanges, and what is stored stays."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool

from ctxopt_core import ContextBudgetError
from ctxopt_core.messages.placeholder import is_placeholder
from fitted_rows import is_note
from hostile_text import openai_messages
from inner_memories import FACT, INNER_MEMORIES, LISTING, BufferWithFact, Logbook, inner_memory
from llamaindex_chats import ENCODING, long_chat
from llamaindex_ctxopt import ContextOptimizerMemory
from llamaindex_messages import CALL_FORMS, MEDIA_TOKENS, CallForm, rows_of_parts, to_messages
from llamaindex_requests import rows_of, sent_tokens
from made_up_texts import text_of
from request_tokens import count_text
from scripted_llms import ScriptedLLM
from scripted_llms import calling as calling_tool
from shape_rows import Row, assistant, call, calling, filler, result, system, turns, user
from view_problems import problems

WINDOW = 1_000


def memory_of(messages: list[ChatMessage], limit: int = WINDOW, **options: Any) -> ContextOptimizerMemory:
    settings = {"max_input_tokens": limit, "token_counter": ENCODING, **options}
    return ContextOptimizerMemory.from_defaults(chat_history=messages, **settings)


@pytest.mark.parametrize("kind", INNER_MEMORIES)
async def test_i6_i10_get_gives_the_same_at_every_call_and_aget_too(kind: str) -> None:
    with inner_memory(kind) as inner:
        memory = memory_of(long_chat(10), inner=inner)
        for asked in ("How many lanterns are there?", "Which one is broken?", None):
            first = memory.get(input=asked)
            assert memory.get(input=asked) == first
            assert await memory.aget(input=asked) == first
            assert sent_tokens(first) <= WINDOW
            assert first or (kind == "VectorMemory" and asked is None)


@pytest.mark.parametrize("kind", LISTING)
def test_h22_what_is_stored_is_never_changed(kind: str) -> None:
    with inner_memory(kind) as inner:
        messages = long_chat(10)
        memory = memory_of(copy.deepcopy(messages), limit=300, inner=inner)
        for asked in ("Which one is broken?", None):
            for message in memory.get(input=asked):
                message.blocks[0].text = "changed"  # type: ignore[union-attr]
                message.blocks.append(ToolCallBlock(tool_name="changed", tool_kwargs={}))
                message.additional_kwargs["session_id"] = "changed"
                message.role = MessageRole.TOOL
        stored = memory.get_all()
        # A SimpleComposableMemory lists what the memories that it reads add to its first.
        assert [message.content for message in stored][-len(messages) + 1 :] == [m.content for m in messages[1:]]
        assert not any("session_id" in message.additional_kwargs for message in stored)


@pytest.mark.parametrize("kind", LISTING)
async def test_h22_all_that_is_put_stays_in_the_inner_memory(kind: str) -> None:
    with inner_memory(kind) as inner:
        messages = long_chat(4)
        memory = memory_of(messages[:1], limit=300, inner=inner)
        memory.put(messages[1])
        await memory.aput(messages[2])
        memory.put_messages(messages[3:5])
        await memory.aput_messages(messages[5:])
        stored = [message.content for message in memory.get_all()]
        assert stored[1:] == [message.content for message in messages[1:]]
        assert [message.content for message in await memory.aget_all()] == stored
        assert len(memory.get()) < len(messages)
        await memory.aset(messages[:2])
        assert len(memory.get_all()) == 2
        await memory.areset()
        assert memory.get_all() == []
        memory.set(messages[:1])
        memory.reset()
        assert memory.get_all() == []


@pytest.mark.parametrize(
    ("kind", "finds"),
    [("Memory with a block", FACT), ("VectorMemory", "Answer 3.")],
)
def test_i6_what_a_memory_adds_by_its_own_get_is_seen(kind: str, finds: str) -> None:
    with inner_memory(kind) as inner:
        memory = memory_of(long_chat(4, tokens=20), limit=8_000, inner=inner)
        assert any(finds in (message.content or "") for message in memory.get(input="Which one is broken?"))


async def test_i6_a_subclass_of_a_stock_memory_with_a_get_of_its_own_is_asked_by_it() -> None:
    inner = BufferWithFact.from_defaults(chat_history=[ChatMessage(content="Where is she?")], token_limit=1_000)
    memory = ContextOptimizerMemory.from_defaults(inner=inner, max_input_tokens=400)
    assert [message.content for message in memory.get()] == [FACT, "Where is she?"]
    assert await memory.aget() == memory.get()
    assert memory.get_all() == inner.get_all()


def test_i6_a_memory_that_is_asked_itself_gets_query_and_unknown_arguments_but_no_prefix() -> None:
    inner = Logbook()
    memory = memory_of(long_chat(2), inner=inner)
    memory.get(input="Lit?", initial_token_count=20, session="s")
    memory.get(unknown=1)
    assert inner.asked == [("Lit?", {"session": "s"}), (None, {"unknown": 1})]


@pytest.mark.parametrize("limit", [60, 120, 300, 600, 1_200, 2_400])
def test_h6_h3_system_and_last_user_message_stay_and_a_user_message_is_first(limit: int) -> None:
    messages = long_chat(12)
    kept = memory_of(messages, limit).get()
    assert sent_tokens(kept) <= limit
    assert [kept[0], kept[-1]] == [messages[0], messages[-1]]
    assert kept[1].role == MessageRole.USER or is_placeholder(kept[1].content or "")
    assert sum(is_placeholder(message.content or "") for message in kept) <= 1


@pytest.mark.parametrize("limit", [60, 300, 1_200])
def test_i6_the_last_user_message_stays_when_an_answer_is_behind_it(limit: int) -> None:
    messages = [*long_chat(12, question="Lit?"), ChatMessage(role="assistant", content="All forty.")]
    assert messages[-2] in memory_of(messages, limit).get()


@st.composite
def _chats(draw: st.DrawFn) -> tuple[list[Row], CallForm, int]:
    rows = draw(openai_messages(well_formed=True))
    form: CallForm = draw(st.sampled_from(CALL_FORMS))
    full = sent_tokens(to_messages(rows, form))
    return rows, form, draw(st.integers(1, full + 2))


@given(_chats())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_i6_no_budget_parts_a_result_from_its_call(chat: tuple[list[Row], CallForm, int]) -> None:
    rows, form, limit = chat
    messages = to_messages(rows, form)
    memory = memory_of(messages, limit)
    try:
        kept = memory.get()
    except ContextBudgetError:
        return
    before, after = rows_of_parts(messages), rows_of_parts(kept)
    found = problems(before, after, budget=limit, encoding=ENCODING, is_placeholder=is_note, media=MEDIA_TOKENS)
    assert found == []
    assert memory.get_all() == messages


@pytest.mark.parametrize("form", CALL_FORMS)
def test_i6_issue_13715_every_budget_keeps_exchanges_whole_or_not_at_all(form: CallForm) -> None:
    exchange = [calling(call("1"), call("2"), call("3")), *(result(key, filler(20)) for key in "123")]
    rows = [system(), *turns(4), user("Inspect them."), *exchange, assistant("Done."), user("And now?"), *exchange]
    messages = to_messages([*rows, assistant("Done."), user("Lit?")], form)
    sizes = set()
    for limit in range(30, sent_tokens(messages) + 40, 40):
        kept = memory_of(messages, limit).get()
        found = problems(rows_of(messages), rows_of(kept), budget=limit, encoding=ENCODING, is_placeholder=is_note)
        assert found == []
        sizes.add(len(kept))
    assert len(sizes) > 4


@pytest.mark.parametrize("prefix", [0, 100, 400])
def test_i6_what_an_engine_says_that_it_puts_before_the_history_is_counted(prefix: int) -> None:
    kept = memory_of(long_chat(20), WINDOW).get(initial_token_count=prefix)
    # One more turn of two messages, 104 tokens each, would not have fitted.
    assert WINDOW - 250 < sent_tokens(kept) + prefix <= WINDOW


def test_h1_issue_11637_a_prefix_larger_than_the_limit_is_a_typed_error() -> None:
    with pytest.raises(ContextBudgetError, match=r"1,0\d\d"):
        memory_of(long_chat(2)).get(initial_token_count=1_000)


@pytest.mark.parametrize("system_prompt", ["Be brief.", text_of("Rules:", 300)], ids=["short", "long"])
def test_i6_a_simple_chat_says_what_it_puts_before_the_history(system_prompt: str) -> None:
    llm = ScriptedLLM(context_window=WINDOW)
    memory = ContextOptimizerMemory.from_defaults(llm=llm)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt=system_prompt)
    for number in range(12):
        engine.chat(text_of(f"Question {number}:", 40))
    assert llm.over == []
    assert min(call.tokens for call in llm.calls[6:]) > llm.limit - 300
    assert len(memory.get_all()) == 24


def test_i6_a_question_that_is_in_the_memory_already_is_counted_once() -> None:
    messages = long_chat(4, tokens=20)
    memory = memory_of(messages, sent_tokens(messages))
    assert memory.get(input=messages[-1].content) == memory.get() == messages


def test_i6_a_question_that_is_not_in_the_memory_is_kept_room_for() -> None:
    messages, asked = long_chat(20)[:-1], text_of("Now:", 900)
    memory = memory_of(messages, 2_000)
    with_long, with_short = memory.get(input=asked), memory.get(input=ChatMessage(content="Lit?"))
    assert sent_tokens([*with_long, ChatMessage(content=asked)]) <= 2_000
    assert 0 < len(with_long) < len(with_short)
    # Documents may be in the same request, which the memory alone does not know: they have their share.
    assert sent_tokens(with_short) <= 1_000 < sent_tokens(memory.get())


def test_p4_a_text_is_counted_once_however_often_the_memory_is_asked() -> None:
    counts: Counter[str] = Counter()

    def counting(text: str) -> int:
        counts[text] += 1
        return count_text(text, ENCODING)

    memory = memory_of(long_chat(60), token_counter=counting)
    for number in range(10):
        assert memory.get() == memory.get()
        memory.put(ChatMessage(role="assistant", content=text_of(f"New answer {number}.", 100)))
        memory.put(ChatMessage(content=text_of(f"New question {number}?", 100)))
        memory.get(input="Which one is broken?")
    texts = {message.content for message in memory.get_all()}
    assert len(texts & counts.keys()) > 30
    assert max(times for text, times in counts.items() if text in texts) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect")  # LlamaIndex looks at all attributes of an agent
async def test_i6_an_agent_goes_on_with_a_memory_that_is_read_between_its_turns() -> None:
    def inspect(lantern: int) -> str:
        return text_of(f"Lantern {lantern}:", 150)

    tool = FunctionTool.from_defaults(inspect)
    inspecting = [calling_tool(("inspect", {"lantern": number}), start=number) for number in range(3)]
    done = ChatMessage(role="assistant", content="Done.")
    llm = ScriptedLLM(context_window=2_000, answers=[*inspecting, done, *inspecting, done])
    memory = ContextOptimizerMemory.from_defaults(llm=llm, max_input_tokens=400)
    agent = FunctionAgent(tools=[tool], llm=llm)
    for turn in range(2):
        await agent.run(f"Inspect them for the {turn}. time.", memory=memory)
        stored = memory.get_all()
        assert len(stored) == 8 * (turn + 1)
        kept = await memory.aget()
        assert kept == memory.get()
        assert problems(rows_of(stored), rows_of(kept), budget=400, encoding=ENCODING, is_placeholder=is_note) == []
    assert not any(str(message.content).startswith("[") for message in memory.get_all())


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        pytest.param({}, ValueError, "none says how much fits", id="no limit"),
        pytest.param({"llm": 7}, TypeError, "`llm` must be a LlamaIndex LLM, got int; give a limit", id="llm"),
        pytest.param(
            {"token_limit": 7}, TypeError, "ContextOptimizerMemory has no setting `token_limit`; it has", id="name"
        ),
        pytest.param({"max_input_tokens": 0}, ValueError, "max_input_tokens.*0", id="limit"),
        pytest.param({"max_input_tokens": 9, "inner": 7}, ValueError, "inner", id="inner"),
        pytest.param(
            {"max_input_tokens": 9, "history": {"nonsense": 1}}, (TypeError, ValueError), "nonsense", id="policy"
        ),
    ],
)
def test_i6_a_setting_out_of_place_is_named(arguments: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        ContextOptimizerMemory.from_defaults(**arguments)


def test_i6_a_memory_is_not_made_by_its_class_alone() -> None:
    with pytest.raises(TypeError, match="from_defaults"):
        ContextOptimizerMemory(inner=Logbook())
