"""Anthropic's own count of a whole request, over the network, for those who ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.runtime.call_or_await import call_or_await
from ctxopt_core.validation import check_whole

# Per cent. A smaller request does not cost exactly that much less: a little room saves another call.
_NOT_QUITE = 98


class AnthropicRequestCounter:
    """Count requests to Claude as Anthropic does: messages, system prompt, tools, images and documents.

    The tokenizers of Claude are not published, so every local figure for them is an estimate. This one is not, and
    costs a call over the network each time: a handful for a request, made only by the methods below. It counts whole
    requests and is no `TokenCounter`, which is asked about thousands of texts.

    Args:
        client: An `anthropic.Anthropic` or `AsyncAnthropic`, with its key and time limit; the latter for the methods
            whose names begin with `a`.
        model: The model that the requests go to.

    Raises:
        TypeError: `client` has no `messages.count_tokens`.
        ValueError: `model` is no text, or is blank.
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
        if not isinstance(model, str) or not model.strip():
            message = f"`model` must be the id of a model, for example 'claude-sonnet-4-5', got {model!r}"
            raise ValueError(message)
        self._ask: Callable[..., Any] = ask
        self.model = model.strip()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def count(self, messages: Any, **others: Any) -> int:
        """Return the input tokens of a request, with one call. Errors of the client come through.

        Args:
            messages: The messages as they will be sent.
            others: What else of the request counts: `system`, `tools`, `tool_choice`, `thinking`. None is left out.
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
        """Return a request that Anthropic counts at most `limit` tokens.

        A request that is counted over the limit is built again for a smaller target, by as much as the local count was
        too low and 2 % more.

        Args:
            limit: The input tokens that are allowed.
            build: Fits the request into so many tokens, counted locally, and returns what `count` takes: `messages`,
                `system` and so on.
            most_calls: How often the network is asked.

        Raises:
            ContextBudgetError: After `most_calls` it is still over the limit; `needed` is the last count.
            ValueError: `limit` or `most_calls` is no whole number from 1 on.
        """
        check_whole("limit", limit, minimum=1, unit="tokens")
        check_whole("most_calls", most_calls, minimum=1, unit="calls")
        target = needed = limit
        for _ in range(most_calls):
            request = build(target)
            needed = self.count(**request)
            if needed <= limit:
                return request
            target = max(1, target * limit * _NOT_QUITE // (needed * 100))
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
