"""The settings that one run brings: under `ctxopt` in its configuration, or in the context of an agent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config

RUN_KEY = "ctxopt"
"""Where the settings of a run are: in `config["configurable"]`, or in the context of an agent."""

RUN_SETTINGS = (
    "context_window",
    "max_input_tokens",
    "output_reserve",
    "safety_margin",
    "target_tokens",
    "trigger",
    "shares",
    "history",
    "documents",
    "ranking_query",
)
"""What a run may set for the requests of a model: how much fits and how it is chosen."""

COMPRESSOR_SETTINGS = ("max_tokens", "share", "documents")
"""What a run may set for a document compressor."""

_KNOWN = tuple(dict.fromkeys((*RUN_SETTINGS, *COMPRESSOR_SETTINGS)))


def run_settings(
    config: RunnableConfig | None, *, context: object = None, known: Collection[str] = RUN_SETTINGS
) -> dict[str, Any]:
    """Return the settings of a run. They are for its calls alone; the settings of a front are not changed.

    Every front of a chain reads the same mapping and takes the settings that it has.

    Args:
        config: The configuration of the call; None for the one of the run that is going on.
        context: The context of an agent's run, whose settings win over those of the configuration.
        known: The settings that the front has.

    Raises:
        TypeError: They are no mapping, or no front has such a setting.
    """
    configured = (ensure_config(config).get("configurable") or {}).get(RUN_KEY)
    in_context = context.get(RUN_KEY) if isinstance(context, Mapping) else getattr(context, RUN_KEY, None)
    given = {
        **_checked(configured, f'`config["configurable"]["{RUN_KEY}"]`'),
        **_checked(in_context, f"`{RUN_KEY}` in the context of the run"),
    }
    return {name: value for name, value in given.items() if name in known}


def with_run_settings(config: RunnableConfig | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model call with the settings of its run, if it has any."""
    found = run_settings(config)
    return {**arguments, RUN_KEY: {**found, **arguments.get(RUN_KEY, {})}} if found else dict(arguments)


def _checked(given: object, place: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        message = f"{place} must be a mapping of settings, for example {{'max_input_tokens': 2000}}, got {given!r}"
        raise TypeError(message)
    if unknown := sorted(str(name) for name in given if name not in _KNOWN):
        message = (
            f"{place} has no setting {', '.join(f'`{name}`' for name in unknown)}; a run can set {', '.join(_KNOWN)}"
        )
        raise TypeError(message)
    return given


def reject_arguments(arguments: Mapping[str, Any]) -> None:
    """Refuse settings at a call of a chain step, where they would have no effect."""
    if arguments:
        named = ", ".join(sorted(arguments))
        message = f"ContextOptimizer takes no arguments at a call, got {named}; set them once or with `with_changes`"
        raise TypeError(message)
