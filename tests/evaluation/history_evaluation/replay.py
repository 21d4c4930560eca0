"""Sessions replayed request by request at a fixed window: what the prompt cache finds again, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence

from document_evaluation.cases import fingerprint, load_data

from history_evaluation.outcomes import Outcome
from history_evaluation.requests import Fit, Kept, Request, Row, pairs_whole, total, visible_text, whole_places
from history_evaluation.sessions import ASKED, CHAT, TOOLS_LARGE, TOOLS_SMALL, Session, session_numbers, session_of
from history_evaluation.timing import timed, warm_up

NAME = "replay"
SETS = (TOOLS_SMALL, TOOLS_LARGE, CHAT, ASKED)
CACHED_PRICE = 0.1
_WINDOWS = {TOOLS_SMALL: ("3000", "8000"), TOOLS_LARGE: ("64000",), CHAT: ("4000", "8000"), ASKED: ("4000", "8000")}


def budgets(name: str) -> tuple[str, ...]:
    """Return the windows of a set, in tokens."""
    return _WINDOWS[name]


def data_of(name: str) -> str:
    """Tell one state of a set from another; empty where it is missing."""
    return fingerprint("conv_locomo" if name in {CHAT, ASKED} else "traj_bfcl_long")


def numbers(name: str, half: str, every: int | None, limit: int | None) -> list[int]:
    """Return the sessions that are looked at."""
    return session_numbers(name, half, every or 1)[:limit] if data_of(name) else []


def run(name: str, number: int, budget: str, fit: Fit) -> Outcome:
    """Replay one session."""
    window = int(budget)
    session = session_of(name, number, window if name == ASKED else 0)
    figures = dict.fromkeys(("requests", "sent", "cached", "evidence", "probes", "over", "pairs", "failed"), 0.0)
    previous: Sequence[Row] = ()
    spent = 0.0
    for end in session.requests:
        request = Request(rows=session.rows[:end])
        warm_up(fit, request, window, (name, number))
        kept, ms = timed(fit, request, window)
        spent += ms
        rows = [row for _, row in kept.rows] if kept else []
        tokens = total(rows)
        seen = evidence(session, request, window, kept)
        figures["requests"] += 1
        figures["sent"] += tokens
        figures["cached"] += total(repeated(previous, rows))
        figures["evidence"] += sum(seen)
        figures["probes"] += len(seen)
        figures["over"] += tokens > window
        figures["pairs"] += not pairs_whole(rows)
        figures["failed"] += kept is None
        previous = rows
    mean_ms = spent / len(session.requests) if session.requests else 0.0
    return Outcome(number=number, budget=budget, figures=figures, failed=bool(figures["failed"]), ms=mean_ms)


def repeated(previous: Sequence[Row], rows: Sequence[Row]) -> Sequence[Row]:
    """Return the longest start of a request, in whole messages, that repeats the start of the one before."""
    same = 0
    for before, now in zip(previous, rows, strict=False):
        if before is not now and before != now:
            break
        same += 1
    return rows[:same]


def cost_of(sent: float, cached: float) -> float:
    """Return what sent tokens cost, when cached ones are cheaper."""
    return sent - cached + CACHED_PRICE * cached


def evidence(session: Session, request: Request, window: int, kept: Kept | None) -> list[float]:
    """Return for all that should be there at a request which share of it is.

    That is the argument values of the call that is made next, the gold messages of the question that is asked, or those
    of questions on what was said last.
    """
    end = len(request.rows)
    if session.answers:
        text = visible_text(row for _, row in kept.rows) if kept else ""
        gold = session.answers.get(end, ())
        return [sum(session.rows[place]["content"] in text for place in gold) / len(gold)] if gold else []
    if values := session.values.get(end):
        text = visible_text(row for _, row in kept.rows) if kept else ""
        share, _ = load_data().value_survival({"values": values}, text)
        return [float(share)]
    stays = set(whole_places(request, kept)) if kept else set()
    return [sum(place in stays for place in gold) / len(gold) for gold in session.asked(end, window)]
