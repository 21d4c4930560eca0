"""What Claude charges for images and PDF pages.

The rules are those of Anthropic's documentation, pages "Images and vision" (section "Resolution and token cost") and
"PDF support" (section "Estimate your costs"), as of November 2026. Where that page said something else before 2026, the
larger figure counts.
"""

from __future__ import annotations

import math
import re

from ctxopt_core.messages.message import MediaFacts

_PATCH = 28  # pixels: side of the square that is one token ("Resolution and token cost")
_PIXELS_PER_TOKEN = 750  # by the same page before 2026: `width * height / 750`
# The longest side in pixels and the most tokens to which an image is scaled down (the same section).
_STANDARD = (1568, 1568)
_HIGH_RESOLUTION = (2576, 4784)
_FIRST_HIGH_RESOLUTION = (4, 7)  # version of Claude
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?")
_PAGE_TEXT = 3_000  # tokens of the text of a page, at most ("PDF support"); its image is charged, too


def anthropic_tokens(name: str, facts: MediaFacts) -> int | None:
    """Return what a model of Anthropic charges for an image or a PDF; None where the facts do not suffice.

    `name` is the bare id in its unified spelling, for example `claude-sonnet-4-5`.
    """
    version = claude_version(name)
    # A version that is not known is taken for a new one, which charges more.
    edge, most = _HIGH_RESOLUTION if version is None or version >= _FIRST_HIGH_RESOLUTION else _STANDARD
    if facts.pages is not None:
        return facts.pages * (_PAGE_TEXT + most)
    return None if facts.size is None else _image_tokens(*facts.size, edge, most)


def claude_version(name: str) -> tuple[int, int] | None:
    """Return major and minor version of a Claude model by its bare, unified id; None where it names none."""
    found = _VERSION.match(name)
    return (int(found[1]), int(found[2] or 0)) if found else None


def _image_tokens(width: int, height: int, edge: int, most: int) -> int:
    """Scale an image to the largest size within both limits and return its tokens."""
    long_side, short_side = max(width, height), min(width, height)
    low, high = 1, min(long_side, edge)
    while low < high:
        middle = (low + high + 1) // 2
        if _patches(middle, _scaled(short_side, middle, long_side)) <= most:
            low = middle
        else:
            high = middle - 1
    width, height = low, _scaled(short_side, low, long_side)
    return max(_patches(width, height), min(most, math.ceil(width * height / _PIXELS_PER_TOKEN)))


def _scaled(side: int, to: int, of: int) -> int:
    return max(1, round(side * to / of))


def _patches(width: int, height: int) -> int:
    return math.ceil(width / _PATCH) * math.ceil(height / _PATCH)
