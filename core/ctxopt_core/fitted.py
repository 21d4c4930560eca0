"""The result of a fit: indices into what was given, the texts that were shortened, and the report."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ctxopt_core.documents import Packing
from ctxopt_core.excerpts import ATTACHMENT_OMITTED, Shortened
from ctxopt_core.history import Trimming
from ctxopt_core.placeholder import PLACEHOLDER_ROLE
from ctxopt_core.report import FitReport
from ctxopt_core.request import ContextRequest, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedContext:
    """A request that fits.

    Args:
        request: The request that was given.
        system: The texts of the system prompt; an empty one did not fit.
        query: The entries of the query, when the request gives the query itself.
        documents: Which documents stay, in reading order, and the texts of those that stay in part.
        history: Which messages stay, system messages and query included, and the texts of the shortened ones.
        report: What was kept, cut and dropped, and why.
        untouched: Whether the request fitted as it was.
    """

    request: ContextRequest
    system: tuple[str, ...]
    query: tuple[str, ...]
    documents: Packing
    history: Trimming
    report: FitReport
    untouched: bool

    def document_texts(self) -> tuple[str, ...]:
        """Return the texts of the kept documents in reading order."""
        return tuple(self.documents.texts.get(i) or self.request.documents[i].text or "" for i in self.documents.kept)

    def messages(self) -> tuple[Message, ...]:
        """Return the kept messages, shortened ones as copies, with the placeholder where there is one."""
        trimming = self.history
        found: list[Message] = []
        for index in trimming.kept:
            message = self.request.history[index]
            cut = trimming.shortened.get(index)
            found.append(message if cut is None else shortened_message(message, cut))
            if trimming.placeholder is not None and index == trimming.placeholder_after:
                found.append(Message(role=PLACEHOLDER_ROLE, content=trimming.placeholder, synthetic=True))
        return tuple(found)


def shortened_message(message: Message, cut: Shortened) -> Message:
    """Return a copy of `message` with its shortened texts, everything else as it was."""
    texts = tuple(text for text in cut.texts if text)
    if not cut.attachments_omitted:
        content = texts[0] if isinstance(message.content, str) and texts else texts
        return replace(message, content=content or "")
    fixed = tuple(attachment for attachment in message.attachments if attachment.fixed)
    return replace(message, content=(*texts, ATTACHMENT_OMITTED), attachments=fixed)
