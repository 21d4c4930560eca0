"""What a provider refuses: the rule that a request breaks, and the words in which the provider says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Request = dict[str, Any]
Check = Callable[[Request], Iterator[str]]
"""Yields the provider's message for each place at which a request breaks one rule; its name is the rule's."""
SealedCheck = Callable[[Request, Request], Iterator[str]]
"""As `Check`; the second request is the whole conversation, which holds what the provider has issued itself."""

TOO_LONG = "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One refusal.

    Args:
        rule: The name of the rule, `length` for a request that is too long.
        message: The provider's message.
        code: The error code that comes with it, if any.
        status: The HTTP status.
    """

    rule: str
    message: str
    code: str | None = None
    status: int = 400


def broken_by(
    request: Request, issued: Request | None, checks: Iterable[Check], sealed: Iterable[SealedCheck] = ()
) -> list[Broken]:
    """Return every rule that a request breaks.

    Args:
        request: The body of the request.
        issued: The body of the uncut request, in which everything that the provider issued is unmodified; None where
            that is not known.
        checks: The rules for the request alone.
        sealed: The rules for what the provider issued.
    """
    found = [Broken(rule=check.__name__, message=message) for check in checks for message in check(request)]
    if issued is None:
        return found
    return found + [
        Broken(rule=check.__name__, message=message) for check in sealed for message in check(request, issued)
    ]


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """Return content as a list of blocks; a string is one text block, None is nothing."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping inside a JSON value, the outermost first."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def sealed_values(value: Any, keys: Iterable[str]) -> set[str]:
    """Return the strings under `keys` anywhere inside a JSON value."""
    wanted = set(keys)
    return {text for inner in walk(value) for key, text in inner.items() if key in wanted and isinstance(text, str)}
