"""Long sessions, and each request that was made in them: what a prompt cache sees of an agent or a chat."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from document_evaluation.cases import load_data

from history_evaluation.requests import Row, cost, total

TOOLS_SMALL, TOOLS_LARGE, CHAT, ASKED = "tools_small", "tools_large", "chat", "chat_asked"
LARGE_RUN = 10_000
LARGE_RUNS = 12
CHATS = 3
BEYOND_WINDOW = 1_500
QUESTIONS = 30
ANSWER = "It was as you said then."
_SEED = 20_261_201
_HALVES = ("all", "even", "odd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session.

    Args:
        rows: All its messages.
        requests: Where each request ends: before a message of the assistant.
        values: The argument values of the call that is made next, by request.
        questions: For each question about a chat, the places of the messages that hold the answer.
        answers: The same for the requests in which such a question is the newest message, by request.
    """

    rows: Sequence[Row] = field(repr=False)
    requests: Sequence[int] = field(repr=False)
    values: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict, repr=False)
    questions: Sequence[Sequence[int]] = field(default=(), repr=False)
    answers: Mapping[int, Sequence[int]] = field(default_factory=dict, repr=False)

    def asked(self, end: int, window: int) -> list[Sequence[int]]:
        """Return the questions that count at a request: those on what was said last.

        Their newest gold message lies within the newest tokens of the request, as many as the window has and 1,500
        more: the older ones are lost to every window, the newer ones to none.
        """
        start, tokens = end, 0
        while start and tokens <= window + BEYOND_WINDOW:
            start -= 1
            tokens += cost(self.rows[start])
        first = start + 1 if tokens > window + BEYOND_WINDOW else 0
        return [places for places in self.questions if first <= max(places) < end]


def tool_session(runs: Sequence[Mapping[str, Any]]) -> Session:
    """Join the runs of an agent, one after the other, with the first one's system message before them."""
    rows: list[Row] = [row for row in runs[0]["messages"] if row["role"] == "system"] if runs else []
    requests: list[int] = []
    values: dict[int, Sequence[Mapping[str, Any]]] = {}
    for run in runs:
        checkpoints = {checkpoint["at"]: checkpoint["values"] for checkpoint in run["checkpoints"]}
        for place, row in enumerate(run["messages"]):
            if row["role"] == "system":
                continue
            if row["role"] == "assistant" and rows:
                requests.append(len(rows))
                if place in checkpoints:
                    values[len(rows)] = checkpoints[place]
            rows.append(row)
    return Session(rows=rows, requests=requests, values=values)


def chat_session(chat: Mapping[str, Any]) -> Session:
    """Present a chat with the questions about it."""
    messages = chat["messages"]
    rows = [{key: message[key] for key in ("role", "content", "name") if message.get(key)} for message in messages]
    places = {message["id"]: place for place, message in enumerate(messages)}
    gold = ([places[name] for name in question["evidence"] if name in places] for question in chat["questions"])
    return Session(
        rows=rows,
        requests=[place for place, row in enumerate(rows) if place and row["role"] == "assistant"],
        questions=[found for found in gold if found],
    )


def asked_session(chat: Mapping[str, Any], number: int, window: int) -> Session:
    """Present a chat in which questions about it are asked and answered, each at a place drawn for it.

    A question is asked after an answer of the assistant, once the chat is over the window, where its newest gold
    message lies within the newest tokens, as many as the window has and 1,500 more.
    """
    plain = chat_session(chat)
    sums = list(accumulate(map(cost, plain.rows), initial=0))
    drawn = random.Random(f"{_SEED} {number} {window}")
    asked: dict[int, tuple[str, Sequence[int]]] = {}
    places = {message["id"]: place for place, message in enumerate(chat["messages"])}
    for question in drawn.sample(chat["questions"], len(chat["questions"])):
        gold = [places[name] for name in question["evidence"] if name in places]
        since = [
            end
            for end in plain.requests
            if gold and end > max(gold) and sums[end] > window >= sums[end] - sums[max(gold) + 1] - BEYOND_WINDOW
        ]
        end = drawn.choice(since) if since else None
        if end is not None and end not in asked and len(asked) < QUESTIONS:
            asked[end] = (question["question"], gold)
    return _with_questions(plain, asked)


def _with_questions(plain: Session, asked: Mapping[int, tuple[str, Sequence[int]]]) -> Session:
    rows: list[Row] = []
    requests: list[int] = []
    answers: dict[int, Sequence[int]] = {}
    places: list[int] = []
    for place, row in enumerate(plain.rows):
        if place in plain.requests:
            requests.append(len(rows))
        places.append(len(rows))
        rows.append(row)
        if place in asked:
            question, gold = asked[place]
            rows.append({"role": "user", "content": question})
            requests.append(len(rows))
            answers[len(rows)] = [places[number] for number in gold]
            rows.append({"role": "assistant", "content": ANSWER})
    return Session(rows=rows, requests=requests, answers=answers)


def session_numbers(name: str, half: str, every: int) -> list[int]:
    """Return the numbers of the sessions of a set: one for the runs of a half, or one for each of three chats."""
    if name not in {CHAT, ASKED}:
        return [_HALVES.index(half) + len(_HALVES) * every] if _lines("traj_bfcl_long") else []
    start, step = {"all": (0, 1), "even": (0, 2), "odd": (1, 2)}[half]
    return list(range(len(_lines("conv_locomo"))))[start::step][:CHATS][::every]


@functools.lru_cache(maxsize=16)
def session_of(name: str, number: int, window: int = 0) -> Session:
    """Return a session by its number; where questions are asked in it depends on the window."""
    if name == ASKED:
        return asked_session(_lines("conv_locomo")[number], number, window)
    if name == CHAT:
        return chat_session(_lines("conv_locomo")[number])
    every, half = divmod(number, len(_HALVES))
    start, step = ((0, 1), (0, 2), (1, 2))[half]
    large = name == TOOLS_LARGE
    runs = [run for run in _lines("traj_bfcl_long") if (total(run["messages"]) > LARGE_RUN) == large]
    chosen = runs[start::step][: LARGE_RUNS if large else None]
    return tool_session(chosen[::every])


@functools.cache
def _lines(name: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(load_data().lines(name))
