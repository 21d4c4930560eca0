"""Long conversations and questions about them: whether the messages that hold the answer are still there."""

from __future__ import annotations

import functools

from document_evaluation.cases import chosen, fingerprint, items

from history_evaluation.outcomes import Outcome
from history_evaluation.references import newest
from history_evaluation.requests import Fit, Kept, Request, Row, total, whole_places
from history_evaluation.timing import timed, warm_up

NAME = "conversations"
SETS = ("conv_locomo", "conv_qmsum")
WINDOWS = ("1000", "2000", "4000", "8000")
TAIL_SHARE = 0.1
EVERY = {"conv_locomo": 5}


def budgets(name: str) -> tuple[str, ...]:
    """Return the budgets of a set, in tokens."""
    return WINDOWS


def data_of(name: str) -> str:
    """Tell one state of a set from another; empty where it is missing."""
    return fingerprint(name)


def numbers(name: str, half: str, every: int | None, limit: int | None) -> list[int]:
    """Return the questions that are looked at."""
    return chosen(name, half, every or EVERY.get(name), limit)


@functools.lru_cache(maxsize=64)
def request_of(name: str, number: int) -> Request:
    """Return a question with its conversation."""
    item = items(name)[number]
    places = {message["id"]: place for place, message in enumerate(item["messages"])}
    return Request(
        rows=_rows(name, item["conversation"]),
        question=item["question"],
        sittings=[message.get("session", 0) for message in item["messages"]],
        evidence=[places[found] for found in item["evidence"] if found in places],
    )


@functools.lru_cache(maxsize=8)
def _rows(name: str, conversation: str) -> tuple[Row, ...]:
    item = next(item for item in items(name) if item["conversation"] == conversation)
    return tuple(
        {key: message[key] for key in ("role", "content", "name") if message.get(key)} for message in item["messages"]
    )


def run(name: str, number: int, budget: str, fit: Fit) -> Outcome:
    """Fit one conversation for one question."""
    request = request_of(name, number)
    warm_up(fit, request, int(WINDOWS[0]), (name, items(name)[number]["conversation"]))
    kept, ms = timed(fit, request, int(budget))
    return Outcome(
        number=number, budget=budget, figures=measure(request, int(budget), kept), failed=kept is None, ms=ms
    )


def measure(request: Request, budget: int, kept: Kept | None) -> dict[str, float]:
    """Measure what stays.

    recall: the share of the gold messages that stay whole. complete: whether all of them do. tail: the share that stays
    of the newest messages, as many as fit into a tenth of the budget, at least one. used: tokens by those of the
    budget. larger: whether there was more than fits. over: whether the budget is broken.
    """
    stays = set(whole_places(request, kept)) if kept else set()
    recent = [place for place, _ in newest(request, int(budget * TAIL_SHARE)).rows] or [len(request.rows) - 1]
    tokens = kept.counted if kept else 0
    found = [place in stays for place in request.evidence]
    return {
        "recall": sum(found) / len(found) if found else 0.0,
        "complete": float(all(found)),
        "tail": sum(place in stays for place in recent) / len(recent),
        "used": tokens / budget,
        "larger": float(total(request.rows) > budget),
        "over": float(tokens > budget),
    }
