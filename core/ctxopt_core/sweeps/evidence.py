"""How much of what must survive is in a fitted request."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import SupportsFloat, TypeAlias

from ctxopt_core.fitting.fitted_context import FittedContext
from ctxopt_core.messages.message import Message
from ctxopt_core.request import ContextRequest

EvidenceFunction: TypeAlias = Callable[[FittedContext], float]
"""Returns how good a fitted request is, as any finite number; more is better."""

Evidence: TypeAlias = EvidenceFunction | Sequence[str] | str
"""A function, or texts that must survive."""

Measure: TypeAlias = Callable[[int, FittedContext], "float | None"]
"""Returns the evidence in what was made of the request at an index."""


def evidence_measure(evidence: Evidence | None, requests: Sequence[ContextRequest]) -> Measure:
    """Return the function that tells the evidence in a fitted request.

    Of texts it is the share of those that the request had which are found, letter by letter, in what is kept of it;
    None for a request that had none of them.

    Args:
        evidence: A function, texts, or None for no evidence.
        requests: The requests that will be fitted.

    Raises:
        TypeError: `evidence` is none of these.
        ValueError: No text is given, one is blank, or one is in none of the requests.
    """
    if evidence is None:
        return lambda _index, _fitted: None
    if callable(evidence):
        function = evidence
        return lambda _index, fitted: _finite(function(fitted))
    texts = _checked_texts(evidence)
    wanted = [_found(texts, texts_of_request(request)) for request in requests]
    _check_all_stand_somewhere(texts, wanted)
    return lambda index, fitted: _share_kept(wanted[index], fitted)


def kept_texts(fitted: FittedContext) -> list[str]:
    """Return every text of the budgeted parts that is kept, the placeholder among them."""
    return [
        *fitted.system,
        *fitted.query,
        *fitted.document_texts(),
        *map("\n".join, fitted.sections),
        *_texts_of(fitted.messages()),
    ]


def texts_of_request(request: ContextRequest) -> list[str]:
    """Return every text of the budgeted parts of a request as it came."""
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


def _share_kept(wanted: Sequence[str], fitted: FittedContext) -> float | None:
    return len(_found(wanted, kept_texts(fitted))) / len(wanted) if wanted else None


def _checked_texts(evidence: object) -> tuple[str, ...]:
    texts = (evidence,) if isinstance(evidence, str) else evidence
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        message = (
            "`evidence` must be a function of a FittedContext, or a list of texts that must survive, got "
            f"{type(evidence).__name__}"
        )
        raise TypeError(message)
    if not texts or not all(text.strip() for text in texts):
        message = f"`evidence` must be at least one text, and none of them blank, got {len(texts)} texts"
        raise ValueError(message)
    return tuple(texts)


def _check_all_stand_somewhere(texts: Sequence[str], wanted: Sequence[Sequence[str]]) -> None:
    somewhere = {text for of_one in wanted for text in of_one}
    if missing := [str(number) for number, text in enumerate(texts, start=1) if text not in somewhere]:
        message = (
            f"`evidence` must stand in a request letter by letter, but of its {len(texts)} texts number "
            f"{', '.join(missing)} stands in none; copy it out of a document or a message"
        )
        raise ValueError(message)


def _finite(value: object) -> float:
    number = float(value) if isinstance(value, SupportsFloat) else math.nan
    if not math.isfinite(number):
        got = str(number) if isinstance(value, SupportsFloat) else type(value).__name__
        message = f"the function `evidence` must return a finite number, got {got}"
        raise ValueError(message)
    return number
