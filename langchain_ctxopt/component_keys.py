"""The keys of a prompt's input dict under which the four components and the extra sections are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder

USUAL_KEYS: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "system_prompt"),
    "query": ("question", "query", "input"),
    "documents": ("context", "documents"),
    "history": ("chat_history", "history", "messages"),
}
_LISTS = frozenset({"documents", "history"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentKeys:
    """The key of each component; None for one that the input does not have.

    Args:
        system: Key of the system prompt.
        query: Key of the query.
        documents: Key of the documents.
        history: Key of the messages.
        sections: Keys of the extra sections.
    """

    system: str | None = None
    query: str | None = None
    documents: str | None = None
    history: str | None = None
    sections: tuple[str, ...] = ()


def component_keys(
    named: Mapping[str, str | None],
    prompt: BasePromptTemplate[Any],
    values: Mapping[str, Any],
    *,
    joined_documents: bool = False,
    sections: Collection[str] = (),
) -> ComponentKeys:
    """Return the keys that were named, else the first usual ones that the prompt uses and the input has.

    A value of another kind under a usual key, such as documents that are one string already, is no component: it is
    counted with the rest of the prompt and not cut. A component that is None is missing.

    Args:
        named: The key that the caller named for each component, or None.
        prompt: The prompt that follows.
        values: The prompt's input.
        joined_documents: Whether documents may be one string already, as an earlier fit returns them; that string is
            counted and not cut.
        sections: Keys of extra sections.

    Raises:
        ValueError: A variable of the prompt is missing, a named key is not in the input or not in the prompt, a section
            has the key of a component, or the input has neither component nor section.
        TypeError: The value under a named key cannot be cut.
    """
    used = _variables(prompt, values)
    taken = {key for key in named.values() if key is not None}
    _check_sections(sections, taken, used, values)
    taken.update(sections)
    found: dict[str, str] = {}
    for component, key in named.items():
        joined = joined_documents and component == "documents" and isinstance(values.get(key or ""), str)
        if key is not None and not joined:
            _check_named(component, key, used, values)
        candidates = (key,) if key is not None else (usual for usual in USUAL_KEYS[component] if usual not in taken)
        for candidate in candidates:
            if candidate in used and values.get(candidate) is not None and _fits(component, values[candidate]):
                found[component] = candidate
                break
    if not found and not sections and not (joined_documents and used & taken.union(USUAL_KEYS["documents"])):
        message = (
            f"none of the input's keys ({_listed(values)}) is known as query, documents, history or system; name them "
            "with `query_key`, `documents_key`, `history_key`, `system_key`"
        )
        raise ValueError(message)
    return ComponentKeys(**found, sections=tuple(key for key in sections if values[key] is not None))


def most_messages(prompt: BasePromptTemplate[Any], key: str) -> int | None:
    """Return how many of the newest messages the prompt renders of the list under `key`; None for all of them."""
    placeholders = _placeholders(prompt, key)
    limits = [placeholder.n_messages for placeholder in placeholders if placeholder.n_messages]
    return max(limits) if limits and len(limits) == len(placeholders) else None


def stand_alone(prompt: BasePromptTemplate[Any], key: str | None) -> bool:
    """Return whether the prompt renders the messages under `key` once, as messages, and uses them for nothing else."""
    if key is None:
        return False
    parts = prompt.messages if isinstance(prompt, ChatPromptTemplate) else ()
    others = [part for part in parts if not isinstance(part, (BaseMessage, MessagesPlaceholder))]
    used = any(key in part.input_variables or getattr(part, "example_selector", None) is not None for part in others)
    return len(_placeholders(prompt, key)) == 1 and not used


def _placeholders(prompt: BasePromptTemplate[Any], key: str) -> list[MessagesPlaceholder]:
    parts = prompt.messages if isinstance(prompt, ChatPromptTemplate) else ()
    return [part for part in parts if isinstance(part, MessagesPlaceholder) and part.variable_name == key]


def _variables(prompt: BasePromptTemplate[Any], values: Mapping[str, Any]) -> frozenset[str]:
    """Return every variable that the input can set in the prompt."""
    if missing := sorted(set(prompt.input_variables).difference(values)):
        message = (
            f"the prompt needs {_listed(missing)}, and the input has only {_listed(values)}; the prompt is rendered to "
            "count it, so all of its variables must be there before the ContextOptimizer"
        )
        raise ValueError(message)
    return frozenset((*prompt.input_variables, *prompt.optional_variables, *prompt.partial_variables))


def _check_sections(
    sections: Collection[str], taken: Collection[str], used: frozenset[str], values: Mapping[str, Any]
) -> None:
    for key in sections:
        if key in taken:
            message = f"{key!r} is named in `sections` and as the key of a component; it can be only one of them"
            raise ValueError(message)
        if key not in values or key not in used:
            where, known = ("the input", values) if key not in values else ("the prompt", sorted(used))
            message = f"`sections` names {key!r}, but {where} has only {_listed(known)}; correct the name or drop it"
            raise ValueError(message)


def _check_named(component: str, key: str, used: frozenset[str], values: Mapping[str, Any]) -> None:
    if key not in values:
        message = f"`{component}_key` is {key!r}, but the input has only {_listed(values)}"
        raise ValueError(message)
    if key not in used:
        message = f"`{component}_key` is {key!r}, but the prompt uses only {_listed(sorted(used))}"
        raise ValueError(message)
    if values[key] is not None and not _fits(component, values[key]):
        kind = "a list or tuple" if component in _LISTS else "a string or a list of strings"
        message = f"{key!r} of the input must be {kind} to serve as `{component}_key`, got {type(values[key]).__name__}"
        raise TypeError(message)


def _fits(component: str, value: object) -> bool:
    if component in _LISTS:
        return isinstance(value, (list, tuple))
    return isinstance(value, str) or (isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value))


def _listed(keys: Any) -> str:
    return ", ".join(map(repr, keys)) or "nothing"
