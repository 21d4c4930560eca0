"""Colors and patterns of what a report shows; no two neighbors differ by color alone.

The colors are near those of Okabe and Ito, which people with every common kind of color blindness tell apart. Each is
light enough for black text, so that it reads the same on a light and on a dark page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

INK = "#111111"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How one kind of segment looks.

    Args:
        color: Its color; None for what is left empty.
        angle: The direction of its stripes in a browser, in degrees; None for none.
        hatch: Its pattern in a figure.
        fill: The character that fills it in a terminal.
    """

    color: str | None
    angle: int | None = None
    hatch: str = ""
    fill: str


LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        "fixed": Look(color="#B8B8B8", fill="f"),
        "system": Look(color="#E69F00", angle=45, hatch="//", fill="s"),
        "tools": Look(color="#D9A7F0", angle=90, hatch="||", fill="t"),
        "sections": Look(color="#9AD14B", angle=45, hatch="//", fill="n"),
        "query": Look(color="#F0E442", angle=90, hatch="||", fill="q"),
        "documents": Look(color="#56B4E9", fill="d"),
        "history": Look(color="#2DB48C", angle=-45, hatch="\\\\", fill="h"),
        "free": Look(color=None, fill="."),
        "reserve": Look(color="#CC79A7", angle=0, hatch="--", fill="r"),
        "margin": Look(color="#9FB4E8", angle=90, hatch="||", fill="m"),
        "outside": Look(color=None, angle=45, hatch="..", fill="-"),
        "kept": Look(color="#2DB48C", fill="#"),
        "shortened": Look(color="#F0E442", angle=90, hatch="||", fill="/"),
        "partial": Look(color="#F0E442", angle=90, hatch="||", fill="/"),
        "summarized": Look(color="#56B4E9", angle=0, hatch="--", fill="="),
        "dropped": Look(color="#F08A4B", angle=45, hatch="//", fill="x"),
        "mixed": Look(color="#B8B8B8", angle=-45, hatch="\\\\", fill="%"),
    }
)
