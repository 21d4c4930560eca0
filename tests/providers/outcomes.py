"""What became of a request, the strategies that requests are fitted with, and how outcomes are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from broken_rule import TOO_LONG, Broken, Request
from conversations import Conversation
from provider_server import Endpoint
from request_lengths import texts_in

from ctxopt_core import HistoryPolicy, HistoryView, Message
from ctxopt_core.counting.token_counter import TokenCounter


class Topics:
    """A summarizer that calls no model."""

    def summarize(self, messages: Sequence[Message], counter: TokenCounter, max_tokens: int, /) -> str:
        return f"They said {len(messages)} things about lamps, oil and the harbour."


def every_other(view: HistoryView) -> list[int]:
    """A custom strategy that chooses single messages, calls without results among them."""
    return [index for turn in view.turns for index in turn if index % 2 == 0]


STRATEGIES: dict[str, HistoryPolicy] = {
    "auto": HistoryPolicy(),
    "turns": HistoryPolicy(strategy="turns"),
    "sliding_window": HistoryPolicy(strategy="sliding_window", max_messages=12),
    "relevance": HistoryPolicy(strategy="relevance"),
    "stable_prefix": HistoryPolicy(stable_prefix=True),
    "summarize": HistoryPolicy(strategy="summarize", summarizer=Topics()),
    "hybrid": HistoryPolicy(strategy="hybrid", summarizer=Topics()),
    "custom": HistoryPolicy(strategy=every_other),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one request.

    Args:
        broken: The rules that it broke.
        too_long: Whether it was over the window.
        refused_before: Whether a typed error said that it cannot fit, and nothing was sent.
        failed: Another error than a refusal of the provider, if any.
        question: `whole`, `cut` or `lost`, where it was sent.
        was_cut: Whether less was sent than was given.
    """

    broken: tuple[Broken, ...] = ()
    too_long: bool = False
    refused_before: bool = False
    failed: str = ""
    question: str = "whole"
    was_cut: bool = False

    @property
    def faults(self) -> list[str]:
        """What must never happen."""
        found = [f"{broken.rule}: {broken.message}" for broken in self.broken]
        found += ["it is too long"] if self.too_long else []
        return (
            found
            + ([f"failed: {self.failed}"] if self.failed else [])
            + (["the question is lost"] if self.question == "lost" else [])
        )


def outcome_of(
    endpoint: Endpoint, conversation: Conversation, *, issued: Request, overflow: bool, error: BaseException | None
) -> Outcome:
    """Read an endpoint after one request."""
    rules = tuple(broken for broken in endpoint.broken if broken.rule != TOO_LONG)
    if not endpoint.requests:
        return Outcome(refused_before=overflow, failed="" if overflow else f"nothing was sent: {error!r}")
    sent = endpoint.requests[-1]
    return Outcome(
        broken=rules,
        too_long=any(broken.rule == TOO_LONG for broken in endpoint.broken),
        failed=repr(error) if error is not None and not endpoint.broken else "",
        question=_question(conversation, sent),
        was_cut=sent != issued,
    )


def _question(conversation: Conversation, sent: Request) -> str:
    """Return how much of the question was sent: its first sentence stands for what is asked."""
    said = "\n".join(texts_in(sent))
    if conversation.question in said:
        return "whole"
    return "cut" if conversation.question.split("?")[0] in said else "lost"


@dataclass(slots=True)
class Tally:
    """Counts outcomes."""

    requests: int = 0
    counted: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Any] = field(default_factory=dict)

    def add(self, outcome: Outcome, example: Any = None) -> None:
        """Count one outcome."""
        self.requests += 1
        self.rules.update({broken.rule for broken in outcome.broken})
        told = {
            "cut": outcome.was_cut,
            "rule": bool(outcome.broken),
            "too long": outcome.too_long,
            "typed error": outcome.refused_before,
            "failed": bool(outcome.failed),
            "question cut": outcome.question == "cut",
            "question lost": outcome.question == "lost",
        }
        for name in (name for name, happened in told.items() if happened):
            self.counted[name] += 1
            self.examples.setdefault(
                f"{name} {[broken.rule for broken in outcome.broken][:1]} {outcome.failed[:200]}", example
            )
