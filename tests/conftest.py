"""Make the code in `tests/support` importable by its plain module names, and draw the same examples each time.

`HYPOTHESIS_PROFILE=explore` draws new examples at every run; `CTXOPT_EXAMPLES=20` draws twenty times as many.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

SUPPORT = str(Path(__file__).resolve().parent / "support")

if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

from drawn_examples import examples  # noqa: E402  # the path is set above

USUAL_EXAMPLES = 100  # Hypothesis' own default
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # the machine may do other things

DRAWN = {"max_examples": examples(USUAL_EXAMPLES), **UNHURRIED}

settings.register_profile("fixed", derandomize=True, **DRAWN)
settings.register_profile("explore", derandomize=False, **DRAWN)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
