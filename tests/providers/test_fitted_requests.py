"""What the real clients send after a fit breaks no rule of its provider: every strategy, sync, async and streamed."""

from __future__ import annotations

from typing import Any

import langchain_runs
import llamaindex_runs
import pytest
from conversations import PROVIDERS, Conversation, conversations
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from outcomes import STRATEGIES

from drawn_examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients, about models and aiohttp

SHARES = (0.15, 0.3, 0.5, 0.7, 0.95)
USUAL_EXAMPLES = 6  # of each client; all strategies see each of them
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # each step of it would send eight requests more
CASES = [pytest.param(provider, id=provider) for provider in PROVIDERS]


@st.composite
def drawn_cases(draw: st.DrawFn, provider: str, modes: tuple[str, ...]) -> tuple[Conversation, list[tuple[float, str]]]:
    """Draw a conversation, and for each strategy a share of its tokens and the way in which it is sent."""
    pairs = st.tuples(st.sampled_from(SHARES), st.sampled_from(modes))
    size = len(STRATEGIES)
    return draw(conversations(provider)), draw(st.lists(pairs, min_size=size, max_size=size))


def check_every_strategy(run: Any, conversation: Conversation, drawn: list[tuple[float, str]]) -> None:
    """Send a conversation whole, then fitted by each strategy; what may never happen fails."""
    issued = run.uncut(conversation)
    found = []
    for strategy, (share, mode) in zip(STRATEGIES, drawn, strict=True):
        outcome = run.fitted(conversation, issued, strategy=strategy, share=share, mode=mode)
        found += [(strategy, share, mode, fault) for fault in outcome.faults]
    assert found == []


def check_client(run: Any, modes: tuple[str, ...]) -> None:
    @settings(max_examples=examples(USUAL_EXAMPLES), phases=NO_SHRINKING)
    @given(case=drawn_cases(run.provider, modes))
    def check(case: tuple[Conversation, list[tuple[float, str]]]) -> None:
        check_every_strategy(run, *case)

    check()


@pytest.mark.parametrize("provider", CASES)
def test_l24_langchain_clients_send_what_is_accepted(langchain_run: Any, provider: str) -> None:
    check_client(langchain_run(provider), langchain_runs.MODES)


@pytest.mark.parametrize("provider", CASES)
def test_l24_llamaindex_clients_send_what_is_accepted(llamaindex_run: Any, provider: str) -> None:
    check_client(llamaindex_run(provider), llamaindex_runs.MODES)
