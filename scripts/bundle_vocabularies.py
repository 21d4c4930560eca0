"""Copy the bundled vocabularies out of an installed llama-index-core, checked against tiktoken's digests.

llama-index-core carries the files in its static tiktoken cache; tiktoken publishes the SHA-256 that each must
have. Neither package is asked to download anything.

Run it from anywhere: `.venv/bin/python scripts/bundle_vocabularies.py`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tiktoken_ext import openai_public

ENCODINGS = ("cl100k_base", "o200k_base")
DESTINATION = Path(__file__).resolve().parent.parent / "core" / "ctxopt_core" / "counting" / "vocabularies"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVocabulary:
    """What tiktoken publishes about one vocabulary file."""

    encoding: str
    url: str
    sha256: str

    @property
    def cache_name(self) -> str:
        """The file's name in a tiktoken cache: the SHA-1 of its address."""
        return hashlib.sha1(self.url.encode(), usedforsecurity=False).hexdigest()


def published_vocabulary(encoding: str) -> PublishedVocabulary:
    """Read address and SHA-256 from tiktoken's constructor, its loader replaced so that nothing is read."""
    with mock.patch.object(openai_public, "load_tiktoken_bpe", return_value={}) as loader:
        openai_public.ENCODING_CONSTRUCTORS[encoding]()
    (url,) = loader.call_args.args
    return PublishedVocabulary(encoding=encoding, url=url, sha256=loader.call_args.kwargs["expected_hash"])


def static_cache() -> Path:
    """Find llama-index-core's static tiktoken cache without importing llama_index.core."""
    spec = importlib.util.find_spec("llama_index")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        cache = Path(root) / "core" / "_static" / "tiktoken_cache"
        if cache.is_dir():
            return cache
    message = "llama-index-core is not installed; run `make test` once, or pip install 'ctxopt-core[llamaindex]'"
    raise SystemExit(message)


def verified_bytes(vocabulary: PublishedVocabulary, cache: Path) -> bytes:
    """Read one vocabulary and refuse it unless it is byte for byte what tiktoken publishes."""
    data = (cache / vocabulary.cache_name).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != vocabulary.sha256:
        message = f"{vocabulary.encoding}: SHA-256 is {digest}, tiktoken publishes {vocabulary.sha256}"
        raise SystemExit(message)
    return data


def tiktoken_license() -> str:
    """The license text that tiktoken's distribution carries."""
    files = importlib.metadata.files("tiktoken") or []
    license_text = next(file for file in files if file.name == "LICENSE")
    return license_text.read_text().strip()


def readme(rows: Iterable[tuple[PublishedVocabulary, int]]) -> str:
    """The page beside the files: what they are, where they come from, under which license."""
    table = "\n".join(f"| `{row.encoding}.tiktoken` | {size:,} | `{row.sha256}` |" for row, size in rows)
    tiktoken = importlib.metadata.version("tiktoken")
    llama_index = importlib.metadata.version("llama-index-core")
    return f"""# Bundled vocabularies

The byte-pair ranks of two encodings, so that counting tokens needs no network. Written by
`scripts/bundle_vocabularies.py`; do not edit by hand.

| file | bytes | SHA-256 |
|---|---|---|
{table}

Source: the files that tiktoken loads for these encodings, taken unchanged from the static cache of
llama-index-core {llama_index} and checked against the SHA-256 published by tiktoken {tiktoken}
(`tiktoken_ext.openai_public`). A test repeats the check.

License: MIT, as part of tiktoken. Its notice:

```text
{tiktoken_license()}
```
"""


def main() -> int:
    """Write the vocabulary files and their README."""
    DESTINATION.mkdir(parents=True, exist_ok=True)
    cache = static_cache()
    rows = []
    for encoding in ENCODINGS:
        vocabulary = published_vocabulary(encoding)
        data = verified_bytes(vocabulary, cache)
        (DESTINATION / f"{encoding}.tiktoken").write_bytes(data)
        rows.append((vocabulary, len(data)))
    (DESTINATION / "README.md").write_text(readme(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
