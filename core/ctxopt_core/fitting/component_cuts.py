"""The components of one request while it is cut: allocate, cut each, render and recount, tighten, fill."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from ctxopt_core.budget.shares import COMPONENTS, Allocation, Component, Shares, allocate
from ctxopt_core.documents.packing import Packing
from ctxopt_core.fitting.components import Cut, TextCut, cut_query, cut_system, pack, tokens_awaited, trim_to
from ctxopt_core.fitting.measured_request import MeasuredRequest, measure_needs
from ctxopt_core.fitting.options import PROTECTABLE, FitOptions
from ctxopt_core.fitting.request_renderer import Draft
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.shrink_turn import least_after
from ctxopt_core.history.trim import summarized
from ctxopt_core.history.trimming import Trimming, without_loose_results

_ROUNDS = 16  # times that a request is tightened: each takes what it is over, so two or three are the rule
_WORTH_FILLING = 16  # tokens: less is about one short sentence, and a component is not cut again for it
_LEAST_RATE = 0.25  # rendered tokens for one of a component: a renderer that shows less than a quarter is not believed
# Of what may be cut, the part up to which the question is sent whole. The rest is for the system prompt, documents and
# earlier turns: a question with less around it is most often a pasted text, of which head and tail say what is asked.
_QUESTION_FIRST = 0.75
_EASIEST_FIRST: tuple[Component, ...] = ("documents", "history", "system", "query")


class UnfittableError(Exception):
    """What may not be cut is larger than the limit; the fit turns it into the error that says why."""


class ComponentCuts:
    """What each component of one request holds while it is being cut.

    The order of calls: `allocated`, then `cut_texts` and `cut_documents_and_history` with what it returned, then
    `tighten`, `fill`, `summarize`, and `outcome` last. Or `keep_query_only`, `tighten` and `outcome`.

    Args:
        measured: The request and its limit.
        shares: The components' guarantees.
        options: How to cut.
    """

    def __init__(self, measured: MeasuredRequest, shares: Shares, options: FitOptions) -> None:
        self.measured = measured = measured.without_results_in_query()
        self._shares = shares
        self._options = options
        self._system = TextCut()
        self._query = TextCut()
        self._packing = Packing()
        self._trimming = Trimming()
        self._needs = measure_needs(measured)
        self._least_of_current = 0  # tokens of the current exchange at least, where it has to be shrunk
        self._allowed: dict[Component, int] = {}
        self._cut: Mapping[Component, Callable[[int], object]] = {
            "system": self._cut_system,
            "query": self._cut_query,
            "documents": self._pack,
            "history": self._trim,
        }

    def allocated(self) -> Allocation:
        """Divide the budget among the components; those that are protected get what they need.

        The question comes before the shares, and the current exchange always gets the least that it can have.

        Raises:
            UnfittableError: What is protected does not fit.
        """
        protected: tuple[Component, ...] = tuple(name for name in PROTECTABLE if name in self._options.protect)
        given: dict[Component, int] = {name: self._needs[name] for name in protected}
        left = self.measured.available - sum(given.values())
        if self.measured.available <= 0 or left < 0:
            raise UnfittableError
        allocation = self._allocated_beside(given)
        short = allocation.query < self._needs["query"]
        if short or allocation.history < min(self._needs["history"], self._current_exchange):
            self._least_of_current = self._least_after_query()
            question, exchange = self._before_shares(left)
            if short:
                allocation = self._allocated_beside({**given, "query": question})
            if allocation.history < exchange:
                allocation = self._allocated_beside({**given, "query": question, "history": exchange})
        return allocation

    def _allocated_beside(self, given: Mapping[Component, int]) -> Allocation:
        """Return the allocation in which some components have an amount already, and the rest is divided."""
        missing = {name: max(0, need - given.get(name, 0)) for name, need in self._needs.items()}
        rest = allocate(self.measured.available - sum(given.values()), missing, self._shares)
        return replace(rest, **{name: rest[name] + tokens for name, tokens in given.items()})

    def _before_shares(self, left: int) -> tuple[int, int]:
        """Return what the question and the current exchange get before the shares, of what the protected parts leave.

        The question gets what it needs up to three quarters of what is left beside the least of the exchange, or half
        of the budget. One that needs more is shortened in any case, so the exchange may have half of that.
        """
        need, least = self._needs["query"], self._least_of_current
        if "query" in self._options.protect or (self._query_holds_attachments and need <= left):
            # An image that is shown now matters more than earlier ones, and it is kept whole or lost.
            return need, least
        room = max(0, left - least)
        most = min(room, max(int(room * _QUESTION_FIRST), self.measured.limit // 2))
        if need <= most:
            return need, least
        more = min(most // 2, max(0, self._current_exchange - least))
        return most - more, least + more

    @property
    def _current_exchange(self) -> int:
        """Tokens of what follows the query."""
        query, conversation = self.measured.query, self.measured.conversation
        return 0 if query is None else sum(map(conversation.cost, range(query + 1, len(conversation))))

    def _least_after_query(self) -> int:
        query = self.measured.query
        return 0 if query is None else least_after(self.measured.conversation, query, self.measured.capped)

    def cut_texts(self, allocation: Allocation) -> Allocation:
        """Cut query and system prompt. Where nothing would be left of one it takes from documents and history.

        The question gives way where nothing would be left of the system prompt.

        Returns:
            The allocation; another one where they took more than it gives them.

        Raises:
            UnfittableError: Nothing is left of one of them, even with all that there is.
        """
        most = self.measured.available - self._least_of_current
        if not _widened(self._cut_query, allocation.query, most):
            raise UnfittableError
        if not _widened(self._cut_system, allocation.system, most - self._query.tokens):
            gives_way = "query" not in self._options.protect and _widened(self._cut_system, allocation.system, most)
            if not gives_way or not self._cut_query(most - self._system.tokens):
                raise UnfittableError
        used: dict[Component, int] = {"query": self._query.tokens, "system": self._system.tokens}
        if used["query"] <= allocation.query and used["system"] <= allocation.system:
            return allocation
        return self._allocated_beside({**used, "history": self._least_of_current})

    def cut_documents_and_history(self, allocation: Allocation) -> None:
        """Pack the documents, then trim the conversation; each also gets what is left of those before it.

        An exchange in flight that does not fit takes from the documents.
        """
        spare = allocation.system + allocation.query - self._query.tokens - self._system.tokens
        documents = allocation.documents + (spare if self._shares.documents else 0)
        self._pack(documents)
        spare += allocation.documents - self._packing.tokens
        allowed = allocation.history + (max(0, spare) if self._shares.history else 0)
        self._trim(allowed)
        for given_up in (documents // 2, documents):
            if self._trimming.tokens <= allowed or not self._packing.kept:
                return
            self._pack(documents - given_up)
            self._trim(allowed + given_up)

    def tighten(self) -> None:
        """Cut the component that can best bear it by what the whole is over, until the whole fits.

        Raises:
            UnfittableError: It cannot be made to fit.
        """
        for _ in range(_ROUNDS):
            over = self._whole() - self.measured.limit
            if over <= 0:
                return
            if not self._cut_further(math.ceil(over / self._rendered_per_token())):
                break
        raise UnfittableError

    def fill(self) -> None:
        """Offer what is left to each component that was cut, in their order."""
        for name in COMPONENTS:
            if not self._may_grow(name):
                continue
            spare = int((self.measured.limit - self._whole()) / self._rendered_per_token())
            if spare < _WORTH_FILLING:
                return
            # What is added may be rendered at more than the mean rate, and then less of it fits.
            for offered in (self._used[name] + spare, self._used[name] + spare // 2):
                if offered < self._allowed[name] + _WORTH_FILLING or self._try_cut(name, offered):
                    break

    def summarize(self) -> None:
        """Have what is left out summarized, where tokens are kept free for that. Nothing is trimmed after it."""
        before, measured = self._trimming, self.measured
        self._trimming = summarized(
            before,
            measured.conversation,
            measured.capped,
            policy=self._options.history,
            trim_again=self._trimmed_by,
            query=measured.query,
        )
        if self._trimming is not before and self._whole() > self.measured.limit:
            # A renderer that shows the placeholder at more than its own tokens.
            self._trimming = replace(
                before,
                summary_room=0,
                tokens=before.tokens - tokens_awaited(before, self.measured.capped),
                fallback="turns",
                notes=(*before.notes, "the summary did not fit as it is rendered"),
            )

    def keep_query_only(self) -> None:
        """Empty everything but the query.

        Raises:
            UnfittableError: Nothing of the query fits, or not all of it where it is protected.
        """
        conversation, texts = self.measured.conversation, self.measured.request.system_texts
        self._system = TextCut(texts=("",) * len(texts), lost=frozenset(conversation.systems))
        self._trimming = Trimming(length=len(conversation))
        self._pack(0)
        whole = "query" in self._options.protect
        if not self._cut_query(max(0, self.measured.available)) or (
            whole and self._query.tokens < self._needs["query"]
        ):
            raise UnfittableError

    def outcome(self, allocation: Allocation) -> Cut:
        """Return what the components hold now."""
        return Cut(
            measured=self.measured,
            draft=self._draft(),
            packing=self._packing,
            allocation=allocation,
            used=self._used,
            whole=self._whole(),
        )

    @property
    def _query_holds_attachments(self) -> bool:
        query = self.measured.query
        return query is not None and bool(self.measured.conversation.message(query).removable)

    @property
    def _used(self) -> dict[Component, int]:
        return {
            "system": self._system.tokens,
            "query": self._query.tokens,
            "documents": self._packing.tokens,
            "history": self._trimming.tokens,
        }

    @property
    def _state(self) -> tuple[TextCut, TextCut, Packing, Trimming, dict[Component, int]]:
        return self._system, self._query, self._packing, self._trimming, dict(self._allowed)

    @_state.setter
    def _state(self, state: tuple[TextCut, TextCut, Packing, Trimming, dict[Component, int]]) -> None:
        self._system, self._query, self._packing, self._trimming, self._allowed = state

    def _cut_query(self, allowed: int) -> bool:
        """Cut the query again; return whether anything of it is left, else it stays as it was."""
        self._allowed["query"] = allowed
        cut = cut_query(self.measured, allowed)
        self._query = cut or self._query
        return cut is not None

    def _cut_system(self, allowed: int) -> bool:
        """Cut the system prompt again; return whether something of each string is left, else it stays as it was."""
        self._allowed["system"] = allowed
        cut = cut_system(self.measured, allowed)
        if cut.emptied and self._shares.system:
            return False
        self._system = cut
        return True

    def _pack(self, allowed: int) -> None:
        self._allowed["documents"] = allowed
        if self.measured.request.documents:
            self._packing = pack(self.measured, allowed, self._options)

    def _trim(self, allowed: int) -> None:
        self._allowed["history"] = allowed
        self._trimming = self._trimmed_by(self._options.history)

    def _trimmed_by(self, policy: HistoryPolicy, summary_tokens: int | None = None) -> Trimming:
        asked, allowed = self._options.ranking_query or self.measured.query_text, self._allowed["history"]
        return trim_to(self.measured, allowed, policy, asked, self._needs, self._shares, summary_tokens)

    def _cut_further(self, over: int) -> bool:
        for name in _EASIEST_FIRST:
            before = self._used[name]
            if before and name not in self._options.protect:
                for allowed in (before - over, before // 2):
                    state = self._state
                    self._cut[name](allowed)
                    if self._used[name] < before:
                        return True
                    self._state = state
        return False

    def _may_grow(self, name: Component) -> bool:
        """Whether a component holds less than it had, and has a share that lets it grow again."""
        if not getattr(self._shares, name):
            return False
        if name == "documents":
            return bool(self._packing.texts) or len(self._packing.kept) < len(self.measured.request.documents)
        return self._used[name] < self._needs[name]

    def _try_cut(self, name: Component, allowed: int) -> bool:
        """Cut a component again; take that back and return False if it then holds less or the whole no longer fits."""
        before, used = self._state, self._used[name]
        self._cut[name](allowed)
        if self._used[name] >= used and self._whole() <= self.measured.limit:
            return True
        self._state = before
        return False

    def _draft(self) -> Draft:
        conversation, query = self.measured.conversation, self.measured.query
        charged_elsewhere = [i for i in conversation.systems if i not in self._system.lost]
        if query is not None:
            charged_elsewhere.append(query)
        trimming = self._trimming
        merged = replace(
            trimming,
            kept=tuple(sorted((*trimming.kept, *charged_elsewhere))),
            shortened={**trimming.shortened, **self._system.shortened, **self._query.shortened},
            reasons={**trimming.reasons, **{i: "empty" for i in self._system.lost if conversation.is_blank(i)}},
        )
        texts, documents = self._packing.texts, self.measured.request.documents
        return Draft(
            system=self._system.texts,
            query=self._query.texts,
            documents=tuple((i, texts.get(i) or documents[i].text or "") for i in self._packing.kept),
            trimming=without_loose_results(conversation, merged),
        )

    def _whole(self) -> int:
        """Return the tokens of the request as it stands, with those that are kept free for a summary.

        Costs of messages add up exactly; everything else is rendered.
        """
        if self.measured.only_messages:
            return self.measured.overhead + sum(self._used.values())
        return self.measured.count(self._draft()) + tokens_awaited(self._trimming, self.measured.capped)

    def _rendered_per_token(self) -> float:
        """Return how many tokens are rendered for one of the components': 2 where each of them is shown twice."""
        used = sum(self._used.values())
        return max(_LEAST_RATE, (self._whole() - self.measured.overhead) / used) if used else 1.0


def _widened(cut_again: Callable[[int], bool], allowed: int, most: int) -> bool:
    """Cut with a growing allowance until something of every string is left, or `most` is not enough either."""
    while not cut_again(allowed):
        if allowed >= most:
            return False
        allowed = min(most, 2 * allowed + _WORTH_FILLING)
    return True
