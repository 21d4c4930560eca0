"""Messages of exchanges that are lowered: what tools returned, to an excerpt; what stands beside the calls, to less.

While it is decided what stays, such a message is charged the least that it can count. What is left in the end is given
back: first to the words beside the calls, then to the newest results up to their share, then to all results together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import Unit
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.history.shrink_turn import RESULT_FLOOR, TEXT_FLOOR, essential_units, lowest_tokens
from ctxopt_core.messages.message import Message
from ctxopt_core.shortening.call_arguments import tokens_in_arguments
from ctxopt_core.shortening.omission_notes import results_by_text
from ctxopt_core.shortening.result_pieces import ResultText
from ctxopt_core.shortening.shorten_message import Shortened, shorten_message
from ctxopt_core.shortening.tool_results import tool_excerpts

HUGE_ARGUMENTS = 256
ARGUMENTS_FLOOR = 96


class PrunedResults:
    """The lowered messages of a trimming, until it is settled what each of them may count.

    Args:
        conversation: The whole conversation.
        counter: Counts the texts.
        references: Whether the markers in excerpts say how the omitted lines can be read.

    Huge arguments of calls before the message `arguments_before`, the query, are shortened, too.
    """

    def __init__(self, conversation: CountedConversation, counter: TokenCounter, *, references: bool = False) -> None:
        self.targets: dict[int, int] = {}
        self.arguments_before = len(conversation)
        self._conversation = conversation
        self._counter = counter
        self._references = references
        self._results: set[int] = set()
        self._least: dict[int, int] = {}

    def saved(self, units: Sequence[Unit]) -> int:
        """Return the tokens that are saved when all exchanges among some units are lowered."""
        return sum(self._saved_in(unit) for unit in units)

    def hold(self, units: Sequence[Unit]) -> None:
        """Lower the exchanges among units that are kept."""
        for unit in units:
            for index in unit.indices if self._saved_in(unit) else ():
                least = self._least_of(unit, index)
                if least < self._conversation.cost(index):
                    self.targets[index] = least
                    if index in unit.results:
                        self._results.add(index)

    def part(self, units: Sequence[Unit], room: int, lowered: Sequence[Unit]) -> list[Unit] | None:
        """Return what stays of units that are too big even when lowered: the oldest exchanges go.

        Args:
            units: The units of a turn.
            room: What they may count, in tokens.
            lowered: Those among them that may be lowered.

        Returns:
            None where that is not enough, or where nothing can be lowered.
        """
        saved = [self._saved_in(unit) if unit in lowered else 0 for unit in units]
        if not any(saved):
            return None
        essential = essential_units(units)
        over = sum(unit.tokens for unit in units) - sum(saved) - room
        kept: list[Unit] = []
        for unit, less in zip(units, saved, strict=True):
            if over > 0 and unit not in essential:
                over -= unit.tokens - less
            else:
                kept.append(unit)
        return kept if over <= 0 else None

    def settle(
        self, room: int, recent_room: int, visible: Iterable[str], mentioned: Iterable[str]
    ) -> Mapping[int, Shortened]:
        """Return what becomes of the lowered messages; those that are whole again are not among them.

        Args:
            room: What all of them together may count beyond what they were lowered to, in tokens.
            recent_room: How much of it may make the newest results whole again.
            visible: Identifiers that are seen in other messages.
            mentioned: Identifiers that the question or other messages mention.
        """
        newest_first = sorted(self.targets, reverse=True)
        texts = [i for i in newest_first if i not in self._results]
        results = [i for i in newest_first if i in self._results]
        left = self._give_back(texts, room)
        left -= self._make_whole(results, min(left, recent_room))
        shared = [i for i in reversed(results) if i in self.targets and not self._conversation.message(i).removable]
        found = self._excerpts(shared, left, visible, mentioned)
        for index in shared:
            tokens = found[index].tokens if index in found else self._conversation.cost(index)
            left -= tokens - self.targets[index]
            if index not in found:
                del self.targets[index]
        self._give_back([i for i in results if i in self.targets and i not in found], left)
        for index in self.targets.keys() - found.keys():
            cut = self._shortened(index, self.targets[index])
            if cut is not None:
                found[index] = cut
        return found

    def _saved_in(self, unit: Unit) -> int:
        if unit.kind != "exchange":
            return 0
        return unit.tokens - sum(self._least_of(unit, index) for index in unit.indices)

    def _least_of(self, unit: Unit, index: int) -> int:
        found = self._least.get(index)
        if found is None:
            found = self._least[index] = self._measured(index, RESULT_FLOOR if index in unit.results else TEXT_FLOOR)
        return found

    def _measured(self, index: int, floor: int) -> int:
        cost, message = self._conversation.cost(index), self._conversation.message(index)
        least = min(cost, lowest_tokens(self._conversation, index, floor)) - self._saved_in_arguments(index)
        usual = not message.removable and not message.speaks_beside_results and not message.tool_calls
        if least == cost or usual:
            return least
        return cost if self._shortened(index, least) is None else least

    def _saved_in_arguments(self, index: int) -> int:
        """Return the tokens that shortening the huge arguments of an old call saves."""
        message = self._conversation.message(index)
        tokens = sum(self._counter.count(call.arguments) for call in message.tool_calls)
        if tokens <= HUGE_ARGUMENTS or index >= self.arguments_before:
            return 0
        return max(0, min(tokens_in_arguments(message, self._counter), tokens - ARGUMENTS_FLOOR))

    def _give_back(self, indices: Iterable[int], room: int) -> int:
        """Raise targets in the given order; return the room that is left."""
        for index in indices:
            missing = self._conversation.cost(index) - self.targets[index]
            if missing <= room:
                del self.targets[index]
                room -= missing
            else:
                self.targets[index] += max(0, room)
                return 0
        return room

    def _make_whole(self, results: Sequence[int], room: int) -> int:
        """Make the newest results whole again; return what that took."""
        left = room
        for index in results:
            missing = self._conversation.cost(index) - self.targets[index]
            if missing > left:
                break
            del self.targets[index]
            left -= missing
        return room - left

    def _excerpts(
        self, indices: Sequence[int], room: int, visible: Iterable[str], mentioned: Iterable[str]
    ) -> dict[int, Shortened]:
        """Share what results may count, and `room` tokens more, among all of them."""
        messages = [self._conversation.message(i) for i in indices]
        own = [_positions(message) for message in messages]
        texts = [self._texts(message, positions) for message, positions in zip(messages, own, strict=True)]
        counts = [sum(self._counter.count(text.text) for text in group) for group in texts]
        room += sum(n - self._conversation.cost(i) + self.targets[i] for i, n in zip(indices, counts, strict=True))
        flat = [text for group in texts for text in group]
        left = iter(tool_excerpts(flat, room, self._counter, visible=visible, mentioned=mentioned))
        found: dict[int, Shortened] = {}
        for index, message, positions, count in zip(indices, messages, own, counts, strict=True):
            new = list(message.texts)
            for position in positions:
                new[position] = next(left)
            if tuple(new) != message.texts:
                tokens = self._conversation.cost(index) - count + sum(self._counter.count(new[i]) for i in positions)
                found[index] = Shortened(texts=tuple(new), tokens=tokens)
        return found

    def _texts(self, message: Message, positions: Sequence[int]) -> list[ResultText]:
        known = results_by_text(message) if self._references else {}
        found = []
        for position in positions:
            reference, before = known.get(position, (None, 0))
            found.append(ResultText(text=message.texts[position], reference=reference, lines_before=before))
        return found

    def _shortened(self, index: int, target: int) -> Shortened | None:
        """Return what is left of a message; `_measured` has seen to it that its least target can be met."""
        message, cost = self._conversation.message(index), self._conversation.cost(index)
        old = index < self.arguments_before
        return shorten_message(message, cost, target, self._counter, arguments_may_go=old, references=self._references)


def _positions(message: Message) -> list[int]:
    """Return which texts of a message belong to results."""
    if message.tool_results:
        return [i for result in message.tool_results for i in result.texts]
    return list(range(len(message.texts)))
