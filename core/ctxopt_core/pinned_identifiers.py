"""Identifiers of what was dropped, named in the placeholder, so that a later call can still repeat them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from ctxopt_core.conversation import Conversation
from ctxopt_core.identifiers import identifiers_in

_SHORTEST = 4
_MENTIONED_BY_SOMEBODY = 3
MOST_MESSAGES = 32
MOST_CHARACTERS = 200_000


def pinned_identifiers(
    conversation: Conversation,
    dropped: Iterable[int],
    visible: Collection[str],
    fits: Callable[[Sequence[str]], bool],
) -> tuple[str, ...]:
    """Return the identifiers of dropped messages that are named oftenest, as many as fit, in order of appearance.

    What a user or the assistant names weighs three times what only a result does. Messages further back than 32
    messages or 200,000 characters are not looked at.

    Args:
        conversation: The whole conversation.
        dropped: The dropped messages, newest first.
        visible: Identifiers that are seen in what is kept.
        fits: Tells whether there is room for some identifiers.
    """
    scores: dict[str, float] = {}
    seen_at: dict[str, int] = {}
    characters = 0
    for number, index in enumerate(dropped):
        said = conversation.glance(index)
        characters += len(said.text)
        if number >= MOST_MESSAGES or characters > MOST_CHARACTERS:
            break
        weight = 1 if conversation.holds_results(index) else _MENTIONED_BY_SOMEBODY
        for identifier in dict.fromkeys(identifiers_in(said.text)):
            if len(identifier) >= _SHORTEST and identifier not in visible:
                scores[identifier] = scores.get(identifier, 0) + weight
                seen_at[identifier] = max(index, seen_at.get(identifier, 0))
    ranked = sorted(scores, key=lambda name: (-scores[name], -seen_at[name], name))
    chosen = ranked[: _most_that_fit(ranked, fits)]
    return tuple(sorted(chosen, key=lambda name: (seen_at[name], name)))


def _most_that_fit(ranked: Sequence[str], fits: Callable[[Sequence[str]], bool]) -> int:
    low, high = 0, len(ranked)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(ranked[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
