"""Runs of a ReAct agent, written out as its own formatter sends them."""

from __future__ import annotations

from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.react.types import (
    ActionReasoningStep,
    BaseReasoningStep,
    ObservationReasoningStep,
    ResponseReasoningStep,
)
from llama_index.core.llms import ChatMessage, MessageRole

from made_up_texts import text_of

QUESTION = "How many lanterns are lit?"


def react_run(
    steps: int,
    *,
    tokens: int = 200,
    role: MessageRole = MessageRole.USER,
    history: tuple[ChatMessage, ...] = (),
    pending: bool = False,
    thought: str = "I must look.",
) -> list[ChatMessage]:
    """Return what a model is sent after so many steps, each with an observation of `tokens` tokens.

    Args:
        steps: How many actions were answered.
        tokens: How long each answer is.
        role: The role in which the answers are sent.
        history: What was said before the question.
        pending: Whether one more action is not answered yet.
        thought: What the agent thinks before each action.
    """
    reasoning: list[BaseReasoningStep] = []
    for number in range(steps + pending):
        action = {"lantern": number, "note": "Lit?\nAction: none"}
        reasoning.append(ActionReasoningStep(thought=thought, action="inspect", action_input=action))
        reasoning.append(ObservationReasoningStep(observation=text_of(f"Lantern {number} is lit.", tokens)))
    if pending:
        reasoning.pop()
    formatter = ReActChatFormatter(system_header="You have tools.", observation_role=role)
    return formatter.format([], [*history, ChatMessage(content=QUESTION)], reasoning)


def stored_run(steps: int, *, tokens: int = 200) -> ChatMessage:
    """Return the one message in which a finished run is put into memory."""
    texts = [message.content or "" for message in react_run(steps, tokens=tokens)[2:]]
    answer = ResponseReasoningStep(thought="I know.", response="All are lit.").get_content()
    return ChatMessage(role="assistant", content="\n".join([*texts, answer]))
