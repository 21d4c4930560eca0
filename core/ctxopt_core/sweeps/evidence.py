"""How much of the evidence, which must survive, is in a fitted request."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import SupportsFloat, TypeAlias

from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.messages.message import Message
from ctxopt_core.request import ContextRequest

Evidence: TypeAlias = Callable[[FittedContext], float] | Sequence[str] | str
"""Strings that must survive, or a function that returns how good a fitted request is as a finite number."""

Measure: TypeAlias = Callable[[int, FittedContext], "float | None"]
"""Returns the evidence in a fitted request, given the index of the request that it was made from."""


def evidence_measure(evidence: Evidence | None, requests: Sequence[ContextRequest]) -> Measure:
    """Return the function that measures the evidence in a fitted request.

    With strings it looks for those that the uncut request has. It returns the share of them that is found, letter by
    letter, in what is kept; None for a request that has none of them.
    """
    if evidence is None:
        return lambda _index, _fitted: None
    if callable(evidence):
        function = evidence
        return lambda _index, fitted: _finite(function(fitted))
    texts = _checked_texts(evidence)
    wanted = [_found(texts, _texts_of_request(request)) for request in requests]
    somewhere = {text for of_one in wanted for text in of_one}
    if missing := [str(number) for number, text in enumerate(texts, start=1) if text not in somewhere]:
        message = (
            f"`evidence` must be in a request letter by letter, but of its {len(texts)} strings number "
            f"{', '.join(missing)} is in none; copy it out of a document or a message"
        )
        raise ValueError(message)

    def share_kept(index: int, fitted: FittedContext) -> float | None:
        given = wanted[index]
        return len(_found(given, _kept_texts(fitted))) / len(given) if given else None

    return share_kept


def _kept_texts(fitted: FittedContext) -> list[str]:
    """Return every string of the budgeted parts that is kept, the placeholder among them."""
    return [
        *fitted.system,
        *fitted.query,
        *fitted.document_texts(),
        *map("\n".join, fitted.sections),
        *_texts_of(fitted.messages()),
    ]


def _texts_of_request(request: ContextRequest) -> list[str]:
    """Return every string of the budgeted parts of a request as it came."""
    history = request.history
    return [
        *request.system_texts,
        *request.query_texts,
        *(document.text or "" for document in request.documents),
        *(section.text for section in request.sections),
        *_texts_of(history[index] for index in range(len(history))),
    ]


def _texts_of(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield from message.texts
        yield from message.verbatim
        yield from (call.arguments for call in message.tool_calls)


def _found(texts: Sequence[str], among: Sequence[str]) -> list[str]:
    return [text for text in texts if any(text in other for other in among)]


def _checked_texts(evidence: object) -> tuple[str, ...]:
    texts = (evidence,) if isinstance(evidence, str) else evidence
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        message = (
            "`evidence` must be a function of a FittedContext, or a list of strings that must survive, got "
            f"{type(evidence).__name__}"
        )
        raise TypeError(message)
    if not texts or not all(text.strip() for text in texts):
        message = f"`evidence` must be at least one string, and none of them blank, got {len(texts)} strings"
        raise ValueError(message)
    return tuple(texts)


def _finite(value: object) -> float:
    number = float(value) if isinstance(value, SupportsFloat) else math.nan
    if not math.isfinite(number):
        got = str(number) if isinstance(value, SupportsFloat) else type(value).__name__
        message = f"the function `evidence` must return a finite number, got {got}"
        raise ValueError(message)
    return number
