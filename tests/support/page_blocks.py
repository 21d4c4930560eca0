"""Run the Python blocks of a page, and leave the process as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llama_index.core

from event_loops import own_event_loop

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_blocks(page: Path, given: Mapping[str, Any] | None = None, *, most: int | None = None) -> dict[str, Any]:
    """Run the blocks of a page in order, in one set of names, and return them; an error shows the line of the page.

    `given` are names that the page does not define; `most` is how many blocks are run, by default all.
    """
    text = page.read_text("utf-8")
    names = {"__name__": "page", **(given or {})}
    with own_event_loop(), _llama_index_as_it_was():
        for block in list(PYTHON_BLOCK.finditer(text))[:most]:
            lines_before = text.count("\n", 0, block.start(1))
            code = compile("\n" * lines_before + block[1], str(page), "exec", dont_inherit=True)  # as if it was pasted
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
