"""Every Python block of the README and of the guides runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from event_loops import own_event_loop

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


# LlamaIndex's agents look at attributes of their own that pydantic and its workflows warn of.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect", "ignore:is_running called from within a step")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text("utf-8"))], ids=lambda p: p.name
)
def test_the_python_blocks_of_a_page_run_in_order(page, capsys):
    names = {"__name__": "readme"}
    with own_event_loop():
        for block in BLOCK.findall(page.read_text("utf-8")):
            exec(compile(block, str(page), "exec"), names)  # noqa: S102

    printed = capsys.readouterr().out
    if page.name == "README.md":
        assert "Lantern 19." in printed
        assert "input budget" in printed
