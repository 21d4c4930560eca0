"""However the turns of several users are interleaved, a request holds the words of one of them, and its newest turn."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer

from drawn_examples import examples
from llamaindex_ctxopt import EngineOptimizer
from several_users import ENGINES, NODES, EchoingLLM, User, aask, agent_of, ask, engine_of, users_in, word_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step"),
]

USERS = 3
rounds = st.lists(
    st.tuples(
        st.sets(st.integers(0, USERS - 1), min_size=1),  # who asks at the same time
        st.sampled_from(["one by one", "threads", "tasks"]),
        st.booleans(),  # streamed
        st.booleans(),  # what nobody holds is collected
    ),
    min_size=2,
    max_size=4,
)
"""What happens, round by round."""
few = settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def asked(stream: bool, pair: tuple[Any, str]) -> str:
    return ask(*pair, stream=stream)


def inner_memory(user: int) -> BaseMemory:
    return ChatMemoryBuffer.from_defaults(token_limit=100_000)


@dataclass(slots=True, kw_only=True)
class Office:
    """One optimizer, and its users.

    Args:
        llm: The model of them all.
        kinds: The engine of each user.
        legacy: Whether each user has an optimizer instead of a session.
        attached: Whether engines are attached.
    """

    llm: EchoingLLM
    kinds: list[str]
    legacy: bool
    attached: bool
    users: list[User] = field(default_factory=lambda: [User(number=number) for number in range(USERS)])
    inner: list[BaseMemory] = field(default_factory=lambda: [inner_memory(number) for number in range(USERS)])
    optimizer: EngineOptimizer = field(init=False)

    def __post_init__(self) -> None:
        self.optimizer = EngineOptimizer(llm=self.llm)

    def engine(self, user: int, *, streaming: bool) -> Any:
        """Return an engine for one request, as a server makes it."""
        inner = self.inner[user]
        if self.legacy:
            parts: Any = EngineOptimizer(llm=self.llm)
            parts.memory(inner)
            memory = parts.memory(inner)
            parts_of_engine: Any = _Parts(parts, memory)
        else:
            parts = parts_of_engine = self.optimizer.session(inner)
        made = engine_of(self.kinds[user], parts_of_engine, self.llm, streaming=streaming)
        return parts.attach(made) if self.attached else made

    def check(self, user: int, before: int) -> None:
        """The requests of a turn that was asked alone have the words of its user, and the turn before."""
        texts = [call.text for call in self.llm.calls[before:]]
        stored = self.inner[user].get_all()
        assert all(users_in(text) == {word_of(user)} for text in texts)
        if len(stored) > 2:
            assert any((stored[-3].content or "?") in text for text in texts)
            assert any((stored[-4].content or "?") in text for text in texts)


class _Parts:
    """The parts of an optimizer with the memory that it has."""

    def __init__(self, optimizer: EngineOptimizer, memory: BaseMemory) -> None:
        self.memory = memory
        self.postprocessor = optimizer.postprocessor
        self.retriever = optimizer.retriever


@given(
    kinds=st.lists(st.sampled_from(ENGINES), min_size=USERS, max_size=USERS),
    turns=rounds,
    same=st.booleans(),
    legacy=st.booleans(),
    attached=st.booleans(),
)
@few
def test_l1_a_request_holds_the_words_of_one_user_with_every_engine(
    kinds: list[str], turns: list[Any], same: bool, legacy: bool, attached: bool
) -> None:
    office = Office(llm=EchoingLLM(context_window=6_000), kinds=kinds, legacy=legacy, attached=attached)

    async def together(asking: list[tuple[Any, str]], stream: bool) -> None:
        await asyncio.gather(*(aask(engine, question, stream=stream) for engine, question in asking))

    for who, how, stream, collect in turns:
        asking = [(office.engine(n, streaming=stream), office.users[n].question(same=same)) for n in sorted(who)]
        if collect:
            gc.collect()
        before = len(office.llm.calls)
        if how == "one by one":
            for number, (engine, question) in zip(sorted(who), asking, strict=True):
                alone = len(office.llm.calls)
                ask(engine, question, stream=stream)
                office.check(number, alone)
        elif how == "threads":
            with ThreadPoolExecutor(len(asking)) as pool:
                list(pool.map(partial(asked, stream), asking))
        else:
            asyncio.run(together(asking, stream))
        texts = [call.text for call in office.llm.calls[before:]]
        assert all(len(users_in(text)) == 1 for text in texts)
        for number in who:
            stored, word = office.inner[number].get_all(), word_of(number)
            assert all(users_in(message.content or "") == {word} for message in stored)
            if len(stored) > 2:
                # An empty history is no way to keep users apart.
                assert any((stored[-3].content or "?") in text for text in texts)


@pytest.mark.parametrize("kind", ["function", "react", "workflow"])
@given(turns=rounds, attached=st.booleans())
@few
def test_l1_a_request_holds_the_words_of_one_user_with_an_agent_that_all_share(
    kind: str, turns: list[Any], attached: bool
) -> None:
    llm = EchoingLLM(context_window=6_000, reacts=kind == "react")
    optimizer, users = EngineOptimizer(llm=llm), [User(number=number) for number in range(USERS)]
    agent = agent_of(kind, llm)
    if attached:
        optimizer.attach(agent)
    inner = [inner_memory(number) for number in range(USERS)]

    async def run(number: int) -> None:
        question = users[number].question(same=False)
        await agent.run(question, memory=optimizer.session(inner[number]).memory)

    async def together(who: set[int]) -> None:
        await asyncio.gather(*map(run, sorted(who)))

    for who, how, _, collect in turns:
        before = len(llm.calls)
        if how == "tasks":
            asyncio.run(together(who))
        else:
            for number in sorted(who):
                asyncio.run(run(number))
        if collect:
            gc.collect()
        texts = [call.text for call in llm.calls[before:]]
        assert all(len(users_in(text)) == 1 for text in texts)
        for number in who:
            stored = inner[number].get_all()
            assert users[number].asked == sum(message.role == "user" for message in stored)
            asked = [message.content or "?" for message in stored if message.role == "user"]
            assert all(any(question in text for text in texts) for question in asked[-2:])


class Desk:
    """The sessions of several users, whose parts are used in any order.

    Args:
        held: Whether what a memory has returned is held on, as an engine holds it.
    """

    def __init__(self, *, held: bool) -> None:
        self.optimizer = EngineOptimizer(llm=EchoingLLM(context_window=6_000))
        self.inner = [inner_memory(number) for number in range(USERS)]
        for number, memory in enumerate(self.inner):
            said = ChatMessage(content=f"Said by {word_of(number)}.")
            memory.set([said, ChatMessage(role="assistant", content="Done.")])
        self.sessions = [self.optimizer.session(memory) for memory in self.inner]
        self._held = held
        self._lists: list[Any] = []

    def pack(self, number: int, question: str) -> None:
        self.sessions[number].postprocessor().postprocess_nodes(list(NODES), query_str=question)

    def get(self, number: int, question: str) -> None:
        self._check(number, self.sessions[number].memory.get(question))

    def ask(self, number: int, question: str) -> None:
        self.pack(number, question)
        self.get(number, question)

    def put(self, number: int, question: str) -> None:
        self.sessions[number].memory.put(ChatMessage(content=f"Said again by {word_of(number)}."))
        self.sessions[number].memory.put(ChatMessage(role="assistant", content="Done."))

    def clear(self, number: int, question: str) -> None:
        self.sessions[number].memory.set([ChatMessage(content=f"New, by {word_of(number)}.")])

    def renew(self, number: int, question: str) -> None:
        self.sessions[number] = self.optimizer.session(self.sessions[number].memory)

    def thread(self, number: int, question: str) -> None:
        with ThreadPoolExecutor(1) as pool:
            self._check(number, pool.submit(self.sessions[number].memory.get, question).result())

    def collect(self, number: int, question: str) -> None:
        gc.collect()

    def tasks(self, number: int, question: str) -> None:
        """Ask for all users in tasks that begin with what is open in this one."""

        async def ask_for(number: int) -> None:
            session = self.sessions[number]
            await session.postprocessor().apostprocess_nodes(list(NODES), query_str=question)
            await asyncio.sleep(0)
            self._check(number, await session.memory.aget(question))

        async def ask_for_all() -> None:
            await asyncio.gather(*map(ask_for, range(USERS)))

        asyncio.run(ask_for_all())

    def _check(self, number: int, found: list[ChatMessage]) -> None:
        texts = [message.content or "" for message in found]
        assert users_in(" ".join(texts)) <= {word_of(number)}
        assert texts[-1:] == [message.content for message in self.inner[number].get_all()][-1:]
        self._lists.extend([found] if self._held else [])


STEPS = (Desk.pack, Desk.get, Desk.ask, Desk.put, Desk.clear, Desk.renew, Desk.thread, Desk.collect, Desk.tasks)


@given(
    steps=st.lists(
        st.tuples(st.integers(0, USERS - 1), st.sampled_from(STEPS), st.booleans()), min_size=4, max_size=25
    ),
    held=st.booleans(),
)
@settings(max_examples=examples(40), deadline=None)
def test_l1_parts_in_any_order_read_the_conversation_of_their_own_session(steps: list[Any], held: bool) -> None:
    desk = Desk(held=held)
    for number, step, same in steps:
        step(desk, number, "Where is it?" if same else f"Where is the lantern of {word_of(number)}?")
    assert desk.optimizer.last_report is None
