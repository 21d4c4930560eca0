"""Sentences beside the parts of the playground, as HTML in which foreign text is only text."""

from __future__ import annotations

from enum import Enum
from xml.etree.ElementTree import Element, SubElement

from ctxopt_core.sheet_html import as_markup
from ctxopt_core.visible_text import beginning

_LONGEST_SENTENCE = 600


class Tone(Enum):
    """How something is said, and the word that says so to those who do not see the colour."""

    PLAIN = ""
    CAUTION = "Note: "
    PROBLEM = "Problem: "


def told(sentence: str, tone: Tone = Tone.PLAIN) -> str:
    """Return a sentence as HTML. A change of it is read out by screen readers."""
    line = Element("p", {"class": f"ctxopt-told ctxopt-{tone.name.lower()}", "role": "status"})
    if tone.value:
        SubElement(line, "b").text = tone.value
    SubElement(line, "span").text = beginning(sentence, _LONGEST_SENTENCE)
    return as_markup(line)


def heading(text: str) -> str:
    """Return the heading of a part as HTML."""
    found = Element("h3", {"class": "ctxopt-heading"})
    found.text = text
    return as_markup(found)
