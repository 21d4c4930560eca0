"""How the budget of one request is divided: what is protected, the question, the current exchange, then the shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ctxopt_core.budget.shares import Allocation, Component, Shares, allocate
from ctxopt_core.fitting.measured_request import MeasuredRequest
from ctxopt_core.fitting.options import PROTECTABLE, FitOptions
from ctxopt_core.history.shrink_turn import essential_after

# Of what may be cut, the part up to which the question is sent whole. The rest is for the system prompt, documents and
# earlier turns: a question with less around it is most often a pasted text, of which head and tail say what is asked.
_QUESTION_FIRST = 0.75


class UnfittableError(Exception):
    """What may not be cut is larger than the limit; the fit turns it into the error that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Divides the input budget of a request among its components.

    Args:
        measured: The request and its limit.
        needs: Tokens that each component has.
        shares: The components' guarantees.
        options: What is protected.
    """

    measured: MeasuredRequest
    needs: Mapping[Component, int]
    shares: Shares
    options: FitOptions

    def divided(self) -> tuple[Allocation, int]:
        """Return the allocation, and what of it the current exchange needs at least where it has to be shrunk.

        What is protected gets what it needs. The question comes before the shares, and the current exchange always gets
        the least that it can have.

        Raises:
            UnfittableError: What is protected does not fit.
        """
        protected: tuple[Component, ...] = tuple(name for name in PROTECTABLE if name in self.options.protect)
        given: dict[Component, int] = {name: self.needs[name] for name in protected}
        left = self.measured.available - sum(given.values())
        if self.measured.available <= 0 or left < 0:
            raise UnfittableError
        allocation = self.beside(given)
        short = allocation.query < self.needs["query"]
        if not short and allocation.history >= min(self.needs["history"], self._current_exchange):
            return allocation, 0
        query = self.measured.query
        least, unread = (
            (0, 0) if query is None else essential_after(self.measured.conversation, query, self.measured.capped)
        )
        question, exchange = self._before_shares(left, least, unread)
        if short:
            allocation = self.beside({**given, "query": question})
        if allocation.history < exchange:
            allocation = self.beside({**given, "query": question, "history": exchange})
        return allocation, least

    def beside(self, given: Mapping[Component, int]) -> Allocation:
        """Return the allocation in which some components have an amount already, and the rest is divided by shares."""
        missing = {name: max(0, need - given.get(name, 0)) for name, need in self.needs.items()}
        rest = allocate(self.measured.available - sum(given.values()), missing, self.shares)
        return replace(rest, **{name: rest[name] + tokens for name, tokens in given.items()})

    def _before_shares(self, left: int, least: int, unread: int) -> tuple[int, int]:
        """Return what the question and the current exchange get before the shares, of what the protected parts leave.

        The question gets what it needs up to three quarters of what is left beside the least of the exchange, or half
        of the budget, or where system prompt and unread results can be whole beside it. One that needs more is
        shortened in any case, so the exchange may have half of that.
        """
        need = self.needs["query"]
        attached = self._attached_to_query
        if "query" in self.options.protect or (attached and need <= left):
            # An image that is shown now matters more than earlier ones, and it is kept whole or lost.
            return need, least
        room = max(0, left - least)
        most = min(room, max(int(room * _QUESTION_FIRST), self.measured.limit // 2))
        if need <= most:
            return need, least
        if attached and need - attached <= most:
            return room, least  # as many of its images as there is room for
        system = 0 if "system" in self.options.protect else self.needs["system"]
        if need + unread + system <= left:
            return need, unread
        more = min(most // 2, max(0, self._current_exchange - least))
        return most - more, least + more

    @property
    def _attached_to_query(self) -> int:
        """Tokens of the query's images and files that may be left out."""
        query = self.measured.query
        return 0 if query is None else sum(a.cost for a in self.measured.conversation.message(query).removable)

    @property
    def _current_exchange(self) -> int:
        """Tokens of what follows the query."""
        query, conversation = self.measured.query, self.measured.conversation
        return 0 if query is None else sum(map(conversation.cost, range(query + 1, len(conversation))))
