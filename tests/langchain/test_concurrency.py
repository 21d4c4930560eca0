"""One optimizer shared by many threads and tasks gives every one of them the result that it would have alone."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate

from langchain_ctxopt import ContextOptimizer

THREADS = 16
SENTENCE = "The lamplighter polishes forty brass lanterns before the first snow arrives. "
PROMPT = ChatPromptTemplate.from_messages(
    [("system", "{context}"), ("placeholder", "{chat_history}"), ("human", "{question}")]
)


def chat(number: int) -> list[BaseMessage]:
    turns = [(HumanMessage(f"Question {number}.{i}?"), AIMessage(f"{i}. " + SENTENCE * (i % 5 + 1))) for i in range(30)]
    return [message for turn in turns for message in turn] + [HumanMessage(f"Which of {number} is lit?")]


def values(number: int) -> dict[str, Any]:
    found = [Document(page_content=f"{number}.{i} {SENTENCE * 3}", metadata={"score": i}) for i in range(20)]
    return {"context": found, "chat_history": chat(number)[:-1], "question": f"Which of {number} is lit?"}


def together(call: Any, inputs: list[Any]) -> list[Any]:
    """Call for all inputs at once, each in its own thread, all started at the same moment."""
    start = threading.Barrier(len(inputs))

    def run(value: Any) -> Any:
        start.wait()
        return call(value)

    with ThreadPoolExecutor(len(inputs)) as pool:
        return list(pool.map(run, inputs))


def test_i10_threads_share_an_optimizer() -> None:
    inputs: list[Any] = [chat(number % 4) for number in range(THREADS)]
    alone = [ContextOptimizer(max_input_tokens=400).invoke(value) for value in inputs]
    shared = ContextOptimizer(max_input_tokens=400)
    assert together(shared.invoke, inputs) == alone
    assert together(shared.invoke, inputs) == alone


def test_i10_threads_share_an_optimizer_before_a_prompt() -> None:
    inputs: list[Any] = [values(number % 4) for number in range(THREADS)]
    alone = [ContextOptimizer(prompt=PROMPT, max_input_tokens=600).invoke(value) for value in inputs]
    assert together(ContextOptimizer(prompt=PROMPT, max_input_tokens=600).invoke, inputs) == alone


def test_i10_every_thread_gets_its_own_report() -> None:
    inputs: list[Any] = [chat(number)[: 10 + number] for number in range(THREADS)]
    optimizer = ContextOptimizer(max_input_tokens=200)
    reports = together(lambda value: optimizer.fit(value).report, inputs)
    assert [report.history.messages for report in reports] == [len(value) for value in inputs]


async def test_i10_tasks_share_an_optimizer_and_sync_and_async_agree() -> None:
    optimizer = ContextOptimizer(prompt=PROMPT, max_input_tokens=600)
    inputs = [values(number) for number in range(THREADS)]
    found = await asyncio.gather(*(optimizer.ainvoke(value) for value in inputs))
    assert found == [optimizer.invoke(value) for value in inputs]


async def test_i10_the_event_loop_stays_free_while_an_input_is_fitted() -> None:
    def slow(text: str) -> int:
        time.sleep(0.002)
        return len(text.split())

    optimizer = ContextOptimizer(max_input_tokens=400, token_counter=slow)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.002)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await optimizer.ainvoke(chat(1))
    ticking.cancel()
    assert ticks > 5
