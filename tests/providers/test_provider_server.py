"""The server refuses as the providers do: status, words, and what the real clients make of them."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest
from client_run import ANSWER
from conversations import PROVIDERS
from langchain_clients import look_up
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from provider_answers import Answer
from seeded_conversations import a_conversation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients, about models and aiohttp

REFUSING = [name for name in PROVIDERS if name != "ollama"]
BROKEN_WORDS = {
    "openai_chat": "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    "openai_responses": "No tool call found for function call output with call_id abcdefgh1.",
    "anthropic": "unexpected `tool_use_id` found in `tool_result` blocks",
    "google": "multiturn requests end with a user role",
    "mistral": "Unexpected role 'tool' after role 'user'",
}
LENGTH_WORDS = {
    "openai_chat": "maximum context length is",
    "openai_responses": "exceeds the context window of this model",
    "anthropic": "prompt is too long: ",
    "google": "exceeds the maximum number of tokens allowed",
    "mistral": "too large for model with",
}


def refusal_of(run: Any, messages: list[Any]) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each client has errors of its own
        run.model.bind_tools([look_up]).invoke(messages)
    return str(caught.value) + str(getattr(caught.value, "response", ""))


@pytest.mark.parametrize("provider", REFUSING)
def test_l24_a_broken_rule_is_refused_in_the_words_of_the_provider(langchain_run: Any, provider: str) -> None:
    run = langchain_run(provider)
    run.endpoint.start()
    # Google's client leaves a result without its call out by itself.
    last = AIMessage("A.") if provider == "google" else ToolMessage("lit", tool_call_id="abcdefgh1", name="look_up")
    said = refusal_of(run, [HumanMessage("Q?"), last])
    assert BROKEN_WORDS[provider] in said


@pytest.mark.parametrize("provider", REFUSING)
def test_l24_a_request_that_is_too_long_is_refused_in_the_words_of_the_provider(
    langchain_run: Any, provider: str
) -> None:
    run = langchain_run(provider)
    run.endpoint.start(window=300)
    assert LENGTH_WORDS[provider] in refusal_of(run, [HumanMessage("Long! " * 2_000)])


def test_l24_claude_counts_the_answer_too(langchain_run: Any) -> None:
    run = langchain_run("anthropic")
    issued = run.uncut(a_conversation("anthropic", turns=3))
    prompt = run.endpoint.provider.tokens(issued)
    run.endpoint.window = prompt + ANSWER - 1
    told = f"input length and `max_tokens` exceed context limit: {prompt} + {ANSWER} > {prompt + ANSWER - 1}"
    assert told in run.endpoint.judge(issued)[0].message


def test_l24_ollama_cuts_in_silence(langchain_run: Any) -> None:
    run = langchain_run("ollama")
    run.endpoint.start(window=300)
    assert run.model.invoke([HumanMessage("Long! " * 2_000)]).text == "Done."
    assert [(broken.rule, broken.status) for broken in run.endpoint.broken] == [("length", 200)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_l24_the_window_ends_at_the_last_token(langchain_run: Any, provider: str) -> None:
    run = langchain_run(provider)
    conversation = a_conversation(provider, turns=4)
    issued = run.uncut(conversation)
    prompt = run.endpoint.provider.tokens(issued)
    exact = prompt if provider == "ollama" else run.window(prompt)  # Ollama cuts prompts alone
    for window, found in ((exact, []), (exact - 1, ["length"])):
        run.endpoint.window = window
        assert [broken.rule for broken in run.endpoint.judge(issued)] == found


@pytest.mark.parametrize("provider", PROVIDERS)
def test_l24_answers_are_read_by_the_client(langchain_run: Any, provider: str) -> None:
    run = langchain_run(provider)
    asked = Answer(text="Wait.", calls=(("look_up", {"word": "oil"}), ("look_up", {"word": "wick"})))
    for stream in (False, True):
        run.endpoint.start(script=(asked,))
        model = run.model.bind_tools([look_up])
        if stream:
            answer: Any = reduce(add, model.stream("Q?"))
        else:
            answer = model.invoke("Q?")
        assert isinstance(answer, AIMessage)
        assert [call["args"] for call in answer.tool_calls] == [{"word": "oil"}, {"word": "wick"}]
        assert answer.text == "Wait."
        usage = answer.usage_metadata
        assert usage is None or usage["input_tokens"] == run.endpoint.provider.tokens(run.endpoint.requests[0])
