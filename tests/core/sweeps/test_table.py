"""The table of a sweep: read, stored, drawn and shown, with nothing in it that a spreadsheet or a page would run."""

from __future__ import annotations

import csv
import json
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser
from io import StringIO

import pytest

from ctxopt_core import ContextRequest, DocumentPolicy, HistoryPolicy, Shares, counter_for, summarizer, sweep
from ctxopt_core.sweeps.rows import COLUMNS, DECIMAL_COLUMNS, TEXT_COLUMNS, SweepRow
from ctxopt_core.sweeps.table import Sweep
from gate_requests import gate_request

WORDS = counter_for(lambda text: len(text.split()))
SETTING = {
    "request": 0,
    "budget": 100,
    "fraction": None,
    "system_share": 10.0,
    "query_share": 15.0,
    "documents_share": 50.0,
    "history_share": 25.0,
    "strategy": "turns",
    "selection": "auto",
}


def row(**columns):
    return SweepRow(**{**SETTING, **columns})


def table(*rows):
    return Sweep(rows=tuple(rows))


def swept(**arguments):
    return sweep(gate_request(), **{"budgets": [2, 100, 0.5], "counter": WORDS, "evidence": "key 111", **arguments})


class Cells(HTMLParser):
    """The texts of the headings and cells of a page, and the tags that are in it."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.scopes = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "th":
            self.scopes.append(dict(attrs).get("scope"))

    def handle_data(self, data):
        self.texts.append(data)


def test_a_sweep_is_a_sequence_and_a_value():
    found = swept()

    assert [found[0], *found[1:]] == list(found)
    assert isinstance(found[1:], Sweep)
    assert found == swept()
    assert hash(found) == hash(swept())
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301
    with pytest.raises(FrozenInstanceError):
        found.rows = ()


def test_dictionaries_have_every_column_in_order_and_are_plain_json():
    rows = swept().to_dicts()

    assert [tuple(columns) for columns in rows] == [COLUMNS] * 3
    assert json.loads(json.dumps(rows)) == rows


def test_every_column_is_of_the_kind_that_it_is_said_to_be():
    for found in (*swept(model="gpt-4o", prices={"gpt-4o": 1}, counter=None), *swept()):
        for name, value in found.to_dict().items():
            kind = str if name in TEXT_COLUMNS else float if name in DECIMAL_COLUMNS else int
            assert value is None or type(value) is kind, name


def test_csv_has_a_heading_and_empty_cells_for_what_is_missing():
    rows = list(csv.DictReader(StringIO(swept().to_csv())))

    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["tokens_after"] == rows[0]["evidence"] == ""
    assert rows[0]["error"]
    assert [int(found["tokens_after"]) for found in rows[1:]] == [found.tokens_after for found in swept()[1:]]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ('a "b", c', 'a "b", c'),
        ("a\nb", "a\nb"),
        ("turns", "turns"),
    ],
    ids=["equals", "plus", "minus", "at", "quotes and comma", "line break", "plain"],
)
def test_a_cell_that_a_spreadsheet_would_run_is_a_text_in_csv(name, cell):
    (found,) = csv.DictReader(StringIO(table(row(strategy=name)).to_csv(), newline=""))

    assert found["strategy"] == cell


def test_hostile_names_are_text_in_html_and_one_line_in_text():
    hostile = "</td></style><script>alert(1)</script>\u202e\nx"
    found = table(row(strategy=hostile), row(strategy="turns", error="<b>&"))
    cells = Cells(found.to_html())

    assert not {"script", "b"} & cells.tags
    assert "</td></style><script>alert(1)</script>\\u202e x" in cells.texts
    assert "\u202e" not in found.to_html() + str(found)
    assert len(str(found).splitlines()) == len(str(table(row(), row(strategy="auto", error="no"))).splitlines())


def test_a_notebook_shows_a_table_with_caption_and_scoped_headings():
    found = swept(strategies=["turns", "auto"], shares=[Shares(), {"documents": 60}])
    cells = Cells(found._repr_html_())

    assert {"table", "caption", "thead", "tbody"} <= cells.tags
    assert set(cells.scopes) == {"col", "row"}
    assert {"strategy", "shares", "10/15/60/25", "evidence", "error"} <= set(cells.texts)
    assert set(found._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_the_text_shows_settings_that_differ_as_columns_and_the_others_once():
    text = str(swept(strategies=["turns", "auto"]))
    head = next(line for line in text.splitlines() if line.startswith("budget"))

    assert text.startswith("Sweep: 6 rows, 2 of them without a fit\n")
    assert head.split()[:4] == ["budget", "fraction", "strategy", "total"]
    assert "selection  auto" in text
    assert "shares     10/15/50/25" in text


@pytest.mark.parametrize("rows", [0, 1, 200, 2_000])
def test_what_is_shown_is_bounded_and_says_how_much_is_not(rows):
    found = table(*(row(budget=budget) for budget in range(1, rows + 1)))
    text, page = str(found), found.to_html()

    assert len(text.splitlines()) <= 210
    assert len(page) < 60_000
    assert (f"... and {rows - 200:,} more rows" in text) is (rows > 200)
    assert (f"... and {rows - 200:,} more rows" in page) is (rows > 200)
    assert len(found.to_csv().splitlines()) == rows + 1


def test_m3_no_form_of_a_sweep_holds_content():
    secret = ContextRequest(system="hunter2 " * 9, query="hunter2?", history=gate_request().history)
    found = sweep(secret, budgets=[2, 50, 1.0], counter=WORDS, evidence=["hunter2"], ranking_query="hunter2")

    for shown in (str(found), repr(found), found.to_html(), found.to_csv(), json.dumps(found.to_dicts())):
        assert "hunter2" not in shown


def my_choice(view):
    return []


def my_notes(transcript):
    return transcript[:9]


@pytest.mark.parametrize(
    ("strategies", "labels"),
    [
        (["turns", "auto"], ["turns", "auto"]),
        (
            [HistoryPolicy(), HistoryPolicy(placeholder_content="count", first_message_max_percent=5)],
            ["auto", "auto(first_message_max_percent=5, placeholder_content=count)"],
        ),
        ([my_choice, {"strategy": my_choice, "placeholder": False}], ["my_choice", "my_choice(placeholder=False)"]),
        (["turns", {"strategy": "turns"}, "auto"], ["turns #1", "turns #2", "auto"]),
        (
            HistoryPolicy(strategy="turns", scorer=my_choice, summary_errors=(OSError, ValueError)),
            ["turns(scorer=my_choice, summary_errors=OSError+ValueError)"],
        ),
        (
            [
                HistoryPolicy(strategy="summarize", summarizer=summarizer(my_notes), placeholder_max_percent=n)
                for n in (20, 9)
            ],
            ["summarize", "summarize(placeholder_max_percent=9)"],
        ),
    ],
    ids=["names", "fields", "functions", "the same twice", "objects", "a model"],
)
def test_a_strategy_is_called_by_what_differs_from_the_defaults(strategies, labels):
    assert [
        found.strategy for found in sweep(gate_request(), budgets=1.0, strategies=strategies, counter=WORDS)
    ] == labels


def test_a_long_label_is_cut():
    policy = DocumentPolicy(gap_marker="#" * 500)
    (found,) = sweep(gate_request(), budgets=1.0, documents=policy, counter=WORDS)

    assert len(found.selection) == 80


def test_a_frame_has_the_columns_with_types_that_do_not_depend_on_the_rows():
    pytest.importorskip("pandas")
    found = swept()
    frames = [found.to_frame(), found[:1].to_frame(), found[:0].to_frame()]

    assert all(list(frame.columns) == list(COLUMNS) for frame in frames)
    assert len({tuple(map(str, frame.dtypes)) for frame in frames}) == 1
    frame = frames[0]
    assert len(frame) == 3
    assert frame["tokens_after"].dropna().tolist() == [row.tokens_after for row in found[1:]]
    assert str(frame["tokens_after"].dtype) == "Int64"
    assert frame.groupby("strategy")["evidence"].max().to_dict() == {"auto": 1.0}


def test_without_pandas_a_frame_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(ImportError, match="pip install pandas"):
        swept().to_frame()


def test_a_sweep_loads_neither_pandas_nor_matplotlib_nor_tqdm():
    code = (
        "import sys; from ctxopt_core import ContextRequest, sweep; "
        "print(str(sweep(ContextRequest(query='hi'), counter=len))[:5], "
        "[name for name in ('pandas', 'matplotlib', 'tqdm', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "Sweep []"


def test_costs_of_rows_with_and_without_a_price_stand_side_by_side():
    text = str(table(row(cost=0.00125, cost_saved=0.0), row(strategy="auto")))

    assert "$0.00125" in text
    assert replace(row(), cost=1.0) != row()
