"""Fitted requests in the shape in which they came, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.formats.anthropic_messages import fitted_anthropic, fitted_anthropic_system
from ctxopt_core.formats.openai_messages import fitted_openai
from ctxopt_core.formats.request_files import RequestFile, Shape
from ctxopt_core.formats.responses.messages import fitted_responses
from ctxopt_core.history.trimming import Trimming

_FITTED: Mapping[Shape, Callable[[Sequence[Mapping[str, Any]], Trimming], list[Mapping[str, Any]]]] = {
    "openai": fitted_openai,
    "anthropic": fitted_anthropic,
    "responses": fitted_responses,
}


def fitted_content(stored: RequestFile, fitted: FittedContext) -> Any:
    """Return the JSON value of a request with what is left of it; keys that are not known are as they were.

    Args:
        stored: The request as it came. It is not changed.
        fitted: What is left of it.

    Returns:
        The very value that came where nothing was cut. A `system` or `instructions` of which nothing is left is
        left out.
    """
    if fitted.unchanged:
        return stored.content
    messages = _FITTED[stored.shape](stored.messages or (), fitted.history)
    if isinstance(stored.content, list):
        return messages
    changed = {**stored.arguments}
    if isinstance(changed.get("input"), str) and stored.shape == "responses":
        changed["input"] = "".join(str(item["content"]) for item in messages)
    elif stored.messages is not None:
        changed[stored.messages_key] = messages
    if isinstance(given := changed.get("documents"), list):
        texts = fitted.documents.texts
        cut = {i: text if isinstance(given[i], str) else {**given[i], "text": text} for i, text in texts.items()}
        changed["documents"] = [cut.get(i, given[i]) for i in fitted.documents.kept]
    if query := changed.get("query"):
        left = [text for text in fitted.query if text]
        changed["query"] = "\n".join(left) if isinstance(query, str) else left
    key = "instructions" if stored.shape == "responses" else "system"
    if changed.get(key):
        changed[key] = fitted_anthropic_system(changed[key], fitted.system)
        if not changed[key]:
            del changed[key]
    return changed if stored.envelope is None else {**stored.content, stored.envelope: changed}


def as_json(value: Any, *, indent: int | None = None) -> bytes:
    """Return a value as JSON in UTF-8; strings with lone surrogates are written with escapes, and read back the same.

    Raises:
        ValueError: It is nested too deeply.
    """
    separators = (",", ":") if indent is None else None
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, separators=separators).encode()
    except RecursionError as error:
        message = "the JSON is nested too deeply to be written"
        raise ValueError(message) from error
