"""Real retrieval without a network: BM25 over the Markdown files of a project, cut into chunks of a few paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from langchain_core.documents import Document

from ctxopt_core import bm25_scorer

FILES = ("README.md", "docs/*.md", "CONTRIBUTING.md", "CHANGELOG.md")
CHUNK_CHARACTERS = 640
"""The longest chunk in characters, about 140 tokens of English Markdown: one or two paragraphs, as RAG chunks are."""

_HEADING = re.compile(r"^#{1,6} +(.+)$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownSearch:
    """A retriever over the Markdown files below a folder.

    Args:
        chunks: The chunks of all files.
        most: The top-k: how many chunks a search returns at most.
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
        scores = bm25_scorer(query, [chunk.page_content for chunk in self.chunks])
        ranked = sorted(zip(scores, self.chunks, strict=True), key=lambda pair: -pair[0])
        return [
            Document(
                id=chunk.id, page_content=chunk.page_content, metadata={**chunk.metadata, "score": round(score, 3)}
            )
            for score, chunk in ranked[: self.most]
            if score > 0
        ]


def chunks_of(path: Path, root: Path) -> list[Document]:
    """Return the chunks of one file; `source`, `heading` and `part` are in the metadata, `source#part` is the id."""
    source = path.relative_to(root).as_posix()
    found: list[Document] = []
    heading = path.stem
    for blocks in _grouped(_blocks(path.read_text(encoding="utf-8"))):
        part = len(found) + 1
        titles = [match.group(1) for match in map(_HEADING.match, blocks) if match]
        if _HEADING.match(blocks[0]):
            heading = titles[0]
        metadata = {"source": source, "heading": heading, "part": part}
        found.append(Document(id=f"{source}#{part}", page_content="\n\n".join(blocks), metadata=metadata))
        heading = titles[-1] if titles else heading
    return found


def _blocks(text: str) -> Iterator[str]:
    """Yield headings, paragraphs and fenced code; one that is too long for a chunk in parts of whole lines."""
    lines: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        border = not fenced and (not line.strip() or _HEADING.match(line))
        if border and lines:
            yield from _whole_lines(lines)
            lines = []
        if border and line.strip():
            yield line
        elif not border:
            lines.append(line)
        fenced ^= _FENCE.match(line) is not None
    yield from _whole_lines(lines)


def _whole_lines(lines: list[str]) -> Iterator[str]:
    part: list[str] = []
    for line in lines:
        if part and sum(map(len, part)) + len(line) > CHUNK_CHARACTERS:
            yield "\n".join(part)
            part = []
        part.append(line)
    if part:
        yield "\n".join(part)


def _grouped(blocks: Iterable[str]) -> Iterator[list[str]]:
    """Yield adjacent blocks that make a chunk; a heading starts a new one when this one is half full."""
    group: list[str] = []
    size = 0
    for block in blocks:
        too_long = size + len(block) > CHUNK_CHARACTERS
        if group and (too_long or (_HEADING.match(block) and size > CHUNK_CHARACTERS // 2)):
            # A heading stays with the block after it.
            carried = [group.pop()] if _HEADING.match(group[-1]) else []
            if group:
                yield group
            group, size = carried, sum(map(len, carried))
        group.append(block)
        size += len(block)
    if group:
        yield group
