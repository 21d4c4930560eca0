"""`Trimming`: what of a conversation is kept, and how that is applied to the original messages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, TypeVar

from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.displayed import Displayed
from ctxopt_core.runtime.pickling import reduced
from ctxopt_core.shortening.shorten_message import Shortened

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)
DropReason = Literal["budget", "orphan", "empty", "superseded", "summarized", "compacted"]


class Added(NamedTuple):
    """A message that a trimming adds: the placeholder, or what is recalled.

    It stands `before` or after the kept message with the index `beside`.
    """

    role: Literal["assistant", "user"]
    text: str
    beside: int
    before: bool = False


class Indexed(Protocol[Item_co]):
    """Anything that has an item at an index."""

    def __getitem__(self, index: int, /) -> Item_co:
        """Return the item at an index."""
        ...


def kept_items(
    originals: Indexed[Item],
    trimming: Trimming,
    *,
    shortened: Callable[[int, Shortened], Item],
    added: Callable[[Added], Item],
) -> list[Item]:
    """Return what a trimming keeps, in order: originals, copies of those shortened, and the messages that it adds.

    Args:
        originals: The conversation that was trimmed.
        trimming: What is kept of it.
        shortened: Returns the copy of the original at an index.
        added: Returns a message that the trimming adds.
    """
    kept = trimming.kept
    found = [originals[i] for i in kept]
    for index, cut in trimming.shortened.items():
        found[bisect_left(kept, index)] = shortened(index, cut)
    for message in reversed(trimming.added):
        place = bisect_left(kept, message.beside)
        found.insert(place if message.before else place + 1, added(message))
    return found


def without_loose_results(conversation: CountedConversation, trimming: Trimming) -> Trimming:
    """Return a trimming that says which kept messages go without the tool results in them."""
    omitted = conversation.results_omitted.intersection(trimming.kept) if conversation.results_omitted else ()
    if not omitted:
        return trimming
    shortened = dict(trimming.shortened)
    for index in omitted:
        as_it_is = Shortened(texts=conversation.message(index).texts, tokens=conversation.cost(index))
        shortened[index] = replace(shortened.get(index, as_it_is), results_omitted=True)
    return replace(trimming, shortened=MappingProxyType(shortened))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming(Displayed):
    """What of a conversation is kept, as indices into the conversation that was given.

    Args:
        kept: Indices of the kept messages, ascending; a range where all of them are.
        shortened: New texts of the kept messages that were cut.
        placeholder: The text of the one message that says what was left out; None where there is none.
        placeholder_after: The kept index that the placeholder follows.
        placeholder_role: The role of the placeholder: `assistant` between two user messages; `user` inside a turn,
            where it follows the question, and the assistant's calls come next.
        reasons: Why a message was dropped, where that was not for the budget: a result without its call, or a call
            without its results (`orphan`), no content (`empty`), the placeholder of an earlier fit (`superseded`), or a
            summary (`summarized`) or a provider's compaction (`compacted`) stands for it.
        tokens: The tokens of what is kept, placeholder included.
        turns: How many turns are kept, whole or in part.
        whole_turns: How many of them are whole.
        length: How many messages there were.
        strategy: The strategy that chose.
        fallback: The strategy that was used instead, where the one that was asked for failed or had no query.
        notes: What else the caller should know, without content.
        reused_prefix_tokens: With a stable prefix, how many tokens of messages at least repeat the start of the request
            before, so that a prompt cache can have them.
        summary_room: Tokens that are set aside for a summary in the placeholder's text; 0 once it is there.
        summarized: Indices of the messages that a summary stands for.
        recall: The text of the one message that recalls what the question needs of what was left out; its role is that
            of a user. None where nothing is recalled.
        recall_before: The index of the message that it stands before: that of the question.
        recalled: Indices of the messages that are recalled, in whole or in part.

    Example:
        >>> from ctxopt_core import CallableCounter, Message, trim_history
        >>> messages = [Message(role="user", content=f"Question {n}?") for n in range(9)]
        >>> trimming = trim_history(messages, 100, CallableCounter(len))
        >>> trimming.kept, trimming.dropped, trimming.reason(1)
        ((6, 7, 8), (0, 1, 2, 3, 4, 5), 'budget')
    """

    kept: Sequence[int] = ()
    shortened: Mapping[int, Shortened] = field(default_factory=lambda: MappingProxyType({}))
    placeholder: str | None = None
    placeholder_after: int | None = None
    placeholder_role: Literal["assistant", "user"] = "assistant"
    reasons: Mapping[int, DropReason] = field(default_factory=lambda: MappingProxyType({}))
    tokens: int = 0
    turns: int = 0
    whole_turns: int = 0
    length: int = 0
    strategy: str = "turns"
    fallback: str | None = None
    notes: tuple[str, ...] = ()
    reused_prefix_tokens: int | None = None
    summary_room: int = 0
    summarized: Sequence[int] = ()
    recall: str | None = None
    recall_before: int | None = None
    recalled: Sequence[int] = ()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the fields; views that cannot be pickled as plain mappings."""
        return reduced(self)

    @property
    def dropped(self) -> tuple[int, ...]:
        """Indices of the messages that were dropped, ascending. Computed when asked for."""
        kept = frozenset(self.kept)
        return tuple(i for i in range(self.length) if i not in kept)

    @property
    def added(self) -> tuple[Added, ...]:
        """The messages that are added to those that are kept, in their order."""
        found = []
        if self.placeholder is not None and self.placeholder_after is not None:
            found.append(Added(self.placeholder_role, self.placeholder, self.placeholder_after))
        if self.recall is not None and self.recall_before is not None:
            found.append(Added("user", self.recall, self.recall_before, before=True))
        return tuple(found)

    def reason(self, index: int) -> DropReason:
        """Return why message `index` was dropped."""
        return self.reasons.get(index, "budget")
