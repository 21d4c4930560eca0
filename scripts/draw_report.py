"""Draw the picture of the README and of the site's home: `report.plot()` of the request that `make demo` fits.

    python scripts/draw_report.py            draw what the code makes of the request now
    python scripts/draw_report.py --search   search the documentation again first

The search of the demo finds other chunks whenever a page is edited, so those of the picture are recorded in
`drawn_chunks.json`; the rest of the request is the demo's own.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import matplotlib as mpl
from langchain_core.documents import Document

ROOT = Path(__file__).resolve().parents[1]
CHUNKS = ROOT / "scripts" / "drawn_chunks.json"
IMAGES = ROOT / "docs" / "images"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
ALTERNATIVE = re.compile(r'(images/report-\w+\.svg[^"]*" alt=")[^"]*')
sys.path.insert(0, str(ROOT / "examples"))

import demo  # noqa: E402  (an example is no package)

from ctxopt_core import FitReport  # noqa: E402
from langchain_ctxopt import ContextOptimizer  # noqa: E402

COLORS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"report-light.svg": ("#1f2328", "#ffffff"), "report-dark.svg": ("#e6edf3", "none")}
)
"""The colors of texts and background: the light one is what is shown where nobody asks which page it is on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search", action="store_true", help="search the documentation again first")
    if parser.parse_args().search:
        record_chunks()
    report = drawn_report()
    IMAGES.mkdir(exist_ok=True)
    for name in COLORS:
        (IMAGES / name).write_text(drawing(report, name), encoding="utf-8")
    for page in PAGES:
        page.write_text(ALTERNATIVE.sub(rf"\g<1>{in_words(report)}", page.read_text("utf-8")), encoding="utf-8")


def record_chunks() -> None:
    """Store what the search of the demo finds now."""
    found = demo.MarkdownSearch.over(ROOT)(demo.QUESTION)
    rows = [{"id": chunk.id, "page_content": chunk.page_content, "metadata": chunk.metadata} for chunk in found]
    CHUNKS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def drawn_report() -> FitReport:
    """Return the report of the demo's request, with the chunks that are recorded."""
    chunks = [Document(**row) for row in json.loads(CHUNKS.read_text(encoding="utf-8"))]
    model = demo.WindowedChatModel().bind_tools(demo.TOOLS)
    optimizer = ContextOptimizer(prompt=demo.PROMPT, model=model, documents_as="text", document_prompt=demo.CHUNK)
    conversation = demo.load_conversation(demo.EXAMPLES / "conversation.json")
    values = {"system": demo.RULES, "context": chunks, "chat_history": conversation, "question": demo.QUESTION}
    return optimizer.plan(values)


def drawing(report: FitReport, name: str) -> str:
    """Return the figure as SVG; the same report gives the same text, on any day."""
    ink, background = COLORS[name]
    style = {"svg.fonttype": "none", "svg.hashsalt": "ctxopt", "figure.facecolor": background}
    inked = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), ink)
    stored = io.StringIO()
    with mpl.rc_context({**style, **inked}):
        metadata = {"Title": in_words(report), "Creator": None, "Date": None}
        report.plot().savefig(stored, format="svg", metadata=metadata)
    return "\n".join(line.rstrip() for line in stored.getvalue().splitlines()) + "\n"


def in_words(report: FitReport) -> str:
    """Return what the picture shows, which is its text on the pages for those who cannot see it."""
    return report.plot().in_words


if __name__ == "__main__":
    main()
