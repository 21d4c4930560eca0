"""Who is measured: the optimizer, LangChain's `trim_messages`, and two loops that nobody can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cpu_time import Candidate
from langchain_core.messages import BaseMessage, trim_messages

from ctxopt_core.counting.encodings import load_encoding
from ctxopt_core.relevance.word_blocks import word_blocks
from ctxopt_core.runtime.text_cache import shared_cache
from langchain_ctxopt import ContextOptimizer

ENCODING = "o200k_base"
WINDOW = 8_000
"""Tokens of the window that conversations of any length are fitted to."""
TOKENS_PER_MESSAGE = 4
TOKENS_PER_REQUEST = 3

_counts = shared_cache(ENCODING)
_encode = load_encoding(ENCODING).encode_ordinary

ListCounter = Callable[[list[BaseMessage]], int]


def forget_all() -> None:
    """Forget what was counted and what was found, so that the next fit is the first."""
    _counts.clear()
    word_blocks.clear()


def index_bytes(history: list[BaseMessage]) -> int:
    """Return the bytes that the index of words takes after one search in a conversation."""
    forget_all()
    optimizer_for(WINDOW).fit(history)
    return word_blocks.size_bytes


def count_once(messages: Sequence[BaseMessage]) -> int:
    """Tokenize everything; the token counter that `trim_messages` is given."""
    return TOKENS_PER_REQUEST + sum(TOKENS_PER_MESSAGE + len(_encode(str(message.content))) for message in messages)


def early_exit_scan(messages: Sequence[BaseMessage], budget: int) -> list[BaseMessage]:
    """Tokenize from the newest message on until the budget is full: the least that any exact trimmer does."""
    left = budget - TOKENS_PER_REQUEST
    kept: list[BaseMessage] = []
    for message in reversed(messages):
        left -= TOKENS_PER_MESSAGE + len(_encode(str(message.content)))
        if left < 0:
            break
        kept.append(message)
    return kept[::-1]


def trimmed(messages: Sequence[BaseMessage], budget: int, token_counter: ListCounter = count_once) -> list[BaseMessage]:
    """Trim with LangChain's own function, so that the result is a valid request."""
    return trim_messages(
        list(messages),
        max_tokens=budget,
        token_counter=token_counter,
        strategy="last",
        start_on="human",
        include_system=True,
    )


def optimizer_for(budget: int, strategy: str = "auto") -> ContextOptimizer:
    """Return the optimizer with the same budget and the same tokenizer, by default with the default strategy."""
    return ContextOptimizer(max_input_tokens=budget, token_counter=ENCODING, history={"strategy": strategy})


def fits(
    history: list[BaseMessage], budget: int, new_message: Callable[[], BaseMessage], *, questions: int = 0
) -> Iterator[Candidate]:
    """Yield the optimizer, called in two ways: with nothing counted before, and with one new message.

    `fit` and `invoke` have the default strategy; `turns` is a fit by recency alone, which is what the others do.

    Args:
        history: The conversation.
        budget: The input budget, in tokens.
        new_message: Writes another newest message, which is the question.
        questions: After how many other questions `fit` is measured once more, as `seen`; 0 for not at all.
    """
    optimizer = optimizer_for(budget)
    grown = history

    def grow() -> None:
        nonlocal grown
        optimizer.fit(history)
        grown = [*history[:-1], new_message()]

    def run_grown(call: Callable[[object], object]) -> object:
        return call(grown)

    calls: dict[str, Callable[[object], object]] = {
        "fit": optimizer.fit,
        "turns": optimizer_for(budget, "turns").fit,
        "invoke": optimizer.invoke,
    }
    for name, call in calls.items():
        yield Candidate(name=f"ours, {name}, cold", run=partial(call, history), prepare=forget_all)
        yield Candidate(name=f"ours, {name}, warm", run=partial(run_grown, call), prepare=grow)

    def ask() -> None:
        nonlocal grown
        forget_all()
        for _ in range(questions):
            optimizer.fit([*history[:-1], new_message()])
        grown = [*history[:-1], new_message()]

    if questions:
        yield Candidate(name="ours, fit, seen", run=partial(run_grown, optimizer.fit), prepare=ask)


def check_fit(optimizer: ContextOptimizer, messages: list[BaseMessage]) -> None:
    """Refuse to report the time of a fit that breaks its budget, or wastes a tenth of it.

    Raises:
        RuntimeError: It does.
    """
    budget, before, after = optimizer.budget.input_budget, count_once(messages), count_once(optimizer.invoke(messages))
    if not min(before, budget * 0.9) <= after <= budget:
        message = f"a fit of {len(messages):,} messages into {budget:,} tokens has {after:,} tokens"
        raise RuntimeError(message)
