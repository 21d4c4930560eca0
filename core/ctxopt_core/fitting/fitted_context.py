"""The result of a fit: indices into what was given, new content where it was shortened, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

from ctxopt_core.displayed import Displayed, html_with_content
from ctxopt_core.documents.packing import Packing
from ctxopt_core.history.trimming import Trimming, kept_items
from ctxopt_core.messages.message import Message, TextSource, ToolResult
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
            added=lambda message: Message(role=message.role, content=message.text, synthetic=True),
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
    texts = tuple(text for text in cut.texts if text)
    stays = _Stays.of(message, cut)
    message = replace(
        message,
        verbatim=tuple(compress(message.verbatim, stays.verbatim)),
        attachments=tuple(compress(message.attachments, stays.attachments)),
        tool_results=tuple(map(stays.moved_result, message.tool_results)),
        sources=tuple(map(stays.moved_source, stays.sources)),
    )
    if not cut.attachments_omitted:
        content = texts[0] if isinstance(message.content, str) and texts else texts
        return replace(message, content=content or "")
    return replace(message, content=(*texts, ATTACHMENT_OMITTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stays:
    """Which parts of a message stay in its copy, so that what points to them can be moved."""

    texts: Sequence[bool]
    verbatim: Sequence[bool]
    attachments: Sequence[bool]
    sources: Sequence[TextSource]

    @classmethod
    def of(cls, message: Message, cut: Shortened) -> _Stays:
        sources = [source for source in message.sources if any(cut.texts[i] for i in source.texts)]
        gone = {i for source in message.sources if source not in sources for i in source.verbatim}
        attachments: list[bool] = []
        for attachment in message.attachments:
            omitted = sum(not stays for stays in attachments)
            attachments.append(attachment.fixed or not cut.omits_attachment(omitted))
        return cls(
            texts=[bool(text) for text in cut.texts],
            verbatim=[i not in gone for i in range(len(message.verbatim))],
            attachments=attachments,
            sources=sources,
        )

    def moved_result(self, result: ToolResult) -> ToolResult:
        return replace(
            result,
            texts=_moved(result.texts, self.texts),
            verbatim=_moved(result.verbatim, self.verbatim),
            attachments=_moved(result.attachments, self.attachments),
        )

    def moved_source(self, source: TextSource) -> TextSource:
        return TextSource(texts=_moved(source.texts, self.texts), verbatim=_moved(source.verbatim, self.verbatim))


def _moved(positions: range, stays: Sequence[bool]) -> range:
    start = sum(stays[: positions.start])
    return range(start, start + sum(stays[positions.start : positions.stop]))
