"""Reads system prompts and tools from the agents of LlamaIndex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, ReActAgent
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.tools import BaseTool

from llamaindex_ctxopt.engines.engine_prompts import Preamble
from llamaindex_ctxopt.models.call_schemas import as_sent

_HANDOFF = "handoff"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedAgent:
    """What an agent sends with every step beside the conversation.

    Args:
        llm: The model that it calls.
        preamble: Its system prompt, with the tools in it where it prints them.
        schemas: The tools that it sends as schemas.
    """

    llm: LLM
    preamble: Preamble
    schemas: tuple[Mapping[str, Any] | str, ...] = ()


def is_agent(engine: object) -> bool:
    """Return whether something is an agent, or a workflow of agents."""
    return isinstance(engine, (BaseWorkflowAgent, AgentWorkflow))


def read_agents(engine: Any) -> list[AttachedAgent]:
    """Return what an agent sends; of a workflow, what each of its agents does, with the tool that hands over.

    Tools that an agent retrieves for a question are not known yet. Its guarded model counts them when it is called.
    """
    if not isinstance(engine, AgentWorkflow):
        return [_read(engine, engine.tools or ())]
    found = []
    for agent in engine.agents.values():
        tools = [*(agent.tools or ())]
        if agent.can_handoff_to is None or agent.can_handoff_to:
            handoff = engine._get_handoff_tool(agent)  # noqa: SLF001
            tools += [] if handoff is None else [handoff]
        found.append(_read(agent, tools))
    return found


def _read(agent: Any, tools: Sequence[BaseTool]) -> AttachedAgent:
    if isinstance(agent, ReActAgent):
        return AttachedAgent(llm=agent.llm, preamble=Preamble(messages=tuple(agent.formatter.format(tools, []))))
    if isinstance(agent, CodeActAgent):
        described = agent._get_tool_descriptions(tools)  # noqa: SLF001
        template: Any = agent.code_act_system_prompt
        system = ChatMessage(role=MessageRole.SYSTEM, content=template.format(tool_descriptions=described))
        handing = [tool for tool in tools if tool.metadata.name == _HANDOFF]
        return AttachedAgent(llm=agent.llm, preamble=Preamble(messages=(system,)), schemas=tuple(map(as_sent, handing)))
    preamble = Preamble(system_prompt=agent.system_prompt or "")
    return AttachedAgent(llm=agent.llm, preamble=preamble, schemas=tuple(map(as_sent, tools)))
