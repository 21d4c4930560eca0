"""Make the modules of the evaluation importable by their plain names, as they are for the program itself."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)

if HERE not in sys.path:
    sys.path.insert(0, HERE)
