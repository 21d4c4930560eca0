"""How the texts of a message share a budget: sources and results give way before what the speaker wrote.

A search result, a document or a file that is sent as text is cut, too. Where the beginnings of all of them do not fit,
the last ones go with their titles: tools return what suits best first.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message, TextSource
from ctxopt_core.shortening.truncate import level_down

_SOURCE_FLOOR = 24  # tokens of text for which the title of a source is worth sending, as many as of a shrunk text


def removable_sources(message: Message) -> list[TextSource]:
    """Return the sources that may go, in order: all but the first of a result or message that has nothing else."""
    alone = [range(len(message.texts)), *(result.texts for result in message.tool_results)]
    kept: list[TextSource] = []
    for inside in alone[1:] if message.tool_results else alone:
        sources = [source for source in message.sources if _is_inside(source.texts, inside)]
        positions = {position for source in sources for position in source.texts}
        if sources and not any(message.texts[i].strip() for i in inside if i not in positions):
            kept.append(sources[0])
    return [source for source in message.sources if source not in kept]


def tokens_beside(message: Message, source: TextSource, counter: TokenCounter) -> int:
    """Return the tokens of what is sent of a source beside its text."""
    return sum(counter.count(message.verbatim[i]) for i in source.verbatim)


def sources_that_go(message: Message, beside: int, target: int, counter: TokenCounter) -> list[TextSource]:
    """Return the sources that have no place in a message of `target` tokens, `beside` of which are not text.

    The last ones go first, until there is room for a beginning of each one that stays.
    """
    found: list[TextSource] = []
    stays = len(message.sources)
    for source in reversed(removable_sources(message)):
        if beside + _SOURCE_FLOOR * stays <= target:
            break
        found.append(source)
        beside -= tokens_beside(message, source, counter)
        stays -= 1
    return found


def shares_of_texts(message: Message, counts: Sequence[int], budget: int) -> list[int]:
    """Return how many tokens each text of a message may have, so that the sum is at most `budget`.

    Results and sources are cut before what the speaker wrote, down to one token each; the longest of them first, and in
    it the longest text.
    """
    groups = [result.texts for result in message.tool_results] + [source.texts for source in message.outer_sources]
    if not groups:
        return level_down(counts, budget)
    own = message.own
    by_group = [[counts[i] for i in positions] for positions in groups]
    said = min(sum(counts[i] for i in own), max(0, budget - sum(map(any, by_group))))
    allowed = dict(zip(own, level_down([counts[i] for i in own], said), strict=True))
    shares = level_down([sum(texts) for texts in by_group], budget - said)
    for positions, texts, share in zip(groups, by_group, shares, strict=True):
        allowed.update(zip(positions, level_down(texts, share), strict=True))
    return [allowed[i] for i in range(len(counts))]


def _is_inside(positions: range, outer: range) -> bool:
    return outer.start <= positions.start and positions.stop <= outer.stop
