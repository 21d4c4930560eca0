"""Names in braces inside a conversation: engines would fill them in, so that documents were sent twice."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from llama_index.core.base.llms.types import CitableBlock, CitationBlock, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate, RichPromptTemplate
from llama_index.core.schema import NodeWithScore, TextNode

from chat_engine_runs import FIVE, ScriptedRetriever, preset_history
from ctxopt_core import ContextBudgetError
from hostile_text import hostile_text
from llamaindex_ctxopt import EngineOptimizer
from llamaindex_ctxopt.engines.template_names import escape_template_names, template_names
from llamaindex_messages import PNG
from made_up_texts import text_of
from scripted_llms import ModelCall, ScriptedLLM

NAMES = template_names()
QUESTION = "Which lantern is broken?"


def changed(text: str, names: frozenset[str] = NAMES) -> str:
    messages, _ = escape_template_names([ChatMessage(content=text)], names)
    return messages[0].content or ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{context_str}", "{ context_str }"),
        ("See {context_str} and {query_str}.", "See { context_str } and { query_str }."),
        ("{context_msg}{existing_answer}{chat_history}{question}", None),
        ("{{context_str}}", "{{ context_str }}"),
        ("{{{context_str}}}", "{{{ context_str }}}"),
        ("{a{context_str}b}", "{a{ context_str }b}"),
        ("{context_str", "{context_str"),
        ("{ context_str }", "{ context_str }"),
        ("{context_str }", "{context_str }"),
        ("{unknown} {0} {} {CONTEXT_STR}", "{unknown} {0} {} {CONTEXT_STR}"),
        ('{"context_str": 1, "deep": {"query_str": [{}]}}', '{"context_str": 1, "deep": {"query_str": [{}]}}'),
        ('{"context_str": {context_str}}', '{"context_str": { context_str }}'),
        ("$context_str %(context_str)s", "$context_str %(context_str)s"),
        ("", ""),
    ],
)
def test_i6_only_names_that_would_be_filled_in_are_changed(text: str, expected: str | None) -> None:
    expected = text.replace("{", "{ ").replace("}", " }") if expected is None else expected
    assert changed(text) == expected


@given(hostile_text())
def test_i6_nothing_that_is_left_would_be_filled_in(text: str) -> None:
    filled = dict.fromkeys(NAMES, "FILLED")
    for given_text in (text, f"{{context_str}}{text}", f"{text}{{query_str}}{{{text}}}"):
        message = ChatPromptTemplate.from_messages([("user", changed(given_text))]).format_messages(**filled)[0]
        assert (message.content or "").count("FILLED") == given_text.count("FILLED")
        assert changed(changed(given_text)) == changed(given_text)
        assert changed(given_text).replace(" ", "") == given_text.replace(" ", "")


def test_i6_h22_the_originals_stay_and_what_needs_nothing_is_the_same_object() -> None:
    image = ImageBlock(image=PNG)
    call = ToolCallBlock(tool_name="inspect", tool_kwargs={"text": "{context_str}"})
    messages = [
        ChatMessage(role="system", content="Use {context_str}."),
        ChatMessage(content="Nothing in braces."),
        ChatMessage(content='{"JSON": {}}'),
        ChatMessage(role="assistant", blocks=[TextBlock(text="Plain."), call, image, TextBlock(text="{query_str}")]),
    ]
    before = copy.deepcopy(messages)
    left, count = escape_template_names(messages, NAMES)
    assert count == 2
    assert messages == before
    assert [new is old for new, old in zip(left, messages, strict=True)] == [False, True, True, False]
    assert all(new is old for new, old in zip(left[3].blocks[:3], messages[3].blocks[:3], strict=True))
    assert left[3].blocks[1] is call
    assert escape_template_names(messages[1:3], NAMES) == (messages[1:3], 0)
    plain = messages[1:3]
    assert escape_template_names(plain, NAMES)[0] is plain


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        (PromptTemplate("{docs} {context_str}"), "docs"),
        (PromptTemplate("{context_str}", function_mappings={"today": lambda **_: "Monday"}), "today"),
        (PromptTemplate("{docs}", template_var_mappings={"context_str": "docs"}), "context_str"),
        (ChatPromptTemplate.from_messages([("system", "{rules}"), ("user", "{query_str}")]), "rules"),
        (RichPromptTemplate("{{ rules }}"), "rules"),
    ],
)
def test_i6_names_of_an_engines_own_templates_are_known(prompt: Any, name: str) -> None:
    names = template_names([prompt])
    assert name in names
    assert names >= NAMES


def engine_with(
    history: list[ChatMessage],
    kind: Any = ContextChatEngine,
    *,
    escape: bool = True,
    window: int = 4_000,
    nodes: Sequence[NodeWithScore] = FIVE,
) -> tuple[Any, ScriptedLLM, EngineOptimizer]:
    llm = ScriptedLLM(context_window=window)
    optimizer = EngineOptimizer(llm=llm, escape_template_names=escape)
    memory = optimizer.memory()
    memory.set(history)
    engine = kind.from_defaults(
        ScriptedRetriever(nodes), llm=llm, memory=memory, node_postprocessors=[optimizer.postprocessor()]
    )
    return optimizer.attach(engine), llm, optimizer


def documents_in(call: ModelCall) -> int:
    return call.text.count("Document 0:")


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_i6_documents_are_sent_once_whatever_the_history_says(kind: Any, role: str) -> None:
    stored = [
        ChatMessage(role=role, content="Print {context_str} and {query_str} and {unknown}."),
        *preset_history(4),
        ChatMessage(content="No names."),
        ChatMessage(role="assistant", content="{existing_answer}"),
    ]
    engine, llm, optimizer = engine_with(stored, kind)
    engine.chat(QUESTION)
    answering = llm.calls[-1]
    assert documents_in(answering) == 1
    assert "Print { context_str } and { query_str } and {unknown}." in answering.text
    report = optimizer.last_report
    assert report is not None
    assert any("escaped in 2 messages" in note for note in report.notes)
    assert "Print {context_str}" in (engine.chat_history[0].content or "")
    assert llm.over == []


def test_i6_a_history_without_names_has_no_note() -> None:
    engine, _, optimizer = engine_with(preset_history(4))
    engine.chat(QUESTION)
    assert optimizer.last_report is not None
    assert not any("escaped" in note for note in optimizer.last_report.notes)


@pytest.mark.parametrize("messages", [0, 4, 60])
@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_i6_what_an_engine_fills_in_is_counted_where_it_is_left(kind: Any, messages: int) -> None:
    twice = ChatMessage(content="Print {context_str}, since {query_str}.")
    engine, llm, optimizer = engine_with([twice, *preset_history(messages)], kind, escape=False)
    engine.chat(QUESTION)
    answering = [call for call in llm.calls if "complete" not in call.method]
    assert len(answering) == 1
    assert documents_in(answering[0]) == 2
    assert answering[0].tokens <= 4_000 - 256 - 500
    assert optimizer.last_report is not None
    assert not any("escaped" in note for note in optimizer.last_report.notes)


CITED = CitationBlock(
    cited_content=TextBlock(text="As in {query_str}."), source="log", title="Log", additional_location_info={}
)
CITABLE = CitableBlock(title="Log", source="log", content=[TextBlock(text="See {context_str}."), ImageBlock(image=PNG)])


@pytest.mark.parametrize("block", [CITED, CITABLE], ids=["citation", "citable"])
def test_i6_names_inside_cited_blocks_are_defused_too(block: Any) -> None:
    before = copy.deepcopy(block)
    messages = [ChatMessage(role="assistant", blocks=[TextBlock(text="Plain."), block])]
    left, count = escape_template_names(messages, NAMES)
    filled = ChatPromptTemplate.from_messages(list(left)).format_messages(**dict.fromkeys(NAMES, "FILLED"))
    assert (count, block) == (1, before)
    assert "FILLED" not in str(filled[0].blocks)
    assert escape_template_names(left, NAMES) == (left, 0)


@pytest.mark.parametrize("escape", [False, True])
def test_i6_a_long_question_is_not_sent_again_by_a_cited_block(escape: bool) -> None:
    """Filled in, the question stood in the history six times, and LlamaIndex had no context size left."""
    quoted = CITED.model_copy(update={"cited_content": TextBlock(text="{query_str} " * 6)})
    stored = [ChatMessage(role="assistant", blocks=[quoted]), *preset_history(4)]
    engine, llm, _ = engine_with(stored, escape=escape)
    engine.chat(text_of("A long question:", 1_000))
    assert len(llm.calls) == 1
    assert llm.over == []
    assert llm.calls[0].text.count("A long question:") == 1


def test_i6_what_is_filled_in_beside_the_best_node_alone_is_counted() -> None:
    """The node has more to show than text to cut, so that it is kept behind the fit, where its copies count, too."""
    node = TextNode(text="Short.", metadata={"title": text_of("A title:", 600)})
    names = ChatMessage(role="assistant", content="{context_str} " * 12)
    engine, llm, _ = engine_with([names], escape=False, nodes=[NodeWithScore(node=node, score=1.0)])
    with pytest.raises(ContextBudgetError, match="no node fits beside the history"):
        engine.chat(QUESTION)
    assert llm.calls == []
