"""The context meter: what the window is used for, part by part, as plain data and as a view for a terminal."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextRequest,
    Document,
    Message,
    Section,
    counter_for,
    fit,
    plan,
)
from ctxopt_core.display.palette import LOOKS
from ctxopt_core.reports.usage import usage_of

WORDS = counter_for(lambda text: len(text.split()))
TOOL = {"name": "look_up", "description": "Looks a word up.", "parameters": {}}
ROLES = ("user", "assistant")
PARTS = [
    "system",
    "tools",
    "sections",
    "documents",
    "history",
    "query",
    "framing",
    "free",
    "answer",
    "margin",
    "outside",
]


def request(turns: int = 6, **changes: object) -> ContextRequest:
    usual = {
        "system": "Answer in one sentence.",
        "query": "Where is the lamp?",
        "documents": [Document(text=f"Document {n} is on lamps. " * 4) for n in range(5)],
        "history": [
            Message(role=role, content=f"Turn {n} " * 5) for n in range(turns) for role in ("user", "assistant")
        ],
        "tools": [TOOL],
        "sections": [Section(name="notes", entries=["Likes tea.", "Lives in Quillmere."], max_tokens=12)],
        "fixed_tokens": 5,
    }
    return ContextRequest(**(usual | changes))


WINDOW = ContextBudget(context_window=1_000, output_reserve=200, safety_margin=50, target_tokens=600)


@pytest.mark.parametrize(
    ("budget", "is_cut"),
    [
        pytest.param(WINDOW, False, id="nothing was cut"),
        pytest.param(ContextBudget(context_window=350, output_reserve=100, safety_margin=50), True, id="cut"),
        pytest.param(ContextBudget(max_input_tokens=200), True, id="no window is known"),
        pytest.param(ContextBudget(max_input_tokens=1_000), False, id="no window is known, nothing was cut"),
        pytest.param(ContextBudget(context_window=1_000, max_input_tokens=200), True, id="input below the window"),
        pytest.param(ContextBudget.for_model("gpt-4", target_tokens=210), True, id="model"),
    ],
)
def test_u9_the_parts_add_up_to_the_window(budget, is_cut):
    report = fit(request(), budget, counter=WORDS).report
    usage = report.usage()

    assert report.unchanged is not is_cut
    assert [part.name for part in usage.parts] == PARTS
    assert sum(part.tokens for part in usage.parts) == usage.window
    assert sum(part.percent for part in usage.parts) == pytest.approx(100)
    assert all(part.tokens >= 0 for part in usage.parts)
    assert usage.used == report.tokens_after == sum(usage.tokens[name] for name in PARTS[:7])
    assert usage.free == usage.tokens["free"] == report.input_budget - report.tokens_after
    assert usage.tokens["answer"] + usage.tokens["margin"] == report.reserve
    assert usage.window == (report.context_window or report.input_budget)
    for name in ("system", "query", "documents", "history"):
        assert usage.tokens[name] == report.components[name].after


def test_u9_each_part_has_its_own_tokens():
    whole = plan(request(), WINDOW, counter=WORDS).usage()

    def saved(**without):
        return whole.used - plan(request(**without), WINDOW, counter=WORDS).usage().used

    assert whole.tokens["tools"] == saved(tools=())
    assert whole.tokens["sections"] == saved(sections=())
    assert whole.tokens["history"] == saved(history=())
    assert whole.tokens["documents"] == saved(documents=())
    assert whole.tokens["system"] == saved(system=())
    assert whole.tokens["query"] == 4
    assert whole.tokens["framing"] == 5 + 3 + 4  # of the template, of the request, of the message of the user
    assert (whole.tokens["answer"], whole.tokens["margin"], whole.tokens["outside"]) == (200, 50, 150)


def test_u9_messages_alone_have_parts_too():
    history = [Message(role="system", content="Be kind."), Message(role="user", content="Is it lit?")]
    usage = plan(ContextRequest(history=history), ContextBudget(max_input_tokens=40), counter=WORDS).usage()

    assert {name: tokens for name, tokens in usage.tokens.items() if tokens} == {
        "system": 6,
        "query": 7,
        "framing": 3,
        "free": 24,
    }


def test_u9_it_is_plain_data_and_stays_so_without_the_request():
    report = plan(request(), WINDOW, counter=WORDS)
    stored = json.loads(json.dumps(report.usage().to_dict()))

    assert stored["used"] == report.tokens_after
    assert list(stored["parts"]) == PARTS
    assert stored["parts"]["tools"] == {"tokens": report.tool_tokens, "percent": report.tool_tokens / 10}
    assert report.to_dict()["usage"] == report.usage().to_dict()
    assert pickle.loads(pickle.dumps(report)).usage() == report.usage()  # noqa: S301  # it was just made


def test_u9_the_terminal_shows_the_same_figures():
    usage = plan(request(), WINDOW, counter=WORDS).usage()
    first, bar, *lines = str(usage).splitlines()

    assert first == f"{usage.used} of 1,000 tokens used ({usage.percent_used:.0f}%), {usage.free} free"
    assert (bar[0], bar[-1], len(bar)) == ("[", "]", 62)
    shown = [part for part in usage.parts if part.tokens]
    for line, part in zip(lines, shown, strict=True):
        assert line.split()[-2:] == [f"{part.tokens:,}", f"{part.percent:.1f}%"]
        assert line[0] in bar
    assert "Quillmere" not in str(usage) + usage.to_html()
    assert "kept free for the answer" in usage.to_html()


def test_u9_an_estimate_and_the_model_are_named():
    usage = plan(ContextRequest(query="Is it lit?"), ContextBudget.for_model("claude-sonnet-4-5")).usage()

    assert str(usage).startswith("claude-sonnet-4-5: ")
    assert str(usage).splitlines()[0].endswith("(estimate)")


def test_u9_colors_are_not_all_that_tells_neighbors_apart():
    fills = [LOOKS[kind].fill for kind in LOOKS if kind in {*PARTS, "fixed", "reserve"}]

    assert len(set(fills)) == len(fills)


@given(
    st.lists(st.integers(0, 10_000), min_size=6, max_size=6),
    st.integers(-20, 5_000),
    st.integers(0, 50_000),
    st.integers(0, 5_000),
    st.integers(0, 5_000),
    st.none() | st.integers(1, 200_000),
)
def test_u9_any_figures_add_up_and_can_be_drawn(amounts, framing, room, answer, margin, window):
    used = max(1, sum(amounts) + framing)
    parts = dict(zip(("system", "tools", "sections", "documents", "history", "query"), amounts, strict=True))
    if max(amounts) < -framing:
        return
    usage = usage_of(
        used,
        parts,
        input_budget=used + room,
        answer=answer,
        margin=margin,
        context_window=window,
        model=None,
        exact=True,
    )

    assert sum(part.tokens for part in usage.parts) == usage.window >= (window or 0)
    assert all(part.tokens >= 0 for part in usage.parts)
    _, bar, *lines = str(usage).splitlines()
    assert len(bar) == 62
    assert {line[0] for line in lines} == set(bar[1:-1])
