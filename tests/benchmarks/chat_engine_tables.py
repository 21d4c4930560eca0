"""The tables of conversations with chat engines: how many model calls a turn of the user costs, and what they hold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import fmean

import support_path  # noqa: F401  # the next imports need it
from result_table import Row, Target

from chat_engine_runs import MESSAGE_TOKENS, NODES, Engine, Turn, conversation, preset_history
from engine_parts import PARTS, Kind
from made_up_texts import text_of
from scripted_llms import ScriptedLLM

LAST = 20
MEAN, MOST, ERRORS, OVER, VISIBLE, TURNS_WHOLE, NODES_WHOLE = (
    "calls a turn",
    "most calls",
    "turns failed",
    "calls over the window",
    f"turns visible, last {LAST}",
    "whole",
    "nodes whole",
)


def engine_rows(engine: Engine, preset: int, turns: int, tokens: int) -> list[Row]:
    """Hold the same conversation with each memory.

    Args:
        engine: Which chat engine.
        preset: Messages of the history that there is from the start.
        turns: How many questions are asked.
        tokens: The tokens of each message of the preset history.
    """
    return [
        Row(
            section=f"{engine}: window 4,000, answer 256, {NODES} nodes of 300 tokens, {turns} turns of 2 x 100 tokens",
            case=f"{preset} preset messages of {tokens} tokens" if preset else "no preset history",
            candidate=kind,
            milliseconds=milliseconds,
            figures=_figures(held),
            targets=_targets(engine) if kind.startswith("ours") else (),
        )
        for kind in PARTS
        for held, milliseconds in [_held(kind, engine, preset, turns, tokens)]
    ]


def _held(kind: Kind, engine: Engine, preset: int, turns: int, tokens: int) -> tuple[list[Turn], float]:
    _write_texts(turns)
    with conversation(kind, engine, preset_history(preset, tokens)) as talk:
        start = time.process_time()
        held = talk.hold(turns)
        return held, (time.process_time() - start) / turns * 1000


def _write_texts(turns: int) -> None:
    """Make up what is said before the clock runs, and read it, since both are remembered."""
    model = ScriptedLLM()
    for number in range(1, turns + 1):
        text_of(f"Question {number}:", MESSAGE_TOKENS)
        text_of(f"Answer {number}:", model.answer_tokens, model.encoding)


def _figures(held: Sequence[Turn]) -> dict[str, float]:
    """Return the figures of a conversation; turns that failed have no calls that count."""
    calls = [len(turn.calls) for turn in held if turn.error is None] or [0]
    return {
        MEAN: fmean(calls),
        MOST: max(calls),
        ERRORS: sum(turn.error is not None for turn in held),
        OVER: sum(turn.over for turn in held),
        VISIBLE: fmean(turn.turns_visible if turn.error is None else 0 for turn in held[-LAST:]),
        TURNS_WHOLE: fmean(turn.turns_whole if turn.error is None else 0 for turn in held[-LAST:]),
        NODES_WHOLE: fmean(turn.nodes_whole if turn.error is None else 0 for turn in held),
    }


def _targets(engine: Engine) -> tuple[Target, ...]:
    """Return what the issue demands: one call, and one more where the engine condenses the question."""
    calls = 1 if engine == "context" else 2
    limits = {MOST: calls, ERRORS: 0, OVER: 0}
    return (
        *(Target(of=name, relation="<=", figure=figure) for name, figure in limits.items()),
        Target(of=VISIBLE, relation=">=", figure=7),
        Target(of=NODES_WHOLE, relation=">=", figure=NODES),
    )
