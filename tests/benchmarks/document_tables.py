"""The table of documents that are packed, with nothing known before and again."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

from cpu_time import Candidate, milliseconds
from result_table import Row, Target
from synthetic_chat import Writer

from ctxopt_core import Document, DocumentPolicy, TiktokenCounter, pack_documents
from ctxopt_core.counting.encodings import BUNDLED_ENCODINGS, load_encoding
from ctxopt_core.runtime.text_cache import TextCache

ENCODING = "o200k_base"
BUDGET = 2_000
WORDS = 200
SELECTIONS = ("auto", "score", "passages", "density", "optimal")
ONCE = "tokenize once"
GROWTH = "its own time at 200 documents"
TARGET_COUNT, LARGE_COUNT = 200, 2_000
_MOST_PEER_DOCUMENTS = 200
_encode = load_encoding(ENCODING).encode_ordinary
_counter = TiktokenCounter(ENCODING)


def packing_rows(counts: Sequence[tuple[int, int]]) -> list[Row]:
    """Measure so many documents, in so many rounds, that are packed into a budget."""
    times: dict[int, dict[str, float]] = {}
    for count, rounds in counts:
        documents = _documents(count)
        times[count] = milliseconds(list(_candidates(documents)), rounds)
    return [
        Row(
            section=f"Documents of about {WORDS} words, packed into {BUDGET:,} tokens",
            case=f"{count:,} documents",
            candidate=name,
            milliseconds=time,
            ratios=_ratios(times, count, name),
            targets=_targets(count, name),
        )
        for count in times
        for name, time in times[count].items()
    ]


def _documents(count: int) -> list[Document]:
    writer, scores = Writer(), random.Random(count)
    return [Document(text=writer.text(WORDS), score=scores.uniform(0.1, 0.9)) for _ in range(count)]


def _candidates(documents: list[Document]) -> Iterator[Candidate]:
    texts = [document.text or "" for document in documents]
    unscored = [replace(document, score=None) for document in documents]
    query = " ".join(texts[len(texts) // 2].split()[20:28])
    yield Candidate(name=ONCE, run=lambda: [len(_encode(text)) for text in texts])
    for selection in SELECTIONS:
        pack = partial(_pack, query, DocumentPolicy(selection=selection))
        for state, given in (("scores", documents), ("no scores", unscored)):
            _check(pack, given)
            yield Candidate(
                name=f"ours, {selection}, {state}, cold", run=partial(pack, given), prepare=forget_everything
            )
        yield Candidate(
            name=f"ours, {selection}, scores, warm", run=partial(pack, documents), prepare=partial(pack, documents)
        )
    if len(documents) <= _MOST_PEER_DOCUMENTS:
        yield from _peers(texts, query)


def _pack(query: str, policy: DocumentPolicy, documents: list[Document]) -> int:
    return pack_documents(documents, BUDGET, _counter, query=query, policy=policy).tokens


def _check(pack: Callable[[list[Document]], int], documents: list[Document]) -> None:
    """Refuse to report the time of a packing that breaks its budget, or wastes a fifth of it.

    Raises:
        RuntimeError: It does.
    """
    tokens = pack(documents)
    if not BUDGET * 0.8 <= tokens <= BUDGET:
        message = f"a packing of {len(documents):,} documents into {BUDGET:,} tokens has {tokens:,} tokens"
        raise RuntimeError(message)


def forget_everything() -> None:
    """Clear every memory of texts in the process, whoever holds it."""
    for memory in gc.get_objects():
        if issubclass(type(memory), TextCache):
            memory.clear()


def _peers(texts: list[str], query: str) -> Iterator[Candidate]:
    """Yield the other packages that are installed; they keep no counts between calls."""
    names = [name for name in ("llmslim", "trimwise") if find_spec(name)]
    if names:
        # They would download the vocabularies that the core brings along.
        from tiktoken import registry

        for name in BUNDLED_ENCODINGS:
            registry.ENCODINGS.setdefault(name, load_encoding(name))
    if "llmslim" in names:
        from llmslim import compress_documents

        share = min(1.0, BUDGET / sum(len(_encode(text)) for text in texts))
        yield Candidate(name="llmslim", run=lambda: compress_documents(texts, query=query, target_ratio=share))
    if "trimwise" in names:
        from trimwise import Trimmer

        trimmer = Trimmer()
        yield Candidate(name="trimwise", run=lambda: trimmer.trim_context(texts, BUDGET, query=query))


def _ratios(times: dict[int, dict[str, float]], count: int, name: str) -> dict[str, float]:
    ratios = {} if name == ONCE else {ONCE: times[count][name] / times[count][ONCE]}
    if count > TARGET_COUNT and name in times.get(TARGET_COUNT, ()):
        ratios[GROWTH] = times[count][name] / times[TARGET_COUNT][name]
    return ratios


def _targets(count: int, name: str) -> tuple[Target, ...]:
    if not (name.startswith("ours") and name.endswith("cold")):
        return ()
    if count == TARGET_COUNT:
        return (Target(of=ONCE, relation="<=", figure=1.5),)
    # Ten times as many documents; a tenth is for the noise of two medians.
    return (Target(of=GROWTH, relation="<=", figure=11),) if count == LARGE_COUNT else ()
