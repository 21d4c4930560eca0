"""The doubles that other tests trust: they count everything, refuse what is over, and survive what LLMs go through."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.tools import FunctionTool

from llamaindex_requests import sent_tokens, to_row
from made_up_texts import text_of
from request_tokens import count_text
from scripted_llms import ScriptedCompletionLLM, ScriptedLLM, calling, legacy_calling

ENCODING = "cl100k_base"


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: a word of sailors."


async def ask(llm: Any, method: str, given: Any) -> str:
    """Call a method of any kind and return the text of the whole answer."""
    done = getattr(llm, method)(given)
    if method.startswith("a"):
        done = await done
    if "stream" not in method:
        return str(done.message.content if "chat" in method else done.text)
    chunks = [chunk async for chunk in done] if method.startswith("a") else list(done)
    text = "".join(chunk.delta for chunk in chunks)
    assert text == (chunks[-1].message.content if "chat" in method else chunks[-1].text)
    return text


CHAT = ("chat", "achat", "stream_chat", "astream_chat")
COMPLETE = ("complete", "acomplete", "stream_complete", "astream_complete")


@pytest.mark.parametrize("method", CHAT + COMPLETE)
@pytest.mark.parametrize(
    "llm",
    [
        pytest.param(ScriptedLLM, id="chat-model"),
        pytest.param(lambda: ScriptedLLM(completes_by_chat=True), id="completes-by-chat"),
        pytest.param(ScriptedCompletionLLM, id="completion-model"),
    ],
)
async def test_every_method_counts_once_and_answers_the_next_text(llm: Any, method: str) -> None:
    model = llm()
    given = [user("lit?")] if method in CHAT else "lit?"
    answers = [await ask(model, method, given) for _ in range(2)]
    assert [answer[:9] for answer in answers] == ["Answer 1:", "Answer 2:"]
    assert all(98 <= count_text(answer, ENCODING) <= 100 for answer in answers)
    assert (len(model.calls), len(model.over)) == (2, 0)


@pytest.mark.parametrize("method", CHAT + COMPLETE)
@pytest.mark.parametrize("kind", [ScriptedLLM, ScriptedCompletionLLM])
async def test_what_is_over_the_window_is_refused_as_a_provider_does(kind: Any, method: str) -> None:
    model = kind(context_window=60, num_output=20)
    text = text_of("long", 41)
    with pytest.raises(ValueError, match=r"maximum context length is 60 tokens. However, you requested \d\d tokens"):
        await ask(model, method, [user(text)] if method in CHAT else text + " lit")
    assert [call.over for call in model.calls] == [True]


def test_the_limit_is_exact() -> None:
    messages = [ChatMessage(role="system", content="Be brief."), user("lit?")]
    tokens = sent_tokens(messages)
    assert ScriptedLLM(context_window=tokens + 10, num_output=10).chat(messages).message.content
    with pytest.raises(ValueError, match="maximum context length"):
        ScriptedLLM(context_window=tokens + 9, num_output=10).chat(messages)


TOOL = FunctionTool.from_defaults(look_up)
ARGUMENTS = {"word": "halyard " * 50}


@pytest.mark.parametrize(
    ("message", "least"),
    [
        pytest.param(calling(("look_up", ARGUMENTS)), 150, id="calls-as-blocks"),
        pytest.param(legacy_calling(("look_up", ARGUMENTS)), 150, id="calls-as-objects"),
        pytest.param(legacy_calling(("look_up", ARGUMENTS), as_dicts=True), 150, id="calls-as-dicts"),
        pytest.param(
            ChatMessage(role="assistant", blocks=[ThinkingBlock(content="halyard " * 50)]), 150, id="thoughts"
        ),
        pytest.param(ChatMessage(role="user", blocks=[TextBlock(text="halyard " * 50)] * 2), 300, id="two-texts"),
    ],
)
def test_blocks_of_every_kind_are_counted(message: ChatMessage, least: int) -> None:
    assert sent_tokens([message], encoding=ENCODING) >= least


def test_a_call_told_in_two_places_is_one_call() -> None:
    legacy = legacy_calling(("look_up", ARGUMENTS))
    both = calling(("look_up", ARGUMENTS)).model_copy(update={"additional_kwargs": legacy.additional_kwargs})
    assert to_row(both)["tool_calls"] == to_row(legacy)["tool_calls"]


def of_new_class(llm: ScriptedLLM) -> ScriptedLLM:
    copy = llm.model_copy()
    copy.__class__ = type("ScriptedLLM", (ScriptedLLM,), {})
    return copy


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda llm: llm.model_copy(), id="copy"),
        pytest.param(of_new_class, id="copy-of-a-new-class"),
    ],
)
def test_copies_share_the_calls_and_the_script(change: Any) -> None:
    llm = ScriptedLLM(answers=[calling(("look_up", {"word": "mast"}))])
    copy = change(llm)
    copy.chat([user("lit?")])
    assert isinstance(copy, ScriptedLLM)
    assert llm.chat([user("lit?")]).message.content is not None
    assert (len(llm.calls), llm.calls is copy.calls) == (2, True)


def test_a_pickled_model_answers_as_before() -> None:
    llm = ScriptedLLM(answers=[calling(("look_up", {"word": "mast"}))], context_window=999)
    again = pickle.loads(pickle.dumps(llm))  # noqa: S301  # what was pickled here
    assert (again.metadata, again.calls) == (llm.metadata, [])
    assert again.chat([user("lit?")]).message.blocks == llm.chat([user("lit?")]).message.blocks
    assert "calls" not in llm.to_dict()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect")  # workflows look at themselves
@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(calling(("look_up", {"word": "mast"}), ("look_up", {"word": "keel"})), id="blocks"),
        pytest.param(legacy_calling(("look_up", {"word": "mast"}), ("look_up", {"word": "keel"})), id="objects"),
    ],
)
async def test_an_agent_runs_with_it(call: ChatMessage, streaming: bool) -> None:
    llm = ScriptedLLM(answers=[call], context_window=8_000)
    done = await FunctionAgent(tools=[TOOL], llm=llm, streaming=streaming).run("lit?")
    assert str(done).startswith("Answer 2:")
    assert [len(made.schemas) for made in llm.calls] == [1, 1]
    assert [row.get("tool_call_id") for row in llm.calls[1].rows][-2:] == ["call-0", "call-1"]
    schema = TOOL.metadata.to_openai_tool()
    assert llm.calls[0].tokens == sent_tokens(llm.calls[0].given, [schema])


class Lamp(BaseModel):
    """A lamp."""

    height: int


def test_structured_answers_come_from_the_script() -> None:
    answer = ChatMessage(
        role="assistant", blocks=[ToolCallBlock(tool_call_id="call-0", tool_name="Lamp", tool_kwargs={"height": 3})]
    )
    llm = ScriptedLLM(answers=[answer])
    assert llm.as_structured_llm(Lamp).chat([user("lit?")]).raw == Lamp(height=3)
    assert llm.calls[0].schemas[0]["function"]["name"] == "Lamp"
