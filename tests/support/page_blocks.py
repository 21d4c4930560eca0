"""Run the Python blocks of a page, and leave the process as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import llama_index.core

from event_loops import own_event_loop

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_blocks(page: Path) -> None:
    """Run the blocks of a page in order, in one set of names; an error shows the line of the page."""
    text = page.read_text("utf-8")
    names = {"__name__": "page"}
    with own_event_loop(), _llama_index_as_it_was():
        for block in _BLOCK.finditer(text):
            lines_before = text.count("\n", 0, block.start(1))
            exec(compile("\n" * lines_before + block[1], str(page), "exec"), names)  # noqa: S102


@contextmanager
def _llama_index_as_it_was() -> Iterator[None]:
    """Memories of LlamaIndex set the tokenizer of the whole process when they are made."""
    tokenizer = llama_index.core.global_tokenizer
    try:
        yield
    finally:
        llama_index.core.global_tokenizer = tokenizer
