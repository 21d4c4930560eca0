"""`python -m ctxopt_core`."""

from ctxopt_core.cli import main

main()
