"""LangChain messages, and everything that LangChain takes for one, as views that the core can count and cut.

A view is read from its original and never replaces it: whatever is kept whole leaves as the identical object, and what
is shortened leaves as a copy with the same id, name, tool calls and metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from ctxopt_core import Attachment, Message, ToolCall
from ctxopt_core.adapters import (
    READ_RESULTS,
    ROLE_NAMES,
    SYSTEM_ROLES,
    Content,
    LazyMessages,
    PlainRange,
    Shortened,
    arguments_text,
    call_of,
    extra_texts,
    holds_compaction,
    is_placeholder_message,
    is_signed,
    message_from_openai,
    named_openai,
    placeholder_openai,
    plain_openai,
    plain_range,
    put_together,
    role_of,
    shortened_openai,
    take_apart,
    thinks_beside_content,
)
from langchain_ctxopt.shortened_calls import shortened_calls

SOURCE_MARK = "ctxopt"
_IMAGE_ADDRESSES = ("data:", "http://", "https://")
_REMOVAL = "a RemoveMessage is an instruction to a graph's state, not a message to a model; apply it first"
_NEVER_SYSTEM: frozenset[type] = frozenset({HumanMessage, AIMessage, ToolMessage})
_PLAIN_ROLES: dict[type, str] = {HumanMessage: "user", AIMessage: "assistant", SystemMessage: "system"}


class LangChainMessages(LazyMessages[Any]):
    """Lazy views of a list of messages: LangChain messages, OpenAI-shaped dicts, (role, content) pairs and strings.

    Args:
        items: The list as the caller gave it.
    """

    __slots__ = ()

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__(items, view_of, _plain, role_of_item, _compacts)

    def named(self, index: int) -> tuple[str, str, str] | None:
        """Return (role, name, content) of a message that has nothing else, else None."""
        item = self.items[index]
        role = _PLAIN_ROLES.get(type(item))
        if role is None:
            return named_openai(item) if isinstance(item, dict) else None
        fields = item.__dict__
        return (role, fields["name"], fields["content"]) if fields["name"] and _says_text_alone(role, fields) else None

    def plain_range(self, start: int, stop: int) -> PlainRange | None:
        """Return the messages in [start, stop) if all of them are known to be as in a `PlainRange`, else None."""
        roles: list[str] = []
        texts: list[str] = []
        named = False
        items = self.items[start:stop]
        for item in items:
            kind = type(item)
            role = _PLAIN_ROLES.get(kind)
            if role is None:
                return None
            fields = item.__dict__
            text = fields["content"]
            if type(text) is not str or fields["additional_kwargs"]:
                return None
            if kind is AIMessage and (fields["tool_calls"] or fields["invalid_tool_calls"]):
                return None
            if fields["name"]:
                named = True
            roles.append(role)
            texts.append(text)
        return plain_range(roles, [item.name for item in items] if named else None, texts)

    def last_compaction(self, without: Callable[[int, int], bool] | None = None) -> int | None:
        """Return the index of the last item with a compaction, of those where system messages were sought."""
        for run, searched in self._searched_runs():
            if without is None or not without(run.start, run.stop):
                found = self._last_compaction_in(searched)
                if found is not None:
                    return found
        return None

    def _last_compaction_in(self, part: range) -> int | None:
        # It is a block of the content, and most messages have a string there.
        blocks = [
            i
            for i, item in enumerate(self.items[part.start : part.stop], part.start)
            if type(item) is not HumanMessage
            and (type(item) is not AIMessage or type(item.__dict__["content"]) is not str)
        ]
        return next((i for i in reversed(blocks) if _compacts(self.items[i])), None)

    def system_indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of system and developer messages in [start, stop)."""
        self._note_search(start, stop)
        # The class alone rules out most messages, in a tenth of the time that their role takes.
        window = self.items[start:stop]
        if _NEVER_SYSTEM.issuperset(map(type, window)):
            return ()
        others = [i for i, kind in enumerate(map(type, window), start) if kind not in _NEVER_SYSTEM]
        return [i for i in others if role_of_item(self.items[i]) in SYSTEM_ROLES]


def _plain(item: Any) -> tuple[str, str] | None:
    role = _PLAIN_ROLES.get(type(item))
    if role is None:
        return plain_openai(item) if isinstance(item, dict) else None
    fields = item.__dict__
    return (role, fields["content"]) if fields["name"] is None and _says_text_alone(role, fields) else None


def _says_text_alone(role: str, fields: Mapping[str, Any]) -> bool:
    """Return whether a message of LangChain's has a string, perhaps a name, and nothing else."""
    content = fields["content"]
    if type(content) is not str or fields["additional_kwargs"]:
        return False
    if content[:1] == "[" and role != "system":
        return False  # perhaps a placeholder
    return role != "assistant" or not (fields["tool_calls"] or fields["invalid_tool_calls"])


def _compacts(item: Any) -> bool:
    if isinstance(item, BaseMessage):
        return isinstance(item, AIMessage) and holds_compaction(item.content)
    if isinstance(item, Mapping):
        return holds_compaction(item.get("content"))
    return _is_pair(item) and holds_compaction(item[1])


def view_of(item: Any) -> Message:
    """Return the view of one message: a LangChain message, a dict, a pair or a string.

    Raises:
        TypeError: It is nothing that LangChain takes for a message.
    """
    if isinstance(item, BaseMessage):
        return _view_of_message(item)
    role = role_of_item(item)
    if isinstance(item, Mapping):
        return message_from_openai(item)
    given = item if isinstance(item, str) else item[1]
    content = take_apart(given)
    return content.message(role, given, synthetic=is_placeholder_message(role, content.texts))


def role_of_item(item: Any) -> str:
    """Return the role of one message: a LangChain message, a dict, a pair or a string.

    Raises:
        TypeError: It is nothing that LangChain takes for a message.
    """
    if isinstance(item, BaseMessage):
        return _role_of_message(item)
    if isinstance(item, Mapping):
        return _role_of_mapping(item)
    if isinstance(item, str):
        return "user"
    if _is_pair(item):
        return _role_named(item[0])
    kind = type(item).__name__
    message = f"expected a message, a dict with role and content, a (role, content) pair or a string, got {kind}"
    raise TypeError(message)


def shortened_item(item: Any, cut: Shortened) -> Any:
    """Return a copy of a message with the shorter texts and arguments of `cut`; everything else is as it was."""
    if isinstance(item, Mapping):
        return shortened_openai(item, cut)
    if isinstance(item, str):
        return put_together(item, cut)
    calls = view_of(item).tool_calls if cut.arguments else ()
    if isinstance(item, BaseMessage):
        changed = {"content": put_together(item.content, cut, calls)}
        return item.model_copy(update={**changed, **shortened_calls(item, calls, cut.arguments)})
    return type(item)((item[0], put_together(item[1], cut, calls)))


def placeholder_item(text: str, role: str, beside: Any) -> Any:
    """Return the placeholder, of the role `assistant` or `user`, in the form of its neighbor `beside`."""
    if isinstance(beside, Mapping):
        return placeholder_openai(text, role)
    if isinstance(beside, BaseMessage):
        kind = HumanMessage if role == "user" else AIMessage
        return kind(content=text, additional_kwargs={"lc_source": SOURCE_MARK})
    return ("human" if role == "user" else "ai", text)


def _view_of_message(message: BaseMessage) -> Message:
    role = _role_of_message(message)
    content = take_apart(message.content)
    extra = message.additional_kwargs
    marked = extra.get("lc_source") == SOURCE_MARK
    view = content.message(
        role,
        message.content,
        calls=_calls_of(message, content),
        beside=extra_texts(extra),
        sealed_beside=extra,
        name=message.name or None,
        tool_call_id=message.tool_call_id if isinstance(message, ToolMessage) else None,
        synthetic=marked or is_placeholder_message(role, content.texts),
    )
    return _as_output(view) if role == "tool" and _is_sealed_output(message) else view


def _is_sealed_output(message: BaseMessage) -> bool:
    """Return whether a tool's message is an output of the Responses API that may not be edited, as a screenshot."""
    content = message.content if isinstance(message.content, list) else []
    wrapped = [
        part["value"] for part in content if isinstance(part, Mapping) and isinstance(part.get("value"), Mapping)
    ]
    kinds = [mapping.get("type") for mapping in (message.additional_kwargs, *wrapped)]
    return any(isinstance(kind, str) and kind.endswith("_output") and kind not in READ_RESULTS for kind in kinds)


def _as_output(view: Message) -> Message:
    """Return the view of an output that is kept as it is, or dropped with its call."""
    texts = view.texts
    if len(texts) == 1 and texts[0].startswith(_IMAGE_ADDRESSES) and isinstance(view.content, str):
        # LangChain takes the string of a screenshot for its address.
        return replace(view, content="", attachments=(Attachment(kind="image", fixed=True),))
    fixed = tuple(replace(attachment, fixed=True) for attachment in view.attachments)
    return replace(view, content="", verbatim=(*view.verbatim, *texts), sources=(), attachments=fixed)


def _is_pair(item: object) -> bool:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        return False
    return isinstance(item[0], str) and isinstance(item[1], (str, list))


def _role_named(role: str) -> str:
    if role == "remove":
        raise TypeError(_REMOVAL)
    return ROLE_NAMES.get(role, role)


def _role_of_mapping(mapping: Mapping[str, Any]) -> str:
    if "remove" in (mapping.get("role"), mapping.get("type")):
        raise TypeError(_REMOVAL)
    role = _role_named(role_of(mapping))
    if "content" not in mapping and not (mapping.get("tool_calls") or mapping.get("function_call")):
        message = f"a message given as a dict must have `content`, got only {', '.join(map(repr, mapping))}"
        raise TypeError(message)
    return role


def _role_of_message(message: BaseMessage) -> str:
    if isinstance(message, HumanMessage):
        return "user"
    if isinstance(message, AIMessage):
        return "assistant"
    if isinstance(message, SystemMessage):
        return "developer" if message.additional_kwargs.get("__openai_role__") == "developer" else "system"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, FunctionMessage):
        return "function"
    return _role_named(message.role if isinstance(message, ChatMessage) else message.type)


def _calls_of(message: BaseMessage, content: Content) -> tuple[ToolCall, ...]:
    if not isinstance(message, AIMessage):
        return ()
    extra, fixed = message.additional_kwargs, content.thinks
    callers = {call.id: call.caller for call in content.calls if call.caller}
    raw = [call for call in extra.get("tool_calls") or () if isinstance(call, Mapping)]
    fixed = fixed or thinks_beside_content(extra) or any(map(is_signed, raw))
    calls = [
        ToolCall(
            id=call.get("id"),
            name=call.get("name") or "",
            arguments=arguments_text(call.get("args")),
            fixed=fixed or is_signed(call),
            caller=callers.get(call.get("id")),
        )
        for call in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    if not calls:
        calls = [call_of(call, fixed=fixed) for call in raw]
    legacy = extra.get("function_call")
    if not calls and isinstance(legacy, Mapping):
        calls = [call_of({"name": legacy.get("name"), "arguments": legacy.get("arguments")}, fixed=fixed)]
    return tuple(calls)
