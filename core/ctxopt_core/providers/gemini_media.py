"""What Gemini charges for images, audio, video and PDF pages.

The rules are those of the Gemini API documentation, pages "Understand and count tokens", "Image understanding", "Video
understanding" and "Media resolution", and of the Vertex AI page on image understanding for the size of a tile, as of
November 2026. Up to Gemini 2.5 an image costs 258 tokens for each tile, from Gemini 3 on what its media resolution
says, whatever its size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

from ctxopt_core.messages.message import MediaFacts

_TILE_TOKENS = 258  # tokens of a tile, and of a PDF page up to Gemini 2.5 ("Understand and count tokens")
_SMALL_SIDE = 384  # pixels: an image whose sides are no longer is one tile (the same page)
# The side of a tile in pixels, and how many tiles the shorter side of an image has (Vertex AI, "Image understanding").
_SMALLEST_TILE, _LARGEST_TILE, _TILES_OF_SHORT_SIDE = 256, 768, 1.5
_AUDIO_PER_SECOND = 32  # tokens ("Understand and count tokens")
_VIDEO_PER_SECOND = 300  # tokens ("Video understanding"); another page says 263, and the larger figure counts
_VERSION = re.compile(r"gemini-(\d{1,2})(?!\d)")
_FIRST_WITH_RESOLUTIONS = 3  # version of Gemini ("Media resolution")
# Tokens of an image and of a PDF page ("Media resolution"): by the resolution that is asked for, and without one.
_IMAGE_BY_RESOLUTION: Mapping[str | None, int] = MappingProxyType(
    {"low": 280, "medium": 560, "high": 1_120, "ultra_high": 2_240}
)
_USUAL_IMAGE, _USUAL_PAGE = 1_120, 560


def gemini_tokens(name: str, facts: MediaFacts) -> int | None:
    """Return what a model of Google charges for media; None where the facts do not suffice.

    `name` is the bare id in its unified spelling, for example `gemini-2-5-flash`.
    """
    kind = (facts.media_type or "").partition("/")[0]
    if facts.seconds is not None:
        return math.ceil(facts.seconds * (_AUDIO_PER_SECOND if kind == "audio" else _VIDEO_PER_SECOND))
    found = _VERSION.match(name)
    newer = found is None or int(found[1]) >= _FIRST_WITH_RESOLUTIONS
    if facts.pages is not None:
        page = max(_USUAL_PAGE, _IMAGE_BY_RESOLUTION.get(facts.detail, 0)) if newer else _TILE_TOKENS
        return facts.pages * page
    if newer and (kind == "image" or facts.size is not None):
        return _IMAGE_BY_RESOLUTION.get(facts.detail, _USUAL_IMAGE)
    return None if facts.size is None else _TILE_TOKENS * _tiles(*facts.size)


def _tiles(width: int, height: int) -> int:
    if max(width, height) <= _SMALL_SIDE:
        return 1
    tile = min(_LARGEST_TILE, max(_SMALLEST_TILE, math.floor(min(width, height) / _TILES_OF_SHORT_SIDE)))
    return math.ceil(width / tile) * math.ceil(height / tile)
