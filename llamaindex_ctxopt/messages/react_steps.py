"""The steps of a ReAct agent: what its formatter sends as a conversation is a call and its result.

The agent sends an action as a message of the assistant, and what the tool returned as the next message, by default one
of the user. Read as they are, the observation would be the user's question, and a step could lose one of its halves.

The thought before an action and what was observed can be cut. The action itself stays as it is, and so does the word
that marks an observation, so that a shortened step is still recognized as one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxopt_core import Message, ToolCall
from ctxopt_core.adapters import TOOL_ROLES

ACTION_LABEL = "Action:"
OBSERVATION_LABEL = "Observation:"
_INPUT_LINE = "\nAction Input:"
_CLOSING_LINES = ("\nObservation:", "\nAnswer:")
_RESULT_ROLE = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactStep:
    """One half of a step.

    Args:
        thought: The text before the action, with its line break; None for an observation.
        stays: What is never cut: the action, or the word that marks an observation.
        observed: The text of an observation.
    """

    thought: str | None = None
    stays: str
    observed: str = ""

    def view(self, message: Message) -> Message:
        """Return the view of the message as a call without a name, or as the result that answers it."""
        if self.thought is None:
            role = message.role if message.role in TOOL_ROLES else _RESULT_ROLE
            return Message(role=role, content=(self.observed,), verbatim=(self.stays,))
        calls = (ToolCall(fixed=True),)
        return Message(role=message.role, content=(self.thought,), verbatim=(self.stays,), tool_calls=calls)

    def joined(self, text: str) -> str:
        """Return the text of the message with another thought, or with something else observed."""
        return self.stays + text if self.thought is None else text + self.stays


def observation_in(message: Message) -> ReactStep | None:
    """Return a message as an observation; None where it does not look like one."""
    if not looks_like_observation(message):
        return None
    return ReactStep(stays=OBSERVATION_LABEL, observed=message.texts[0][len(OBSERVATION_LABEL) :])


def looks_like_observation(message: Message) -> bool:
    """Return whether a message that follows an action is its observation."""
    if message.role != "user" and message.role not in TOOL_ROLES:
        return False
    return _is_text_alone(message) and message.texts[0].startswith(OBSERVATION_LABEL)


def action_in(message: Message, *, at_end: bool) -> ReactStep | None:
    """Return a message as an action; None where it does not end in one.

    Args:
        message: The view of the message.
        at_end: Whether nothing follows it, so that its wording alone decides: it is an action only in the form that the
            agent's formatter writes.
    """
    if message.role != "assistant" or not _is_text_alone(message):
        return None
    text = message.texts[0]
    start = _formatted_action(text)
    if start is None and not at_end:
        start = _named_action(text)
    if start is None or any(text.find(line, start) >= 0 for line in _CLOSING_LINES):
        return None
    return ReactStep(thought=text[:start], stays=text[start:])


def _formatted_action(text: str) -> int | None:
    """Return where the last action starts that has an input; its line break may be gone with the end of a thought."""
    stop = text.rfind(_INPUT_LINE)
    start = text.rfind(ACTION_LABEL, text.rfind("\n", 0, stop) + 1, stop) if stop >= 0 else -1
    return None if start < 0 else start


def _named_action(text: str) -> int | None:
    """Return where the last line starts that names an action."""
    start = text.rfind("\n" + ACTION_LABEL) + 1
    return start if text.startswith(ACTION_LABEL, start) else None


def _is_text_alone(message: Message) -> bool:
    does_more = message.tool_calls or message.tool_call_id or message.attachments or message.verbatim or message.name
    return isinstance(message.content, str) and bool(message.content) and not does_more and not message.synthetic
