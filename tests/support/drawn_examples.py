"""How many examples Hypothesis draws: the usual number, a few for `make quick`, many for `make fuzz`."""

from __future__ import annotations

import os

FACTOR = float(os.environ.get("CTXOPT_EXAMPLES", "1"))


def examples(usual: int) -> int:
    """Return the number of examples for a property that usually gets `usual`."""
    return max(1, round(usual * FACTOR))
