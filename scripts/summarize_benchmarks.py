"""Write the table and draw the chart of the benchmarks, from the tables of `docs/benchmarks/details.md`.

    python scripts/summarize_benchmarks.py

`make evaluate` and the tables of `make bench` are the only source: the summary has no figure of its own.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
DETAILS = ROOT / "docs" / "benchmarks" / "details.md"
IMAGES = ROOT / "docs" / "images"
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks" / "index.md")
MARKED = re.compile(r"(<!-- summary: begin -->\n).*?(<!-- summary: end -->)", re.DOTALL)
ALTERNATIVE = re.compile(r'(images/benchmarks-\w+\.svg[^"]*" alt=")[^"]*')
COLORS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"benchmarks-light.svg": ("#1f2328", "#ffffff"), "benchmarks-dark.svg": ("#e6edf3", "none")}
)
"""The colors of texts and background."""

DOCUMENTS = "Means over the budgets: scores as delivered"
CHAT = "conv_locomo: evidence recall, all evidence, newest messages"
TOOLS = "traj_tau_airline: values seen, net"
CACHE = "chat, window 8,000"
SPEED = "1,000 messages to 30 %, cold, times faster than `trim_messages`"
OURS, STABLE, STEPS, SLIDING = "ours", "ours_stable", "step_window", "newest_groups"
NO_PEER = ("ours", "oracle", "unlimited")  # ours, an upper bound, and sending everything
BLUE, GRAY, ORANGE = "#2f81f7", "#8b949e", "#d29922"
"""Ours, what is usual without ctxopt, and the best other: one color, one meaning, in both schemes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of the details: its columns, and a mapping from column to cell for each candidate."""

    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]

    def figure(self, name: str, column: str, place: int = -1) -> float:
        """Return one figure of a cell; a cell can have several, and the last one is the strictest of tool runs."""
        return float(self.rows[name][column].split()[place].replace("+", ""))

    def best_other(self, column: str, place: int = -1) -> str:
        """Return the candidate of others with the highest figure, among those that keep their budget."""
        others = [name for name in self.rows if not name.startswith(NO_PEER) and self.rows[name]["over"] == "0"]
        return max(others, key=lambda name: self.figure(name, column, place))

    @property
    def budgets(self) -> list[str]:
        """Return the columns that are budgets."""
        return [column for column in self.columns if re.fullmatch(r"\d+%?", column)]


def main() -> None:
    details = DETAILS.read_text("utf-8")
    IMAGES.mkdir(exist_ok=True)
    for name in COLORS:
        (IMAGES / name).write_text(drawing(details, name), encoding="utf-8")
    for page in PAGES:
        page.write_text(summarized(page.read_text("utf-8"), details), encoding="utf-8")


def summarized(page: str, details: str) -> str:
    """Return a page with the table of today between its markers, and the words of the chart."""
    written = MARKED.sub(lambda found: f"{found[1]}{summary(details)}{found[2]}", page)
    return ALTERNATIVE.sub(lambda found: found[1] + in_words(details), written)


def table_below(details: str, heading: str) -> Table:
    """Return the first table below the heading that begins with these words."""
    found = re.search(rf"^#+ {re.escape(heading)}[^\n]*\n\n((?:\|[^\n]*\n)+)", details, re.MULTILINE)
    if found is None:
        message = f"{DETAILS.name} has no table below the heading {heading!r}; run `make evaluate`"
        raise LookupError(message)
    columns, *rows = _cells(found[1])
    named = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
    return Table(columns=tuple(columns), rows=MappingProxyType(named))


def _cells(table: str) -> Iterator[list[str]]:
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if set("".join(cells)) != {"-"}:
            yield cells


def speeds(details: str) -> Mapping[str, float]:
    """Return how many times faster than `trim_messages` the two strategies are."""
    for found in re.finditer(r"^\| case \|.*`auto` \| `turns` \|.*\n(?:\|.*\n)+", details, re.MULTILINE):
        columns, *rows = _cells(found[0])
        for row in rows:
            if row[0] == SPEED:
                return {name: float(row[columns.index(f"`{name}`")]) for name in ("auto", "turns")}
    message = f"{DETAILS.name} has no row {SPEED!r} with `auto` and `turns`"
    raise LookupError(message)


def summary(details: str) -> str:
    """Return the table of the README: quality, limits, cost and speed, ours beside the best other and the usual."""
    documents, chat = table_below(details, DOCUMENTS), table_below(details, CHAT)
    tools, cache, speed = table_below(details, TOOLS), table_below(details, CACHE), speeds(details)
    other = {
        "documents": documents.best_other("mean"),
        "chat": chat.best_other("4000", 0),
        "tools": tools.best_other("30%"),
    }
    over_in_memory = sum(int(table.rows["chat_memory_buffer"]["over"]) for table in (chat, tools))
    stable, steps, sliding = (cache.figure(name, "cost") for name in (STABLE, STEPS, SLIDING))
    rows = [
        ("measured", "ctxopt", "best other", "usual without", "printed by"),
        ("---", "---", "---", "---", "---"),
        (
            "chunks: answers and evidence kept, mean over all sets and budgets",
            _bold(documents.figure(OURS, "mean"), documents.figure(other["documents"], "mean")),
            f"{documents.figure(other['documents'], 'mean'):.2f} `{other['documents']}`",
            f"{documents.figure('top_n_cut', 'mean'):.2f} top-k, cut at the limit",
            "`make evaluate`",
        ),
        (
            "long chat (LoCoMo) in 4,000 tokens: messages with the answer kept",
            _bold(chat.figure(OURS, "4000", 0), chat.figure(other["chat"], "4000", 0)),
            f"{chat.figure(other['chat'], '4000', 0):.2f} `{other['chat']}`",
            f"{chat.figure('trim_messages', '4000', 0):.2f} `trim_messages`",
            "`make evaluate`",
        ),
        (
            "agent runs in 30 % of their tokens: values of the next call still seen",
            _bold(tools.figure(OURS, "30%"), tools.figure(other["tools"], "30%")),
            f"{tools.figure(other['tools'], '30%'):.2f} `{other['tools']}`",
            f"{tools.figure('trim_messages', '30%'):.2f} `trim_messages`",
            "`make evaluate`",
        ),
        (
            "requests over their budget, in chats and agent runs",
            str(sum(int(table.rows[OURS]["over"]) for table in (chat, tools))),
            "0",
            f"{over_in_memory} `ChatMemoryBuffer`",
            "`make evaluate`",
        ),
        (
            "chat with a prompt cache, window 8,000: cost of a sliding window's, and its evidence",
            f"{100 * stable / sliding:.0f} %, {cache.figure(STABLE, 'evidence'):.2f} (`stable_prefix`)",
            f"{100 * steps / sliding:.0f} %, {cache.figure(STEPS, 'evidence'):.2f} a window in steps",
            f"100 %, {cache.figure(SLIDING, 'evidence'):.2f}",
            "`make evaluate`",
        ),
        (
            "1,000 messages to 30 %: times faster than `trim_messages`",
            f"**{speed['auto']:g}** (`auto`), **{speed['turns']:g}** (`turns`)",
            "",
            "1",
            "`make bench`",
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _bold(ours: float, other: float) -> str:
    return f"**{ours:.2f}**" if ours >= other else f"{ours:.2f}"


def drawing(details: str, name: str) -> str:
    """Return the chart as SVG; the same figures give the same text, on any day."""
    ink, background = COLORS[name]
    inked = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    style = {"svg.fonttype": "none", "svg.hashsalt": "ctxopt", "figure.facecolor": background}
    stored = io.StringIO()
    with mpl.rc_context({**style, **inked, "axes.facecolor": background, "font.size": 9}):
        figure = chart(details)
        figure.savefig(stored, format="svg", metadata={"Title": in_words(details), "Creator": None, "Date": None})
        plt.close(figure)
    return "\n".join(line.rstrip() for line in stored.getvalue().splitlines()) + "\n"


def chart(details: str) -> Figure:
    """Draw what is kept of chunks, of a long chat and of agent runs, and what a cached chat costs."""
    figure, ((documents, chat), (tools, cost)) = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    _bars(documents, "Chunks: answers and evidence kept", _document_bars(details))
    _curves(chat, "Long chat: answers kept", "tokens", table_below(details, CHAT), ("trim_messages", 0))
    _curves(tools, "Agent runs: values kept", "of the tokens", table_below(details, TOOLS), ("trim_messages", -1))
    _bars(cost, "Chat with a prompt cache: cost", _cost_bars(details), "{:.0f} %")
    return figure


def _document_bars(details: str) -> list[tuple[str, float, str]]:
    table = table_below(details, DOCUMENTS)
    other = table.best_other("mean")
    shown = [
        ("ctxopt", OURS, BLUE),
        (other, other, ORANGE),
        ("trimwise", "trimwise", GRAY),
        ("top-k", "top_n_cut", GRAY),
    ]
    return [(label, table.figure(name, "mean"), color) for label, name, color in shown]


def _cost_bars(details: str) -> list[tuple[str, float, str]]:
    table = table_below(details, CACHE)
    sliding = table.figure(SLIDING, "cost")
    shown = [
        ("stable_prefix", STABLE, BLUE),
        ("window in steps", "step_window", ORANGE),
        ("sliding window", SLIDING, GRAY),
    ]
    return [
        (f"{label}, keeps {table.figure(name, 'evidence'):.2f}", 100 * table.figure(name, "cost") / sliding, color)
        for label, name, color in shown
    ]


def _bars(axes: Axes, title: str, bars: Sequence[tuple[str, float, str]], label: str = "{:.2f}") -> None:
    labels, values, colors = zip(*reversed(bars), strict=True)
    drawn = axes.barh([label.replace(", ", ",\n") for label in labels], values, color=colors)
    axes.bar_label(drawn, [label.format(value) for value in values], padding=3)
    axes.set_title(title)
    axes.set_xlim(0, 1.18 * max(values))  # room for the label of the longest
    _bare(axes)
    axes.set_xticks([])


def _curves(axes: Axes, title: str, unit: str, table: Table, usual: tuple[str, int]) -> None:
    name, place = usual
    other = table.best_other(table.budgets[len(table.budgets) // 2], place)
    for label, shown, color, mark in (
        ("ctxopt", OURS, BLUE, "o-"),
        (other, other, ORANGE, "s--"),
        (name, name, GRAY, "^:"),
    ):
        values = [table.figure(shown, budget, place) for budget in table.budgets]
        axes.plot(table.budgets, values, mark, color=color, label=label)
    axes.set_title(title)
    axes.set_xlabel(unit)
    axes.set_ylim(0, 1.05)
    axes.legend(frameon=False)
    _bare(axes)


def _bare(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def in_words(details: str) -> str:
    """Return what the chart shows, for those who cannot see it."""
    documents = ", ".join(f"{label} {value:.2f}" for label, value, _ in _document_bars(details))
    cost = ", ".join(f"{label} {value:.0f} %" for label, value, _ in _cost_bars(details))
    return (
        f"Chunks, answers and evidence kept: {documents}. {_curve_words(details, CHAT, 'Long chat', 0)} "
        f"{_curve_words(details, TOOLS, 'Agent runs', -1)} Cost of a chat with a prompt cache: {cost}."
    )


def _curve_words(details: str, heading: str, title: str, place: int) -> str:
    table = table_below(details, heading)
    other = table.best_other(table.budgets[len(table.budgets) // 2], place)
    shown = [
        f"{'ctxopt' if name == OURS else name} "
        + " ".join(f"{table.figure(name, budget, place):.2f}" for budget in table.budgets)
        for name in (OURS, other, "trim_messages")
    ]
    return f"{title} at {', '.join(table.budgets)}: {'; '.join(shown)}."


if __name__ == "__main__":
    main()
