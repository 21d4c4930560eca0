"""What is sent to MistralAI of LlamaIndex is within the budget by Mistral's own tokenizer."""

from __future__ import annotations

import random
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.llms.mistralai import MistralAI
from mistral_common.protocol.instruct.request import ChatCompletionRequest

from ctxopt_core.models import model_ids
from kinds_of_text import KINDS, mistral_tokenizer
from llamaindex_ctxopt import with_optimizer

DICE = random.Random(3)
PRICES = "\n".join(f"{DICE.random() * 1000:.2f}" for _ in range(3000))
TEXTS = {"prices": PRICES, "uuids": KINDS["uuids"] * 20, "csv_table": KINDS["csv_table"] * 20}


class Listening(MistralAI):
    """Notes what it is asked instead of sending it."""

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        ASKED.append(list(messages))
        return ChatResponse(message=ChatMessage(role="assistant", content="Lit."))


ASKED: list[list[ChatMessage]] = []


@pytest.mark.parametrize("installed", [True, False], ids=["installed", "not-installed"])
@pytest.mark.parametrize("kind", TEXTS)
def test_l27_a_history_of_long_answers_is_within_the_budget(kind, installed, monkeypatch):
    if not installed:
        monkeypatch.setattr(model_ids, "tekken_file", lambda: None)
    ASKED.clear()
    llm = with_optimizer(Listening(model="mistral-large-latest", api_key="none"), max_input_tokens=6_000)

    lines = TEXTS[kind].splitlines()
    parts = ["\n".join(lines[start : start + 100]) for start in range(0, len(lines), 100)]
    history = [
        ChatMessage(role=role, content=text)
        for part in parts
        for role, text in (("user", "More?"), ("assistant", part))
    ]

    llm.chat([ChatMessage(role="system", content="Be brief."), *history, ChatMessage(role="user", content="Add up.")])

    rows = [{"role": message.role.value, "content": message.content} for message in ASKED[-1]]
    request = ChatCompletionRequest.from_openai(messages=rows)
    assert 4_000 < len(mistral_tokenizer().encode_chat_completion(request).tokens) <= 6_000
