"""One retrieved document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxopt_core.messages.message import Attachment


def is_blank(document: Document) -> bool:
    """Return whether a document has no text but white space, and no attachments."""
    return not document.attachments and (not document.text or document.text.isspace())


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One retrieved document, or a chunk of one.

    Args:
        text: Its text; None or blank documents are dropped with the reason `empty`.
        id: Its name in the report; by default its index.
        score: The relevance score of the retriever; None or NaN rank last.
        source: The document that a chunk was cut from. Overlapping chunks of one source are joined.
        metadata: Anything else. Never read by the core.
        attachments: The images, recordings and files that are sent with it. A document that is kept, whole or in part,
            keeps them all; one with attachments and without text is not blank.
        from_pipeline: Whether it comes from a framework's pipeline, of which a stage may have put the documents into
            another order than that of their scores; see `ranking` of `DocumentPolicy`.

    Raises:
        TypeError: `text` is no string, or `score` is no number.

    Example:
        >>> from ctxopt_core import Document
        >>> Document(text="The kiln cracked in March.", id="log-7", score=0.82, source="log.md")
        Document(text='The kiln cracked in March.', id='log-7', score=0.82, source='log.md')
    """

    text: str | None
    id: str | None = None
    score: float | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    from_pipeline: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.text is not None and not isinstance(self.text, str):
            message = f"`text` of document {self.id!r} must be a string or None, got {type(self.text).__name__}"
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
