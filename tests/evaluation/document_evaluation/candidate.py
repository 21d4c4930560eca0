"""What is compared: one way of packing."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import ctxopt_core
from ctxopt_core import Document, DocumentPolicy, pack_documents
from document_evaluation.cases import COUNTER, Case
from document_evaluation.survival import Kept

Pack = Callable[[Case, int], Kept]
Group = Literal["ours", "peer", "reference", "bound"]
DEFAULT = "ours"
_ENGLISH = ("docs_hotpotqa", "docs_musique", "rag_chat_mtrag_un", "docs_tatqa", "docs_tatqa_blocks", "docs_openqa")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way of packing.

    Args:
        name: How the tables call it.
        group: Ours, a released package, a reference written for the comparison, or an upper bound.
        make: Returns the function that packs. Raises ValueError or AttributeError for what the core does not have yet.
        packages: What has to be installed, the versioned package first; module names.
        release: What tells its results from those of another release; results that are there are not made again.
        net: Whether a packing over the budget counts as nothing.
        of: The candidate whose runs are looked at, where that is another one.
        blind: Whether it never sees a score, so that `shuffled` and `none` are the same to it.
        embeds: Whether it embeds what it reads. The model knows English and takes long, so that such a candidate is run
            on the English sets, with the scores as delivered.
    """

    name: str
    group: Group
    make: Callable[[], Pack]
    packages: tuple[str, ...] = ()
    release: str = "1"
    net: bool = False
    of: str = ""
    blind: bool = False
    embeds: bool = False

    def runs_on(self, name: str, mode: str) -> bool:
        """Tell whether it is run on a set in a mode."""
        return not self.embeds or (name in _ENGLISH and mode == "score")

    @property
    def source(self) -> str:
        """The candidate whose runs are looked at."""
        return self.of or self.name

    @property
    def releases(self) -> dict[str, str]:
        """The installed releases of the packages."""
        return {name: version(name.replace("_", "-")) for name in self.packages}

    @property
    def key(self) -> str:
        """What tells its results from those of other candidates and releases."""
        if self.group == "ours":
            return f"{self.source}-{core_release(__file__)}"
        return "-".join((self.source, self.release, *self.releases.values()))

    def problem(self) -> str:
        """Tell why it cannot be run here; empty if it can."""
        missing = [name for name in self.packages if importlib.util.find_spec(name) is None]
        if missing:
            return f"{', '.join(missing)} not installed"
        try:
            self.make()
        except (ValueError, AttributeError, ImportError, TypeError) as error:
            return f"not there yet: {error}"
        return ""


def pack_with(policy: DocumentPolicy, case: Case, budget: int) -> Kept:
    """Pack with ours, through the public API."""
    documents = [Document(id=p.id, text=p.text, score=p.score) for p in case.passages]
    packing = pack_documents(documents, budget, COUNTER, query=case.question, policy=policy)
    return [(index, packing.texts.get(index, case.passages[index].text)) for index in packing.kept]


@functools.cache
def core_release(caller: str) -> str:
    """Return what tells one state of ours from another: the core's source, and the file that calls it."""
    digest = hashlib.sha256()
    for path in (*sorted(Path(ctxopt_core.__file__).parent.rglob("*.py")), Path(caller)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]
