"""Prunes exchanges with tools: results to an excerpt, words and huge arguments beside the calls to a few tokens.

While turns are chosen, such a message is counted with the fewest tokens that it can have. The tokens that are left in
the end are given back: first to the words beside the calls, then to the newest results, then to all results together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxopt_core.conversation.turns import Unit
from ctxopt_core.history.draft import HistoryDraft
from ctxopt_core.history.shrink_turn import RESULT_FLOOR, TEXT_FLOOR, essential_units, lowest_tokens
from ctxopt_core.messages.message import Message
from ctxopt_core.shortening.call_arguments import tokens_in_arguments
from ctxopt_core.shortening.omission_notes import results_by_text
from ctxopt_core.shortening.result_pieces import ResultText
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from ctxopt_core.shortening.tool_results import tool_excerpts

_HUGE_ARGUMENTS = 256  # tokens of a message's arguments: fewer are kept whole, since a later call may repeat them
_ARGUMENTS_FLOOR = 96  # tokens that are left of huge arguments at least: keys, numbers and the beginnings of strings


class PrunedResults:
    """The pruned messages of a draft, until it is settled how many tokens each of them has.

    `saved` and `part` answer what pruning would save while units are chosen, `prune` is called with those that are
    kept, and `settle` comes last, once.

    Huge arguments of calls are only pruned before the draft's query. `targets` has the tokens of each pruned message.
    """

    def __init__(self, draft: HistoryDraft) -> None:
        self.targets: dict[int, int] = {}
        self._draft = draft
        self._results: set[int] = set()
        self._least: dict[int, int] = {}

    def saved(self, units: Sequence[Unit]) -> int:
        """Return the tokens that are saved when all exchanges among some units are pruned."""
        return sum(map(self._saved_in, units))

    def prune(self, units: Sequence[Unit]) -> None:
        """Prune the exchanges among units that are kept."""
        for unit in units:
            for index in unit.indices if self._saved_in(unit) else ():
                least = self._least_of(unit, index)
                if least < self._cost(index):
                    self.targets[index] = least
                    if index in unit.results:
                        self._results.add(index)

    def part(self, units: Sequence[Unit], budget: int, prunable: Sequence[Unit]) -> list[Unit] | None:
        """Return what is kept of units that are too big even when they are pruned; the oldest exchanges go.

        Returns:
            None where that is not enough for `budget`, or where nothing can be pruned.
        """
        saved = [self._saved_in(unit) if unit in prunable else 0 for unit in units]
        if not any(saved):
            return None
        essential = essential_units(units)
        over = sum(unit.tokens for unit in units) - sum(saved) - budget
        kept: list[Unit] = []
        for unit, less in zip(units, saved, strict=True):
            if over > 0 and unit not in essential:
                over -= unit.tokens - less
            else:
                kept.append(unit)
        return kept if over <= 0 else None

    def settle(
        self, extra: int, recent: int, visible: Iterable[str], mentioned: Iterable[str]
    ) -> Mapping[int, Shortened]:
        """Return what is left of each pruned message; those that are whole again are not among them.

        All of them together may have `extra` tokens above their targets, of which `recent` may make the newest results
        whole again. Identifiers are `visible` in other messages, or `mentioned` by the question, a user or the model.
        """
        conversation = self._draft.conversation
        newest_first = sorted(self.targets, reverse=True)
        results = [i for i in newest_first if i in self._results]
        left = self._give_back([i for i in newest_first if i not in self._results], extra)
        recent = min(left, recent)
        for index in results:
            missing = self._cost(index) - self.targets[index]
            if missing > recent:
                break
            del self.targets[index]
            left, recent = left - missing, recent - missing
        shared = [i for i in reversed(results) if i in self.targets and _has_only_text(conversation.message(i))]
        found = self._excerpts(shared, left, visible, mentioned)
        for index in shared:
            tokens = found[index].tokens if index in found else self._cost(index)
            left -= tokens - self.targets[index]
            if index not in found:
                del self.targets[index]
        self._give_back([i for i in results if i in self.targets and i not in found], left)
        for index in self.targets.keys() - found.keys():
            cut = self._shortened(index, self.targets[index])
            if cut is not None:
                found[index] = cut
        return found

    def _cost(self, index: int) -> int:
        return self._draft.conversation.cost(index)

    def _saved_in(self, unit: Unit) -> int:
        if unit.kind != "exchange":
            return 0
        return unit.tokens - sum(self._least_of(unit, index) for index in unit.indices)

    def _least_of(self, unit: Unit, index: int) -> int:
        """Return the fewest tokens that a message can be cut to."""
        found = self._least.get(index)
        if found is not None:
            return found
        conversation = self._draft.conversation
        cost, message = conversation.cost(index), conversation.message(index)
        floor = RESULT_FLOOR if index in unit.results else TEXT_FLOOR
        least = min(cost, lowest_tokens(conversation, index, floor, self._draft.counter)) - self._saved_in_arguments(
            index
        )
        usual = _has_only_text(message) and not message.speaks_beside_results and not message.tool_calls
        if least < cost and not usual and self._shortened(index, least) is None:
            # Attachments and calls in every combination: what cannot be cut that far is left whole.
            least = cost
        self._least[index] = least
        return least

    def _saved_in_arguments(self, index: int) -> int:
        message, counter = self._draft.conversation.message(index), self._draft.counter
        tokens = sum(counter.count(call.arguments) for call in message.tool_calls)
        if tokens <= _HUGE_ARGUMENTS or index >= self._draft.end:
            return 0
        return max(0, min(tokens_in_arguments(message, counter), tokens - _ARGUMENTS_FLOOR))

    def _give_back(self, indices: Iterable[int], extra: int) -> int:
        """Raise targets in the given order; return the tokens that are left."""
        for index in indices:
            missing = self._cost(index) - self.targets[index]
            if missing <= extra:
                del self.targets[index]
                extra -= missing
            else:
                self.targets[index] += max(0, extra)
                return 0
        return extra

    def _excerpts(
        self, indices: Sequence[int], extra: int, visible: Iterable[str], mentioned: Iterable[str]
    ) -> dict[int, Shortened]:
        """Share the tokens of some results, and `extra` more, among all of them."""
        counter = self._draft.counter
        texts = {i: self._result_texts(i) for i in indices}
        counts = {i: sum(counter.count(text.text) for text in texts[i].values()) for i in indices}
        budget = extra + sum(counts[i] - self._cost(i) + self.targets[i] for i in indices)
        flat = [text for group in texts.values() for text in group.values()]
        excerpts = iter(tool_excerpts(flat, budget, counter, visible=visible, mentioned=mentioned))
        found: dict[int, Shortened] = {}
        for index in indices:
            before = self._draft.conversation.message(index).texts
            after = list(before)
            for position in texts[index]:
                after[position] = next(excerpts)
            if tuple(after) != before:
                tokens = self._cost(index) - counts[index] + sum(counter.count(after[i]) for i in texts[index])
                found[index] = Shortened(texts=tuple(after), tokens=tokens)
        return found

    def _result_texts(self, index: int) -> dict[int, ResultText]:
        """Return the texts of a message that belong to results, by their position."""
        message = self._draft.conversation.message(index)
        known = results_by_text(message) if self._draft.policy.recoverable_tool_results else {}
        inside = [i for result in message.tool_results for i in result.texts]
        found = {}
        for position in inside if message.tool_results else range(len(message.texts)):
            reference, before = known.get(position, (None, 0))
            found[position] = ResultText(text=message.texts[position], reference=reference, lines_before=before)
        return found

    def _shortened(self, index: int, target: int) -> Shortened | None:
        """Return what is left of a message; `_least_of` has tried that the fewest tokens can be reached."""
        conversation, draft = self._draft.conversation, self._draft
        return shorten_message(
            conversation.message(index),
            conversation.cost(index),
            target,
            draft.counter,
            arguments_may_go=index < draft.end,
            references=draft.policy.recoverable_tool_results,
        )


def _has_only_text(message: Message) -> bool:
    """Return whether nothing of a message can be left out as a whole."""
    return not message.removable and not message.sources
