"""Runs of agents that use tools: whether the argument values of the agent's real next call can still be seen."""

from __future__ import annotations

import functools

from document_evaluation.cases import chosen, fingerprint, items, load_data

from history_evaluation.outcomes import Outcome
from history_evaluation.requests import Fit, Kept, Request, pairs_whole, total, visible_text, whole_places
from history_evaluation.timing import timed, warm_up

NAME = "trajectories"
SETS = ("traj_tau_airline", "traj_bfcl_long", "traj_long_task")
TASKS = frozenset({"traj_long_task"})
"""Sets of runs that begin with a long task, which comes on top of a share of the rest: else it alone fills a budget."""
SHARES = ("15%", "30%", "50%", "70%")
LEAST_TOKENS = 500


def budgets(name: str) -> tuple[str, ...]:
    """Return the budgets of a set, as shares of the tokens that are not the system message's."""
    return SHARES


def data_of(name: str) -> str:
    """Tell one state of a set from another; empty where it is missing."""
    return fingerprint(name)


def numbers(name: str, half: str, every: int | None, limit: int | None) -> list[int]:
    """Return the checkpoints that are looked at: those with so little before them that a question alone fills it go."""
    found = chosen(name, half, every=None, limit=None)
    enough = [number for number in found if spoken_tokens(request_of(name, number)) >= LEAST_TOKENS]
    return enough[:: every or 1][:limit]


@functools.lru_cache(maxsize=1_024)
def request_of(name: str, number: int) -> Request:
    """Return what the agent's model was asked at a checkpoint."""
    item = items(name)[number]
    return Request(rows=tuple(item["messages"]), tools=tuple(item["tools"] or ()))


def system_tokens(request: Request) -> int:
    """Count the system messages."""
    return total(request.rows[place] for place in request.systems)


def spoken_tokens(request: Request) -> int:
    """Count all the other messages."""
    return total(request.rows) - system_tokens(request)


def room_of(name: str, request: Request, budget: str) -> int:
    """Return the tokens of a budget, those of the system messages aside."""
    task = request.newest_question if name in TASKS else None
    asked = 0 if task is None else total([request.rows[task]])
    return asked + int((spoken_tokens(request) - asked) * float(budget[:-1]) / 100)


def run(name: str, number: int, budget: str, fit: Fit) -> Outcome:
    """Fit one checkpoint."""
    request = request_of(name, number)
    fixed = system_tokens(request)
    room = room_of(name, request, budget)
    warm_up(fit, request, fixed + room, (name, number))
    kept, ms = timed(fit, request, fixed + room)
    values = values_seen(items(name)[number], kept)
    return Outcome(
        number=number, budget=budget, figures=measure(request, room, kept, values), failed=kept is None, ms=ms
    )


def values_seen(item: object, kept: Kept | None) -> tuple[float, float]:
    """Return the share of the next call's values that can be seen, and whether all of them can."""
    text = visible_text(row for _, row in kept.rows) if kept else ""
    share, every = load_data().value_survival(item, text)
    return share, every


def measure(request: Request, room: int, kept: Kept | None, values: tuple[float, float]) -> dict[str, float]:
    """Measure what stays.

    value, complete: the share of the values, and whether all are there. net: the share, or nothing where the budget,
    a pair of call and result or the newest question is broken. question: whether the newest one stays whole. system:
    whether the system messages do. last: whether anything of the last message stays. used: tokens by those of the
    budget, the system messages in full aside; over: whether there are more.
    """
    rows = [row for _, row in kept.rows] if kept else []
    places = set(whole_places(request, kept)) if kept else set()
    tokens = max(0, kept.counted - system_tokens(request)) if kept else 0
    question = request.newest_question is None or request.newest_question in places
    pairs = pairs_whole(rows)
    over = tokens > room
    return {
        "value": values[0],
        "complete": values[1],
        "net": values[0] if pairs and question and not over else 0.0,
        "question": float(question),
        "system": float(places.issuperset(request.systems)),
        "last": float(any(place == len(request.rows) - 1 for place, _ in kept.rows) if kept else False),
        "used": tokens / room,
        "over": float(over),
        "pairs": float(not pairs),
    }
