"""Stores and loads the plan of a memory as plain values: computed limits, settings, and what is sent beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage

from ctxopt_core.adapters import plain_fields
from llamaindex_ctxopt.engines.engine_plan import EnginePlan, plan_of
from llamaindex_ctxopt.engines.engine_prompts import Preamble
from llamaindex_ctxopt.settings import FitSettings

_LIMITS = ("context_window", "max_input_tokens", "output_reserve", "safety_margin", "target_tokens")
_PLAIN = (str, int, float, type(None))


def state_of_plan(plan: EnginePlan) -> dict[str, Any]:
    """Return a plan as plain values, ready for JSON.

    The model is stored by its name. The prompts of an engine, `on_report` and a function as `token_counter` are left
    out.

    Raises:
        ValueError: The policy of the history has functions or objects, which cannot be stored.
    """
    budget, preamble = plan.model_budget.budget, plan.preamble
    limits, options = plan.settings.limits, plan.settings.options
    history = plain_fields(options.history)
    code = [name for name, value in history.items() if not isinstance(value, _PLAIN)]
    if code:
        message = (
            f"`history` cannot be stored with {', '.join(code)}, since functions and objects cannot; make it without, "
            "or make a new memory from the stored messages"
        )
        raise ValueError(message)
    return {
        "llm": budget.window.model if budget.window else None,
        "settings": {
            **{name: getattr(budget, name) for name in _LIMITS},
            "trigger": limits.trigger,
            "shares": plain_fields(limits.shares),
            "token_counter": limits.token_counter if isinstance(limits.token_counter, str) else None,
            "protect": tuple(sorted(options.protect)),
            "ranking_query": options.ranking_query,
            "overflow": options.overflow,
            "history": history,
        },
        "system_prompt": preamble.system_prompt,
        "prefix_messages": [message.model_dump(mode="json") for message in preamble.messages],
        "tools": [dict(schema) if isinstance(schema, Mapping) else schema for schema in plan.model_budget.schemas],
    }


def plan_from_state(state: Mapping[str, Any], owner: str) -> EnginePlan:
    """Return the plan that `state_of_plan` described, for an engine that is not known.

    Args:
        state: The stored plan.
        owner: Whose settings they are, for error messages.
    """
    messages = tuple(ChatMessage.model_validate(message) for message in state["prefix_messages"])
    return plan_of(
        state["llm"],
        FitSettings.of(state["settings"], owner),
        preamble=Preamble(system_prompt=state["system_prompt"], messages=messages),
        schemas=tuple(state["tools"]),
    )
