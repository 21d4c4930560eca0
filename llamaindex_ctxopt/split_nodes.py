"""Nodes that an engine splits after they were postprocessed, as the prompt will hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore

from llamaindex_ctxopt.node_rendering import SEPARATOR, shown_text, with_text


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitNodes:
    """Nodes that become several sources each, as a `CitationQueryEngine` makes them.

    Args:
        nodes: The nodes as they were given.
        split: Makes the sources of nodes. Each begins with its number, which counts a token or two wherever it stands.
    """

    nodes: Sequence[NodeWithScore]
    split: Callable[[list[NodeWithScore]], list[NodeWithScore]]

    @property
    def separator(self) -> str:
        """What stands between two sources."""
        return SEPARATOR

    def render(self, index: int, text: str) -> str:
        """Return the sources of node `index` as the prompt holds them when its text is `text`."""
        sources = self.split([with_text(self.nodes[index], text)])
        return SEPARATOR.join(shown_text(source.node) for source in sources)
