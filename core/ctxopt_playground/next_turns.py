"""What the next turns of a conversation will cost with each strategy, if it goes on as it went so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, pairwise

from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.messages.message import Message
from ctxopt_core.request import ContextRequest
from ctxopt_core.sweeps.conversations import read_conversation
from ctxopt_core.sweeps.replay_rows import ReplayTotal, total_of
from ctxopt_core.sweeps.run_replay import replay
from ctxopt_playground.settings import PlaygroundSettings

_USUAL_ANSWER = "word " * 150
"""What stands for the answer in a conversation that has none: 150 tokens, some sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTurns:
    """The cost of the next turns.

    Args:
        turns: How many turns.
        requests: How many requests these are: in the run of an agent, several for each turn.
        totals: What each strategy comes to, in the order of the settings.
        problem: Why there are none; empty where there are.
    """

    turns: int
    requests: int = 0
    totals: tuple[ReplayTotal, ...] = ()
    problem: str = ""


def next_turns(request: ContextRequest, settings: PlaygroundSettings, turns: int) -> NextTurns:
    """Return what the next turns cost with each strategy that is compared.

    The turns that follow are copies of those that were, each user message with a number before it, so that no two are
    the same and nothing is taken to be cached that would not be. The documents of the request are the same in each.

    Args:
        request: The request that is compared.
        settings: The budget and the strategies.
        turns: How many turns follow.
    """
    asked = any(text.strip() for text in request.query_texts)
    if not asked and not any(request.history[index].role == "user" for index in range(len(request.history))):
        return NextTurns(turns=turns, problem="There is no message of a user yet.")
    whole = read_conversation(request)
    messages = [whole.history[index] for index in range(len(whole.history))]
    before = len(messages)
    longer = replace(whole, history=[*messages, *_following(messages, turns)])
    try:
        budget = settings.budget()
    except ContextBudgetError as error:
        return NextTurns(turns=turns, problem=str(error))
    policies: Mapping[str, HistoryPolicy] = {cut.strategy: cut.history for cut in settings.cuts}
    found = replay(longer, policies, settings.model, budget=budget, last_requests=_requests_after(longer, before) + 1)
    totals = tuple(
        total_of(one.name, [row for row in found.rows_of(one.name) if row.messages > before])
        for one in found.strategies
    )
    return NextTurns(turns=turns, requests=totals[0].requests, totals=totals)


def _requests_after(longer: ContextRequest, before: int) -> int:
    """Return how many requests follow the first so many messages."""
    roles = [longer.history[index].role for index in range(before, len(longer.history))]
    return sum(role == "assistant" and last != "assistant" for last, role in pairwise(roles))


def _following(messages: Sequence[Message], turns: int) -> Iterator[Message]:
    """Yield the answer that is still missing, and the messages of so many turns, each with its answer."""
    starts = [n for n, message in enumerate(messages) if message.role == "user" and not message.tool_results]
    spans = [messages[start:stop] for start, stop in zip(starts, [*starts[1:], len(messages)], strict=True)]
    answered = [span for span in spans if span[-1].role == "assistant"]
    if messages[-1].role != "assistant":
        yield answered[-1][-1] if answered else Message(role="assistant", content=_USUAL_ANSWER)
    usual = [*spans[-1][:1], Message(role="assistant", content=_USUAL_ANSWER)]
    for number, span in enumerate(islice(cycle(answered or [usual]), turns), start=1):
        for place, message in enumerate(span):
            yield _copy(message, number, first=place == 0)


def _copy(message: Message, number: int, *, first: bool) -> Message:
    """Return a message again, with ids of its own; the first one of a turn has a number before its text."""
    texts = message.texts
    if first and texts:
        texts = (f"{number}. {texts[0]}", *texts[1:])
    return replace(
        message,
        content=texts[0] if isinstance(message.content, str) and texts else texts,
        tool_calls=tuple(replace(call, id=_again(call.id, number)) for call in message.tool_calls),
        tool_call_id=_again(message.tool_call_id, number),
        tool_results=tuple(replace(one, call_id=_again(one.call_id, number)) for one in message.tool_results),
        server_calls=tuple(f"{one}-{number}" for one in message.server_calls),
        server_results=tuple(f"{one}-{number}" for one in message.server_results),
        compacts=False,
    )


def _again(identity: str | None, number: int) -> str | None:
    return None if identity is None else f"{identity}-{number}"
