"""Send thousands of fitted requests through the real clients and count what the providers would have refused.

Every client of both frameworks, every history strategy, sync, async and streamed, in windows of 15 to 95 % of each
conversation; beside them what LangChain's `trim_messages` and `SummarizationMiddleware` leave of the same
conversations. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "rules"), str(HERE / "server"), str(HERE.parent / "support")]

import langchain_runs  # noqa: E402  # the path is set above
import llamaindex_runs  # noqa: E402
from conversations import PROVIDERS, made  # noqa: E402
from outcomes import STRATEGIES, Tally  # noqa: E402
from peer_requests import summarized, trimmed  # noqa: E402
from provider_server import ProviderServer  # noqa: E402

SHARES = (0.15, 0.3, 0.5, 0.7, 0.95)
FRAMEWORKS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "LangChain": (langchain_runs.LangChainRun, langchain_runs.MODES),
    "LlamaIndex": (llamaindex_runs.LlamaIndexRun, llamaindex_runs.MODES),
}
PEERS = {"trim_messages": trimmed, "SummarizationMiddleware": summarized}
COLUMNS = ("rule", "too long", "question lost", "question cut", "typed error", "failed")


def counted(run: Any, modes: tuple[str, ...], number: int, seed: str, tallies: dict[str, Tally]) -> None:
    """Send one conversation in every way; `number` makes shares and modes take turns."""
    drawn = random.Random(f"{seed} {run.provider} {number}")
    conversation = made(drawn.randrange, run.provider)
    issued = run.uncut(conversation)
    for strategy in STRATEGIES:
        share, mode = drawn.choice(SHARES), drawn.choice(modes)
        outcome = run.fitted(conversation, issued, strategy=strategy, share=share, mode=mode)
        told = (run.provider, seed, number, strategy, share, mode)
        for name in (f"{type(run).__name__.removesuffix('Run')} {run.provider}", f"strategy {strategy}", "ours"):
            tallies.setdefault(name, Tally()).add(outcome, told)
    if isinstance(run, langchain_runs.LangChainRun):
        for name, send in PEERS.items():
            share = drawn.choice(SHARES)
            outcome = send(run, conversation, issued, share)
            tallies.setdefault(name, Tally()).add(outcome, (run.provider, seed, number, share))


def lines(tallies: dict[str, Tally]) -> Iterator[str]:
    """Yield the table, and the rules that were broken."""
    yield f"{'':32}" + "".join(f"{name:>15}" for name in ("requests", "cut", *COLUMNS))
    for name, tally in tallies.items():
        figures = (tally.requests, *(tally.counted[column] for column in ("cut", *COLUMNS)))
        yield f"{name:32}" + "".join(f"{figure:15,}" for figure in figures)
    for name, tally in tallies.items():
        if tally.rules and not name.startswith("strategy"):
            yield f"{name}: " + ", ".join(f"{rule} {times}" for rule, times in tally.rules.most_common())


def main() -> None:
    """Read the command line, send, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="fitted requests of ours, about")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--providers", default=",".join(PROVIDERS))
    parser.add_argument("--examples", action="store_true", help="print the first case of each kind")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    providers = chosen.providers.split(",")
    each = max(1, round(chosen.requests / len(providers) / len(FRAMEWORKS) / len(STRATEGIES)))
    tallies: dict[str, Tally] = {}
    with ProviderServer.started() as server, asyncio.Runner() as loop:
        for kind, modes in FRAMEWORKS.values():
            for provider in providers:
                run = kind.of(server, provider, loop)
                for number in range(each):
                    counted(run, modes, number, chosen.seed, tallies)
    print("\n".join(lines(tallies)))
    if chosen.examples:
        for name, tally in tallies.items():
            for what, where in tally.examples.items():
                if not what.startswith(("cut", "typed")):
                    print(name, what, where)


if __name__ == "__main__":
    main()
