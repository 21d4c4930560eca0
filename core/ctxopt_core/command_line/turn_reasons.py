"""Why each turn of a conversation was kept or dropped, in words and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import last_user_message
from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.history.trimming import Trimming
from ctxopt_core.reports.fit_report import FitReport

_KEPT = {
    "turns": "it is among the newest that fit in the {room:,} tokens for the conversation",
    "sliding_window": "it is among the newest messages that are sent",
}
_KEPT_BY_WORTH = "the newest, and what says most about the question, fit in the {room:,} tokens for the conversation"
_DROPPED = {
    "turns": "newer ones take the {room:,} tokens for the conversation",
    "sliding_window": "newer messages take the window",
}
_DROPPED_BY_WORTH = "newer ones, and what says more about the question, take the {room:,} tokens for the conversation"
_OTHER_REASONS = {
    "orphan": "a call without its result, or a result without its call",
    "empty": "it says nothing",
    "superseded": "a note of an earlier fit, which is out of date",
    "summarized": "a summary stands for it",
    "compacted": "the provider's compaction stands for it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedStretch:
    """What became of a turn, or of one system message.

    Args:
        indices: Its messages, ascending.
        is_system: Whether it is a system message, which belongs to no turn.
        outcome: What became of it.
        after: Tokens that it has now.
        why: The reason.
    """

    indices: tuple[int, ...]
    is_system: bool
    outcome: Literal["kept", "partial", "dropped", "summarized"]
    after: int
    why: str


def turn_reasons(fitted: FittedContext, conversation: CountedConversation) -> Iterator[ExplainedStretch]:
    """Yield what became of each turn and system message, in their order; each message is in exactly one of them."""
    asked = None if fitted.request.query else last_user_message(conversation)
    kept = frozenset(fitted.history.kept)
    for indices, is_system in _stretches(conversation):
        staying = [i for i in indices if i in kept]
        cut = fitted.history.shortened
        summarized = not staying and set(indices) <= set(fitted.history.summarized)
        whole = len(staying) == len(indices) and not any(i in cut for i in staying)
        outcome: Literal["kept", "partial", "dropped", "summarized"] = (
            "kept" if whole else "partial" if staying else "summarized" if summarized else "dropped"
        )
        current = asked is not None and indices[-1] >= asked and not is_system
        yield ExplainedStretch(
            indices=indices,
            is_system=is_system,
            outcome=outcome,
            after=sum(cut[i].tokens if i in cut else conversation.cost(i) for i in staying),
            why=_why(fitted, indices, staying, is_system=is_system, current=current),
        )


def _stretches(conversation: CountedConversation) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield the messages of each turn, and each system message before the turn in which it stands."""
    systems = frozenset(conversation.systems)
    turn: list[int] = []
    for index in range(len(conversation)):
        if index in systems:
            yield (index,), True
            continue
        if turn and conversation.opens_turn(index):
            yield tuple(turn), False
            turn = []
        turn.append(index)
    if turn:
        yield tuple(turn), False


def _why(
    fitted: FittedContext, indices: Sequence[int], staying: Sequence[int], *, is_system: bool, current: bool
) -> str:
    report, trimming = fitted.report, fitted.history
    if report.unchanged:
        return "the whole request fits"
    if is_system:
        cut = "" if staying and indices[0] not in trimming.shortened else ", which are too few for all of it"
        return f"system messages may take {_room(report, 'system'):,} tokens{cut}"
    if len(staying) == len(indices) and not any(i in trimming.shortened for i in indices):
        return "the question, and what follows it, is always sent" if current else _kept(report)
    if staying:
        return _in_part(trimming, indices, staying, current=current)
    return _dropped(report, trimming, indices)


def _kept(report: FitReport) -> str:
    return _KEPT.get(report.strategy, _KEPT_BY_WORTH).format(room=_room(report, "history"))


def _in_part(trimming: Trimming, indices: Sequence[int], staying: Sequence[int], *, current: bool) -> str:
    shortened = sum(i in trimming.shortened for i in staying)
    told = f"{len(staying):,} of its {len(indices):,} messages stay, {shortened:,} of them shortened"
    if len(indices) == 1:
        told = "its message is shortened"
    if current:
        return f"{told}: it holds the question, which is always sent"
    first = min(trimming.kept, default=-1)
    return f"{told}: the first message states the task" if tuple(staying) == (first,) and first == indices[0] else told


def _dropped(report: FitReport, trimming: Trimming, indices: Sequence[int]) -> str:
    reasons = Counter(trimming.reason(i) for i in indices)
    reason = reasons.most_common(1)[0][0]
    if reason in _OTHER_REASONS:
        return _OTHER_REASONS[reason]
    return _DROPPED.get(report.strategy, _DROPPED_BY_WORTH).format(room=_room(report, "history"))


def _room(report: FitReport, component: str) -> int:
    return 0 if report.budgets is None else report.budgets[component]
