"""The command line: `python -m ctxopt_core`, or `ctxopt-core` where it is installed."""

from __future__ import annotations

import sys

_MISSING = "the command line needs click; install it with: pip install 'ctxopt-core[cli]'"


def main() -> None:
    """Run the command that the arguments of the process name.

    The process ends with 0 when all went well, with 1 when what was asked cannot be told (a limit that leaves
    nothing for the input, a message of no known shape), and with 2 when the command was not understood, or the library
    that it is built on is missing.
    """
    try:
        from ctxopt_core.command_line.program import commands
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        print(_MISSING, file=sys.stderr)
        sys.exit(2)
    commands(prog_name="ctxopt-core")
