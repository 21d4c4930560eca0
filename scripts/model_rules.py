"""The rules by which the tables of several sources, each of which can be wrong, become one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from model_kinds import home_name, is_a_model, is_closed, is_generic, kind_of, tokenizer_of
from model_sources import Listing

from ctxopt_core.models.catalog import CatalogRow, ModelIndex
from ctxopt_core.models.model_ids import id_spellings

RULE = (
    "A reviewed figure is that of the model's home provider and stands; for an id that a reviewed one begins, unless "
    "two sources give a larger window, or any a smaller one. Elsewhere the smaller of the figures that sources give. "
    "Where only the home provider has the weights, its figure is the most that a host serves, and what a host serves "
    "by at least two sources. A window below {smallest} tokens of which others list twice as much is a placeholder and "
    "is not used. A bare name that hosts serve with different windows is ambiguous, unless it is reviewed."
)
ROUNDING = 0.95
"""Limits whose ratio is at least this are roundings of one limit, such as 200,000 and 204,800."""
SMALLEST_OF_ALL = 2048
"""Tokens. No chat model has a smaller window, so that a smaller one is an error of a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Limits of one id that differ by more than rounding, and the one that was used."""

    model: str
    said: tuple[tuple[str, int], ...]
    taken: int


@dataclass(slots=True, kw_only=True)
class Table:
    """The rows by normal id, the spelling of each id, and how the sources differ."""

    rows: dict[str, CatalogRow] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)
    disagreements: list[Disagreement] = field(default_factory=list)

    def add(self, model: str, spelled: str, row: CatalogRow) -> None:
        self.rows[model] = row
        self.spelled[model] = spelled if id_spellings(spelled)[0] == model else model


def build_table(
    reviewed: Iterable[CatalogRow],
    aliases: Mapping[str, str],
    said: Iterable[Listing],
    today: date,
    kinds: Mapping[str, str] | None = None,
) -> Table:
    """Return one table of the reviewed rows and of the sources; `kinds` has the kinds of other than chat models."""
    table = Table()
    known = ModelIndex([(model, row) for row in reviewed for model in row.ids])
    for row in reviewed:
        for model in row.ids:
            table.add(id_spellings(model)[0], model, row)
    smallest = min(row.input_limit for row in reviewed if row.kind == "chat")
    skipped = {id_spellings(alias)[0] for alias in aliases}
    other = {id_spellings(model)[0]: kind for model, kind in (kinds or {}).items()}
    with_kinds = (replace(item, kind=item.kind or other.get(id_spellings(item.model)[0])) for item in said)
    home, hosted = _by_owner(with_kinds, skipped)
    for name, listed in home.items():
        _add_home(table, known, name, listed, today)
    for model, listed in hosted.items():
        _add_hosted(table, known, model, listed, today)
    _replace_placeholders(table, smallest)
    _add_bare_names(table, known, skipped)
    return table


def _by_owner(said: Iterable[Listing], skipped: set[str]) -> tuple[dict[str, list[Listing]], dict[str, list[Listing]]]:
    home: dict[str, list[Listing]] = defaultdict(list)
    hosted: dict[str, list[Listing]] = defaultdict(list)
    for listing in said:
        model = id_spellings(listing.model)[0]
        name = home_name(model)
        if is_generic(model.rpartition("/")[2]) and not listing.model.endswith("-latest"):
            continue
        if name is None:
            hosted[model].append(listing)
        elif name not in skipped and not is_generic(name):
            home[name].append(listing)
    return dict(sorted(home.items())), dict(sorted(hosted.items()))


def _add_home(table: Table, known: ModelIndex[CatalogRow], name: str, listed: list[Listing], today: date) -> None:
    if name not in table.rows:
        row, base = _row(name, listed, today), known.find(name)
        taken = row if base is None or base.kind != row.kind else _of_snapshot(base, row, listed)
        table.add(name, listed[0].model.partition("/")[2] or name, taken)
    _note(table, name, listed)


def _add_hosted(table: Table, known: ModelIndex[CatalogRow], model: str, listed: list[Listing], today: date) -> None:
    host, _, name = model.rpartition("/")
    if model not in table.rows:
        row = _row(name, listed, today)
        if is_closed(name):
            base = ModelIndex.of_normal_ids(table.rows, ambiguous=(), aliases={}).find(name)
        else:
            # The user of Ollama sets its window, so that the model's own is used.
            base = known.find(name) if host == "ollama" else None
        taken = row if base is None or base.kind != row.kind else _on_host(base, row, listed)
        table.add(model, listed[0].model, base if base is not None and host == "ollama" else taken)
    _note(table, model, listed)


def _of_snapshot(base: CatalogRow, row: CatalogRow, listed: list[Listing]) -> CatalogRow:
    """Return the row of an id that starts with a reviewed one."""
    larger = sorted(item.limit for item in listed if item.limit * ROUNDING > base.context_window)
    agreed = len({item.source for item in listed if item.limit in larger}) > 1 and len(larger) == len(listed)
    return row if agreed else _capped(base, row)


def _on_host(base: CatalogRow, row: CatalogRow, listed: list[Listing]) -> CatalogRow:
    """Return the row of a model on a host; `base` is the row of its home provider."""
    as_home = {item.source for item in listed if not _is_below(item.limit, base.input_limit)}
    return _capped(base, replace(row, context_window=base.context_window) if len(as_home) > 1 else row)


def _row(name: str, listed: list[Listing], today: date) -> CatalogRow:
    """Return the row of one id with the smallest limits of its sources.

    If the larger limit is the smaller one plus the longest answer, one source has the window and the other the input
    limit.
    """
    low, high = min(item.limit for item in listed), max(item.limit for item in listed)
    answers = [item.answer for item in listed if item.answer is not None and item.answer < low]
    answer = min(answers, default=None)
    both_limits = answer is not None and low < high and abs(high - low - answer) <= (1 - ROUNDING) * answer
    kinds = [item.kind for item in listed if item.kind not in (None, "chat")]
    return CatalogRow(
        ids=(),
        context_window=high if both_limits else low,
        max_input_tokens=low if both_limits else None,
        max_output_tokens=answer,
        kind=kind_of(name) or (kinds[0] if kinds else None) or "chat",
        tokenizer=tokenizer_of(name),
        sources=tuple(dict.fromkeys(item.source for item in listed)),
        checked=today,
    )


def _capped(base: CatalogRow, row: CatalogRow) -> CatalogRow:
    """Return the limits of `row` that are below those of `base`, or `base` itself if none is."""
    answers = [answer for answer in (base.max_output_tokens, row.max_output_tokens) if answer is not None]
    lower_answer = base.max_output_tokens is not None and min(answers) < ROUNDING * base.max_output_tokens
    lower_input = _is_below(row.input_limit, base.input_limit)
    if not lower_answer and not lower_input:
        return base
    window = row if lower_input else base
    return CatalogRow(
        ids=(),
        context_window=window.context_window,
        max_input_tokens=window.max_input_tokens,
        max_output_tokens=min(answers, default=None),
        kind=row.kind,
        tokenizer=base.tokenizer,
        sources=row.sources,
        checked=row.checked,
    )


def _is_below(limit: int, other: int) -> bool:
    """Return whether a limit is below another by more than rounding."""
    return limit < ROUNDING * other or (limit < other and limit % 1000 != 0)


def _replace_placeholders(table: Table, smallest: int) -> None:
    """Replace windows that are too small to be true, and mark rows with other small ones as `legacy`."""
    named: dict[str, list[CatalogRow]] = defaultdict(list)
    for model, row in table.rows.items():
        if row.kind == "chat":
            named[model.rpartition("/")[2]].append(row)
    for model, row in list(table.rows.items()):
        if row.kind != "chat" or row.input_limit >= smallest:
            continue
        others = [other for other in named[model.rpartition("/")[2]] if other.input_limit >= smallest]
        if others and max(other.input_limit for other in others) >= 2 * row.input_limit:
            home = table.rows.get(model.rpartition("/")[2])
            table.rows[model] = home if home in others else min(others, key=lambda other: other.input_limit)
        elif row.input_limit < SMALLEST_OF_ALL:
            del table.rows[model], table.spelled[model]
        else:
            table.rows[model] = replace(row, kind="legacy")


def _add_bare_names(table: Table, known: ModelIndex[CatalogRow], skipped: set[str]) -> None:
    """Add a row for each bare name that only hosts list, or mark the name as ambiguous."""
    owners: dict[str, list[CatalogRow]] = defaultdict(list)
    for model, row in table.rows.items():
        host, _, name = model.rpartition("/")
        if host and name not in table.rows and name not in skipped:
            owners[name].append(row)
    for name, rows in owners.items():
        reviewed = known.find(name)
        limits = [row.input_limit for row in rows]
        kinds = {row.kind for row in rows}
        if reviewed is not None and reviewed.kind in kinds:
            table.add(name, name, reviewed)
        elif is_a_model(name) and min(limits) >= ROUNDING * max(limits) and len(kinds) == 1:
            table.add(name, name, _agreed(rows))
        else:
            table.ambiguous.add(name)


def _agreed(rows: list[CatalogRow]) -> CatalogRow:
    smaller = min(rows, key=lambda row: row.input_limit)
    answers = [row.max_output_tokens for row in rows if row.max_output_tokens is not None]
    sources = tuple(dict.fromkeys(source for row in rows for source in row.sources))
    return replace(smaller, ids=(), max_output_tokens=min(answers, default=None), sources=sources)


def _note(table: Table, model: str, listed: list[Listing]) -> None:
    taken = table.rows[model]
    limits = [item.limit for item in listed]
    if min(limits) < ROUNDING * max(limits) or not ROUNDING <= min(limits) / taken.input_limit <= 1 / ROUNDING:
        said = tuple(dict.fromkeys((item.source, item.limit) for item in listed))
        table.disagreements.append(Disagreement(model=model, said=said, taken=taken.input_limit))


def rows_with_ids(table: Table, reviewed: Iterable[CatalogRow]) -> Iterator[CatalogRow]:
    """Yield the rows with their ids, the reviewed ones first; ids with the same limits share a row."""
    order = list(reviewed)
    ids: dict[CatalogRow, list[str]] = {row: list(row.ids) for row in order}
    for model in sorted(table.rows):
        known = ids.setdefault(table.rows[model], [])
        if table.spelled[model] not in known:
            known.append(table.spelled[model])
    for row, listed in ids.items():
        yield replace(row, ids=tuple(listed))
