"""The tables of the benchmark: histories fitted to a part of themselves, to a fixed window, and in a growing chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cpu_time import Candidate, milliseconds
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from peers import WINDOW, check_fit, count_once, early_exit_scan, fits, forget_all, index_bytes, optimizer_for, trimmed
from result_table import Row, Target, faster_than
from synthetic_chat import SYSTEM, Writer

WORDS_OF_100_TOKENS = 77
WORDS_OF_75_TOKENS = 57
TRIM, APPROXIMATE, ONCE, SCAN = "trim_messages", "approximate trim_messages", "count once", "early-exit scan"
GROWTH = "its own time at the first length"


def at_least(figure: float, peer: str) -> Target:
    """Return the demand to be so many times faster than a peer."""
    return Target(of=peer, relation=">=", figure=figure)


# What is wanted of the default strategy, and of `turns`, which only looks at the newest messages.
SEARCHING = {
    "cold": (at_least(6, TRIM), at_least(1, ONCE)),
    "warm": (at_least(30, TRIM),),
    "seen": (at_least(30, TRIM),),
}
RECENT = {"cold": (at_least(10, TRIM), at_least(2.5, ONCE)), "warm": (at_least(100, TRIM),)}
NEVER_SLOWER = (at_least(1, ONCE),)  # of cold fits to 30 %, however long the conversation is
CHAT_TARGETS = {"fit": (at_least(15, TRIM),), "invoke": (at_least(15, TRIM),), "turns": (at_least(35, TRIM),)}
# Of 5,900 short messages: 25 and 5 ms on a machine where `trim_messages` takes 180.
SHORT_TARGETS = {"cold": (at_least(7.2, TRIM),), "warm": (at_least(36, TRIM),), "seen": (at_least(36, TRIM),)}
_WORDS_OF_SHORT_MESSAGES = 26  # words, as in a chat between two people: about 140 characters
_QUESTIONS = 30  # asked of a conversation before it counts as seen


def share_rows(count: int, rounds: int) -> list[Row]:
    """Measure a history of `count` messages that is fitted to 30 % of its tokens."""
    writer = Writer()
    history = [SYSTEM, *writer.messages(count, WORDS_OF_100_TOKENS), _new_message(writer)]
    budget = count_once(history) * 3 // 10
    check_fit(optimizer_for(budget), history)
    times = milliseconds(
        [
            Candidate(name=TRIM, run=lambda: trimmed(history, budget)),
            Candidate(name=ONCE, run=lambda: count_once(history)),
            Candidate(name=SCAN, run=lambda: early_exit_scan(history, budget)),
            *fits(history, budget, partial(_new_message, writer), questions=_QUESTIONS),
        ],
        rounds,
    )
    return [
        Row(
            section="History of messages of about 100 tokens, fitted to 30 %",
            case=f"{count:,} messages",
            candidate=name,
            milliseconds=times[name],
            ratios=faster_than((TRIM, ONCE, SCAN), times, name),
            targets=_share_targets(name, count),
        )
        for name in times
    ]


def _share_targets(name: str, count: int) -> tuple[Target, ...]:
    _, call, state = name.split(", ") if name.startswith("ours") else ("", "", "")
    if count == 1_000:
        return (RECENT if call == "turns" else SEARCHING).get(state, ())
    return NEVER_SLOWER if state == "cold" else ()


def short_rows(count: int, rounds: int, questions: int = _QUESTIONS) -> list[Row]:
    """Measure a conversation of many short messages, which is searched for another question each time."""
    writer = Writer()
    history = [*writer.messages(count, _WORDS_OF_SHORT_MESSAGES), _question(writer)]
    check_fit(optimizer_for(WINDOW), history)
    times = milliseconds(
        [
            Candidate(name=TRIM, run=lambda: trimmed(history, WINDOW), most_rounds=3),
            Candidate(name=ONCE, run=lambda: count_once(history)),
            *fits(history, WINDOW, partial(_question, writer), questions=questions),
        ],
        rounds,
    )
    return [
        Row(
            section=f"Conversation of short messages, fitted to {WINDOW:,} tokens",
            case=f"{count:,} messages",
            candidate=name,
            milliseconds=times[name],
            ratios=faster_than((TRIM, ONCE), times, name),
            figures={"MiB of the index": index_bytes(history) / 2**20} if name == "ours, fit, seen" else {},
            targets=SHORT_TARGETS.get(name.rpartition(" ")[2], ()) if name.startswith("ours, fit") else (),
        )
        for name in times
    ]


def _question(writer: Writer) -> HumanMessage:
    return HumanMessage(writer.text(_WORDS_OF_SHORT_MESSAGES // 3))


def window_rows(lengths: Sequence[int], rounds: int) -> list[Row]:
    """Measure histories of growing length that are fitted to the same window, all lengths in the same rounds."""
    writer = Writer()
    everything = writer.messages(lengths[-1], WORDS_OF_100_TOKENS)
    histories = {count: [SYSTEM, *everything[-count:], _new_message(writer)] for count in lengths}
    candidates = [
        replace(candidate, name=f"{count} {candidate.name}")
        for count, history in histories.items()
        for candidate in _window_candidates(history, writer)
    ]
    times: dict[int, dict[str, float]] = {count: {} for count in lengths}
    for label, time in milliseconds(candidates, rounds).items():
        count, _, name = label.partition(" ")
        times[int(count)][name] = time
    return [
        Row(
            section=f"History of any length, fitted to {WINDOW:,} tokens",
            case=f"{count:,} messages",
            candidate=name,
            milliseconds=time,
            ratios={**faster_than((TRIM, SCAN), times[count], name), GROWTH: time / times[lengths[0]][name]},
            figures={"MiB of the index": index_bytes(histories[count]) / 2**20} if name == "ours, fit, seen" else {},
            targets=_growth_targets(name, count),
        )
        for count in lengths
        for name, time in times[count].items()
    ]


def _window_candidates(history: list[BaseMessage], writer: Writer) -> list[Candidate]:
    check_fit(optimizer_for(WINDOW), history)
    affordable = 5_000 // len(history) + 1
    return [
        Candidate(name=TRIM, run=lambda: trimmed(history, WINDOW), most_rounds=affordable),
        Candidate(name=SCAN, run=lambda: early_exit_scan(history, WINDOW)),
        *fits(history, WINDOW, partial(_new_message, writer), questions=_QUESTIONS),
    ]


def _new_message(writer: Writer) -> HumanMessage:
    return HumanMessage(writer.text(WORDS_OF_100_TOKENS))


def _growth_targets(name: str, count: int) -> tuple[Target, ...]:
    demanded = count == 100_000 and name.startswith("ours")
    return (Target(of=GROWTH, relation="<=", figure=2),) if demanded else ()


def chat_rows(turns: int, rounds: int) -> list[Row]:
    """Measure a chat that only grows, with one fit before each answer."""
    messages = Writer().messages(2 * turns, WORDS_OF_75_TOKENS)
    times = milliseconds(_chat_candidates(messages), rounds)
    return [
        Row(
            section=f"Chat with messages of about 75 tokens, one fit a turn, window of {WINDOW:,} tokens",
            case=f"{turns:,} turns",
            candidate=name,
            milliseconds=times[name],
            ratios=faster_than((TRIM, APPROXIMATE, ONCE), times, name),
            targets=CHAT_TARGETS.get(name.removeprefix("ours, "), ()) if turns == 200 else (),
        )
        for name in times
    ]


def _chat_candidates(messages: list[BaseMessage]) -> list[Candidate]:
    optimizer = optimizer_for(WINDOW)
    check_fit(optimizer, [SYSTEM, *messages])
    calls: dict[str, Callable[[list[BaseMessage]], object]] = {
        TRIM: lambda given: trimmed(given, WINDOW),
        APPROXIMATE: lambda given: trimmed(given, WINDOW, count_tokens_approximately),
        ONCE: count_once,
        SCAN: lambda given: early_exit_scan(given, WINDOW),
        "ours, fit": optimizer.fit,
        "ours, turns": optimizer_for(WINDOW, "turns").fit,
        "ours, invoke": optimizer.invoke,
    }
    return [
        Candidate(
            name=name,
            run=partial(_hold_chat, messages, call),
            prepare=forget_all,
            most_rounds=3 if name == TRIM else None,
        )
        for name, call in calls.items()
    ]


def _hold_chat(messages: list[BaseMessage], call: Callable[[list[BaseMessage]], object]) -> None:
    given: list[BaseMessage] = [SYSTEM]
    for position in range(0, len(messages), 2):
        given.append(messages[position])
        call(given)
        given.append(messages[position + 1])
