"""Replay of LlamaIndex messages: those of a memory, with the window of a model."""

from __future__ import annotations

import pytest
from llama_index.core.llms import ChatMessage, MockLLM

from ctxopt_core import replay as replay_mappings
from llamaindex_ctxopt import ContextOptimizerMemory, replay

ROWS = [
    {"role": "system", "content": "You look after lamps."},
    *(
        {"role": role, "content": text}
        for n in range(30)
        for role, text in (("user", f"Is lamp {n} lit?"), ("assistant", "It burns. " * 30))
    ),
]
CHAT = [ChatMessage(**row) for row in ROWS]
SETTINGS = {"newest": "turns", "in steps": {"stable_prefix": True}}


def test_u10_messages_of_llamaindex_give_the_rows_of_the_same_mappings():
    found = replay(CHAT, SETTINGS, "gpt-4o", budget=900, evidence="Is lamp 3 lit?")

    assert found.totals[0].requests == 30
    assert found == replay_mappings(ROWS, SETTINGS, "gpt-4o", budget=900, evidence="Is lamp 3 lit?")


def test_u10_a_memory_can_be_replayed():
    memory = ContextOptimizerMemory.from_defaults(chat_history=CHAT, max_input_tokens=600)

    assert replay(memory.get_all(), SETTINGS, budget=600) == replay(CHAT, SETTINGS, budget=600)


def test_u10_the_window_is_that_of_the_model():
    found = replay(CHAT, "turns", MockLLM(max_tokens=100))

    assert found.rows[0].budget == MockLLM(max_tokens=100).metadata.context_window - 100


def test_u10_the_messages_are_not_changed():
    before = [message.model_copy(deep=True) for message in CHAT]
    replay(CHAT, SETTINGS, budget=600)

    assert before == CHAT


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"llm": 3}, TypeError, "`llm` must be a LlamaIndex LLM"),
        ({"conversation": ["text"]}, TypeError, "str"),
        ({"budget": None}, ValueError, "give `model` or `budget`"),
        ({"conversation": []}, ValueError, "at least one message"),
    ],
)
def test_u10_bad_input_is_a_typed_error(arguments, error, match):
    with pytest.raises(error, match=match):
        replay(**({"conversation": CHAT, "strategies": "turns", "budget": 500} | arguments))
