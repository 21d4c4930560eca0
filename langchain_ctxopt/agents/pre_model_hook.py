"""The hook that fits the messages of LangGraph's prebuilt agent before each call of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from ctxopt_core.adapters import RequestSettings
from langchain_ctxopt.per_call_optimizer import PerCallOptimizer


def pre_model_hook(
    model: Any = None,
    *,
    tools: Sequence[Any] = (),
    prompt: str | SystemMessage | None = None,
    **settings: Unpack[RequestSettings],
) -> Runnable[Any, dict[str, list[BaseMessage]]]:
    """Return a `pre_model_hook` for `langgraph.prebuilt.create_react_agent`.

    The model receives `llm_input_messages` that fit; `messages`, the conversation in the agent's state, is not changed.
    The agent adds its prompt and its tools after the hook, so give both here as well. For new agents use
    `langchain.agents.create_agent` and `ContextOptimizerMiddleware`. A structured response is made by another call,
    which receives the whole conversation and not what a hook returns: fit it with `with_optimizer(model)`.

    Args:
        model: The agent's model, by object or name; not needed when the settings give a limit.
        tools: The agent's tools. They are counted with every request.
        prompt: The agent's prompt. It is counted with every request and never cut.
        settings: How requests are fitted; see `RequestSettings`. By default the query may not be cut.

    Raises:
        TypeError: `prompt` is neither a string nor a system message, or there is no such setting.
        ValueError: A setting is out of its range, or neither model nor settings say how large the window is.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> from langchain_ctxopt import pre_model_hook
        >>> hook = pre_model_hook(max_input_tokens=80, prompt="Be brief.", token_counter=len)
        >>> messages = [HumanMessage("My order is 4711."), AIMessage("Sent! " * 20), HumanMessage("And the invoice?")]
        >>> [message.text for message in hook.invoke({"messages": messages})["llm_input_messages"]]
        ['My order', 'Sent!', 'And the invoice?']
    """
    before = _prompt_messages(prompt)
    if before:
        settings = _with_whole_prompt(settings)
    optimizer = PerCallOptimizer.of(settings, "pre_model_hook").optimizer_for(model, tools)

    def run(state: Any, config: RunnableConfig) -> dict[str, list[BaseMessage]]:
        return _update(optimizer.invoke([*before, *_messages_of(state)], config), before)

    async def arun(state: Any, config: RunnableConfig) -> dict[str, list[BaseMessage]]:
        return _update(await optimizer.ainvoke([*before, *_messages_of(state)], config), before)

    return RunnableLambda(run, arun, name="pre_model_hook")


def _prompt_messages(prompt: object) -> list[SystemMessage]:
    if isinstance(prompt, str):
        return [SystemMessage(prompt)]
    if prompt is None or isinstance(prompt, SystemMessage):
        return [] if prompt is None else [prompt]
    message = (
        f"`prompt` must be a string or a SystemMessage, got {type(prompt).__name__}; what a function or a runnable "
        "adds cannot be counted before it runs, so lower `target_tokens` by it"
    )
    raise TypeError(message)


def _with_whole_prompt(settings: RequestSettings) -> RequestSettings:
    """Protect the prompt: the agent adds it after the hook, whatever the hook does."""
    if settings.get("overflow") == "empty":
        message = (
            "`overflow` must be 'error' when there is a `prompt`, got 'empty': the agent would add the prompt again"
        )
        raise ValueError(message)
    return {**settings, "protect": (*settings.get("protect", ("query",)), "system")}


def _messages_of(state: Any) -> Sequence[BaseMessage]:
    return state["messages"] if isinstance(state, Mapping) else state.messages  # type: ignore[no-any-return]


def _update(fitted: Sequence[BaseMessage], before: Sequence[BaseMessage]) -> dict[str, list[BaseMessage]]:
    # A blank prompt is dropped when anything is cut.
    there = bool(before) and bool(fitted) and fitted[0] is before[0]
    return {"llm_input_messages": list(fitted[there:])}
