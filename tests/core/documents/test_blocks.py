"""What stays together when a document is kept in part: tables, lists, code, JSON."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.documents.blocks import blocks_of
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.packing import pack_documents
from ctxopt_core.documents.passage_units import read_units
from hostile_text import hostile_text

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
PROSE = " ".join(f"Sentence number {n} tells of lanterns, brass and snow." for n in range(1, 9))
BARS = "\n".join(
    [
        "| Kiln of the orchard | Year 2018 | Year 2019 |",
        "|---|---|---|",
        *(f"| Bowls fired in the month {n} | {n}00 | {n}50 |" for n in range(1, 9)),
    ]
)
PLAIN = "\n".join(
    [
        "Bowls fired in the years ended in December",
        "In dozens 2018 2019",
        *(f"Bowls fired in the month number {n} {n}00 {n}50" for n in range(1, 9)),
    ]
)
LIST = "\n".join(
    [
        "The kiln of the orchard needs these parts:",
        *(f"- the bolt{n} of the flue, in two pieces of steel" for n in range(9)),
    ]
)
CODE = "\n".join(
    [
        "class Kiln:",
        "    def fire(self, bowls: int, degrees: int) -> int:",
        *(f"        self.chamber{n}_temperature = degrees + bowls * {n}" for n in range(9)),
    ]
)
JSON = "\n".join(
    [
        "{",
        '  "orchard_kiln": {',
        *(f'    "temperature_of_the_chamber_{n}": "degrees {n}",' for n in range(9)),
        "  }",
        "}",
    ]
)


def lead_ins(text):
    units, _ = read_units(text, {}, 10**6)
    blocks = blocks_of(text, units)
    pieces = [text[unit.start : unit.stop].strip() for unit in units]
    return {pieces[n]: [pieces[m] for m in found] for n, found in blocks.lead_ins.items()}


@pytest.mark.parametrize(
    ("text", "part", "led_in_by"),
    [
        pytest.param(BARS, "month 7", "| Kiln of the orchard | Year 2018", id="markdown-table"),
        pytest.param(PLAIN, "number 7", "In dozens 2018 2019", id="table-of-a-pdf"),
        pytest.param(LIST, "bolt7", "needs these parts:", id="list"),
        pytest.param(CODE, "chamber7", "def fire(self", id="code"),
        pytest.param(CODE, "chamber7", "class Kiln:", id="code-in-a-class"),
        pytest.param(JSON, "chamber_7", '"orchard_kiln": {', id="json"),
    ],
)
def test_a_part_is_led_in(text, part, led_in_by):
    text = f"{PROSE}\n\n{text}"

    (found,) = [leading for piece, leading in lead_ins(text).items() if part in piece]

    assert any(led_in_by in leading for leading in found)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PROSE, id="prose"),
        pytest.param(f"{PROSE}\n{PROSE}", id="paragraphs"),
        pytest.param("It was built in 1871 and again in 1923, after the fire.\n" * 5, id="prose-with-years"),
        pytest.param("", id="empty"),
        pytest.param("one line", id="one-line"),
        pytest.param("12 High Street\n8010 Graz 43\n" + PROSE, id="an-address"),
    ],
)
def test_prose_has_no_blocks(text):
    assert lead_ins(text) == {}


@pytest.mark.parametrize(
    ("text", "query", "wanted", "leading"),
    [
        pytest.param(
            BARS, "How many bowls in month 7?", "| Bowls fired in the month 7 | 700 | 750 |", "Year 2018", id="bars"
        ),
        pytest.param(PLAIN, "bowls in month number 7", "number 7 700 750", "In dozens 2018 2019", id="plain"),
        pytest.param(LIST, "Where is bolt7?", "bolt7", "needs these parts:", id="list"),
        pytest.param(CODE, "chamber7_temperature", "chamber7_temperature = degrees", "def fire(self", id="code"),
        pytest.param(JSON, "temperature_of_the_chamber_7", "chamber_7", '"orchard_kiln": {', id="json"),
    ],
)
def test_what_leads_a_part_in_is_kept_with_it(text, query, wanted, leading):
    document = Document(text=f"{PROSE}\n\n{text}\n\n{PROSE}")

    kept = pack_documents([document], 75, WORDS, query=query).texts[0]

    assert wanted in kept
    assert leading in kept
    assert kept.index(leading) < kept.index(wanted)


@pytest.mark.parametrize("table", [BARS, PLAIN], ids=["bars", "plain"])
def test_a_small_table_stays_whole(table):
    document = Document(text=f"{PROSE}\n\n{table}\n\n" + PROSE * 6)

    kept = pack_documents([document], 3 * len(table.split()) + 30, WORDS, query="bowls fired in month 7").texts[0]

    assert table.split("\n", 1)[1] in kept


def test_a_large_table_gives_rows():
    document = Document(text=f"{PROSE}\n\n{BARS}\n\n{PROSE}")

    kept = pack_documents([document], 40, WORDS, query="bowls fired in the month 7").texts[0]

    assert "month 7" in kept
    assert BARS not in kept


def test_a_text_that_is_read_in_part_has_the_blocks_of_what_was_read():
    text = "\n".join([*(f"Record {n} of the mill tells of snow." for n in range(300)), BARS, PROSE])
    cold = text + " Once more."
    (all_of_it, _), (some, _) = read_units(text, {}, 10**6), read_units(text, {"kiln": 1.0}, 4_000)
    assert len(some) < len(all_of_it)

    blocks_of(text, all_of_it)

    assert blocks_of(text, some).tables == blocks_of(cold, read_units(cold, {"kiln": 1.0}, 4_000)[0]).tables
    assert blocks_of(text, all_of_it).tables != blocks_of(text, some).tables


def test_what_is_nearly_whole_stays_whole():
    texts = [
        " ".join(f"The kiln cracked in the month {n}." for n in range(1, 11)) + " It snowed on the hill.",
        PROSE * 3,
    ]

    packing = pack_documents([Document(text=text) for text in texts], 90, WORDS, query="Which month cracked the kiln?")

    assert 0 in packing.whole


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([BARS, PLAIN, LIST, CODE, JSON, PROSE, "a:\n", "\n", "| |"]), max_size=5), hostile_text(20)
)
def test_blocks_look_back(pieces, more):
    text = "\n".join([*pieces, more])
    units, _ = read_units(text, {}, 10**6)

    blocks = blocks_of(text, units)

    assert all(leading < number for number, found in blocks.lead_ins.items() for leading in found)
    assert all(number in table and table.stop <= len(units) for number, table in blocks.tables.items())
