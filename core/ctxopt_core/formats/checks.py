"""Shape checks of requests in files: a fault is named by its path, as in `messages[3].tool_calls[0].id`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ctxopt_core.documents.document import Document
from ctxopt_core.formats.content_parts import CALL_KINDS, RESULT_KIND, TEXT_KINDS, kind_of
from ctxopt_core.formats.json_values import Field, check_fields, checked_objects, refuse, text_field
from ctxopt_core.models.model_settings import ANSWER_LIMITS, NAME_ARGUMENTS
from ctxopt_core.providers.tool_schemas import RESPONSE_FORMATS, SCHEMA_LISTS, schemas_in

_OBJECT = (Mapping,)
_NO_CALLS = "leave it out where there are no calls"
MESSAGE_FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        "name": text_field(),
        "tool_calls": Field(kinds=(list, tuple), rule="a list of calls", remedy=_NO_CALLS),
        "function_call": Field(kinds=_OBJECT, rule="an object with `name` and `arguments`", remedy=_NO_CALLS),
        "tool_call_id": text_field("give the id of the call that is answered"),
        "refusal": text_field(),
        "reasoning_content": text_field(),
    }
)
_CALL: Mapping[str, Field] = MappingProxyType(
    {
        "id": text_field("give the id that the result names"),
        "call_id": text_field("give the id that the result names"),
        "type": text_field(),
        "name": text_field("give the name of the tool"),
        "function": Field(kinds=_OBJECT, rule="an object with `name` and `arguments`", remedy="give both of them"),
        "custom": Field(kinds=_OBJECT, rule="an object with `name` and `input`", remedy="give both of them"),
        **{
            key: Field(kinds=(str, Mapping), rule="a text or an object", remedy="write the arguments as JSON")
            for key in ("arguments", "args", "input")
        },
    }
)
_PART: Mapping[str, Field] = MappingProxyType(
    {"type": text_field("name the kind of the part"), "thinking": text_field(), "signature": text_field()}
)
_CONTENT = Field(kinds=(str, list, tuple), rule="a text or a list of parts", remedy="give null where there is none")
_RESULT: Mapping[str, Field] = MappingProxyType(
    {"tool_use_id": text_field("give the id of the call that is answered"), "content": _CONTENT}
)
_PART_RULE = "a text or an object with `type`"
_LIST = (list, tuple)
_NONE = "leave it out where there is none"
_ARGUMENTS: Mapping[str, Field] = MappingProxyType(
    {
        **dict.fromkeys(NAME_ARGUMENTS, text_field("give the id of the model, for example gpt-4o")),
        **dict.fromkeys(SCHEMA_LISTS, Field(kinds=_LIST, rule="a list of tools", remedy=_NONE)),
        **dict.fromkeys(RESPONSE_FORMATS, Field(kinds=(Mapping, str), rule="an object or a text", remedy=_NONE)),
        "tool_choice": Field(kinds=(Mapping, str), rule="a text or an object", remedy=_NONE),
        "query": Field(kinds=(str, *_LIST), rule="a text or a list of texts", remedy=_NONE),
        "documents": Field(kinds=_LIST, rule="a list of documents", remedy=_NONE),
        "system": Field(kinds=(str, *_LIST), rule="a text or a list of text blocks", remedy=_NONE),
        "instructions": text_field(),
    }
)
_DOCUMENT = "a text, or an object with `text` and perhaps `id` and `score`"
_DOCUMENT_FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        "text": text_field("give null where there is none"),
        "score": Field(kinds=(int, float), rule="a number", remedy="map words such as 'HIGH' to numbers first"),
    }
)


def check_message(message: object, place: str) -> None:
    """Check a message of OpenAI's or Anthropic's chat API.

    Args:
        message: The message as it is in the file.
        place: Where it stands, as in `messages[3]`.

    Raises:
        TypeError: A field is something else than it must be. The message says which one, and what would be right.
    """
    if not isinstance(message, Mapping):
        refuse(place, "an object with a text `role`", message, "take it out of the list")
    key = "role" if "role" in message else "type"
    if not isinstance(role := message.get(key), str):
        refuse(f"{place}.role", "a text such as user, assistant or tool", role, "name who speaks")
    check_fields(message, MESSAGE_FIELDS, place)
    check_content(message.get("content"), f"{place}.content")
    for position, call in enumerate(checked_objects(message.get("tool_calls") or (), "a call", f"{place}.tool_calls")):
        check_call(call, f"{place}.tool_calls[{position}]")
    if message.get("function_call") is not None:
        check_call(message["function_call"], f"{place}.function_call")


def check_call(call: Mapping[str, Any], place: str) -> None:
    """Check a tool call in any of its usual shapes.

    Raises:
        TypeError: A field is something else than it must be.
    """
    check_fields(call, _CALL, place)
    for key in ("function", "custom"):
        if call.get(key) is not None:
            check_fields(call[key], _CALL, f"{place}.{key}")


def check_content(content: object, place: str) -> None:
    """Check the content of a message or of a result.

    Raises:
        TypeError: It is neither a text nor a list of parts nor null, or a part is of no known shape.
    """
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, Sequence):
        refuse(place, _CONTENT.rule, content, _CONTENT.remedy)
    for position, part in enumerate(content):
        _check_part(part, f"{place}[{position}]")


def _check_part(part: object, place: str) -> None:
    if isinstance(part, str):
        return
    if not isinstance(part, Mapping):
        refuse(place, _PART_RULE, part, "take it out of the list")
    check_fields(part, _PART, place)
    kind = kind_of(part)
    if kind in TEXT_KINDS and not isinstance(part.get("text"), str):
        refuse(f"{place}.text", "a text", part.get("text"), "give the text of the part")
    if kind in CALL_KINDS:
        check_call(part, place)
    elif kind == RESULT_KIND:
        check_fields(part, _RESULT, place)
        check_content(part.get("content"), f"{place}.content")


def check_arguments(beside: Mapping[str, Any]) -> None:
    """Check what goes with the messages of a request.

    Raises:
        TypeError: An argument that is read is something else than it must be.
    """
    check_fields(beside, _ARGUMENTS, "")
    for name in SCHEMA_LISTS:
        checked_objects(beside.get(name) or (), "an object that describes a tool", name)
    for name in ANSWER_LIMITS:
        limit = beside.get(name)
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            refuse(name, "a whole number of tokens", limit, _NONE)
    _check_texts(beside.get("query"), "query")
    _check_blocks(beside.get("system"))


def schemas_of(beside: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the tools, the choice of one and the formats of the answer: what is counted as the provider counts it."""
    written = beside.get("text")
    form = written.get("format") if isinstance(written, Mapping) else None
    formats = [form] if isinstance(form, Mapping) and form.get("type") != "text" else []
    return (*schemas_in(beside), *formats)


def documents_of(beside: Mapping[str, Any]) -> tuple[Document, ...]:
    """Return the documents of a request.

    Raises:
        TypeError: One is neither a text nor an object with `text`, or has a score that is no number.
    """
    return tuple(_document(item, position) for position, item in enumerate(beside.get("documents") or ()))


def _document(item: object, position: int) -> Document:
    place = f"documents[{position}]"
    if isinstance(item, str):
        return Document(text=item)
    if not isinstance(item, Mapping):
        refuse(place, _DOCUMENT, item, "take it out of the list")
    if "text" not in item:
        refuse(f"{place}.text", "there", None, f"a document is {_DOCUMENT}")
    check_fields(item, _DOCUMENT_FIELDS, place)
    identity, source, score = item.get("id"), item.get("source"), item.get("score")
    if isinstance(score, bool):
        refuse(f"{place}.score", "a number", score, _DOCUMENT_FIELDS["score"].remedy)
    return Document(
        text=item["text"],
        id=None if identity is None else str(identity),
        score=score,
        source=source if isinstance(source, str) else None,
    )


def _check_texts(found: object, name: str) -> None:
    for position, text in _items(found):
        if not isinstance(text, str):
            refuse(f"{name}[{position}]", "a text", text, "take it out of the list")


def _check_blocks(found: object) -> None:
    for position, block in _items(found):
        text = block.get("text") if isinstance(block, Mapping) else block
        if not isinstance(text, str):
            refuse(f"system[{position}]", "a text or an object with `text`", block, "give the text of the block")


def _items(found: object) -> Iterator[tuple[int, object]]:
    return enumerate(() if found is None or isinstance(found, str) or not isinstance(found, Sequence) else found)
