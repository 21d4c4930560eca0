"""A client in front of an endpoint: what both frameworks' runs have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from broken_rule import Request
from conversations import Conversation
from outcomes import Outcome, outcome_of
from provider_server import Endpoint

from ctxopt_core import ContextBudgetError

ANSWER = 256  # tokens, the answer limit that goes with every request
SMALLEST_INPUT = 120  # tokens; with less hardly any question fits
KEY = "no-key"


@dataclass(slots=True, kw_only=True)
class ClientRun:
    """An endpoint, and the loop for the asynchronous half of its client.

    Args:
        provider: The name of the provider.
        endpoint: Where the client sends its requests.
        loop: Keeps the connections of asynchronous clients open between requests.
    """

    provider: str
    endpoint: Endpoint
    loop: asyncio.Runner

    def room(self, issued: Request, share: float) -> int:
        """Return the tokens that the input may have: a part of those of the uncut request, by the provider's count."""
        return max(SMALLEST_INPUT, round(self.endpoint.provider.tokens(issued) * share))

    def window(self, room: int) -> int:
        """Return the window with this room for the input; Google's limit is for the input alone."""
        return room if self.provider == "google" else room + ANSWER

    def sent(self, conversation: Conversation, issued: Request, room: int, send: Callable[[], object]) -> Outcome:
        """Send something to the endpoint with a window that has this room for the input."""
        self.endpoint.start(window=self.window(room), issued=issued)
        overflow, failed = False, None
        try:
            send()
        except ContextBudgetError as error:
            overflow, failed = True, error
        except Exception as error:  # noqa: BLE001 - each client has errors of its own, and any of them is an outcome
            failed = error
        return outcome_of(self.endpoint, conversation, issued=issued, overflow=overflow, error=failed)
