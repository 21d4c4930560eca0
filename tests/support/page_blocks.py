"""Run one Python block of a page in this process, to look at what it made, and leave the process as it was.

That blocks run alone in an interpreter of their own is tested with `pasted_blocks.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llama_index.core

from event_loops import own_event_loop

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_block(page: Path, number: int) -> dict[str, Any]:
    """Run a block of a page, counted from 0, and return its names; an error shows the line of the page."""
    text = page.read_text("utf-8")
    block = list(PYTHON_BLOCK.finditer(text))[number]
    lines_before = text.count("\n", 0, block.start(1))
    code = compile("\n" * lines_before + block[1], str(page), "exec", dont_inherit=True)  # as if it was pasted
    names = {"__name__": "page"}
    with own_event_loop(), _llama_index_as_it_was():
        exec(code, names)  # noqa: S102
    return names


@contextmanager
def _llama_index_as_it_was() -> Iterator[None]:
    """Memories of LlamaIndex set the tokenizer of the whole process when they are made."""
    tokenizer = llama_index.core.global_tokenizer
    try:
        yield
    finally:
        llama_index.core.global_tokenizer = tokenizer
