"""What can be told of an image, a recording or a file without decoding it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaFacts:
    """What is known of something that is not text. Whatever is not known is None.

    Args:
        media_type: Its type as its first bytes tell it, else as it is declared, for example `image/png`.
        width: Width of an image in pixels.
        height: Height of an image in pixels.
        detail: The resolution that is asked for: `low`, `medium`, `high`, `original`, `ultra_high` or `auto`.
        seconds: Length of a recording in seconds.
        pages: Pages of a document.

    Raises:
        ValueError: A figure is not above 0.
    """

    media_type: str | None = None
    width: int | None = None
    height: int | None = None
    detail: str | None = None
    seconds: float | None = None
    pages: int | None = None

    def __post_init__(self) -> None:
        for name in ("width", "height", "seconds", "pages"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                message = f"`{name}` must be above 0, or None where it is not known, got {value!r}"
                raise ValueError(message)

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, where both are known."""
        return None if self.width is None or self.height is None else (self.width, self.height)
