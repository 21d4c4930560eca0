"""The built-in catalogue of models: a small reviewed table in which each row has its sources and a date."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Generic, Protocol, TypeVar

from ctxopt_core.model_ids import id_spellings


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRow:
    """What is known about the models of one row.

    Attributes:
        ids: The models, as their providers spell them; with a provider's path where the figures are only that
            host's.
        context_window: Tokens of input and answer together.
        max_input_tokens: Tokens of input, where the provider limits them below the window.
        max_output_tokens: Tokens of the longest answer.
        kind: `chat`, or what else it is. Only chat rows count for the smallest chat window.
        tokenizer: A published encoding, or the name of a family without one.
        sources: Where the figures come from; the file explains the names.
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
        """The most that input can count, in tokens."""
        return min(self.context_window, self.max_input_tokens or self.context_window)


class HasInputLimit(Protocol):
    """Figures of a model that can be compared."""

    @property
    def input_limit(self) -> int:
        """The most that input can count, in tokens."""


FiguresT = TypeVar("FiguresT", bound=HasInputLimit)

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


class ModelIndex(Generic[FiguresT]):
    """Finds the figures of a model by its id.

    1. The whole id is looked for first, then the id without the leading parts of its path, at last the bare
       name.
    2. An id that is listed twice has the figures with the smaller input limit.
    3. A bare name that stands for several listed ids with a path, and for none without, is ambiguous: not
       found.
    4. The longest listed id that the name begins with decides, if only dates, sizes and the like follow. A
       further version number is another model.
    5. An alias stands for a listed id, and for nothing longer.
    """

    def __init__(self, rows: Iterable[tuple[str, FiguresT]], aliases: Mapping[str, str] | None = None) -> None:
        self._whole: dict[str, FiguresT] = {}
        bare: dict[str, set[str]] = {}
        for model, figures in rows:
            spellings = id_spellings(model)
            known = self._whole.get(spellings[0])
            if known is None or figures.input_limit < known.input_limit:
                self._whole[spellings[0]] = figures
            bare.setdefault(spellings[-1], set()).add(spellings[0])
        self._bare = {name: ids for name, ids in bare.items() if name not in ids}
        self._aliases = {id_spellings(alias)[0]: id_spellings(model)[0] for alias, model in (aliases or {}).items()}

    def find(self, model: str) -> FiguresT | None:
        """Return the figures of `model`, or None."""
        *scoped, bare = id_spellings(model)
        for spelling in scoped:
            found = self._listed(spelling) or self._beginning_of(spelling)
            if found is not None:
                return found
        if bare in self._bare:
            ids = self._bare[bare]
            return self._whole[next(iter(ids))] if len(ids) == 1 else None
        return self._listed(bare) or self._beginning_of(bare)

    def _listed(self, spelling: str) -> FiguresT | None:
        return self._whole.get(self._aliases.get(spelling, spelling))

    def _beginning_of(self, spelling: str) -> FiguresT | None:
        end = spelling.rfind("-")
        while end > 0:
            found = self._whole.get(spelling[:end])
            if found is not None:
                return found if _is_same_model(spelling[:end], spelling[end:]) else None
            end = spelling.rfind("-", 0, end)
        return None


def _is_same_model(listed: str, rest: str) -> bool:
    if _NEXT_VERSION.match(rest) and (listed[-1].isdigit() or not _SHORT_DATE.match(rest)):
        return False
    return _SAME_MODEL.fullmatch(rest) is not None


@cache
def builtin_index() -> ModelIndex[CatalogueRow]:
    """Return the index of the built-in catalogue, loaded on first use."""
    aliases = _document()["aliases"]
    return ModelIndex(((model, row) for row in builtin_rows() for model in row.ids), aliases)


@cache
def builtin_rows() -> tuple[CatalogueRow, ...]:
    """Return the rows of the built-in catalogue."""
    return tuple(
        CatalogueRow(
            ids=tuple(row["ids"]),
            context_window=row["context_window"],
            max_input_tokens=row.get("max_input_tokens"),
            max_output_tokens=row.get("max_output_tokens"),
            kind=row.get("kind", "chat"),
            tokenizer=row["tokenizer"],
            sources=tuple(row["sources"]),
            checked=date.fromisoformat(row["checked"]),
        )
        for row in _document()["rows"]
    )


@cache
def _document() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((files("ctxopt_core") / "models.json").read_text(encoding="utf-8"))
    return content


def smallest_chat_window(rows: Iterable[CatalogueRow]) -> int:
    """Return the smallest window of the chat models among `rows`, in tokens."""
    return min(row.input_limit for row in rows if row.kind == "chat")
