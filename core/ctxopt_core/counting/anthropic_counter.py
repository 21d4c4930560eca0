"""Anthropic's own count of a whole request, over the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.models.model_ids import checked_model_name
from ctxopt_core.runtime.call_or_await import call_or_await
from ctxopt_core.validation import check_whole

# Percent of the computed target. A request that is smaller by some tokens is not smaller by exactly as many at
# Anthropic; 2 % below saves another call. A lower value loses context, a higher one asks more often.
_TARGET_PERCENT = 98


class AnthropicRequestCounter:
    """Count requests to Claude as Anthropic does: messages, system prompt, tools, images and documents.

    The tokenizers of Claude are not published, so that every local count for them is an estimate. This one is exact and
    takes a call over the network each time. It counts whole requests; it is no `TokenCounter`, which counts thousands
    of strings for one request.

    Args:
        client: An `anthropic.Anthropic`, with its key and time limit, or an `AsyncAnthropic` for the methods `acount`
            and `awithin`.
        model: The model that the requests go to.

    Raises:
        TypeError: `client` has no `messages.count_tokens`.
        ValueError: `model` is no string, or is blank.

    Example:
        >>> from types import SimpleNamespace
        >>> from ctxopt_core import AnthropicRequestCounter
        >>> count_tokens = lambda messages, model: SimpleNamespace(input_tokens=len(messages[0]["content"]))
        >>> client = SimpleNamespace(messages=SimpleNamespace(count_tokens=count_tokens))  # anthropic.Anthropic()
        >>> AnthropicRequestCounter(client, "claude-sonnet-4-5").count([{"role": "user", "content": "Hello"}])
        5
    """

    __slots__ = ("_ask", "model")

    def __init__(self, client: Any, model: str) -> None:
        ask = getattr(getattr(client, "messages", None), "count_tokens", None)
        if not callable(ask):
            message = (
                "`client` must have `messages.count_tokens`, as anthropic.Anthropic and AsyncAnthropic have, "
                f"got {type(client).__name__}"
            )
            raise TypeError(message)
        self._ask: Callable[..., Any] = ask
        self.model = checked_model_name(model)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def count(self, messages: Any, **others: Any) -> int:
        """Return the input tokens of a request, with one call. Errors of the client are not caught.

        Args:
            messages: The messages as they will be sent.
            others: The other arguments of the request: `system`, `tools`, `tool_choice`, `thinking`. None is left out.
        """
        sent = {name: value for name, value in others.items() if value is not None}
        ask = partial(self._ask, messages=messages, model=self.model, **sent)
        tokens: int = call_or_await(ask, None, named="`client`").input_tokens
        return tokens

    async def acount(self, messages: Any, **others: Any) -> int:
        """Return what `count` returns."""
        from ctxopt_core.runtime.event_loop import in_worker

        return await in_worker(self.count, messages, **others)

    def within(
        self, limit: int, build: Callable[[int], Mapping[str, Any]], *, most_calls: int = 3
    ) -> Mapping[str, Any]:
        """Return a request that has at most `limit` tokens as Anthropic counts it.

        A request over the limit is built again for a smaller target: smaller in the proportion in which the local count
        was too low, and by 2 % more.

        Args:
            limit: The most input tokens.
            build: Fits the request into a number of tokens, counted locally, and returns the arguments of `count`:
                `messages`, `system` and so on.
            most_calls: The most calls over the network.

        Raises:
            ContextBudgetError: After `most_calls` it is still over the limit; `needed` is the last count.
            ValueError: `limit` or `most_calls` is no whole number of at least 1.
        """
        check_whole("limit", limit, minimum=1, unit="tokens")
        check_whole("most_calls", most_calls, minimum=1, unit="calls")
        target = needed = limit
        for _ in range(most_calls):
            request = build(target)
            needed = self.count(**request)
            if needed <= limit:
                return request
            target = max(1, target * limit * _TARGET_PERCENT // (needed * 100))
        message = (
            f"Anthropic counts {needed} tokens where {limit} are allowed, after {most_calls} attempts; allow more with "
            "`most_calls`, or raise `limit`"
        )
        raise ContextBudgetError(message, needed=needed, available=limit)

    async def awithin(
        self, limit: int, build: Callable[[int], Mapping[str, Any]], *, most_calls: int = 3
    ) -> Mapping[str, Any]:
        """Return what `within` returns. `build` is called in a worker thread."""
        from ctxopt_core.runtime.event_loop import in_worker

        return await in_worker(self.within, limit, build, most_calls=most_calls)
