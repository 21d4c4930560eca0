"""The protocol of a summarizer, and the one place where it is called and its summary is checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.errors import SummaryError
from ctxopt_core.messages.message import Message
from ctxopt_core.runtime.call_or_await import call_or_await, is_coroutine_function
from ctxopt_core.shortening.truncate import truncate
from ctxopt_core.text.surrogates import joined_surrogates
from ctxopt_core.validation import check_whole


@runtime_checkable
class Summarizer(Protocol):
    """Summarizes messages, for the compaction of a history; `summarizer(model)` makes one of a model.

    1. `summarize` may be a coroutine function. It is then awaited on the event loop of the caller, if `afit` or an
       adapter's async method waits for the result.
    2. The messages may be any number of any length; the summarizer has to limit what it sends to a model. It must not
       change them.
    3. The same arguments should give the same summary: one that changes at every call makes the provider's prompt cache
       useless.
    4. A summary of more than `max_tokens` is cut by the caller. An empty one, or none, is a failure.
    5. It may be called from any thread.

    Example:
        >>> from ctxopt_core import Summarizer
        >>> class Topics:
        ...     def summarize(self, messages, counter, max_tokens, /):
        ...         return f"{len(messages)} messages about billing."
        >>> isinstance(Topics(), Summarizer)
        True
    """

    def summarize(self, messages: Sequence[Message], counter: TokenCounter, max_tokens: int, /) -> str | Awaitable[str]:
        """Return a summary of the messages, which are given oldest first."""
        ...


def check_summarizer(summarizer: object) -> None:
    """Check the summarizer of a policy.

    Raises:
        ValueError: It is neither a summarizer nor None.
    """
    if summarizer is None or (isinstance(summarizer, Summarizer) and not isinstance(summarizer, type)):
        return
    message = (
        f"`summarizer` must have a `summarize` method or be None, got {_name(summarizer)}; wrap a model or a function "
        "of a string as summarizer(model)"
    )
    raise ValueError(message)


def summarize(
    messages: Sequence[Message], counter: TokenCounter, *, summarizer: Summarizer, max_summary_tokens: int
) -> str:
    """Return a summary of some messages, without white space around it and in at most `max_summary_tokens` tokens.

    If an event loop waits for this thread and the summarizer can be awaited, it runs on that loop. Its errors are not
    caught.

    Args:
        messages: The messages, oldest first.
        counter: Counts the tokens.
        summarizer: Writes the summary.
        max_summary_tokens: The most that the summary may have, in tokens. A longer one is cut after a sentence.

    Raises:
        SummaryError: The summary is empty, no string, or nothing of it fits.
        TypeError: The summarizer can only be awaited, and no event loop waits for this call.
        ValueError: `max_summary_tokens` is no whole number of at least 1.
    """
    check_whole("max_summary_tokens", max_summary_tokens, minimum=1, unit="tokens")
    function: Callable[..., Any] = summarizer.summarize
    plain, awaited = (None, function) if is_coroutine_function(function) else (function, None)
    named = f"`summarizer` {_name(summarizer)}"
    found = call_or_await(plain, awaited, messages, counter, max_summary_tokens, named=named)
    return checked_summary(found, max_summary_tokens, counter, named=named)


def checked_summary(found: object, max_tokens: int, counter: TokenCounter, *, named: str) -> str:
    """Return a string as a summary: without white space around it, and cut after a sentence to `max_tokens`.

    Raises:
        SummaryError: It is no string, empty, or nothing of it fits; `named` says in the message who returned it.
    """
    if not isinstance(found, str):
        message = f"{named} must return a string, got {type(found).__name__}"
        raise SummaryError(message)
    text = joined_surrogates(found).strip()
    if not text:
        message = f"{named} must return a string with a summary in it, got an empty one"
        raise SummaryError(message)
    summary = truncate(text, max_tokens, counter).strip()
    if not summary:
        message = f"{named} returned a summary of which nothing fits in {max_tokens} tokens; allow more"
        raise SummaryError(message)
    return summary


def _name(summarizer: object) -> str:
    return str(getattr(summarizer, "__qualname__", None) or type(summarizer).__qualname__)
