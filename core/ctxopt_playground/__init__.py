"""The playground: paste a request, change settings, and see what each history strategy keeps of it.

    from ctxopt_playground import Playground

It needs the extra `playground`. The class is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `import typing` would be most of what importing this package costs
if TYPE_CHECKING:
    from typing import Any

    from ctxopt_playground.playground import Playground

__all__ = ["Playground"]


def __getattr__(name: str) -> Any:
    if name != "Playground":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from ctxopt_playground.playground import Playground

    return Playground


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
