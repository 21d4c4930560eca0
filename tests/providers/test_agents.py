"""Agents with the real clients: every request of a run with many tool calls is accepted by its provider."""

from __future__ import annotations

from typing import Any

import pytest
from client_run import ANSWER
from conversations import PROVIDERS
from langchain.agents import create_agent
from langchain_clients import look_up
from langchain_conversations import langchain_messages
from langchain_core.messages import HumanMessage
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llamaindex_clients import TOOL
from outcomes import STRATEGIES
from provider_answers import Answer
from request_lengths import texts_in
from seeded_conversations import a_conversation

from langchain_ctxopt.agents.middleware import ContextOptimizerMiddleware

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients, about models and aiohttp

ROOM = 2_600  # tokens; the run has about 6,000 in the end
STEPS, CALLS = 7, 10
SENTENCE, SENTENCES_OF_A_RESULT = "It burns brightly. ", 60
QUESTION = "Which word burns the longest, and on which page does it stand?"
CASES = [
    pytest.param(provider, strategy, id=f"{provider}-{strategy}")
    for provider in PROVIDERS
    for strategy in ("auto", "summarize", "stable_prefix")
]


def script(steps: int = STEPS) -> tuple[Answer, ...]:
    """Return calls of one and of two tools in turn, and an answer."""
    calls = [("look_up", {"word": f"oil {number}", "page": number}) for number in range(2 * steps)]
    asked = [Answer(text="", calls=tuple(calls[2 * at : 2 * at + 1 + at % 2])) for at in range(steps)]
    return (*asked, Answer(text="Oil, on page 3."))


def window_of(run: Any) -> int:
    return int(run.window(ROOM))


def check(run: Any, requests: int = STEPS + 1) -> None:
    """Check that the whole run went through and nothing of it was refused."""
    assert run.endpoint.broken == []
    assert len(run.endpoint.requests) == requests
    assert all(run.endpoint.provider.tokens(request) <= ROOM for request in run.endpoint.requests)
    sentences = sum(text.count(SENTENCE) for text in texts_in(run.endpoint.requests[-1]))
    assert 0 < sentences < SENTENCES_OF_A_RESULT * CALLS, "the last request would have fitted whole"


def middleware(run: Any, strategy: str) -> ContextOptimizerMiddleware:
    limits = {"max_input_tokens": ROOM} if run.provider in {"google", "ollama"} else {"context_window": ROOM + ANSWER}
    return ContextOptimizerMiddleware(history=STRATEGIES[strategy], **limits)


@pytest.mark.parametrize(("provider", "strategy"), CASES)
def test_l24_langchain_agents_finish_their_run(langchain_run: Any, provider: str, strategy: str) -> None:
    run = langchain_run(provider)
    agent: Any = create_agent(run.model, [look_up], middleware=[middleware(run, strategy)], system_prompt="Be brief.")
    earlier = langchain_messages(a_conversation(provider, turns=3))
    run.endpoint.start(window=window_of(run), script=script())
    given = {"messages": [*earlier[:-1], HumanMessage(QUESTION)]}
    config = {"recursion_limit": 100}
    if strategy == "auto":
        answer = agent.invoke(given, config)["messages"][-1].text
    elif strategy == "summarize":
        answer = run.loop.run(agent.ainvoke(given, config))["messages"][-1].text
    else:
        answer = list(agent.stream(given, config, stream_mode="values"))[-1]["messages"][-1].text
    assert answer == "Oil, on page 3."
    check(run)


@pytest.mark.parametrize(("provider", "strategy"), CASES)
def test_l24_llamaindex_agents_finish_their_run(llamaindex_run: Any, provider: str, strategy: str) -> None:
    run = llamaindex_run(provider)
    llm = run.optimized(ROOM, history=STRATEGIES[strategy])
    streaming = strategy == "auto"
    agent = FunctionAgent(tools=[TOOL], llm=llm, system_prompt="Be brief.", streaming=streaming)
    run.endpoint.start(window=window_of(run), script=script())

    async def ask() -> str:
        earlier = [ChatMessage(role="user", content="Hello."), ChatMessage(role="assistant", content="Hello!" * 300)]
        return str(await agent.run(QUESTION, chat_history=earlier, max_iterations=50))

    # The stream of llama-index-llms-mistralai repeats what it has said so far.
    assert run.loop.run(ask()).replace(" ", "").endswith("Oil,onpage3.")
    check(run)
