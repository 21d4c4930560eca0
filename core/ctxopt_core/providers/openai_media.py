"""What OpenAI's models charge for images and audio.

The rules are those of the guide "Images and vision" of OpenAI's documentation, sections "Model sizing behavior" and
"Calculating costs", as of November 2026: tiles of 512 pixels for the gpt-4o family, gpt-4.1, gpt-5 and the o-series;
patches of 32 pixels for the small models and everything from gpt-5.2 on. Audio is that of the guide "Managing costs" of
the Realtime API: a token for 100 milliseconds.

Where the documentation leaves something open, the dearer reading counts: `low` is not taken to reduce the patches of an
image, and a model that is newer than the documentation keeps an image as large as it is.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ctxopt_core.messages.message import MediaFacts

_TYPICAL_SIZE = (1024, 1024)  # pixels: the example of "Calculating costs", of four tiles
# Pixels: side of a tile, and the sides to which an image is scaled down before it is divided ("Calculating costs").
_TILE, _SHORT_SIDE, _LONG_SIDE = 512, 768, 2048
_PATCH = 32  # pixels: side of a patch ("Calculating costs")
_REPORTED_MULTIPLIER = 1.2  # tokens of a patch where none is published, as reported for the models from gpt-5.2 on
_AUDIO_PER_SECOND = 10  # tokens: one for 100 milliseconds ("Managing costs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """Tokens of an image that is charged by tiles.

    Args:
        base: For every image.
        tile: For each tile of 512 pixels.
    """

    base: int
    tile: int

    def tokens(self, width: int, height: int) -> int:
        """Return what an image of this size costs in high detail."""
        scale = min(1.0, _LONG_SIDE / max(width, height))
        scale = min(scale, _SHORT_SIDE / min(width, height))
        across, down = (math.ceil(round(side * scale, 6) / _TILE) for side in (width, height))
        return self.base + self.tile * max(1, across) * max(1, down)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """Tokens of an image that is charged by patches of 32 pixels.

    Args:
        multiplier: Tokens of one patch.
        most: The most patches of an image; larger ones are scaled down. None for no limit.
        longest: The longest side of an image, in pixels; larger ones are scaled down. None for no limit.
    """

    multiplier: float
    most: int | None
    longest: int | None

    def tokens(self, width: int, height: int) -> int:
        """Return what an image of this size costs."""
        if self.longest is not None and max(width, height) > self.longest:
            scale = self.longest / max(width, height)
            width, height = max(1, math.ceil(width * scale)), max(1, math.ceil(height * scale))
        patches = _patches(width, height)
        if self.most is not None and patches > self.most:
            patches = min(self.most, _patches(*_shrunk(width, height, self.most)))
        return math.ceil(round(patches * self.multiplier, 6))


# From the tables in "Calculating costs". The first pattern that the bare, unified id begins with decides.
_IMAGES: tuple[tuple[str, Tiles | Patches], ...] = (
    (r"gpt-4o-mini", Tiles(base=2833, tile=5667)),
    (r"gpt-4-1-mini", Patches(multiplier=1.62, most=1536, longest=2048)),
    (r"gpt-4-1-nano", Patches(multiplier=2.46, most=1536, longest=2048)),
    (r"(?:chat)?gpt-4", Tiles(base=85, tile=170)),
    (r"(?:o4-mini|codex-mini)", Patches(multiplier=1.72, most=1536, longest=2048)),
    (r"o\d", Tiles(base=75, tile=150)),
    (r"computer-use", Tiles(base=65, tile=129)),
    (r"gpt-5(?:-4)?-mini", Patches(multiplier=1.62, most=1536, longest=2048)),
    (r"gpt-5(?:-4)?-nano", Patches(multiplier=2.46, most=1536, longest=2048)),
    (r"gpt-5-(?:1-)?codex-mini|gpt-5-[23](?!\d)", Patches(multiplier=1.2, most=1536, longest=2048)),
    (r"gpt-5-4(?!\d)", Patches(multiplier=1.2, most=2500, longest=2048)),
    (r"gpt-5-5(?!\d)", Patches(multiplier=1.2, most=10_000, longest=6000)),
    (r"gpt-5(?!-?[6-9]|-\d\d(?:-|$))", Tiles(base=70, tile=140)),
)
_UNLIMITED = Patches(multiplier=_REPORTED_MULTIPLIER, most=None, longest=None)
_ORIGINAL = Patches(multiplier=_REPORTED_MULTIPLIER, most=10_000, longest=6000)
_KEPT_ORIGINAL = re.compile(r"gpt-5-[45](?!\d)(?!-(?:mini|nano))")
_HIGH = Patches(multiplier=_REPORTED_MULTIPLIER, most=2500, longest=2048)


def openai_tokens(name: str, facts: MediaFacts) -> int | None:
    """Return what a model of OpenAI charges for an image or for audio; None where the facts do not suffice.

    `name` is the bare id in its unified spelling, for example `gpt-4-1-mini`.
    """
    if facts.seconds is not None and (facts.media_type or "").startswith("audio/"):
        return math.ceil(facts.seconds * _AUDIO_PER_SECOND)
    rule = _image_rule(name, facts.detail)
    if isinstance(rule, Tiles) and facts.detail == "low":
        return rule.base
    return None if facts.size is None else rule.tokens(*facts.size)


def openai_image_allowance(name: str) -> int:
    """Return the tokens of a typical image of unknown size, where the model charges by tiles; else 0."""
    rule = _image_rule(name, None)
    return rule.tokens(*_TYPICAL_SIZE) if isinstance(rule, Tiles) else 0


def _image_rule(name: str, detail: str | None) -> Tiles | Patches:
    if detail == "original" and _KEPT_ORIGINAL.match(name):
        return _ORIGINAL
    if detail == "high" and name.startswith("gpt-5-5"):
        return _HIGH
    return next((rule for pattern, rule in _IMAGES if re.match(pattern, name)), _UNLIMITED)


def _patches(width: int, height: int) -> int:
    return math.ceil(width / _PATCH) * math.ceil(height / _PATCH)


def _shrunk(width: int, height: int, most: int) -> tuple[int, int]:
    """Return the size to which an image is scaled so that its patches are within the limit."""
    factor = math.sqrt(_PATCH**2 * most / (width * height))
    across, down = width * factor / _PATCH, height * factor / _PATCH
    factor *= min(math.floor(across) / across, math.floor(down) / down) or 1.0
    return max(1, math.floor(round(width * factor, 6))), max(1, math.floor(round(height * factor, 6)))
