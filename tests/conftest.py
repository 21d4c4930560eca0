"""Make the shared test code in `tests/support` importable by its plain module names."""

from __future__ import annotations

import sys
from pathlib import Path

SUPPORT = str(Path(__file__).resolve().parent / "support")

if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)
