"""Name what a cut broke inside a text: half characters, grapheme clusters, replacement characters."""

from __future__ import annotations

import regex

from shortened_copies import slices

CLUSTER = regex.compile(r"\X")
EMOJI = regex.compile(r"[\u200d\p{Extended_Pictographic}\p{Regional_Indicator}]")
CLUSTER_START = regex.compile(r"[!-~]")
UNKEEPABLE_CLUSTER = 32
"""Code points from which a grapheme cluster may be cut, since it need not fit any budget."""


def cut_faults(before: str, after: str) -> list[str]:
    """Return what is broken in `after`, a shortened copy of `before`; nothing for equal texts."""
    if before == after:
        return []
    faults = []
    if after.count("�") > before.count("�"):
        faults.append("a new U+FFFD")
    head, tail = slices(before, after)
    # A line break before the tail may be the marker's own, so that the text's "\\r\\n" is left out whole.
    tail -= tail > 0 and before[len(before) - tail - 1 : len(before) - tail + 1] == "\r\n"
    cuts = {head, len(before) - tail} - {0, len(before)}
    if any(_splits_surrogates(before, cut) for cut in cuts):
        faults.append("half a surrogate pair")
    if any(_splits_cluster(before, cut) for cut in cuts):
        faults.append("a broken grapheme cluster")
    return faults


def _splits_surrogates(text: str, cut: int) -> bool:
    return "\ud800" <= text[cut - 1] <= "\udbff" and "\udc00" <= text[cut] <= "\udfff"


def _may_be_split(cluster: str, *, first: bool) -> bool:
    """A cluster beyond any budget may be split, and where nothing else is left the text's first, unless an emoji."""
    return len(cluster) > UNKEEPABLE_CLUSTER or (first and not EMOJI.search(cluster))


def _splits_cluster(text: str, cut: int) -> bool:
    if text[cut].isascii() and text[cut - 1 : cut + 1] != "\r\n":
        return False
    start = cut - 1
    while start > 0 and not CLUSTER_START.match(text[start]):
        start -= 1
    for cluster in CLUSTER.finditer(text, start):
        if cluster.end() >= cut:
            return cluster.end() != cut and not _may_be_split(cluster.group(), first=cluster.start() == 0)
    return False
