"""What is sent to ChatMistralAI is within the budget by Mistral's own tokenizer."""

from __future__ import annotations

import random
import warnings

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_mistralai import ChatMistralAI
from langchain_mistralai.chat_models import _convert_message_to_mistral_chat_message
from mistral_common.protocol.instruct.request import ChatCompletionRequest

from ctxopt_core.models import model_ids
from kinds_of_text import KINDS, mistral_tokenizer
from langchain_ctxopt import ContextOptimizer

DICE = random.Random(3)
PRICES = "\n".join(f"{DICE.random() * 1000:.2f}" for _ in range(3000))
RESULTS = {"prices": PRICES, **{kind: KINDS[kind] * 20 for kind in ("json_compact", "uuids", "csv_table", "log", "c")}}
MODELS = ("mistral-large-latest", "codestral-latest", "ministral-8b-latest", "magistral-medium-latest", "pixtral-12b")


def conversation(result):
    call = {"name": "prices", "args": {"city": "Rome"}, "id": "abcdefghi"}
    return [
        SystemMessage("Answer briefly."),
        HumanMessage("What do the lamps cost?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id="abcdefghi", name="prices"),
    ]


def sent_tokens(messages):
    rows = [_convert_message_to_mistral_chat_message(message) for message in messages]
    return len(mistral_tokenizer().encode_chat_completion(ChatCompletionRequest.from_openai(messages=rows)).tokens)


def model_named(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ChatMistralAI(model=name, api_key="none")


@pytest.mark.parametrize("installed", [True, False], ids=["installed", "not-installed"])
@pytest.mark.parametrize("kind", RESULTS)
def test_l27_a_long_tool_result_is_within_the_budget(kind, installed, monkeypatch):
    if not installed:
        monkeypatch.setattr(model_ids, "tekken_file", lambda: None)
    optimizer = ContextOptimizer(model=model_named("mistral-large-latest"), max_input_tokens=6_000)

    fitted = optimizer.fit(conversation(RESULTS[kind]))

    assert len(fitted.value) == 4
    assert 4_000 < sent_tokens(fitted.value) <= 6_000
    assert fitted.report.exact == installed


@pytest.mark.parametrize("name", MODELS)
async def test_l27_every_model_of_mistral_is_within_the_budget(name):
    for model in (name, model_named(name)):
        reports = []
        optimizer = ContextOptimizer(model=model, max_input_tokens=6_000, on_report=reports.append)

        sent = await optimizer.ainvoke(conversation(PRICES))

        assert sent_tokens(sent) <= 6_000
        assert [(report.encoding, report.exact) for report in reports] == [("tekken", True)]
