"""The kinds of parts of a message content, and which of them call or answer.

A call is whatever a result can name. So a part is known by the ids in it and by the ending of its type, and not by a
list of tools: providers add tools with every release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxopt_core.messages.message import AttachmentKind

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
# Results whose content may be shortened, and where their content is.
READ_RESULTS: Mapping[str, str] = {
    RESULT_KIND: "content",
    "function_call_output": "output",
    "custom_tool_call_output": "output",
}
SEARCH_RESULT, COMPACTION = "search_result", "compaction"
THOUGHT_KINDS = frozenset({"thinking", "redacted_thinking", "reasoning"})
MEDIA_KEYS = frozenset({"data", "base64", "url", "file_id", "source"})
APPROVAL_CALL, APPROVAL_RESULT = "mcp_approval_request", "mcp_approval_response"
_UNTYPED = ("text", "image", "document", "video", "audio")
_WRAPPED = "non_standard"
_SERVER_CALL, _SERVER_RESULT = "server_tool_call", "server_tool_result"
_CODE, _CODE_RESULT = "executable_code", "code_execution_result"
# Calls of the Responses API that hold their results themselves, if they have any.
_SELF_CONTAINED = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"}
)
_ANSWERED_KEYS = ("tool_use_id", "tool_call_id", "call_id", "approval_request_id")


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


def unwrapped(part: Mapping[str, Any], kind: str) -> tuple[Mapping[str, Any], str]:
    """Return a part and its type, of LangChain's `non_standard` the one inside."""
    inside = part.get("value") if kind == _WRAPPED else None
    return (inside, kind_of(inside)) if isinstance(inside, Mapping) else (part, kind)


def sealed_call_id(part: Mapping[str, Any], kind: str) -> str | None:
    """Return the id of a call to the application that may not be edited, such as a click; None for anything else."""
    if kind == APPROVAL_CALL:
        return _text(part.get("id"))
    return _text(part.get("call_id")) if kind.endswith("_call") and kind not in _SELF_CONTAINED else None


def server_call_id(part: Mapping[str, Any], kind: str) -> str | None:
    """Return the id of a call that the provider answers itself; None for anything else."""
    is_server_call = kind.startswith(_SERVER_CALL) or kind == _CODE or kind.endswith("_tool_use")
    return _text(part.get("id")) if is_server_call else None


def is_result(part: Mapping[str, Any], kind: str) -> bool:
    """Return whether a part answers a call."""
    if kind in (APPROVAL_RESULT, _SERVER_RESULT, _CODE_RESULT) or kind.endswith(("_output", RESULT_KIND)):
        return True
    return isinstance(part.get("tool_use_id"), str)


def answered_by(part: Mapping[str, Any], kind: str) -> str | None:
    """Return the id of the call that a result answers; None where it names none."""
    # OpenAI's local shell names the call by the id of the output itself.
    keys = (*_ANSWERED_KEYS, "id") if kind.startswith("local_shell") else _ANSWERED_KEYS
    return next((found for key in keys if (found := _text(part.get(key)))), None)


def answers_in_order(kind: str) -> bool:
    """Return whether a result may name no call, or another id, so that it answers the call before it."""
    return kind in (_SERVER_RESULT, _CODE_RESULT)


def is_compaction(part: object) -> bool:
    """Return whether a part is a provider's compaction; one that failed has no content."""
    if not isinstance(part, Mapping):
        return False
    part, kind = unwrapped(part, str(part.get("type") or ""))
    return kind == COMPACTION and bool(part.get("content") or part.get("encrypted_content"))


def holds_compaction(content: object) -> bool:
    """Return whether a message content has a provider's compaction."""
    return isinstance(content, list | tuple) and any(map(is_compaction, content))


def is_attachment(part: Any, kind: str) -> bool:
    """Return whether a part is an attachment that may be left out."""
    if kind in ATTACHMENT_KINDS:
        return not texts_inside(part)
    if kind in THOUGHT_KINDS or kind in TEXT_KINDS or kind in CALL_KINDS:
        return False
    if is_result(part, kind) or sealed_call_id(part, kind) or server_call_id(part, kind):
        return False
    return holds_media(part, kind)


def holds_media(part: Any, kind: str) -> bool:
    """Return whether a part of an unknown kind names something that is not text."""
    return kind != SEARCH_RESULT and not MEDIA_KEYS.isdisjoint(part)


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
        return _texts_of(source.get("content"))
    text = source.get("data") if kind == "text" else part.get("text")
    return (text,) if isinstance(text, str) else ()


def source_texts(part: Any, kind: str) -> tuple[str, ...] | None:
    """Return the texts of a search result, a document or a file that is sent as text; None for anything else."""
    if kind == SEARCH_RESULT:
        content = part.get("content")
        is_read = isinstance(content, Sequence) and not isinstance(content, str)
        is_text = is_read and all(
            kind_of(piece) in TEXT_KINDS for piece in content if isinstance(piece, (str, Mapping))
        )
        return _texts_of(content) or None if is_text else None
    return texts_inside(part) or None if ATTACHMENT_KINDS.get(kind) == "file" else None


def with_source_texts(part: Mapping[str, Any], kind: str, texts: Sequence[str]) -> Mapping[str, Any] | None:
    """Return a source with other texts, everything else as it was; None where no text is left of it."""
    if tuple(texts) == source_texts(part, kind):
        return part
    if not any(texts):
        return None
    if kind == SEARCH_RESULT:
        return {**part, "content": _pieces(part["content"], texts)}
    source = part.get("source")
    if not isinstance(source, Mapping) or source.get("type") not in ("text", "content"):
        return {**part, "text": texts[0]}
    if source["type"] == "text":
        return {**part, "source": {**source, "data": texts[0]}}
    content = source["content"]
    return {**part, "source": {**source, "content": texts[0] if isinstance(content, str) else _pieces(content, texts)}}


def is_readable(content: object) -> bool:
    """Return whether the content of a result is a string or a list of parts."""
    if content is None or isinstance(content, str):
        return True
    return isinstance(content, Sequence) and all(isinstance(part, (str, Mapping)) for part in content)


def _texts_of(content: object) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,) if content else ()
    pieces = content if isinstance(content, Sequence) else ()
    return tuple(text_of(piece) for piece in pieces if kind_of(piece) in TEXT_KINDS)


def _pieces(content: Sequence[Any], texts: Sequence[str]) -> list[Any]:
    """Return the parts of a source with other texts; a part of which no text is left goes."""
    left, found = iter(texts), []
    for piece in content:
        if kind_of(piece) not in TEXT_KINDS:
            found.append(piece)
        elif text := next(left):
            found.append(text if isinstance(piece, str) else {**piece, "text": text})
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
