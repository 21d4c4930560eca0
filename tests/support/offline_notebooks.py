"""Runs notebooks in a kernel that reaches no other machine."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

LOOPBACK_ONLY = Path(__file__).parent / "loopback_only"
SECONDS = 300


def offline_environment() -> dict[str, str]:
    """Return this process's environment, in which Python refuses connections that leave the machine."""
    paths = [str(LOOPBACK_ONLY), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run_offline(notebook: Any, folder: Path) -> None:
    """Run a notebook from top to bottom in `folder`, and keep in it what its cells printed."""
    nbclient = import_module("nbclient")
    resources = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources)
    client.execute(env=offline_environment())


def complaints(notebook: Any) -> list[str]:
    """Return what the cells of a notebook printed to the error stream, such as warnings."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output["text"] for output in outputs if output.get("name") == "stderr"]
