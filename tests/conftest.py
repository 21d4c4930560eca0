"""Make the code in `tests/support` importable by its plain module names, and draw the same examples each time.

`HYPOTHESIS_PROFILE=explore` draws new examples at every run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

SUPPORT = str(Path(__file__).resolve().parent / "support")

if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
