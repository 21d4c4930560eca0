"""Links between pages of the site, and the headings that they can lead to."""

from __future__ import annotations

import re
from pathlib import Path

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_API_NAME = re.compile(r"^::: (\S+)$", re.MULTILINE)


def links_of(page: Path) -> list[tuple[str, str]]:
    """Return path and anchor of each link that leads to another page of the site."""
    prose = _CODE.sub("", _FENCE.sub("", page.read_text("utf-8")))
    targets = [target.partition("#") for target in _LINK.findall(prose) if "://" not in target]
    return [(path, anchor) for path, _, anchor in targets]


def anchors_of(page: Path) -> set[str]:
    """Return what stands behind the `#` of links to the headings and the names of a page."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    return {*map(_slug, _HEADING.findall(text)), *_API_NAME.findall(text)}


def _slug(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)
