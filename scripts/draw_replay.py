"""Draw the picture of the guide to the price of a conversation: `plot()` of a replay of a made-up chat.

    python scripts/draw_replay.py

Prices and chat are in this file, so that the picture changes with the code alone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import matplotlib as mpl

from ctxopt_core import Replay, replay

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
PAGE = ROOT / "docs" / "guides" / "replay.md"
ALTERNATIVE = re.compile(r'(images/replay-\w+\.svg[^"]*" alt=")[^"]*')
COLORS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"replay-light.svg": ("#1f2328", "#ffffff"), "replay-dark.svg": ("#e6edf3", "none")}
)
"""The colors of texts and background: the light one is what is shown where nobody asks which page it is on."""

PRICES = {"gpt-5": {"input": 1.25, "cached": 0.125}}  # USD for a million tokens, by OpenAI's price list of 2025
STRATEGIES = {
    "sliding window": "sliding_window",
    "auto": "auto",
    "stable prefix": {"strategy": "turns", "stable_prefix": True},
    "stable prefix with recall": {"strategy": "auto", "stable_prefix": True},
}
BUDGET = 4_000  # tokens: a third of the conversation at its end
TURNS = 80
ASKED_AGAIN = 4  # every fourth question, from the 20th on, is about a lantern of long ago
FIRST_ASKED_AGAIN = 20
KEEPERS = ("Ida", "Noor", "Tomas", "Wen", "Ada", "Per", "Lucia", "Oskar", "Mina", "Rolf")
PLACES = ("the pier", "the north quay", "the old crane", "the ferry steps", "the fish hall", "the rope yard")


def fact(lantern: int) -> str:
    """Return the sentence that has to be in a request that asks for a lantern again."""
    keeper, place = KEEPERS[lantern % len(KEEPERS)], PLACES[lantern % len(PLACES)]
    return f"Lantern {lantern} at {place} is kept by {keeper} and burns for {5 + 7 * lantern % 11} hours."


def conversation() -> tuple[list[dict[str, str]], dict[int, list[str]]]:
    """Return the chat, and what must survive in which of its requests."""
    rows, evidence = [{"role": "system", "content": "You know all the lanterns of the harbor. " * 12}], {}
    for turn in range(TURNS):
        lantern = turn
        if turn >= FIRST_ASKED_AGAIN and turn % ASKED_AGAIN == 0:
            lantern = turn // 3 | 1  # so long ago that no window has it; odd ones were not asked for again
            evidence[turn] = [fact(lantern)]
        rows.append({"role": "user", "content": f"Who keeps lantern {lantern}, and how long does it burn?"})
        weather = f"In night {turn} the wind came from the sea, and {turn % 9 + 1} boats were late. " * 5
        said = fact(lantern) if lantern == turn else f"That was said in night {lantern}."
        rows.append({"role": "assistant", "content": f"{said} {weather}".strip()})
    return rows, evidence


def drawn_replay() -> Replay:
    """Return the replay that is drawn."""
    rows, evidence = conversation()
    return replay(rows, STRATEGIES, "gpt-5", budget=BUDGET, evidence=evidence, prices=PRICES)


def drawing(found: Replay, name: str) -> str:
    """Return the figure as SVG; the same replay gives the same text, on any day."""
    ink, background = COLORS[name]
    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": "ctxopt",
        "figure.facecolor": background,
        "hatch.color": "#11111166",
    }
    inked = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), ink)
    stored = io.StringIO()
    with mpl.rc_context({**style, **inked}):
        metadata = {"Title": in_words(found), "Creator": None, "Date": None}
        found.plot().savefig(stored, format="svg", metadata=metadata)
    return "\n".join(line.rstrip() for line in stored.getvalue().splitlines()) + "\n"


def in_words(found: Replay) -> str:
    """Return what the picture shows, which is its text on the page for those who cannot see it."""
    return found.plot().in_words


def main() -> None:
    found = drawn_replay()
    IMAGES.mkdir(exist_ok=True)
    for name in COLORS:
        (IMAGES / name).write_text(drawing(found, name), encoding="utf-8")
    PAGE.write_text(ALTERNATIVE.sub(rf"\g<1>{in_words(found)}", PAGE.read_text("utf-8")), encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
