"""Tekken, the vocabulary of Mistral's models, which the wheel of mistral-common carries."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

TEKKEN = "tekken"
"""The name of the encoding."""
# The file of July 2024. That of September 2024, the other one in the wheel, has the same pattern and the same tokens,
# and all later versions have a vocabulary of the same size.
_FILE = "tekken_240718.json"
_BYTES = 14_801_223  # its size, so that another file is not read for it
TEKKEN_SHA256 = "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516"


@cache
def tekken_file() -> Path | None:
    """Return the file of the vocabulary; None where mistral-common is not installed or has another file.

    mistral-common itself is not imported, which takes a second.
    """
    found = find_spec("mistral_common")
    for folder in (found.submodule_search_locations or ()) if found else ():
        file = Path(folder) / "data" / _FILE
        if file.is_file() and file.stat().st_size == _BYTES:
            return file
    return None
