"""Conversations made from a seed: the same ones at every run, for tests that need one and not many."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count

from conversations import Conversation, made


def a_conversation(provider: str, *, turns: int) -> Conversation:
    """Return a conversation with tool calls, whose model does not think and has no tools of its own."""
    for seed in count():
        found = made(random.Random(seed).randrange, provider)
        if len(found.turns) >= turns and any(turn.steps for turn in found.turns[: turns - 1]):
            kept = [
                replace(turn, special=0, steps=tuple(replace(step, thinks=False) for step in turn.steps))
                for turn in found.turns[: turns - 1]
            ]
            last = replace(found.turns[-1], special=0, steps=(), questions=("What now?",), image=False)
            return replace(found, thinking=False, turns=(*kept, last))
    raise AssertionError
