"""Results in a user's message that answer no call: what the user says beside them is kept without them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from ctxopt_core.conversation import Conversation
from ctxopt_core.excerpts import Shortened
from ctxopt_core.history import Trimming


def without_loose_results(conversation: Conversation, trimming: Trimming) -> Trimming:
    """Return a trimming that says of each kept message whether the results in it are left out."""
    bare = conversation.bare.intersection(trimming.kept) if conversation.bare else ()
    if not bare:
        return trimming
    shortened = dict(trimming.shortened)
    for index in bare:
        as_it_is = Shortened(texts=conversation.message(index).texts, tokens=conversation.cost(index))
        shortened[index] = replace(shortened.get(index, as_it_is), results_omitted=True)
    return replace(trimming, shortened=MappingProxyType(shortened))
