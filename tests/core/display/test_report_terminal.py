"""What rich prints of a report."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ctxopt_core import ContextBudget, ContextRequest, Document, plan
from shown_requests import BUDGET, SECRET, WORDS, shown_request, shown_values

VALUES = shown_values()


def printed(value, width=100, *, colors=False):
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colors, color_system="truecolor" if colors else None
    )
    console.print(value)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [30, 80, 200])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_m3_each_value_is_printed_within_the_width_and_without_content(value, width):
    text = printed(value, width)

    assert text
    assert SECRET not in text
    assert max(map(len, text.splitlines())) <= width


def test_the_tables_hold_the_figures_of_the_report():
    report = plan(shown_request(), BUDGET, counter=WORDS)
    lines = [line.split() for line in printed(report).splitlines()]

    for name, component in report.components.items():
        row = next(line for line in lines if line[:2] == [name[0], name] and len(line) == 5)
        assert row[2:] == [f"{component.budget}", f"{component.before}", f"{component.after}"]
    for document in report.documents:
        assert [document.id, document.state] in [[line[1], line[5]] for line in lines if len(line) > 5]


def test_without_colors_the_parts_of_a_bar_differ_by_their_letters():
    report = plan(shown_request(), BUDGET, counter=WORDS)
    lines = printed(report).splitlines()
    before, after = lines[2], lines[4]

    assert len(before) == 100
    assert after.count("d") > after.count("r")
    assert 0 < after.count("r") < len(after) < 100


def test_colors_are_used_where_there_are_some():
    assert "\x1b[" in printed(VALUES["allocation"], colors=True)
    assert "\x1b[" not in printed(VALUES["allocation"])


@pytest.mark.parametrize(
    "identity", ["[red]", "[/]", "[link=file:///x]y[/link]", "a\x1b[31mb", "abc\u202edef", ":smile:"]
)
def test_an_id_is_no_markup_and_no_command_to_the_terminal(identity):
    documents = [Document(id=identity, text="word " * 9, score=1)]
    text = printed(plan(ContextRequest(query="why", documents=documents), BUDGET, counter=WORDS))

    assert identity.translate({0x1B: r"\u001b", 0x202E: r"\u202e"}) in text
    assert "\x1b" not in text


def test_the_size_is_bounded():
    documents = [Document(id=f"{i}" * 1_000, text="word", score=1) for i in range(1_000)]
    report = plan(ContextRequest(query="why", documents=documents), ContextBudget(max_input_tokens=100), counter=WORDS)

    assert len(printed(report)) < 20_000
