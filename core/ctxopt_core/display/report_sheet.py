"""A fit report as a sheet: the window and its parts, the documents, the conversation and the sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctxopt_core.display.sheet import FULL, Bar, Point, Row, Segment, Sheet, Table, filled, in_words, more_rows
from ctxopt_core.documents.ranking import as_float
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.reports.rows import DocumentReport, HistoryReport, Stretch
from ctxopt_core.text.display_text import preview

MOST_ROWS = 40  # rows of a table: about a screen; `to_dict` has them all
_MOST_POINTS = 1_000  # points of a figure: more of them cover each other, and each takes time to draw
_LONGEST_ID = 60  # characters: a URL is still recognized, and the other columns stay in sight
_LARGEST_DRAWN = 1e300  # a score: an axis goes beyond its largest point, and must not go beyond the largest float
_SCORED = ("document", "score", "tokens", "density", "outcome")
_WITHOUT_SCORES = ("document", "tokens", "outcome")
MOST_NOTES = 20  # sentences: a report with more of them would be nothing but notes
# Times the window: a request that is larger than that is not drawn on the same scale, since nothing would be seen of
# the window beside it.
_LARGEST_ON_ONE_SCALE = 4
_NAMES = {"outside": "outside the budget"}


def sheet_of_report(report: FitReport) -> Sheet:
    """Return all that a report shows."""
    strip = report.history_strip
    allowed = f"of at most {report.input_budget:,} tokens"
    title = f"The request was cut from {report.tokens_before:,} to {report.tokens_after:,} {allowed}"
    if report.unchanged:
        title = f"The request fits as it is: {report.tokens_after:,} {allowed}"
    tables = [_parts_table(report)]
    if report.documents:
        tables.append(_document_table(report.documents, report.document_tokens))
    if report.history.messages:
        tables.append(_history_table(report.history, strip))
    if report.sections:
        tables.append(_section_table(report))
    return Sheet(
        title=title,
        facts=filled((*_request_facts(report), *([] if report.unchanged else _choices(report)))),
        bars=(*window_bars(report), *([history_bar(strip, "turns")] if strip else [])),
        tables=tuple(tables),
        notes=report.notes[:MOST_NOTES],
        points=_document_points(report.documents, report.document_tokens) if report.documents else (),
    )


def _request_facts(report: FitReport) -> list[tuple[str, str]]:
    """Return the figures of the whole request."""
    source = f" ({report.window_source})" if report.window_source else ""
    window = f"{report.context_window:,}{source}" if report.context_window is not None else "not given"
    counting = "exact" if report.exact else "estimate"
    cost = ""
    if (found := report.cost) is not None:
        cached = "" if found.cached is None else f", {_dollars(found.cached)} with what repeats read from the cache"
        cost = f"{_dollars(found.input)}{cached}; {_dollars(found.saved)} saved ({found.source})"
    return [
        ("model", report.model or "not given"),
        ("context window", window),
        ("reserve", f"{report.reserve:,}"),
        ("input budget", f"{report.input_budget:,}"),
        ("counted with", f"{report.encoding} ({counting})"),
        ("rendered request", f"{report.tokens_before:,} -> {report.tokens_after:,} tokens"),
        ("saved", f"{report.tokens_saved:,} tokens ({1 - report.ratio:.0%})"),
        ("input cost", cost),
    ]


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4g}"


def _choices(report: FitReport) -> list[tuple[str, str]]:
    """Return how a request was cut."""
    score = "" if report.cumulative_score is None else f"{report.cumulative_score:.4g}"
    repeated = "" if report.reused_prefix_tokens is None else f"{report.reused_prefix_tokens:,} tokens"
    return [
        ("history strategy", report.strategy),
        ("fallback", report.fallback or ""),
        ("document selection", report.selection or ""),
        ("score kept", score if _have_scores(report.documents) else ""),
        ("score order reaches", "" if report.score_order_share is None else f"{report.score_order_share:.1%} of it"),
        ("repeats the request before", repeated),
    ]


def _parts(report: FitReport) -> list[tuple[str, int | None, int | None, int]]:
    """Return the parts of the window: the kind of each, its budget, and its tokens before and after."""
    components = report.components.items()
    fixed_before = report.fixed
    if report.sections:  # they are among the fixed tokens, and may have been cut
        fixed_before = max(report.fixed, report.tokens_before - sum(part.before for _, part in components))
    return [
        ("fixed", None, fixed_before, report.fixed),
        *((name, part.budget, part.before, part.after) for name, part in components),
        ("free", None, None, max(0, report.input_budget - report.tokens_after)),
        ("reserve", None, None, report.reserve),
        ("outside", None, None, max(0, (report.context_window or 0) - report.input_budget - report.reserve)),
    ]


def _parts_table(report: FitReport) -> Table:
    numeric, rows = ("budget", "before", "after"), []
    for kind, *amounts in _parts(report):
        if kind != "outside" or amounts[-1]:
            cells = ("" if amount is None else f"{amount:,}" for amount in amounts)
            rows.append(Row(cells=(_NAMES.get(kind, kind), *cells), kind=kind))
    return Table(caption="Tokens by part of the window", columns=("part", *numeric), numeric=numeric, rows=tuple(rows))


def window_bars(report: FitReport) -> tuple[Bar, Bar]:
    """Return the bar of the request as it was given, and that of the window as it is filled now.

    Tokens outside the budget are drawn where they are no more than the rest of the window. Otherwise the label names
    their number.
    """
    parts, in_label = _parts(report), ""
    *_, outside = parts[-1]
    if outside > report.input_budget + report.reserve:
        in_label = f"; another {outside:,} tokens of the window are outside the budget"
        del parts[-1]
    label = f"After: {report.tokens_after:,} of at most {report.input_budget:,} tokens{in_label}"
    return _scaled(
        Bar(
            label=f"Before: {report.tokens_before:,} tokens",
            segments=tuple(
                Segment(name=kind, amount=given, kind=kind) for kind, _, given, _ in parts if given is not None
            ),
        ),
        Bar(
            label=label,
            segments=tuple(Segment(name=_NAMES.get(kind, kind), amount=now, kind=kind) for kind, _, _, now in parts),
        ),
    )


def _scaled(before: Bar, after: Bar) -> tuple[Bar, Bar]:
    if before.total and after.total and before.total <= _LARGEST_ON_ONE_SCALE * after.total:
        longest = max(before.total, after.total)
        first, second = (replace(bar, extent=FULL * bar.total // longest) for bar in (before, after))
        return first, second
    times = f", {before.total / after.total:,.0f} times the bar below, and not to its scale" if after.total else ""
    return replace(before, label=before.label + times), after


def history_bar(strip: Sequence[Stretch], unit: str) -> Bar:
    """Return the conversation from its oldest turn (or message) to its newest."""
    names = (part.state if part.state != "mixed" else f"mixed ({_summary((part,))})" for part in strip)
    parts = tuple(
        Segment(name=name, amount=part.size, kind=part.state) for name, part in zip(names, strip, strict=True)
    )
    return Bar(label=f"Conversation, oldest {unit} first: {_summary(strip)}", segments=parts)


def _summary(strip: Sequence[Stretch]) -> str:
    return in_words({state: count for state, count in _turn_counts(strip).items() if count}) or "none"


def _turn_counts(strip: Sequence[Stretch]) -> Mapping[str, int]:
    return {state: sum(part.counts[state] for part in strip) for state in Stretch().counts}


def _history_table(history: HistoryReport, strip: Sequence[Stretch]) -> Table:
    """Return how many turns and messages were kept, shortened, summarized and dropped, and why."""
    turns = _turn_counts(strip)
    messages = {
        "kept": history.kept - history.shortened,
        "shortened": history.shortened,
        "summarized": history.summarized,
        "dropped": history.dropped,
    }
    rows = [
        Row(cells=(state, f"{turns[state]:,}", f"{count:,}"), kind=state)
        for state, count in messages.items()
        if turns[state] or count
    ]
    rows += [Row(cells=(f"dropped: {reason}", "", f"{count:,}")) for reason, count in history.reasons.items()]
    if history.recalled:
        rows.append(Row(cells=("recalled before the question", "", f"{history.recalled:,}")))
    sizes = (
        f"{number:,} {unit}" + ("" if number == 1 else "s")
        for number, unit in ((sum(turns.values()), "turn"), (history.messages, "message"))
    )
    return Table(
        caption=f"Conversation: {', '.join(sizes)}",
        columns=("outcome", "turns", "messages"),
        numeric=("turns", "messages"),
        rows=tuple(rows),
        more="A message says what was left out." if history.placeholder else "",
    )


def _section_table(report: FitReport) -> Table:
    given = list(zip(report.sections, report.section_tokens, strict=True))
    shown, numeric = given[:MOST_ROWS], ("entries", "kept", "tokens kept")
    return Table(
        caption="Sections",
        columns=("section", *numeric),
        numeric=numeric,
        foreign=("section",),
        rows=tuple(Row(cells=(row.name, f"{row.entries:,}", f"{row.kept:,}", f"{tokens:,}")) for row, tokens in shown),
        more=more_rows(len(given), len(shown)),
    )


def _document_table(documents: Sequence[DocumentReport], tokens: Sequence[int]) -> Table:
    """Return a table of documents in the order they came in; of many, half that are kept and half that are not."""
    shown = shown_indices(documents, MOST_ROWS)
    scored = _have_scores(documents)
    names = _SCORED if scored else _WITHOUT_SCORES
    states = [row.state for row in documents]
    counts = {state: states.count(state) for state in ("kept", "partial", "dropped")}
    return Table(
        caption=f"Documents: {in_words(counts)}" + (" (density: score for 1,000 tokens)" if scored else ""),
        columns=names,
        numeric=("score", "tokens", "density"),
        foreign=("document",),
        rows=tuple(_document_row(documents[index], tokens[index], names) for index in shown),
        more=more_rows(len(documents), len(shown)),
    )


def _document_row(row: DocumentReport, tokens: int, names: Sequence[str]) -> Row:
    score = as_float(row.score)  # it may be any number, even one that is too large for a float
    cells = {
        "document": preview(row.id, _LONGEST_ID),
        "score": "" if score is None else f"{score:.3g}",
        "tokens": f"{tokens:,}",
        "density": "" if score is None or not tokens else f"{score * 1_000 / tokens:.3g}",
        "outcome": outcome_in_words(row),
    }
    return Row(cells=tuple(cells[name] for name in names), kind=row.state)


def _have_scores(documents: Sequence[DocumentReport]) -> bool:
    """Return whether any document came with a score."""
    return any(row.score is not None for row in documents)


def outcome_in_words(row: DocumentReport) -> str:
    """Return the state of a document, with the reason."""
    return row.state + (f" ({row.reason}{', outranks a kept one' if row.outranked else ''})" if row.reason else "")


def _document_points(documents: Sequence[DocumentReport], tokens: Sequence[int]) -> tuple[Point, ...]:
    """Return the documents with a score that can be drawn as points, the most informative of them if there are many."""
    found: list[Point] = []
    for index in _most_informative(documents)[:_MOST_POINTS]:
        score = as_float(documents[index].score)
        if score is not None and abs(score) <= _LARGEST_DRAWN:
            found.append(Point(tokens=tokens[index], score=score, kind=documents[index].state))
    return tuple(found)


def shown_indices(documents: Sequence[DocumentReport], most: int) -> list[int]:
    """Return at most `most` documents in the order in which they came: half of them kept, half dropped."""
    first = _most_informative(documents)
    kept = [index for index in first if documents[index].state != "dropped"]
    return half_and_half(kept, [index for index in first if documents[index].state == "dropped"], most)


def half_and_half(first: Sequence[int], second: Sequence[int], most: int) -> list[int]:
    """Return at most `most` indices in ascending order, half of each where both have so many."""
    of_second = min(len(second), max(most // 2, most - len(first)))
    return sorted((*first[: most - of_second], *second[:of_second]))


def _most_informative(documents: Sequence[DocumentReport]) -> list[int]:
    """Return all documents by index: first those too big rather than too bad, then partial, dropped and kept ones."""
    order = ("partial", "dropped", "kept")
    return sorted(
        range(len(documents)), key=lambda index: (not documents[index].outranked, order.index(documents[index].state))
    )
