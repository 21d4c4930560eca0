"""How a model id finds its figures in a table: whole, without its path, or by its longest listed beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, Self, TypeVar

from ctxopt_core.models.model_ids import id_spellings


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
       further version number is another model. If the bare name is listed too, the smaller input limit decides.
    5. An alias stands for a listed id, and for nothing longer.
    """

    def __init__(self, rows: Iterable[tuple[str, FiguresT]], aliases: Mapping[str, str] | None = None) -> None:
        self._listed: dict[str, FiguresT] = {}
        owners: dict[str, set[str]] = {}
        for model, figures in rows:
            spellings = id_spellings(model)
            known = self._listed.get(spellings[0])
            if known is None or figures.input_limit < known.input_limit:
                self._listed[spellings[0]] = figures
            owners.setdefault(spellings[-1], set()).add(spellings[0])
        self._lent: dict[str, FiguresT | None] = {
            name: self._listed[min(ids)] if len(ids) == 1 else None for name, ids in owners.items() if name not in ids
        }
        self._aliases = _normal(aliases or {})

    @classmethod
    def of_normal_ids(
        cls, listed: dict[str, FiguresT], *, ambiguous: Iterable[str], aliases: Mapping[str, str]
    ) -> Self:
        """Return the index of ids that are in their normal spelling already.

        Args:
            listed: The figures by whole id.
            ambiguous: The bare names that are not found.
            aliases: Alias -> listed id, in any spelling.
        """
        index = cls((), aliases)
        index._listed = listed
        index._lent = dict.fromkeys(ambiguous)
        return index

    def find(self, model: str) -> FiguresT | None:
        """Return the figures of `model`, or None."""
        *scoped, bare = id_spellings(model)
        for spelling in scoped:
            found = self._figures(spelling) or self._no_more_than(bare, self._beginning_of(spelling))
            if found is not None:
                return found
        if bare in self._lent:
            return self._lent[bare]
        return self._figures(bare) or self._beginning_of(bare)

    def _figures(self, spelling: str) -> FiguresT | None:
        return self._listed.get(self._aliases.get(spelling, spelling))

    def _no_more_than(self, bare: str, found: FiguresT | None) -> FiguresT | None:
        own = self._figures(bare)
        return own if found is not None and own is not None and own.input_limit < found.input_limit else found

    def _beginning_of(self, spelling: str) -> FiguresT | None:
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


def _normal(aliases: Mapping[str, str]) -> dict[str, str]:
    return {id_spellings(alias)[0]: id_spellings(model)[0] for alias, model in aliases.items()}
