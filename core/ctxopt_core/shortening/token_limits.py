"""Sharing room among the texts of a message that holds results: what the user says beside them is cut last."""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.messages.message import Message


def level_down(counts: Sequence[int], room: int) -> list[int]:
    """Cap the longest texts at one common level, so that the sum is at most `room`."""
    allowed = [0] * len(counts)
    left = max(0, room)
    for rank, index in enumerate(sorted(range(len(counts)), key=lambda i: counts[i])):
        allowed[index] = min(counts[index], left // (len(counts) - rank))
        left -= allowed[index]
    return allowed


def rooms_of_texts(message: Message, counts: Sequence[int], room: int) -> list[int]:
    """Return how many tokens each text of a message may count, so that the sum is at most `room`.

    Results are cut before what the user says, down to one token each; the longest result first, and in it the longest
    text.
    """
    if not message.tool_results:
        return level_down(counts, room)
    spoken = message.spoken
    of_results = [[counts[i] for i in result.texts] for result in message.tool_results]
    said = min(sum(counts[i] for i in spoken), max(0, room - sum(map(any, of_results))))
    allowed = dict(zip(spoken, level_down([counts[i] for i in spoken], said), strict=True))
    shares = level_down([sum(texts) for texts in of_results], room - said)
    for result, texts, share in zip(message.tool_results, of_results, shares, strict=True):
        allowed.update(zip(result.texts, level_down(texts, share), strict=True))
    return [allowed[i] for i in range(len(counts))]


def silences(message: Message, texts: Sequence[str], marks: Sequence[str]) -> bool:
    """Tell whether nothing but a mark would be left of what a user says beside results, or nothing of a result."""
    if not message.tool_results:
        return False
    before, spoken = message.texts, message.spoken
    left = [i for i in spoken if texts[i].strip() and (texts[i] == before[i] or texts[i] not in marks)]
    if not left and any(before[i].strip() for i in spoken):
        return True
    return any(
        any(before[i].strip() for i in result.texts) and not any(texts[i].strip() for i in result.texts)
        for result in message.tool_results
    )
