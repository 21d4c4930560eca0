"""Colours and patterns of what a report shows; no two that stand side by side differ by colour alone.

The colours are near those of Okabe and Ito, which people with every common kind of colour blindness tell apart. Each is
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
        colour: Its colour; None for what is left empty.
        angle: The direction of its stripes in a browser, in degrees; None for none.
        hatch: Its pattern in a figure.
        fill: The character that fills it in a terminal.
    """

    colour: str | None
    angle: int | None = None
    hatch: str = ""
    fill: str


LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        "fixed": Look(colour="#B8B8B8", fill="f"),
        "system": Look(colour="#E69F00", angle=45, hatch="//", fill="s"),
        "query": Look(colour="#F0E442", angle=90, hatch="||", fill="q"),
        "documents": Look(colour="#56B4E9", fill="d"),
        "history": Look(colour="#2DB48C", angle=-45, hatch="\\\\", fill="h"),
        "free": Look(colour=None, fill="."),
        "reserve": Look(colour="#CC79A7", angle=0, hatch="--", fill="r"),
        "outside": Look(colour=None, angle=45, hatch="..", fill="-"),
        "kept": Look(colour="#2DB48C", fill="#"),
        "shortened": Look(colour="#F0E442", angle=90, hatch="||", fill="/"),
        "partial": Look(colour="#F0E442", angle=90, hatch="||", fill="/"),
        "summarised": Look(colour="#56B4E9", angle=0, hatch="--", fill="="),
        "dropped": Look(colour="#F08A4B", angle=45, hatch="//", fill="x"),
        "mixed": Look(colour="#B8B8B8", angle=-45, hatch="\\\\", fill="%"),
    }
)
