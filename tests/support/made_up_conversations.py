"""Conversations drawn from one number, many in a second: chats and agent runs, whole and broken, plain and hostile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

from hostile_text import HOSTILE_FRAGMENTS
from shape_rows import SCRIPTS, SENTENCE, Row

_PNG = "data:image/png;base64," + "iVBO" * 60
_WORDS = ("lantern", "brass", "bridge", "snow", "wick", "oil", "harbor", "ledger", "Quillmere", "forty")
# How often each kind of string is drawn, so that most conversations look like real ones.
_KINDS = ("prose",) * 5 + ("prices", "code", "json", "script", "hostile", "fragments")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpConversation:
    """A conversation and what is asked of it.

    Args:
        rows: Its messages, as OpenAI's dictionaries. `number` is the place of each; no count reads it.
        share: The input budget as a part of what the whole conversation has.
    """

    rows: list[Row]
    share: float


def made_up_conversation(number: int) -> MadeUpConversation:
    """Return the conversation of a number: the same number gives the same one, on every machine."""
    random = Random(number)
    rows: list[Row] = [_system(random) for _ in range(random.choice((0, 1, 1, 1, 2)))]
    turns = random.choice((1, 1, 2, 3, 5, 9))
    steps = random.choice((0, 0, 1, 2, 4, 20)) if turns < 9 else random.choice((0, 1))
    for turn in range(turns):
        if turn and random.random() < 0.05:
            rows.append(_system(random))
        rows.append({"role": "user", "content": _content(random, turn == turns - 1)})
        for _ in range(steps):
            rows += _exchange(random)
        if turn < turns - 1 or random.random() < 0.1:
            rows.append({"role": "assistant", "content": _text(random)})
    if random.random() < 0.1:
        rows += _exchange(random)[: random.randint(1, 2)]
    if random.random() < 0.15:
        _damage(random, rows)
    return MadeUpConversation(
        rows=[{**row, "number": place} for place, row in enumerate(rows)],
        share=random.choice((0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)) * random.uniform(0.8, 1),
    )


def _system(random: Random) -> Row:
    return {"role": random.choice(("system", "system", "developer")), "content": _text(random)}


def _content(random: Random, asked: bool) -> object:
    """Return what a user says; the question is never blank."""
    drawn = random.random()
    if drawn < 0.1:
        parts: list[Row] = [{"type": "text", "text": f"{_text(random)} And now?"}]
        parts += [{"type": "image_url", "image_url": {"url": _PNG}} for _ in range(random.randint(0, 2))]
        return parts
    if drawn < 0.13 and not asked:
        return random.choice(("", None, " \n"))
    text = _text(random)
    return f"{text} And what of lantern {random.randint(1, 99)}?" if asked else text


def _exchange(random: Random) -> list[Row]:
    calls, results = [], []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        # Ids repeat from one exchange to the next in real runs.
        key = f"call_{random.randint(0, 30)}"
        if any(call["id"] == key for call in calls):
            continue
        arguments = json.dumps(
            {"lantern": random.randint(1, 999), "note": _text(random) if random.random() < 0.2 else ""}
        )
        calls.append({"id": key, "type": "function", "function": {"name": "inspect", "arguments": arguments}})
        results.append({"role": "tool", "tool_call_id": key, "content": _text(random, longest=12)})
    said = _text(random) if random.random() < 0.3 else None
    return [{"role": "assistant", "content": said, "tool_calls": calls}, *results]


def _damage(random: Random, rows: list[Row]) -> None:
    """Lose, repeat or swap a message, as stores and clients do; the last user message stays."""
    for _ in range(random.randint(1, 3)):
        asked = max(i for i, row in enumerate(rows) if row["role"] == "user")
        index = random.randrange(len(rows))
        if index == asked:
            continue
        how = random.choice(("lose", "repeat", "swap"))
        if how == "lose":
            del rows[index]
        elif how == "repeat" and rows[index]["role"] != "user":
            rows.insert(index, dict(rows[index]))
        elif index + 1 < len(rows) and index + 1 != asked:
            rows[index], rows[index + 1] = rows[index + 1], rows[index]


def _text(random: Random, longest: int = 5) -> str:
    kind, count = random.choice(_KINDS), random.randint(1, longest)
    if kind == "prose":
        words = " ".join(random.choice(_WORDS) for _ in range(random.randint(2, 9)))
        return SENTENCE * (count - 1) + f"The {words} cost {random.randint(1, 999)}."
    if kind == "prices":
        return " ".join(f"{random.uniform(1, 999):.2f}" for _ in range(8 * count))
    if kind == "code":
        return "\n".join(f"def lamp_{random.randint(1, 99)}(wick):\n    return wick * {i}" for i in range(count))
    if kind == "json":
        return json.dumps(
            [{"id": f"{random.getrandbits(64):016x}", "lit": random.random() < 0.5} for _ in range(2 * count)]
        )
    if kind == "script":
        return random.choice(tuple(SCRIPTS.values())) * count
    if kind == "hostile":
        return random.choice(HOSTILE_FRAGMENTS) * random.choice((1, 5, 40))
    return "".join(random.choice(HOSTILE_FRAGMENTS) for _ in range(4 * count))
