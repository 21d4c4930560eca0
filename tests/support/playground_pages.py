"""A playground with a conversation about lanterns, and what it shows."""

from __future__ import annotations

from ctxopt_playground import Playground

SPOKEN = "We spoke of lanterns and of how many hours they burn in a quiet night. " * 8
ROWS = [{"role": role, "content": f"{i}. {SPOKEN}"} for i in range(10) for role in ("user", "assistant")]
ASKED = {"role": "user", "content": "Which lantern burns longest?"}
DOCUMENTS = [{"id": f"d{i}", "score": i, "text": f"Lantern {i} burns {i} hours. " * 20} for i in range(6)]


def lantern_playground():
    """Return a playground in which not everything has room."""
    return Playground([*ROWS, ASKED], DOCUMENTS, target_tokens=800, output_reserve=200)


def outcome(playground, strategy="turns"):
    """Return what a strategy makes of it."""
    return next(one for one in playground.comparison.outcomes if one.strategy == strategy)


def left(playground, strategy="turns"):
    """Return the tokens that a strategy leaves."""
    return outcome(playground, strategy).tokens_after


def html_of(playground):
    """Return all HTML that it shows."""
    shown = playground._page.outcomes
    boxes = playground._page.history.status, playground._page.documents.status
    return [widget.value for widget in (shown.status, shown.cards, shown.report, shown.summary, *boxes)]
