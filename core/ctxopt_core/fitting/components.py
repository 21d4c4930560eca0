"""The four components of a request that is being cut; each can be cut again with another allowance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NoReturn

from ctxopt_core.budget.shares import COMPONENTS, Component, Shares, allocate
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.packing import Packing, pack_documents
from ctxopt_core.errors import ContextBudgetError
from ctxopt_core.fitting.measured_request import MeasuredRequest, describe_costs, measure_needs
from ctxopt_core.fitting.options import FitOptions
from ctxopt_core.fitting.request_renderer import Draft
from ctxopt_core.fitting.text_components import ComponentCut, cut_query, cut_system
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.history.trim import summarized, trim
from ctxopt_core.history.trimming import Trimming, without_loose_results

_LEAST_RATE = 0.25


class ComponentCuts:
    """What each component of a request holds at the moment.

    Args:
        measured: The request and its limit.
        shares: The components' guarantees.
        options: How to cut.
    """

    def __init__(self, measured: MeasuredRequest, shares: Shares, options: FitOptions) -> None:
        self.measured = measured
        self.shares = shares
        self.options = options
        self.system = ComponentCut()
        self.query = ComponentCut()
        self.packing = Packing()
        self.trimming = Trimming()
        if measured.query is not None:
            measured.conversation.leave_results_out(measured.query)
        self.needs: Mapping[Component, int] = measure_needs(measured)
        self.allowed: dict[Component, int] = {}

    @property
    def _ranking_query(self) -> str:
        return self.options.ranking_query or self.measured.query_text

    @property
    def query_holds_attachments(self) -> bool:
        """Whether there is something in the query that can only be kept whole or left out."""
        query = self.measured.query
        return query is not None and bool(self.measured.conversation.message(query).removable)

    @property
    def used(self) -> dict[Component, int]:
        """Tokens that each component takes now."""
        return {
            "system": self.system.tokens,
            "query": self.query.tokens,
            "documents": self.packing.tokens,
            "history": self.trimming.tokens,
        }

    @property
    def cuts(self) -> Mapping[Component, Callable[[int], object]]:
        """How each component is cut again."""
        return {"system": self.cut_system, "query": self.cut_query, "documents": self.pack, "history": self.trim}

    def cut_query(self, allowed: int) -> bool:
        """Cut the query again; tell whether anything of it is left, else it stays as it was."""
        self.allowed["query"] = allowed
        cut = cut_query(self.measured, allowed)
        self.query = cut or self.query
        return cut is not None

    def cut_system(self, allowed: int) -> bool:
        """Cut the system prompt again; tell whether something of each text is left, else it stays as it was."""
        self.allowed["system"] = allowed
        cut = cut_system(self.measured, allowed)
        if cut.emptied and self.shares.system:
            return False
        self.system = cut
        return True

    def pack(self, allowed: int) -> None:
        """Pack the documents again."""
        self.allowed["documents"] = allowed
        if not self.measured.request.documents:
            return
        self.packing = pack_documents(
            self.measured.request.documents,
            max(0, allowed),
            self.measured.capped,
            query=self._ranking_query,
            policy=self.options.documents,
            rendering=self.measured.renderer.documents,
        )

    def trim(self, allowed: int) -> None:
        """Trim the conversation again."""
        self.allowed["history"] = allowed
        self.trimming = self._trimmed(self.options.history)

    def summarize(self) -> None:
        """Have what is left out summarized, where room is kept for that. Nothing is trimmed after it."""
        measured, before = self.measured, self.trimming
        self.trimming = summarized(
            before,
            measured.conversation,
            measured.capped,
            policy=self.options.history,
            trim_again=self._trimmed,
            query=measured.query,
        )
        if self.trimming is not before and self.whole() > measured.limit:
            # A framing that renders the placeholder at more than it counts alone.
            note = "the summary did not fit as it is rendered"
            self.trimming = replace(
                before,
                summary_room=0,
                tokens=before.tokens - _awaited(before, measured.capped),
                fallback="turns",
                notes=(*before.notes, note),
            )

    def _trimmed(self, policy: HistoryPolicy) -> Trimming:
        measured = self.measured
        return trim(
            measured.conversation,
            max(0, self.allowed["history"]),
            measured.capped,
            policy=policy,
            query=measured.query,
            ranking_query=self._ranking_query,
            stable_limit=self._stable_limit() if policy.moves_in_steps else None,
        )

    def _stable_limit(self) -> int:
        """Return what the conversation may count at every request, whatever the other components need at this one."""
        measured = self.measured
        if measured.only_messages:
            return measured.available - self.needs["system"]
        available = measured.available
        # What is not there leaves its share to the history; what is may need all of its own at another request.
        wanted = dict.fromkeys(COMPONENTS, available)
        wanted["system"] = self.needs["system"]
        wanted["query"] = int(available * float(self.shares.query) / 100)
        wanted["documents"] = available if measured.request.documents else 0
        return allocate(available, wanted, self.shares).history

    def was_cut(self, name: Component) -> bool:
        """Tell whether a component holds less than it had, and has a share that lets it grow again."""
        if not getattr(self.shares, name):
            return False
        if name == "documents":
            return bool(self.packing.texts) or len(self.packing.kept) < len(self.measured.request.documents)
        return self.used[name] < self.needs[name]

    def draft(self) -> Draft:
        """Return what the request holds now."""
        conversation, query = self.measured.conversation, self.measured.query
        charged_elsewhere = [i for i in conversation.systems if i not in self.system.lost]
        if query is not None:
            charged_elsewhere.append(query)
        merged = replace(
            self.trimming,
            kept=tuple(sorted((*self.trimming.kept, *charged_elsewhere))),
            shortened={**self.trimming.shortened, **self.system.shortened, **self.query.shortened},
            reasons={**self.trimming.reasons, **{i: "empty" for i in self.system.lost if conversation.is_blank(i)}},
        )
        texts, documents = self.packing.texts, self.measured.request.documents
        return Draft(
            system=self.system.texts,
            query=self.query.texts,
            documents=tuple((i, texts.get(i) or documents[i].text or "") for i in self.packing.kept),
            trimming=without_loose_results(conversation, merged),
        )

    def whole(self) -> int:
        """Tokens of the request as it stands, with the room that is kept for a summary.

        Costs of messages add up exactly; everything else is rendered.
        """
        if self.measured.only_messages:
            return self.measured.overhead + sum(self.used.values())
        return self.measured.count(self.draft()) + _awaited(self.trimming, self.measured.capped)

    def rendered_per_token(self) -> float:
        """How many tokens the rendering holds for one of the components': 2 where it shows each of them twice."""
        used = sum(self.used.values())
        return max(_LEAST_RATE, (self.whole() - self.measured.overhead) / used) if used else 1.0

    def try_cut(self, name: Component, allowed: int) -> bool:
        """Cut a component again; take that back and return False if it then holds less or the whole no longer fits."""
        before, used = (self.system, self.query, self.packing, self.trimming, dict(self.allowed)), self.used[name]
        self.cuts[name](allowed)
        if self.used[name] >= used and self.whole() <= self.measured.limit:
            return True
        self.system, self.query, self.packing, self.trimming, self.allowed = before
        return False

    def empty(self) -> None:
        """Empty everything but the query."""
        measured = self.measured
        self.system = ComponentCut(
            texts=("",) * len(measured.request.system_texts), lost=frozenset(measured.conversation.systems)
        )
        self.trimming = Trimming(length=len(measured.conversation))
        self.pack(0)

    def refuse(self, mandatory: tuple[Component, ...]) -> NoReturn:
        """Raise the error that says why the request cannot be made to fit."""
        fixed, limit = self.measured.overhead, self.measured.limit
        costs: dict[str, int] = {"fixed": fixed, **dict(self.needs.items())}
        needed = max(limit + 1, fixed + sum(max(self.needs[name], self.used[name]) for name in mandatory))
        message = (
            f"the request cannot be made to fit: what may not be cut needs {needed:,} tokens and the input budget is "
            f"{limit:,} ({describe_costs(costs)}); use a larger context window, a smaller `output_reserve` or fewer "
            "tools, or shorten what is fixed"
        )
        raise ContextBudgetError(message, needed=needed, available=limit, costs=costs)


def _awaited(trimming: Trimming, counter: TokenCounter) -> int:
    """Return the tokens by which a summary that is still to come may be longer than the note in its place."""
    return max(0, trimming.summary_room - counter.count(trimming.placeholder or ""))
