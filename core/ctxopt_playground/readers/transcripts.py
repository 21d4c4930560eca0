"""Reads conversations that are pasted as plain text: the speaker's name, then what was said."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ctxopt_core.text.code_fences import fenced_blocks

_SPEAKERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("user", "human", "you", "me", "customer"), "user"),
        **dict.fromkeys(("assistant", "ai", "bot", "chatbot", "agent"), "assistant"),
        **dict.fromkeys(("chatgpt", "gpt", "claude", "gemini", "copilot"), "assistant"),
        **dict.fromkeys(("system", "developer"), "system"),
        **dict.fromkeys(("tool", "function"), "tool"),
    }
)
_NAME = f"({'|'.join(_SPEAKERS)})"
_ASIDE = r"[ ]{0,3}(?:[(\[][^()\[\]\n]{1,40}[)\]][ ]{0,3})?"
_LABELS = (
    rf"{_ASIDE}{_NAME}{_ASIDE}:",  # "User:", "[10:32] User (Ann):"
    rf"[*_]{{1,3}}{_NAME}{_ASIDE}(?::[*_]{{1,3}}|[*_]{{1,3}}[ ]{{0,3}}(?::|$))",  # "**User:**", "**User**:", "**User**"
    rf"\#{{1,6}}[ ]{{1,3}}{_NAME}{_ASIDE}(?::|$)",  # "### User"
    rf"\[{_NAME}\][ ]{{0,3}}(?::|$)",  # "[User]"
    rf"{_NAME}[ ]said:",  # "You said:"
    rf"={{3,99}}[ ]{_NAME}[ ]message[ ]={{3,99}}$",  # "=== Human Message ===", as LangChain prints it
)
_LABEL = re.compile(rf"^(?:{'|'.join(_LABELS)})", re.IGNORECASE | re.MULTILINE)

NO_SPEAKERS = "no line names a speaker, as in `User: ...`, so all of it is read as one message of the user"
_TEXT_BEFORE = "what is before the first speaker is read as a message of the user"
_TOOLS_SPEAK = "what tools returned is read as said by the assistant, since plain text has no ids of tool calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A conversation that was found in plain text.

    Args:
        rows: Its messages in the shape of OpenAI's chat API, in their order; one of the user where nobody is named.
        spoken: Whether speakers are named.
        notes: What was assumed.
    """

    rows: tuple[Mapping[str, str], ...]
    spoken: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Label:
    start: int
    stop: int
    role: str


def read_transcript(text: str) -> Transcript:
    """Return the messages of plain text.

    1. A message begins at a line that starts with a speaker, as in `User:`, `**Assistant**:`, `### Human`,
       `[10:32] AI:` or `=== Human Message ===`, and ends before the next such line. Fenced code is skipped.
    2. Speakers are recognized where the text begins with one, or where both the user and the assistant speak. Any other
       text is one message of the user.
    3. White space around a message is removed, and nothing else.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    labels = list(_labels(text))
    if not _is_spoken(text, labels):
        return Transcript(rows=(_row("user", text),), spoken=False, notes=(NO_SPEAKERS,))
    before = text[: labels[0].start]
    stops = [*(label.start for label in labels[1:]), len(text)]
    said = [_row(label.role, text[label.stop : stop]) for label, stop in zip(labels, stops, strict=True)]
    notes = [_TEXT_BEFORE] if before.strip() else []
    if any(label.role == "tool" for label in labels):
        notes.append(_TOOLS_SPEAK)
    return Transcript(
        rows=(_row("user", before), *said) if before.strip() else tuple(said), spoken=True, notes=tuple(notes)
    )


def _labels(text: str) -> Iterator[_Label]:
    """Yield who speaks where, outside fenced code."""
    fences = list(fenced_blocks(text))
    for match in _LABEL.finditer(text):
        before = bisect_right(fences, (match.start(), len(text))) - 1
        if before >= 0 and match.start() < fences[before][1]:
            continue
        name = next(filter(None, match.groups()))
        yield _Label(match.start(), match.end(), _SPEAKERS[name.lower()])


def _is_spoken(text: str, labels: list[_Label]) -> bool:
    if not labels:
        return False
    return not text[: labels[0].start].strip() or {"user", "assistant"} <= {label.role for label in labels}


def _row(role: str, said: str) -> Mapping[str, str]:
    return {"role": "assistant" if role == "tool" else role, "content": said.strip()}
