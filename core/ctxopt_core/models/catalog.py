"""The built-in catalog of models, whose rows have sources and a date, and how a model id is found in a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from ctxopt_core.models.model_ids import id_spellings


class HasInputLimit(Protocol):
    """A row of the table."""

    @property
    def input_limit(self) -> int:
        """The most tokens that the input may have."""
        ...


RowT = TypeVar("RowT", bound=HasInputLimit)

# What may follow an id without naming another model: dates, snapshots, sizes, precision, stage of release.
_SAME_MODEL = re.compile(
    r"""(?:-(?:
        \d{2,8} | v\d{1,2}
        | \d+(?:x\d+)?[bte] | a\d+b
        | instruct(?:-turbo)? | it | thinking | reasoning | non | search
        | preview | exp | experimental | beta | customtools
        | versatile | instant | online | basic | hf | maas | free | tee | cloud
        | fp\d+ | int-?\d+ | bf16 | (?:mx|nv)fp-?\d | awq | gptq | gguf | qat | q\d | k | m | s
    ))*""",
    re.VERBOSE,
)
_NEXT_VERSION = re.compile(r"-\d{1,2}(?![\dbex])")
_SHORT_DATE = re.compile(r"-\d{2}-\d{2,4}(?!\d)")


class ModelIndex(Generic[RowT]):
    """Finds the row of a model by its id.

    1. The whole id is tried first, then the id without the first parts of its path, last the bare name.
    2. An id that is listed twice has the row with the smaller input limit.
    3. A bare name that is listed only with several paths is ambiguous: not found.
    4. The longest listed prefix of the name is used if only dates, sizes and the like follow. Another version number
       is another model. If the bare name is listed too, the row with the smaller input limit is used.
    5. An alias is another name of a listed id; it is no prefix of longer names.
    """

    def __init__(self, rows: Iterable[tuple[str, RowT]], aliases: Mapping[str, str] | None = None) -> None:
        self._listed: dict[str, RowT] = {}
        owners: dict[str, set[str]] = {}
        for model, row in rows:
            spellings = id_spellings(model)
            listed = self._listed.get(spellings[0])
            if listed is None or row.input_limit < listed.input_limit:
                self._listed[spellings[0]] = row
            owners.setdefault(spellings[-1], set()).add(spellings[0])
        # Bare names that are listed with a path alone; None for those with several.
        self._by_bare_name: dict[str, RowT | None] = {
            name: self._listed[min(ids)] if len(ids) == 1 else None for name, ids in owners.items() if name not in ids
        }
        self._aliases = {id_spellings(alias)[0]: id_spellings(model)[0] for alias, model in (aliases or {}).items()}

    @classmethod
    def of_normal_ids(cls, listed: dict[str, RowT], *, ambiguous: Iterable[str], aliases: Mapping[str, str]) -> Self:
        """Return the index of whole ids that already have their normal spelling; `ambiguous` are bare names."""
        index = cls((), aliases)
        index._listed = listed
        index._by_bare_name = dict.fromkeys(ambiguous)
        return index

    def find(self, model: str) -> RowT | None:
        """Return the row of `model`, or None."""
        *with_path, bare = id_spellings(model)
        for spelling in with_path:
            found = self._row(spelling) or self._no_more_than(bare, self._listed_prefix(spelling))
            if found is not None:
                return found
        if bare in self._by_bare_name:
            return self._by_bare_name[bare]
        return self._row(bare) or self._listed_prefix(bare)

    def _row(self, spelling: str) -> RowT | None:
        return self._listed.get(self._aliases.get(spelling, spelling))

    def _no_more_than(self, bare: str, found: RowT | None) -> RowT | None:
        row = self._row(bare)
        return row if found is not None and row is not None and row.input_limit < found.input_limit else found

    def _listed_prefix(self, spelling: str) -> RowT | None:
        end = spelling.rfind("-")
        while end > 0:
            found = self._listed.get(spelling[:end])
            if found is not None:
                return found if _is_same_model(spelling[:end], spelling[end:]) else None
            end = spelling.rfind("-", 0, end)
        return None


def _is_same_model(listed: str, rest: str) -> bool:
    if _NEXT_VERSION.match(rest) and (listed[-1].isdigit() or not _SHORT_DATE.match(rest)):
        return False
    return _SAME_MODEL.fullmatch(rest) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogRow:
    """Models with the same limits.

    Attributes:
        ids: The models, as their providers spell them; with the host's path if only that host has these limits.
        context_window: Tokens of input and answer together.
        max_input_tokens: Tokens of the input, if the provider limits them below the window.
        max_output_tokens: Tokens of the longest answer.
        kind: `chat`, or another kind of model; `legacy` for chat models with smaller windows than those in use today.
            Only chat rows are considered for the smallest chat window.
        tokenizer: A published encoding, or the name of a family without one.
        sources: Where the limits come from; the file explains the names.
        checked: When they were looked up.
    """

    ids: tuple[str, ...]
    context_window: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    kind: str = "chat"
    tokenizer: str
    sources: tuple[str, ...]
    checked: date

    @property
    def input_limit(self) -> int:
        """The most tokens that the input may have."""
        return min(self.context_window, self.max_input_tokens or self.context_window)


@cache
def builtin_index() -> ModelIndex[CatalogRow]:
    """Return the index of the built-in catalog, which is read on first use."""
    table = _table()
    # The file has the normal spellings, since computing thousands of them takes longer than reading them.
    spellings = (normal or ids for ids, normal, *_ in table["rows"])
    listed = {model: row for row, ids in zip(builtin_rows(), spellings, strict=True) for model in ids.split()}
    return ModelIndex.of_normal_ids(listed, ambiguous=table["ambiguous"].split(), aliases=table["aliases"])


def builtin_aliases() -> Mapping[str, str]:
    """Return the names for the newest model of a family, with the id of that model."""
    aliases: Mapping[str, str] = _table()["aliases"]
    return aliases


@cache
def builtin_rows() -> tuple[CatalogRow, ...]:
    """Return the rows of the built-in catalog."""
    return tuple(
        CatalogRow(
            ids=tuple(ids.split()),
            context_window=window,
            max_input_tokens=limit,
            max_output_tokens=answer,
            kind=kind,
            tokenizer=tokenizer,
            sources=tuple(sources.split()),
            checked=date.fromisoformat(checked),
        )
        for ids, _, window, limit, answer, kind, tokenizer, sources, checked in _table()["rows"]
    )


@cache
def _table() -> dict[str, Any]:
    # importlib.resources takes longer to import than the file to read.
    content: dict[str, Any] = json.loads(Path(__file__).with_name("models.json").read_text(encoding="utf-8"))
    return content


def smallest_chat_window(rows: Iterable[CatalogRow]) -> int:
    """Return the smallest window of the chat models among `rows`, in tokens."""
    return min(row.input_limit for row in rows if row.kind == "chat")
