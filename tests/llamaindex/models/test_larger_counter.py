"""Two tokenizers at once, against each of them."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.counter_wrappers import ScaledCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.counting.token_counter import TokenCounter
from hostile_text import hostile_text
from llamaindex_ctxopt.models.larger_counter import MaxCounter, larger

OLD, NEW = TiktokenCounter("cl100k_base"), TiktokenCounter("o200k_base")
BOTH = MaxCounter(OLD, NEW)
CYRILLIC = "Маяк стоит на скале. "
CODE = "        return value\n"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text() | hostile_text(), st.integers(min_value=-2, max_value=200))
def test_a_text_is_cut_to_what_both_count(text: str, limit: int) -> None:
    assert isinstance(BOTH, TokenCounter)
    counts = (OLD.count(text), NEW.count(text))
    assert BOTH.count(text) == max(counts)
    assert BOTH.exceeds(text, limit) == (max(counts) > limit)
    head = text[: BOTH.prefix_length(text, limit)]
    tail = text[len(text) - BOTH.suffix_length(text, limit) :]
    for part in (head, tail):
        assert BOTH.count(part) <= max(0, limit)
        assert part == text or max(counts) > limit


def test_either_may_be_the_larger() -> None:
    assert BOTH.count(CYRILLIC) == OLD.count(CYRILLIC) > NEW.count(CYRILLIC)
    scaled = MaxCounter(OLD, ScaledCounter(NEW, 1.5))
    assert scaled.count(CODE) > OLD.count(CODE)


def test_one_tokenizer_is_counted_with_once() -> None:
    assert larger(OLD, TiktokenCounter("cl100k_base")) is OLD
    assert larger(OLD, NEW) == BOTH
    assert (BOTH.exact, BOTH.name) == (False, "the larger of cl100k_base and o200k_base")


def test_what_the_model_counts_beside_texts_is_kept() -> None:
    class WithRules(TiktokenCounter):
        rules = "those of its provider"

    assert MaxCounter(WithRules("o200k_base"), OLD).rules == "those of its provider"
    assert not hasattr(BOTH, "rules")
