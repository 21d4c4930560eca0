"""What Ollama refuses: what its Go types cannot hold. A request that is too long is never refused.

Sources: `api/types.go` and `server/routes.go` of github.com/ollama/ollama, and its documentation of `/api/chat`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from broken_rule import Broken, Request, broken_by

ROLES = ("system", "user", "assistant", "tool")


def broken_rules(request: Request, issued: Request | None = None) -> list[Broken]:
    """Return every rule that the body of a request breaks."""
    return broken_by(request, issued, RULES)


def _messages(request: Request) -> list[dict[str, Any]]:
    return list(request.get("messages") or ())


def content_is_a_string(request: Request) -> Iterator[str]:
    """`Message.Content` is a Go string."""
    for message in _messages(request):
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            kind = "array" if isinstance(content, list) else "object"
            yield f"json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.content of type string"


def arguments_are_objects(request: Request) -> Iterator[str]:
    """`ToolCallFunction.Arguments` is a Go map."""
    for message in _messages(request):
        for call in message.get("tool_calls") or ():
            if not isinstance((call.get("function") or {}).get("arguments"), dict):
                yield (
                    "json: cannot unmarshal string into Go struct field "
                    "ToolCallFunction.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"
                )


def images_are_base64(request: Request) -> Iterator[str]:
    """`ImageData` is a Go slice of bytes, which JSON writes in base64."""
    for message in _messages(request):
        for image in message.get("images") or ():
            try:
                base64.b64decode(image, validate=True)
            except (binascii.Error, TypeError, ValueError):
                yield "illegal base64 data at input byte 4"


def roles_are_known(request: Request) -> Iterator[str]:
    """`Message.UnmarshalJSON`."""
    for message in _messages(request):
        if message.get("role") not in ROLES:
            yield f"invalid role: {message.get('role')}, must be one of [{' '.join(ROLES)}]"


RULES = (content_is_a_string, arguments_are_objects, images_are_base64, roles_are_known)
