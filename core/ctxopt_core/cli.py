"""The command line: `python -m ctxopt_core`, or `ctxopt-core` where it is installed."""

from __future__ import annotations

import sys

_MISSING = "the command line needs click; install it with: pip install 'ctxopt-core[cli]'"


def main() -> None:
    """Run the command that the arguments of the process name.

    The process ends with one of the exit codes that `--help` lists; with 2, too, where click is not installed.
    """
    try:
        from ctxopt_core.command_line.program import commands
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        print(_MISSING, file=sys.stderr)
        sys.exit(2)
    commands(prog_name="ctxopt-core")
