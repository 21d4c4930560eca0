"""Real retrieval without a network: BM25 over the Markdown files of a project, cut into chunks of a few paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from langchain_core.documents import Document

from ctxopt_core.relevance import bm25_scores

FILES = ("README.md", "docs/*.md", "CONTRIBUTING.md", "CHANGELOG.md")
CHUNK_CHARACTERS = 900
"""About 200 tokens of English Markdown."""

_HEADING = re.compile(r"^#{1,6} +(.+)$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownSearch:
    """A retriever over the Markdown files below a folder.

    Args:
        chunks: What can be found.
        most: How many chunks a search returns.
    """

    chunks: tuple[Document, ...]
    most: int = 40

    @classmethod
    def over(cls, root: Path, *, most: int = 40) -> MarkdownSearch:
        """Return a search over the project in `root`."""
        paths = [path for pattern in FILES for path in sorted(root.glob(pattern))]
        return cls(chunks=tuple(chunk for path in paths for chunk in chunks_of(path, root)), most=most)

    def __call__(self, query: str) -> list[Document]:
        """Return copies of the best chunks with their scores, best first."""
        scores = bm25_scores(query, [chunk.page_content for chunk in self.chunks])
        ranked = sorted(zip(scores, self.chunks, strict=True), key=lambda pair: -pair[0])
        return [
            Document(id=chunk.id, page_content=chunk.page_content, metadata={**chunk.metadata, "score": round(score, 3)})
            for score, chunk in ranked[: self.most]
        ]


def chunks_of(path: Path, root: Path) -> list[Document]:
    """Return the chunks of one file; `source`, `heading` and `part` are in the metadata, `source#part` is the id."""
    source = path.relative_to(root).as_posix()
    found: list[Document] = []
    for heading, paragraphs in _sections(path.read_text(encoding="utf-8")):
        for text in _grouped(paragraphs):
            part = len(found) + 1
            metadata = {"source": source, "heading": heading, "part": part}
            found.append(Document(id=f"{source}#{part}", page_content=text, metadata=metadata))
    return found


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """The paragraphs below each heading; a fenced block of code is one paragraph."""
    heading, paragraphs, lines, fenced = "", [], [], False
    for line in [*text.splitlines(), ""]:
        opens = _FENCE.match(line) is not None
        title = None if fenced else _HEADING.match(line)
        if (title or not line.strip()) and not fenced and lines:
            paragraphs.append("\n".join(lines))
            lines = []
        if title:
            if paragraphs:
                yield heading, paragraphs
            heading, paragraphs = title.group(1), []
        elif line.strip() or fenced:
            lines.append(line)
        fenced ^= opens
    paragraphs += ["\n".join(lines)] if lines else []
    if paragraphs:
        yield heading, paragraphs


def _grouped(paragraphs: list[str]) -> Iterator[str]:
    """Neighbouring paragraphs together, as long as they make no chunk that is too long; a long one stands alone."""
    group: list[str] = []
    for paragraph in paragraphs:
        if group and sum(map(len, group)) + len(paragraph) > CHUNK_CHARACTERS:
            yield "\n\n".join(group)
            group = []
        group.append(paragraph)
    if group:
        yield "\n\n".join(group)
