"""A budget from a mapping, as a form or a configuration file gives it, or from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from ctxopt_core.budget.context_budget import ContextBudget
from ctxopt_core.budget.shares import Component, Percent, Shares
from ctxopt_core.models.model_ids import checked_model_name
from ctxopt_core.validation import exact_percentage, token_amount, unknown_settings

Profile: TypeAlias = Literal["auto", "manual", "test"]
"""`auto`: the window of the model. `manual`: a window given in tokens. `test`: a small fixed window."""

TEST_WINDOW_TOKENS = 1000
"""The window of the profile `test`: all of it is input, so that the figures of a test are round."""

ENVIRONMENT_KEYS = ("CONTEXT_WINDOW_TOKENS", "PROMPT_BUDGET_TOKENS", "RESPONSE_RESERVE_TOKENS")
"""The variables that `budget_from_environment` reads."""

_SHARE_KEYS: dict[str, Component] = {
    "system_prompt_budget_pct": "system",
    "query_budget_pct": "query",
    "document_budget_pct": "documents",
    "history_budget_pct": "history",
}
SETTING_KEYS = (
    "profile",
    "model_name",
    "max_context_tokens",
    *_SHARE_KEYS,
    "output_reserve",
    "safety_margin",
    "target_tokens",
    "trigger",
)
"""All the keys that `budget_from_mapping` knows."""


def budget_from_mapping(settings: Mapping[str, object]) -> ContextBudget:
    """Return the budget that the settings describe.

    An amount of 0 tokens, like a key that is missing or None, stands for the default: for
    `max_context_tokens` the model's own window, for `target_tokens` none.

    Args:
        settings: `profile` (`"auto"` by default), `model_name`, `max_context_tokens`, the percentages
            `system_prompt_budget_pct`, `query_budget_pct`, `document_budget_pct` and `history_budget_pct`,
            and `output_reserve`, `safety_margin`, `target_tokens` and `trigger` as in ContextBudget. In the profile
            `auto` a missing `output_reserve` is what `ContextBudget.for_model` keeps; in the others it is 0.

    Raises:
        ValueError: A key is not known, a value is out of its range, or the profile lacks what it needs.
        ContextBudgetError: Nothing is left for the input.
    """
    if message := unknown_settings(settings, SETTING_KEYS, "the mapping of a budget"):
        raise ValueError(message)
    given = {key: value for key, value in settings.items() if value is not None}
    profile = given.get("profile", "auto")
    if profile not in get_args(Profile):
        message = f"`profile` must be one of {', '.join(get_args(Profile))}, got {profile!r}"
        raise ValueError(message)
    model = None
    if "model_name" in given or profile == "auto":
        model = checked_model_name(given.get("model_name"), name="model_name")
    tokens = _window_tokens(
        str(profile), token_amount("max_context_tokens", given.get("max_context_tokens", 0), minimum=0)
    )
    if tokens is None and model is None:
        message = "`max_context_tokens` must be above 0 in the profile 'manual', unless `model_name` is given"
        raise ValueError(message)
    return _budget(model, tokens, given, default_reserve=None if profile == "auto" else 0)


def budget_from_environment(environ: Mapping[str, str] | None = None, *, model: str | None = None) -> ContextBudget:
    """Return the budget that environment variables describe; a blank variable counts as unset.

    `CONTEXT_WINDOW_TOKENS` is the window (0: the model's own), `PROMPT_BUDGET_TOKENS` the target (0: none)
    and `RESPONSE_RESERVE_TOKENS` the output reserve. Without the last, the budget of a model has the reserve of
    `ContextBudget.for_model`, any other has none.

    Args:
        environ: Read instead of the environment of the process.
        model: Whose window counts where `CONTEXT_WINDOW_TOKENS` gives none.

    Raises:
        ValueError: A variable is no whole number of tokens, or neither a limit nor a model is given.
        ContextBudgetError: Nothing is left for the input.
    """
    variables = os.environ if environ is None else environ
    window, target_tokens, reserve = (_from_variable(variables, name) for name in ENVIRONMENT_KEYS)
    window, target_tokens = window or None, target_tokens or None
    if model is None and window is None and target_tokens is None:
        message = f"{ENVIRONMENT_KEYS[0]} or {ENVIRONMENT_KEYS[1]} must be set, or `model` given"
        raise ValueError(message)
    if model is None:
        return ContextBudget(context_window=window, target_tokens=target_tokens, output_reserve=reserve or 0)
    return ContextBudget.for_model(model, context_window=window, target_tokens=target_tokens, output_reserve=reserve)


def _window_tokens(profile: str, tokens: int) -> int | None:
    if profile != "test":
        return tokens or None
    if tokens not in (0, TEST_WINDOW_TOKENS):
        message = f"`max_context_tokens` is always {TEST_WINDOW_TOKENS} in the profile 'test', got {tokens}"
        raise ValueError(message)
    return TEST_WINDOW_TOKENS


def _budget(
    model: str | None, tokens: int | None, given: Mapping[str, object], *, default_reserve: int | None
) -> ContextBudget:
    reserve = default_reserve
    if "output_reserve" in given:
        reserve = token_amount("output_reserve", given["output_reserve"], minimum=0)
    rest: dict[str, Any] = {
        "safety_margin": token_amount("safety_margin", given.get("safety_margin", 0), minimum=0),
        "target_tokens": token_amount("target_tokens", given.get("target_tokens", 0), minimum=0) or None,
        "trigger": given.get("trigger", 1.0),  # ContextBudget checks it
        "shares": _shares(given),
    }
    if model is None:
        return ContextBudget(context_window=tokens, output_reserve=reserve or 0, **rest)
    return ContextBudget.for_model(model, context_window=tokens, output_reserve=reserve, **rest)


def _shares(given: Mapping[str, object]) -> Shares:
    percentages: dict[str, Percent] = {
        component: exact_percentage(key, given[key]) for key, component in _SHARE_KEYS.items() if key in given
    }
    return Shares(**percentages)


def _from_variable(variables: Mapping[str, str], name: str) -> int | None:
    text = variables.get(name, "").strip()
    return token_amount(name, text, minimum=0) if text else None
