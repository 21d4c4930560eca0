"""The tool with which an agent reads what was left out of a tool result, from the messages of its own run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import FunctionMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BeforeValidator, Field

from ctxopt_core import TokenCounter, counter_for
from ctxopt_core.adapters import read_lines, stored_results
from langchain_ctxopt.message_views import view_of

try:
    from langgraph.prebuilt import InjectedState
except ImportError as error:
    _missing = "omitted_content_tool needs LangGraph; install it with: pip install 'ctxopt-core[agents]'"
    raise ImportError(_missing, name="langgraph") from error

TOOL_NAME = "read_omitted_content"
# Lines of one answer: more of a log costs the agent its window, fewer cost it more calls.
MAX_LINES = 200
# Tokens of one answer, so that long lines cannot make it large either.
MAX_TOKENS = 2_000
# Tokens: with fewer, little but the heading of an answer would fit.
LEAST_TOKENS = 100
_ENCODING = "o200k_base"
_DESCRIPTION = (
    "Read lines that were left out of an earlier tool result. A shortened result says so in a note such as "
    '[... 812 lines left out: reference "123456789", start_line 24 ...]. Give that reference and the line to start '
    "from."
)
_UNKNOWN = (
    "No tool result of this conversation has the reference {reference!r}. References stand in the notes of shortened "
    'tool results: [... lines left out: reference "...", start_line ... ...].'
)
_HOLDERS = (ToolMessage, FunctionMessage, HumanMessage)


def omitted_content_tool(
    *,
    name: str = TOOL_NAME,
    max_lines: int = MAX_LINES,
    max_tokens: int = MAX_TOKENS,
    token_counter: str | TokenCounter | Callable[[str], int] = _ENCODING,
) -> BaseTool:
    r"""Return a tool for `create_agent` that reads the omitted lines of shortened tool results.

    It reads tool results in the messages of the agent's own state and nothing else. The notes in shortened results have
    references to them with `HistoryPolicy(recoverable_tool_results=True)`. Where the model calls it wrongly, the answer
    says how to call it.

    Args:
        name: The name by which the model calls it.
        max_lines: The most lines of one answer.
        max_tokens: The most tokens of one answer, at least 100.
        token_counter: Counts them: the name of a model or an encoding, a function, or a `TokenCounter`.

    Raises:
        ValueError: `max_lines` or `max_tokens` is too small.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        >>> from langchain_ctxopt import ContextOptimizer, omitted_content_tool
        >>> log = "\n".join(f"{line}: motor ok" for line in range(1, 31))
        >>> call = {"id": "1", "name": "read_log", "args": {}}
        >>> messages = [AIMessage("", tool_calls=[call]), ToolMessage(log, tool_call_id="1"), HumanMessage("Why?")]
        >>> history = {"recoverable_tool_results": True}
        >>> fitted = ContextOptimizer(max_input_tokens=300, history=history, token_counter=len).invoke(messages)
        >>> fitted[1].text.splitlines()[-4]
        '[... 15 lines left out: reference "141482711", start_line 13 ...]'
        >>> tool = omitted_content_tool(max_lines=2)  # an agent gives it the messages of its state
        >>> print(tool.invoke({"reference": "141482711", "start_line": 13, "messages": messages}))
        [lines 13 to 14 of 30; go on with start_line 15]
        13: motor ok
        14: motor ok
    """
    most_lines = _at_least(1, "max_lines", max_lines)
    most_tokens = _at_least(LEAST_TOKENS, "max_tokens", max_tokens)
    counter = counter_for(token_counter)

    def read(
        reference: Annotated[str, BeforeValidator(str), Field(description="The reference in the note.")],
        start_line: Annotated[int, Field(description="The first line to read, counted from 1.")] = 1,
        max_lines: Annotated[int, Field(description="The most lines to read.")] = most_lines,
        messages: Annotated[Any, InjectedState("messages")] = None,
    ) -> str:
        wanted = re.sub(r"\D", "", reference)  # however the model quotes it
        for message in reversed(messages or ()):
            held = stored_results(view_of(message)) if isinstance(message, _HOLDERS) else ()
            for result in held:
                if result.reference == wanted:
                    return read_lines(result, start_line, min(max_lines, most_lines), most_tokens, counter)
        return _UNKNOWN.format(reference=reference[:40])

    return StructuredTool.from_function(func=read, name=name, description=_DESCRIPTION)


def _at_least(least: int, argument: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        message = f"`{argument}` must be a whole number of at least {least}, got {value!r}"
        raise ValueError(message)
    return value
