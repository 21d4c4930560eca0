"""Check that the search of the built site finds what people type: `make docs` runs this after the build.

python scripts/check_search.py build/site/search.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

TYPED: Mapping[str, str] = MappingProxyType(
    {
        "RAG": "recipes.html",
        "deepagents": "recipes.html",
        "compaction": "glossary.html",
        "LangGraph": "recipes.html",
        "FastAPI": "recipes.html",
        "Ollama": "recipes.html",
        "vLLM": "recipes.html",
        "tracing": "recipes.html",
        "chat history": "recipes.html",
        "prompt cache": "guides/prompt_caching.html",
        "rerank": "guides/retriever.html",
        "top-k": "guides/retriever.html",
        "checklist": "production.html",
        "trim_messages": "guides/from_trim_messages.html",
        "ChatMemoryBuffer": "guides/from_chat_memory_buffer.html",
        "SummarizationMiddleware": "guides/from_summarization_middleware.html",
        "context_length_exceeded": "symptoms/maximum_context_length.html",
        "llmslim": "comparison.html",
    }
)
"""What people type, and a page that has to be among what is found."""


def missing(items: Sequence[Mapping[str, object]]) -> list[str]:
    """Return what the entries of a search index do not find, each with the page that should have it."""
    found = {word: _pages_with(items, word) for word in TYPED}
    return [f"{word!r} does not find {page}" for word, page in TYPED.items() if page not in found[word]]


def _pages_with(items: Sequence[Mapping[str, object]], word: str) -> set[str]:
    sought = word.lower()
    return {
        str(item["location"]).partition("#")[0] for item in items if sought in f"{item['title']} {item['text']}".lower()
    }


def main() -> None:
    index = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    if lacking := missing(index["items"]):
        sys.exit("\n".join(lacking))
    print(f"the search finds all of {len(TYPED)} words")


if __name__ == "__main__":
    main()
