"""Message contents as lists of parts: what is text to cut, text to keep, calls, results and attachments.

The shapes are those that chat APIs and frameworks share: a string, or a list of strings and of mappings with a `type`.
Bytes in base64 and addresses are never counted as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxopt_core.formats.media import facts_of
from ctxopt_core.formats.part_kinds import (
    ATTACHMENT_KINDS,
    CALL_KINDS,
    READ_RESULTS,
    TEXT_KINDS,
    THOUGHT_KINDS,
    answered_by,
    answers_in_order,
    holds_media,
    is_attachment,
    is_compaction,
    is_readable,
    is_result,
    kind_of,
    sealed_call_id,
    server_call_id,
    source_texts,
    text_of,
    texts_inside,
    unwrapped,
)
from ctxopt_core.formats.sealed import sealed_attachment, sealed_characters
from ctxopt_core.formats.tool_calls import ARGUMENT_KEYS, call_of
from ctxopt_core.formats.verbatim import verbatim_texts
from ctxopt_core.messages.message import Attachment, Message, TextSource, ToolCall, ToolResult

_BESIDE_CONTENT = ("refusal", "reasoning_content", "reasoning")
_REDACTED = "redacted_thinking"
_TEXT_KEYS = {"type", "text"}
_NOT_TOLD = frozenset({"type", "text", "id", "mime_type", "media_type", "source_type"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A content, taken apart.

    Args:
        texts: The text parts, in order, those inside results and sources among them.
        verbatim: Other text that is sent and may not be cut: reasoning, citations, server tool calls and results.
        attachments: Images, audio, video and files, and what sealed text costs.
        calls: The tool calls in the content.
        results: The tool results in the content, and which of the other fields are theirs.
        sources: Search results, documents and files that are sent as text, and which of the other fields are theirs.
        thinks: Whether there is reasoning in the content, readable or not, or a signature on one of the calls.
        compacts: Whether a provider's compaction is in it.
        server_calls: The ids of the provider's own calls that no result in the content answers.
        server_results: The ids that results in the content answer, of calls that are not in it.
        leads: Whether the last part is reasoning.
    """

    texts: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    sources: tuple[TextSource, ...] = ()
    thinks: bool = False
    compacts: bool = False
    server_calls: tuple[str, ...] = ()
    server_results: tuple[str, ...] = ()
    leads: bool = False

    def message(
        self,
        role: str,
        given: object = None,
        *,
        calls: Sequence[ToolCall] = (),
        beside: Sequence[str] = (),
        sealed_beside: object = None,
        **fields: Any,
    ) -> Message:
        """Return the view of a message with this content.

        Args:
            role: Who speaks.
            given: The content as it was given: a string stays one.
            calls: The calls beside the content; those in the content are repetitions where the ids are the same.
            beside: Texts that are sent beside the content.
            sealed_beside: What is sent beside the content and may be sealed.
            fields: Other fields of the view.
        """
        known = {call.id for call in calls}
        is_user, is_model = role == "user", role == "assistant"
        has_calls = bool(calls or self.calls)
        return Message(
            role=role,
            content=self.texts[0] if isinstance(given, str) and self.texts else self.texts,
            verbatim=(*self.verbatim, *beside),
            tool_calls=(*calls, *(call for call in self.calls if call.id not in known)),
            tool_results=self.results if is_user else (),
            attachments=(*self.attachments, *sealed_attachment(sealed_characters(sealed_beside))),
            sources=self.sources,
            server_calls=self.server_calls if is_model else (),
            server_results=self.server_results if is_model else (),
            compacts=self.compacts and is_model,
            leads=self.leads and is_model and not has_calls,
            **fields,
        )


class ContentBuilder:
    """The parts of a content while they are found: its lists are appended to, then `content` returns the value."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.verbatim: list[str] = []
        self.attachments: list[Attachment] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.sources: list[TextSource] = []
        self.thinks = self.compacts = self.leads = False
        self._server_calls: list[str] = []
        self._server_results: list[str] = []

    def content(self) -> Content:
        """Return the content. Where there is reasoning in it, the arguments of its calls are fixed."""
        return Content(
            texts=tuple(self.texts),
            verbatim=tuple(self.verbatim),
            attachments=tuple(self.attachments),
            calls=tuple(replace(call, fixed=True) for call in self.calls) if self.thinks else tuple(self.calls),
            results=tuple(self.results),
            sources=tuple(self.sources),
            thinks=self.thinks,
            compacts=self.compacts,
            server_calls=tuple(self._server_calls),
            server_results=tuple(self._server_results),
            leads=self.leads,
        )

    def add_source(self, texts: Sequence[str], told: Sequence[str]) -> None:
        """Add a search result, a document or a file that is sent as text, and what is told of it, such as its title."""
        first, beside = len(self.texts), len(self.verbatim)
        self.texts.extend(texts)
        self.verbatim.extend(told)
        inside = range(first, len(self.texts))
        self.sources.append(TextSource(texts=inside, verbatim=range(beside, len(self.verbatim))))

    def add_server_call(self, identity: str) -> None:
        """Add the id of a call that the provider answers."""
        self._server_calls.append(identity)

    def add_answer(self, identity: str | None, *, in_order: bool) -> None:
        """Add the id of a call that is answered here, which is closed where the call is in this content, too."""
        own = next((call for call in self.calls if identity and call.id == identity), None)
        if own is not None:
            self.calls.remove(own)
        elif identity in self._server_calls:
            self._server_calls.remove(identity)
        elif in_order and self._server_calls:
            del self._server_calls[0]
        elif identity:
            self._server_results.append(identity)


def take_apart(content: object) -> Content:
    """Return the parts of a message content.

    Raises:
        TypeError: The content is neither a string nor a list of parts.
    """
    if content is None or content == "":
        return Content()
    if isinstance(content, str):
        return Content(texts=(content,))
    if not isinstance(content, Sequence):
        message = f"a message's `content` must be a string, a list of parts or None, got {type(content).__name__}"
        raise TypeError(message)
    found = ContentBuilder()
    for part in content:
        _add(part, found)
    return found.content()


def extra_texts(mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that are sent beside a message's content: a refusal, or reasoning that is sent back."""
    return tuple(text for key in _BESIDE_CONTENT if isinstance(text := mapping.get(key), str) and text)


def _add(part: Any, found: ContentBuilder) -> None:
    kind = kind_of(part)
    found.leads = False
    if isinstance(part, str):
        found.texts.append(part)
        return
    readable, sent = 0, part
    if kind in TEXT_KINDS:
        found.texts.append(text_of(part))
        if part.keys() == _TEXT_KEYS:
            return
    elif (inside := source_texts(part, kind)) is not None:
        found.add_source(inside, _told(part))
    elif kind in ATTACHMENT_KINDS:
        inside = texts_inside(part)
        found.verbatim.extend(inside)
        if not inside:
            found.attachments.append(Attachment(kind=ATTACHMENT_KINDS[kind], facts=facts_of(part)))
    elif kind in CALL_KINDS:
        found.calls.append(call_of(part))
        found.thinks = found.thinks or found.calls[-1].fixed
        sent = {key: value for key, value in part.items() if key not in ARGUMENT_KEYS}
    elif kind in READ_RESULTS and is_readable(part.get(READ_RESULTS[kind])):
        _add_result(part, kind, found)
        return
    else:
        readable = _add_sealed(part, kind, found)
    characters = sealed_characters(sent)
    if kind == _REDACTED:
        found.attachments.extend(sealed_attachment(characters, small=0))
    else:
        found.attachments.extend(sealed_attachment(characters, readable=readable))


def _add_sealed(part: Mapping[str, Any], kind: str, found: ContentBuilder) -> int:
    """Add a part that may not be edited; return the bytes of its thoughts, which its signature seals, too."""
    verbatim, attachments = len(found.verbatim), len(found.attachments)
    texts = verbatim_texts(part, kind, found.attachments)
    found.verbatim.extend(texts)
    inner, inner_kind = unwrapped(part, kind)
    thinks = found.leads = inner_kind in THOUGHT_KINDS
    found.thinks = found.thinks or thinks
    found.compacts = found.compacts or is_compaction(part)
    if is_result(inner, inner_kind):
        identity = answered_by(inner, inner_kind)
        found.add_answer(identity, in_order=answers_in_order(inner_kind))
        found.results.append(
            ToolResult(
                call_id=identity,
                texts=range(len(found.texts), len(found.texts)),
                verbatim=range(verbatim, len(found.verbatim)),
                attachments=range(attachments, len(found.attachments)),
            )
        )
    elif identity := sealed_call_id(inner, inner_kind):
        found.calls.append(ToolCall(id=identity, name=inner_kind, fixed=True))
    elif identity := server_call_id(inner, inner_kind):
        found.add_server_call(identity)
    elif not thinks and holds_media(part, kind):
        fixed = not is_attachment(part, kind)
        found.attachments.append(Attachment(kind="other", fixed=fixed, facts=facts_of(part)))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) if thinks else 0


def _add_result(part: Mapping[str, Any], kind: str, found: ContentBuilder) -> None:
    texts, verbatim, attachments = len(found.texts), len(found.verbatim), len(found.attachments)
    identity = answered_by(part, kind)
    inside = take_apart(part.get(READ_RESULTS[kind]))
    found.texts.extend(inside.texts)
    found.verbatim.extend((identity or "", *inside.verbatim))
    found.verbatim.extend(text for call in inside.calls for text in (call.id or "", call.name, call.arguments))
    found.attachments.extend(inside.attachments)
    found.attachments.extend(sealed_attachment(sealed_characters({**part, READ_RESULTS[kind]: None})))
    found.add_answer(identity, in_order=False)
    found.sources.extend(
        TextSource(texts=_shifted(source.texts, texts), verbatim=_shifted(source.verbatim, verbatim + 1))
        for source in inside.sources
    )
    found.results.append(
        ToolResult(
            call_id=identity,
            texts=range(texts, len(found.texts)),
            verbatim=range(verbatim, len(found.verbatim)),
            attachments=range(attachments, len(found.attachments)),
        )
    )


def _shifted(positions: range, by: int) -> range:
    return range(positions.start + by, positions.stop + by)


def _told(part: Mapping[str, Any]) -> list[str]:
    """Return what is sent of a source beside its text: its title, its address, its context."""
    return [value for key, value in part.items() if key not in _NOT_TOLD and isinstance(value, str) and value]
