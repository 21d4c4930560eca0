"""Refuse every connection that leaves the machine; Python imports this at its start where the folder is on its path."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_LOCAL = {None, "", "localhost", "127.0.0.1", "::1"}
_OF_AN_ADDRESS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_OF_A_NAME = {"socket.getaddrinfo", "socket.gethostbyname"}


class OutsideConnection(BaseException):
    """No `Exception`, so that nothing takes it for a network that is down and goes on without."""


def refuse_outside(event: str, arguments: Sequence[object]) -> None:
    """Raise where one of Python's own socket events is about another machine."""
    if event in _OF_AN_ADDRESS:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a text is the path of a local socket
    elif event in _OF_A_NAME:
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in _LOCAL:
        message = f"{event} for {host!r}"
        raise OutsideConnection(message)


sys.addaudithook(refuse_outside)
