"""Message contents as lists of parts: what is text to cut, text to keep, calls, results and attachments.

The shapes are those that chat APIs and frameworks share: a string, or a list of strings and of mappings with a `type`.
Bytes in base64 and addresses are never counted as text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxopt_core.formats.media import facts_of
from ctxopt_core.formats.tool_calls import ShortenedCalls, call_of
from ctxopt_core.messages.message import Attachment, AttachmentKind, ToolCall, ToolResult
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened

TEXT_KINDS = frozenset({"text", "input_text", "output_text"})
ATTACHMENT_KINDS: Mapping[str, AttachmentKind] = {
    **dict.fromkeys(("image", "image_url", "input_image", "image_generation_call", "computer_screenshot"), "image"),
    **dict.fromkeys(("audio", "input_audio"), "audio"),
    **dict.fromkeys(("file", "input_file", "document", "text-plain"), "file"),
    "video": "video",
    "media": "other",
}
CALL_KINDS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "function_call", "custom_tool_call", "invalid_tool_call"}
)
RESULT_KIND = "tool_result"
MEDIA_KEYS = frozenset({"data", "base64", "url", "file_id", "source"})
_UNTYPED = ("text", "image", "document", "video", "audio")
THOUGHT_KINDS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_UNREAD_KEYS = frozenset({"cache_control", "index", "extras"})
_SEALED_KEYS = frozenset({"signature", "encrypted_content", "encrypted_index", "data", "base64"})
_LONGEST_MEDIA_TYPE = 200  # characters of a data URI in which `;base64,` is looked for; no media type is longer
_BESIDE_CONTENT = ("refusal", "reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A content, taken apart.

    Args:
        texts: The text parts, in order, those inside results among them.
        verbatim: Other text that is sent and may not be cut: reasoning, citations, server tool calls and results.
        attachments: Images, audio, video and files.
        calls: The tool calls in the content.
        results: The tool results in the content, and which of the other fields are theirs.
        thinks: Whether there is reasoning in the content, readable or not, or a signature on one of the calls.
    """

    texts: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    thinks: bool = False


class ContentBuilder:
    """The parts of a content while they are found: its lists are appended to, then `content` returns the value."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.verbatim: list[str] = []
        self.attachments: list[Attachment] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.thinks = False

    def content(self) -> Content:
        """Return the content. Where there is reasoning in it, the arguments of its calls are fixed."""
        return Content(
            texts=tuple(self.texts),
            verbatim=tuple(self.verbatim),
            attachments=tuple(self.attachments),
            calls=tuple(replace(call, fixed=True) for call in self.calls) if self.thinks else tuple(self.calls),
            results=tuple(self.results),
            thinks=self.thinks,
        )


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


def put_together(content: object, cut: Shortened, calls: Sequence[ToolCall] = ()) -> Any:
    """Return a content with the texts of `cut` in place of its texts, everything else as it was.

    A part of which no text is left goes; the first attachment that is left out becomes a part that says so.

    Args:
        content: The content as it was given.
        cut: The new texts and arguments.
        calls: The calls of the message's view, where arguments are shortened.
    """
    return Assembly(cut, calls).content(content)


def extra_texts(mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that are sent beside a message's content: a refusal, or reasoning that is sent back."""
    return tuple(text for key in _BESIDE_CONTENT if isinstance(text := mapping.get(key), str) and text)


def _add(part: Any, found: ContentBuilder) -> None:
    kind = kind_of(part)
    if kind in TEXT_KINDS:
        found.texts.append(text_of(part))
    elif kind in ATTACHMENT_KINDS:
        inside = texts_inside(part)
        found.verbatim.extend(inside)
        if not inside:
            found.attachments.append(Attachment(kind=ATTACHMENT_KINDS[kind], facts=facts_of(part)))
    elif kind in CALL_KINDS:
        found.calls.append(call_of(part))
        found.thinks = found.thinks or found.calls[-1].fixed
    elif kind == RESULT_KIND and is_readable(part.get("content")):
        _add_result(part, found)
    else:
        found.thinks = found.thinks or kind in THOUGHT_KINDS
        found.verbatim.extend(verbatim_texts(part, kind, found.attachments))
        if holds_media(part, kind):
            fixed = not is_attachment(part, kind)
            found.attachments.append(Attachment(kind="other", fixed=fixed, facts=facts_of(part)))


def _add_result(part: Mapping[str, Any], found: ContentBuilder) -> None:
    texts, verbatim, attachments = len(found.texts), len(found.verbatim), len(found.attachments)
    identity = part.get("tool_use_id")
    inside = take_apart(part.get("content"))
    found.texts.extend(inside.texts)
    found.verbatim.extend((str(identity or ""), *inside.verbatim))
    found.verbatim.extend(text for call in inside.calls for text in (call.id or "", call.name, call.arguments))
    found.attachments.extend(inside.attachments)
    found.results.append(
        ToolResult(
            call_id=identity if isinstance(identity, str) else None,
            texts=range(texts, len(found.texts)),
            verbatim=range(verbatim, len(found.verbatim)),
            attachments=range(attachments, len(found.attachments)),
        )
    )


class Assembly:
    """Puts contents together again. `content` uses up the texts: call it in the order in which they came apart."""

    def __init__(self, cut: Shortened, calls: Sequence[ToolCall] = ()) -> None:
        self._cut = cut
        self._calls = ShortenedCalls(calls, cut.arguments)
        self._seen: Counter[str | None] = Counter()
        self._texts = iter(cut.texts)
        self._is_marked = False

    def content(self, content: object, text_kind: str = "text") -> Any:
        """Return the next content; `text_kind` is the kind of a part that says that attachments were left out."""
        if isinstance(content, str):
            return next(self._texts, content) if content else content
        if not isinstance(content, Sequence):
            return content
        return [left for part in content for left in self._left_of(part, text_kind)]

    def _left_of(self, part: Any, text_kind: str) -> Iterator[Any]:
        kind = kind_of(part)
        if kind in TEXT_KINDS:
            text = next(self._texts)
            if text == text_of(part):
                yield part
            elif text:
                yield text if isinstance(part, str) else {**part, "text": text}
        elif kind == RESULT_KIND and is_readable(content := part.get("content")):
            if not self._cut.results_omitted:
                left = self.content(content)
                yield part if left == content else {**part, "content": left}
        elif kind in CALL_KINDS:
            yield self._calls.of(part, self._seen) if self._calls else part
        elif self._cut.attachments_omitted and is_attachment(part, kind):
            if not self._is_marked:
                yield {"type": text_kind, "text": ATTACHMENT_OMITTED}
            self._is_marked = True
        else:
            yield part


def kind_of(part: object) -> str:
    """Return the type of a part; one that names none is recognized by its keys.

    Raises:
        TypeError: It is neither a string nor a mapping.
    """
    if isinstance(part, str):
        return "text"
    if isinstance(part, Mapping):
        return str(part.get("type") or next((key for key in _UNTYPED if key in part), ""))
    message = f"a part of a message's `content` must be a string or a mapping, got {type(part).__name__}"
    raise TypeError(message)


def is_attachment(part: Any, kind: str) -> bool:
    """Return whether a part is an attachment that may be left out."""
    if kind in ATTACHMENT_KINDS:
        return not texts_inside(part)
    if kind in THOUGHT_KINDS or kind.startswith("server_tool") or kind.endswith(RESULT_KIND):
        return False
    return kind not in TEXT_KINDS and kind not in CALL_KINDS and holds_media(part, kind)


def holds_media(part: Any, kind: str) -> bool:
    """Return whether a part of an unknown kind names something that is not text."""
    return kind != "search_result" and not MEDIA_KEYS.isdisjoint(part)


def text_of(part: Any) -> str:
    """Return the text of a part that is text."""
    text = part if isinstance(part, str) else part.get("text")
    return text if isinstance(text, str) else ""


def texts_inside(part: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of a file that is sent as text; none where its bytes are sent."""
    source = part.get("source")
    source = source if isinstance(source, Mapping) else {}
    kind = source.get("type")
    if kind == "content":
        content = source.get("content")
        if isinstance(content, str):
            return (content,) if content else ()
        pieces = content if isinstance(content, Sequence) else ()
        return tuple(text_of(piece) for piece in pieces if kind_of(piece) in TEXT_KINDS)
    text = source.get("data") if kind == "text" else part.get("text")
    return (text,) if isinstance(text, str) else ()


def is_readable(content: object) -> bool:
    """Return whether the content of a result is a string or a list of parts."""
    if content is None or isinstance(content, str):
        return True
    return isinstance(content, Sequence) and all(isinstance(part, (str, Mapping)) for part in content)


def verbatim_texts(part: Mapping[str, Any], kind: str, attachments: list[Attachment]) -> list[str]:
    """Return the texts of a part that may not be cut; media inside it are added to `attachments`."""
    if kind in ("thinking", "refusal"):
        text = part.get(kind)
        return [text] if isinstance(text, str) and text else []
    if kind == "reasoning":
        found = part.get("reasoning") or part.get("text")
        summary = part.get("summary")
        pieces = [found] if isinstance(found, str) else []
        if isinstance(summary, Sequence) and not isinstance(summary, str):
            pieces += [text_of(piece) for piece in summary if isinstance(piece, (str, Mapping))]
        return [piece for piece in pieces if piece]
    if kind == "redacted_thinking":
        return []
    left_out = MEDIA_KEYS | _SEALED_KEYS
    sent = {
        key: _sent(value, attachments)
        for key, value in part.items()
        if key not in _UNREAD_KEYS and not (key in left_out and isinstance(value, str))
    }
    return [json.dumps(sent, separators=(",", ":"), ensure_ascii=False, default=str)]


def _sent(value: object, attachments: list[Attachment]) -> object:
    """Return what of a nested value is sent as text; media inside it are added to `attachments`."""
    if isinstance(value, (list, tuple)):
        return [_sent(item, attachments) for item in value]
    is_data_uri = isinstance(value, str) and value.startswith("data:") and ";base64," in value[:_LONGEST_MEDIA_TYPE]
    if is_data_uri or isinstance(value, (bytes, bytearray, memoryview)):
        attachments.append(Attachment(kind="other", fixed=True, facts=facts_of({"data": value})))
        return ""
    if not isinstance(value, Mapping):
        return value
    kind = value.get("type")
    if isinstance(kind, str) and kind in ATTACHMENT_KINDS:
        inside = texts_inside(value)
        if not inside:
            attachments.append(Attachment(kind=ATTACHMENT_KINDS[kind], fixed=True, facts=facts_of(value)))
        return {"type": kind, "text": inside}
    if any(isinstance(value.get(key), str) for key in ("data", "base64")):
        attachments.append(Attachment(kind="other", fixed=True, facts=facts_of(value)))
    return {
        key: _sent(inner, attachments)
        for key, inner in value.items()
        if not (isinstance(inner, str) and key in _SEALED_KEYS)
    }
