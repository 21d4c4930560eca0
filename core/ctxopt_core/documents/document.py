"""One retrieved document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def is_blank(document: Document) -> bool:
    """Tell whether a document has no text."""
    return not document.text or document.text.isspace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One retrieved document.

    Args:
        text: Its text; None or blank documents are dropped with the reason `empty`.
        id: What the report calls it; its index where there is none.
        score: Relevance; None or NaN rank last.
        source: What it was cut from, so that neighbors can be recognized.
        metadata: Anything else. Never read by the core.
    """

    text: str | None
    id: str | None = None
    score: float | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.text is not None and not isinstance(self.text, str):
            message = f"`text` of document {self.id!r} must be a text or None, got {type(self.text).__name__}"
            raise TypeError(message)
        if self.score is not None and (isinstance(self.score, (str, bytes)) or not _is_number(self.score)):
            message = (
                f"`score` of document {self.id!r} must be a number or None, got {type(self.score).__name__}; "
                "map words such as 'HIGH' to numbers first"
            )
            raise TypeError(message)


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
