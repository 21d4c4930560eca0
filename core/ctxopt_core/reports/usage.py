"""How the context window is used, part by part, once a request is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ctxopt_core.displayed import Displayed

PartName = Literal[
    "system", "tools", "query", "documents", "history", "sections", "framing", "free", "answer", "margin", "outside"
]
_USED: tuple[PartName, ...] = ("system", "tools", "sections", "documents", "history", "query", "framing")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePart:
    """One part of the context window.

    Args:
        name: `system`, `tools`, `sections`, `documents`, `history`, `query`, `framing` (template text and what is
            around messages), `free`, `answer` (kept free for the answer), `margin` (kept free for safety) or `outside`
            (what the model could take, and the input budget does not allow).
        tokens: Its tokens.
        percent: Its share of the window, in percent.
    """

    name: PartName
    tokens: int
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage(Displayed):
    """How a context window is used: what is in it, what is free, and what is kept free.

    The tokens of all parts add up to the window. A notebook shows it as a bar, `print` as a meter for a terminal.

    Example:
        >>> from ctxopt_core import CallableCounter, ContextBudget, ContextRequest, plan
        >>> request = ContextRequest(system="Be brief.", query="Why is the sky blue?")
        >>> budget = ContextBudget(context_window=100, output_reserve=30)
        >>> usage = plan(request, budget, counter=CallableCounter(len)).usage()
        >>> usage.used, usage.free, usage.tokens["system"], usage.tokens["answer"]
        (48, 22, 18, 30)

    Args:
        window: Tokens of the window; where only a limit of the input is known, that limit and what is kept free.
        used: Tokens of the request as it is sent.
        free: Tokens that the request could have more.
        parts: The parts of the window, those that are used first.
        model: The name of the model, if known.
        exact: Whether counts are exact; False for an estimate.
    """

    window: int
    used: int
    free: int
    parts: tuple[UsagePart, ...]
    model: str | None = None
    exact: bool = True

    @property
    def tokens(self) -> Mapping[str, int]:
        """The tokens of each part by its name."""
        return {part.name: part.tokens for part in self.parts}

    @property
    def percent_used(self) -> float:
        """The share of the window that the request takes, in percent."""
        return 100 * self.used / self.window

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, ready for JSON."""
        return {
            "model": self.model,
            "exact": self.exact,
            "window": self.window,
            "used": self.used,
            "free": self.free,
            "percent_used": self.percent_used,
            "parts": {part.name: {key: asdict(part)[key] for key in ("tokens", "percent")} for part in self.parts},
        }

    def __str__(self) -> str:
        return self._plain_text()


def usage_of(
    used: int,
    parts: Mapping[str, int],
    *,
    input_budget: int,
    answer: int,
    margin: int,
    context_window: int | None,
    model: str | None,
    exact: bool,
) -> ContextUsage:
    """Return how a window is used.

    Args:
        used: Tokens of the request as it is sent.
        parts: Tokens of the components, tools and sections by name; the rest of the request is framing. Where parts
            that are joined have fewer tokens than each by itself, the largest of them is shown with fewer.
        input_budget: The most tokens that the request may have.
        answer: Tokens that are kept free for the answer.
        margin: Tokens that are kept free for safety.
        context_window: Tokens of the window, if known.
        model: The name of the model, if known.
        exact: Whether counts are exact.
    """
    tokens = {name: parts.get(name, 0) for name in _USED}
    tokens["framing"] = used - sum(tokens.values())
    if tokens["framing"] < 0:
        largest = max(tokens, key=lambda name: tokens[name])
        tokens[largest] += tokens["framing"]
        tokens["framing"] = 0
    free = max(0, input_budget - used)
    taken = used + free + answer + margin
    window = max(taken, context_window or 0)
    tokens |= {"free": free, "answer": answer, "margin": margin, "outside": window - taken}
    return ContextUsage(
        window=window,
        used=used,
        free=free,
        parts=tuple(UsagePart(name=name, tokens=n, percent=100 * n / window) for name, n in tokens.items()),
        model=model,
        exact=exact,
    )
