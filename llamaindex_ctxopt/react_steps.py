"""The steps of a ReAct agent: what its formatter sends as a conversation is a call and its result.

The agent sends an action as a message of the assistant, and what the tool returned as the next message, by default one
of the user. Read as they are, the tool would have asked the question, and a step could lose one of its halves.

A step keeps its label (`Action:`, `Observation:`) whatever is cut of the texts around it, so that it is still seen as
what it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ctxopt_core.messages import TOOL_ROLES, Message, ToolCall

ACTION_LABEL = "Action:"
OBSERVATION_LABEL = "Observation:"
_RESULT_ROLE = "function"
_OPEN_ACTION = re.compile(r"^Action: [^\n]*\nAction Input:", re.MULTILINE)
_CLOSING_LINE = re.compile(r"^(?:Observation|Answer):", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactStep:
    """One half of a step.

    Args:
        before: The text before the label; None where nothing is ever before it.
        label: The label, which is never cut.
        after: The text after the label.
    """

    before: str | None
    label: str
    after: str

    def view(self, message: Message) -> Message:
        """Return the view of the message as a call without a name, or as the result that answers it."""
        if self.before is None:
            role = message.role if message.role in TOOL_ROLES else _RESULT_ROLE
            return Message(role=role, content=(self.after,), verbatim=(self.label,))
        call = ToolCall(fixed=True)
        texts = (self.before, self.after)
        return Message(role=message.role, content=texts, verbatim=(self.label,), tool_calls=(call,))

    def joined(self, texts: tuple[str, ...]) -> str:
        """Return the text of the message, with new texts around the label."""
        return self.label.join(texts) if len(texts) > 1 else self.label + "".join(texts)


def observation_in(message: Message) -> ReactStep | None:
    """Return what a message says as an observation; None where it does not look like one."""
    if not looks_like_observation(message):
        return None
    return ReactStep(before=None, label=OBSERVATION_LABEL, after=message.texts[0][len(OBSERVATION_LABEL) :])


def action_in(message: Message, *, at_end: bool) -> ReactStep | None:
    """Return what a message says as an action; None where it does not end in one.

    Args:
        message: The view of the message.
        at_end: Whether nothing follows it, so that its wording alone must tell. It is taken at its word only where it
            has exactly the form that the agent's formatter writes.
    """
    if message.role != "assistant" or not isinstance(message.content, str) or _does_more(message):
        return None
    text = message.content
    position = _last_action(text)
    if position is None or _CLOSING_LINE.search(text, position):
        return None
    if at_end and not _OPEN_ACTION.match(text, position):
        return None
    after = text[position + len(ACTION_LABEL) :]
    return ReactStep(before=text[:position], label=ACTION_LABEL, after=after)


def looks_like_observation(message: Message) -> bool:
    """Tell whether a message that follows an action is its observation."""
    if message.role != "user" and message.role not in TOOL_ROLES:
        return False
    if not isinstance(message.content, str) or _does_more(message) or message.tool_call_id:
        return False
    return message.content.startswith(OBSERVATION_LABEL)


def _last_action(text: str) -> int | None:
    """Return where the last action is named; on a line of its own, unless what was before it on that line was cut."""
    at_line = text.rfind("\n" + ACTION_LABEL)
    if at_line >= 0:
        return at_line + 1
    anywhere = 0 if text.startswith(ACTION_LABEL) else text.rfind(ACTION_LABEL)
    return None if anywhere < 0 else anywhere


def _does_more(message: Message) -> bool:
    return bool(message.tool_calls or message.attachments or message.verbatim or message.name or message.synthetic)
