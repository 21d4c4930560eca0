"""Run the script named in the arguments where some modules, a JSON list on the standard input, are not installed."""

import json
import runpy
import socket
import sys
from importlib.machinery import PathFinder


class OtherModulesHidden:
    """Find modules as usual, except the hidden ones, as if these were not installed."""

    find_distributions = staticmethod(PathFinder.find_distributions)  # packages ask for their own version

    def __init__(self, hidden: list[str]) -> None:
        self.hidden = frozenset(hidden)

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if path is None and name in self.hidden:
            return None
        return PathFinder.find_spec(name, path, target)  # type: ignore[arg-type]


def refuse(*_arguments: object, **_options: object) -> None:
    message = "a block of a page opened a connection"
    raise AssertionError(message)


sys.meta_path[sys.meta_path.index(PathFinder)] = OtherModulesHidden(json.load(sys.stdin))  # type: ignore[arg-type, call-overload]
socket.socket.connect = refuse  # type: ignore[method-assign, assignment]
socket.getaddrinfo = refuse  # type: ignore[assignment]
runpy.run_path(sys.argv[1], run_name="__main__")
