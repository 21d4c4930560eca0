"""The command line as a whole: its commands, its help and its version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import click

from ctxopt_core.command_line.count_command import count_command
from ctxopt_core.command_line.errors import EXIT_CODES
from ctxopt_core.command_line.fit_command import fit_command
from ctxopt_core.command_line.report_commands import explain_command, plan_command
from ctxopt_core.command_line.window_command import window_command


def release() -> str:
    """Return the version; the modules of a checkout can run without being installed."""
    try:
        return version("ctxopt-core")
    except PackageNotFoundError:
        return "not installed"


class _InOrder(click.Group):
    """Commands that the help names in the order in which they were added, the usual ones first."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.version_option(release())
def commands() -> None:
    """Fit requests into a model's context window. Nothing uses the network.

    The one exception: a --tokenizer that is not inside the package is a vocabulary that tiktoken may download.
    """


for command in (fit_command, plan_command, explain_command, count_command, window_command):
    commands.add_command(command)
