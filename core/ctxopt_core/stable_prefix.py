"""Trimming so that each request begins with the one before it, for as long as that is possible."""

from __future__ import annotations

from ctxopt_core.stepped_view import SteppedView
from ctxopt_core.turn_draft import TurnDraft


def add_stable(draft: TurnDraft, limit: int, query: int | None) -> bool:
    """Keep what the stepped cut leaves of the whole conversation.

    Args:
        draft: The trimming in the making, still empty.
        limit: The most that the conversation may ever count, query included and system messages not, in tokens.
        query: Index of the query, if it is a message; it is charged elsewhere.

    Returns:
        False, with the draft still empty, where that is more than the draft's budget.
    """
    view = SteppedView(draft.conversation, draft.counter, draft.policy, limit, draft.placeholder)
    step = view.step
    if step is None:
        return False
    rows = dict(view.rows(step, len(view.kept)))
    rows.pop(-1 if query is None else query, None)
    shortened = {}
    for index, tokens in rows.items():
        if tokens < draft.conversation.cost(index):
            cut = view.first_left if index == view.first else view.shortened(index, tokens)
            if cut is None:
                return False
            shortened[index] = cut
    tokens = sum(shortened[i].tokens if i in shortened else cost for i, cost in rows.items())
    noted = view.is_noted(step)
    if tokens + (view.note_tokens if noted else 0) > draft.left:
        return False
    draft.note(view.units)
    draft.kept.extend(rows)
    draft.left -= tokens + (draft.placeholder.tokens(len(draft.conversation)) if noted else 0)
    draft.turns = sum(draft.conversation.opens_turn(index) for index in rows)
    draft.whole_turns = draft.turns
    draft.shortened.update(shortened)
    draft.placeholder.after = view.first if noted else None
    draft.omitted = view.omitted(step)
    draft.repeated_tokens = view.repeated_tokens(step, shortened)
    return True
