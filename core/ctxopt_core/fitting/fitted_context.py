"""The result of a fit: indices into what was given, new content where it was shortened, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxopt_core.displayed import Displayed, html_with_content
from ctxopt_core.documents.packing import Packing
from ctxopt_core.history.trimming import Trimming, kept_items
from ctxopt_core.messages.message import Message
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.request import ContextRequest
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedContext(Displayed):
    """A request that fits: indices into what was given, new strings where it was cut, and the report.

    Args:
        request: The request that was given.
        system: The strings of the system prompt; an empty one did not fit.
        query: The entries of the query, when the request gives the query itself.
        documents: Which documents stay, in reading order, and the passages of those that stay in part.
        history: Which messages stay, system messages and query included, and the new content of shortened ones.
        sections: The kept entries of each section, oldest first.
        report: What was kept, cut and dropped, and why.
        unchanged: Whether the request fitted as it was.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, Message, fit
        >>> chat = [Message(role="user", content="word " * 30), Message(role="assistant", content="Yes.")]
        >>> request = ContextRequest(history=[*chat, Message(role="user", content="And now?")])
        >>> fitted = fit(request, ContextBudget(max_input_tokens=50), counter=CallableCounter(len))
        >>> fitted.history.kept, [message.content for message in fitted.messages()]
        ((0, 1, 2), ['word word', 'Yes.', 'And now?'])
    """

    request: ContextRequest
    system: tuple[str, ...]
    query: tuple[str, ...]
    documents: Packing
    history: Trimming
    sections: tuple[tuple[str, ...], ...] = ()
    report: FitReport
    unchanged: bool

    def document_texts(self) -> tuple[str, ...]:
        """Return the kept documents as strings, in reading order."""
        return tuple(self.documents.texts.get(i) or self.request.documents[i].text or "" for i in self.documents.kept)

    def messages(self) -> tuple[Message, ...]:
        """Return the kept messages, shortened ones as copies, with the placeholder where there is one."""
        history = self.request.history
        kept = kept_items(
            history,
            self.history,
            shortened=lambda index, cut: shortened_message(history[index], cut),
            placeholder=lambda text, _: Message(role=self.history.placeholder_role, content=text, synthetic=True),
        )
        return tuple(kept)

    def to_html(self, *, show_content: bool = False, standalone: bool = False) -> str:
        """Return the report as HTML, with previews of the content where they are asked for.

        Args:
            show_content: Whether it shows the first words of prompts, documents and messages: what is kept, as it is
                sent, and some of what was dropped.
            standalone: Whether it is a whole page or a part for another page.
        """
        if show_content:
            return html_with_content(self, standalone=standalone)
        return Displayed.to_html(self, standalone=standalone)


def shortened_message(message: Message, cut: Shortened) -> Message:
    """Return a copy of `message` with its shortened content and arguments; everything else stays."""
    if cut.results_omitted:
        message = message.beside_results
    if cut.arguments:
        calls = enumerate(message.tool_calls)
        shorter = (replace(call, arguments=cut.arguments.get(i, call.arguments)) for i, call in calls)
        message = replace(message, tool_calls=tuple(shorter))
    if message.tool_results:
        message = _with_moved_results(message, cut)
    texts = tuple(text for text in cut.texts if text)
    if not cut.attachments_omitted:
        content = texts[0] if isinstance(message.content, str) and texts else texts
        return replace(message, content=content or "")
    fixed = tuple(attachment for attachment in message.attachments if attachment.fixed)
    return replace(message, content=(*texts, ATTACHMENT_OMITTED), attachments=fixed)


def _with_moved_results(message: Message, cut: Shortened) -> Message:
    """Return a copy whose results point to their texts and attachments once the others are gone."""
    texts = [bool(text) for text in cut.texts]
    attachments = [attachment.fixed or not cut.attachments_omitted for attachment in message.attachments]
    moved = (
        replace(result, texts=_moved(result.texts, texts), attachments=_moved(result.attachments, attachments))
        for result in message.tool_results
    )
    return replace(message, tool_results=tuple(moved))


def _moved(positions: range, stays: Sequence[bool]) -> range:
    start = sum(stays[: positions.start])
    return range(start, start + sum(stays[positions.start : positions.stop]))
