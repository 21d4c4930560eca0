"""What one message costs as a chat request holds it."""

from __future__ import annotations

from collections.abc import Callable

from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.messages.message import Message
from ctxopt_core.providers.rules import priced, rules_of

# What OpenAI publishes for the format of its chat models:
TOKENS_PER_MESSAGE = 3  # tokens around a message
TOKENS_PER_NAME = 1  # tokens beside a name
TOKENS_PER_REQUEST = 3  # tokens that begin the answer


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return the tokens of one message as a chat request holds it.

    These are 3 for the message, its role, its texts, 1 and the name if it has one, the name, arguments and id of each
    call, the id of the call that it answers, and what the provider's rules charge for each attachment. OpenAI publishes
    this rule for its chat models; it is exact for text and an upper bound for calls.
    """
    rules = rules_of(counter)
    return tokens_by(priced(message, rules), counter.count, rules.call_tokens)


def tokens_by(message: Message, count: Callable[[str], int], call_tokens: int) -> int:
    """Return the tokens of a priced message: `count` counts its texts, and each call has `call_tokens` more."""
    content = message.content
    tokens = TOKENS_PER_MESSAGE + count(message.role)
    tokens += count(content) if isinstance(content, str) else sum(map(count, content))
    tokens += sum(map(count, message.verbatim))
    if message.name:
        tokens += TOKENS_PER_NAME + count(message.name)
    if message.tool_call_id:
        tokens += count(message.tool_call_id)
    for call in message.tool_calls:
        tokens += count(call.name) + count(call.arguments) + count(call.id or "") + call_tokens
    return tokens + sum([attachment.cost for attachment in message.attachments])
