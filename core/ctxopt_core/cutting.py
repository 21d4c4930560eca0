"""Cutting an over-full request down: allocate, cut each component, recount the whole, tighten until it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from ctxopt_core.budget import Allocation, Component, Shares, allocate
from ctxopt_core.component_cuts import ComponentCut, cut_query, cut_system
from ctxopt_core.documents import Packing, pack_documents
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.history import Trimming
from ctxopt_core.options import PROTECTABLE, FitOptions
from ctxopt_core.rendering import Draft
from ctxopt_core.subject import Subject, describe_costs, measure_needs
from ctxopt_core.turn_strategy import trim

_ROUNDS = 16
_WORTH_FILLING = 16
_LEAST_RATE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The outcome of a cut.

    Args:
        draft: What the request holds now.
        packing: The documents' part of it.
        allocation: Tokens that each component was allowed.
        used: Tokens that each component takes.
        whole: Tokens of the rendered request.
    """

    draft: Draft
    packing: Packing
    allocation: Allocation
    used: Mapping[Component, int]
    whole: int


class Cutter:
    """One request being cut. Each component can be cut again with another allowance.

    Args:
        subject: The request and its limit.
        shares: The components' guarantees.
        options: How to cut.
    """

    def __init__(self, subject: Subject, shares: Shares, options: FitOptions) -> None:
        self.subject = subject
        self.shares = shares
        self.options = options
        self.system = ComponentCut()
        self.query = ComponentCut()
        self.packing = Packing()
        self.trimming = Trimming()
        self.needs: Mapping[Component, int] = measure_needs(subject)
        self.allowed: dict[Component, int] = {}

    @property
    def used(self) -> dict[Component, int]:
        """Tokens that each component takes now."""
        return {
            "system": self.system.tokens,
            "query": self.query.tokens,
            "documents": self.packing.tokens,
            "history": self.trimming.tokens,
        }

    def cut(self) -> Cut:
        """Cut the request until its rendering counts at most the limit.

        Raises:
            ContextBudgetError: What may not be cut is larger than the limit.
        """
        allocation = self._settle(self._allocate())
        spare = allocation.system + allocation.query - self.system.tokens - self.query.tokens
        documents = allocation.documents + (spare if self.shares.documents else 0)
        self._pack(documents)
        spare += allocation.documents - self.packing.tokens
        self._trim_beside(allocation.history + (max(0, spare) if self.shares.history else 0), documents)
        self._tighten()
        self._fill()
        return self._outcome(allocation)

    def empty(self) -> Cut:
        """Empty everything but the query, which gets all that there is.

        Raises:
            ContextBudgetError: Not even a part of the query fits, or not all of it where it is protected.
        """
        subject = self.subject
        self.system = ComponentCut(
            texts=("",) * len(subject.request.system_texts), lost=frozenset(subject.conversation.systems)
        )
        self.trimming = Trimming(length=len(subject.conversation))
        self._pack(0)
        if not self._cut_query(max(0, subject.available)) or (
            "query" in self.options.protect and self._was_cut("query")
        ):
            self._raise(("query",))
        self._tighten()
        return self._outcome(Allocation(system=0, query=subject.available, documents=0, history=0))

    def _outcome(self, allocation: Allocation) -> Cut:
        return Cut(
            draft=self.draft(),
            packing=self.packing,
            allocation=allocation,
            used=self.used,
            whole=self._whole(),
        )

    def draft(self) -> Draft:
        """Return what the request holds now."""
        conversation, query = self.subject.conversation, self.subject.query
        charged_elsewhere = [i for i in conversation.systems if i not in self.system.lost]
        if query is not None:
            charged_elsewhere.append(query)
        merged = replace(
            self.trimming,
            kept=tuple(sorted((*self.trimming.kept, *charged_elsewhere))),
            shortened={**self.trimming.shortened, **self.system.shortened, **self.query.shortened},
            reasons={**self.trimming.reasons, **{i: "empty" for i in self.system.lost if conversation.is_blank(i)}},
        )
        texts, documents = self.packing.texts, self.subject.request.documents
        return Draft(
            system=self.system.texts,
            query=self.query.texts,
            documents=tuple((i, texts.get(i) or documents[i].text or "") for i in self.packing.kept),
            trimming=merged,
        )

    def _whole(self) -> int:
        """Tokens of the request as it stands. Costs of messages add up exactly; everything else is rendered."""
        if self.subject.only_messages:
            return self.subject.fixed + sum(self.used.values())
        return self.subject.whole(self.draft())

    def _allocate(self) -> Allocation:
        protected: tuple[Component, ...] = tuple(name for name in PROTECTABLE if name in self.options.protect)
        held = sum(self.needs[name] for name in protected)
        available = self.subject.available
        if available <= 0 or held > available:
            self._raise(protected)
        free = {name: 0 if name in protected else need for name, need in self.needs.items()}
        allocation = allocate(available - held, free, self.shares)
        return replace(allocation, **{name: self.needs[name] for name in protected})

    def _settle(self, allocation: Allocation) -> Allocation:
        """Cut query and system prompt. Where nothing would be left of a text it takes from documents and history."""
        available = self.subject.available
        if not self._widened(self._cut_query, allocation.query, available):
            self._raise(("query",))
        if not self._widened(self._cut_system, allocation.system, available - self.query.tokens):
            self._raise(("query", "system"))
        used = {"query": self.query.tokens, "system": self.system.tokens}
        if used["query"] <= allocation.query and used["system"] <= allocation.system:
            return allocation
        others = {name: 0 if name in used else need for name, need in self.needs.items()}
        return replace(allocate(available - sum(used.values()), others, self.shares), **used)

    @staticmethod
    def _widened(cut: Callable[[int], bool], allowed: int, most: int) -> bool:
        """Cut with a growing allowance until something of every text is left, or `most` is not enough either."""
        while not cut(allowed):
            if allowed >= most:
                return False
            allowed = min(most, 2 * allowed + _WORTH_FILLING)
        return True

    def _cut_query(self, allowed: int) -> bool:
        self.allowed["query"] = allowed
        cut = cut_query(self.subject, allowed)
        self.query = cut or self.query
        return cut is not None

    def _cut_system(self, allowed: int) -> bool:
        self.allowed["system"] = allowed
        cut = cut_system(self.subject, allowed)
        if cut.emptied and self.shares.system:
            return False
        self.system = cut
        return True

    def _pack(self, allowed: int) -> None:
        self.allowed["documents"] = allowed
        if not self.subject.request.documents:
            return
        self.packing = pack_documents(
            self.subject.request.documents,
            max(0, allowed),
            self.subject.capped,
            query=self.subject.query_text,
            policy=self.options.documents,
            rendering=self.subject.framing.documents,
        )

    def _trim(self, allowed: int) -> None:
        self.allowed["history"] = allowed
        subject = self.subject
        self.trimming = trim(
            subject.conversation, max(0, allowed), subject.capped, policy=self.options.history, query=subject.query
        )

    def _trim_beside(self, allowed: int, documents: int) -> None:
        """Trim the conversation; an exchange in flight that does not fit takes from the documents."""
        self._trim(allowed)
        for given_up in (documents // 2, documents):
            if self.trimming.tokens <= allowed or not self.packing.kept:
                return
            self._pack(documents - given_up)
            self._trim(allowed + given_up)

    def _tighten(self) -> None:
        """Cut the component that can best bear it by what the whole is over, until the whole fits."""
        for _ in range(_ROUNDS):
            over = self._whole() - self.subject.limit
            if over <= 0:
                return
            if not self._cut_further(over):
                break
        self._raise(("query", "history"))

    def _cut_further(self, over: int) -> bool:
        again: dict[Component, Callable[[int], object]] = {
            "documents": self._pack,
            "history": self._trim,
            "system": self._cut_system,
            "query": self._cut_query,
        }
        over = math.ceil(over / self._rendered_per_token())
        for name, cut in again.items():
            before = self.used[name]
            if before and name not in self.options.protect:
                cut(before - over)
                if self.used[name] < before:
                    return True
        return False

    def _rendered_per_token(self) -> float:
        """How many tokens the rendering holds for one of the components': 2 where it shows each of them twice."""
        used = sum(self.used.values())
        return max(_LEAST_RATE, (self._whole() - self.subject.fixed) / used) if used else 1.0

    def _fill(self) -> None:
        """Offer what is left to each component that was cut, in their order; keep it only if the whole still fits."""
        offers: dict[Component, Callable[[int], object]] = {
            "system": self._cut_system,
            "query": self._cut_query,
            "documents": self._pack,
            "history": self._trim,
        }
        for name, cut in offers.items():
            if not self._was_cut(name):
                continue
            spare = int((self.subject.limit - self._whole()) / self._rendered_per_token())
            if spare < _WORTH_FILLING:
                return
            before = (self.system, self.query, self.packing, self.trimming)
            used = self.used[name]
            if used + spare < self.allowed[name] + _WORTH_FILLING:
                continue
            cut(used + spare)
            if self.used[name] < used or self._whole() > self.subject.limit:
                self.system, self.query, self.packing, self.trimming = before

    def _was_cut(self, name: Component) -> bool:
        if not getattr(self.shares, name):
            return False
        if name == "documents":
            return bool(self.packing.texts) or len(self.packing.kept) < len(self.subject.request.documents)
        return self.used[name] < self.needs[name]

    def _raise(self, mandatory: tuple[Component, ...]) -> NoReturn:
        fixed, limit = self.subject.fixed, self.subject.limit
        costs: dict[str, int] = {"fixed": fixed, **dict(self.needs.items())}
        needed = max(limit + 1, fixed + sum(max(self.needs[name], self.used[name]) for name in mandatory))
        message = (
            f"the request cannot be made to fit: what may not be cut needs {needed:,} tokens and the input budget is "
            f"{limit:,} ({describe_costs(costs)}); use a larger context window, a smaller `output_reserve` or fewer "
            "tools, or shorten what is fixed"
        )
        raise ContextBudgetError(message, needed=needed, available=limit, costs=costs)
