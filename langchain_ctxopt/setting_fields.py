"""The pydantic types of the settings, which check what the caller gives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from langchain_core.prompts import BasePromptTemplate, PromptTemplate
from pydantic import BaseModel, BeforeValidator, PlainSerializer, PlainValidator, ValidationInfo

from ctxopt_core import DocumentPolicy, HistoryPolicy, Shares
from ctxopt_core.adapters import Percent, as_value, checked_share, optional_token_amount, token_amount, unknown_settings
from langchain_ctxopt.sent_schemas import as_sent


def _prompt(prompt: object) -> BasePromptTemplate[Any] | None:
    if prompt is None or isinstance(prompt, BasePromptTemplate):
        return prompt
    message = f"`prompt` must be the prompt template that follows in the chain, got {type(prompt).__name__}"
    raise ValueError(message)


def _template(template: object) -> BasePromptTemplate[str] | None:
    if template is None or isinstance(template, BasePromptTemplate):
        return template
    if isinstance(template, str):
        return PromptTemplate.from_template(template)
    message = f"`document_prompt` must be a prompt template or a string, got {type(template).__name__}"
    raise ValueError(message)


def _schemas(tools: object) -> tuple[Mapping[str, Any] | str, ...]:
    if not isinstance(tools, (list, tuple)):
        message = f"`tools` must be a list of tools or of their schemas, got {type(tools).__name__}"
        raise ValueError(message)  # noqa: TRY004 - pydantic gathers ValueErrors
    return tuple(map(as_sent, tools))


def _limits(sections: object) -> Mapping[str, int] | None:
    if sections is None:
        return None
    if not isinstance(sections, Mapping) or not all(isinstance(key, str) and key for key in sections):
        message = (
            f"`sections` must map keys of the input to numbers of tokens, like {{'memories': 300}}, got {sections!r}"
        )
        raise ValueError(message)
    return {key: token_amount(f"sections[{key!r}]", tokens, minimum=0) for key, tokens in sections.items()} or None


def _limit(value: object, info: ValidationInfo) -> int | None:
    return optional_token_amount(str(info.field_name), value)


def _reserve(value: object, info: ValidationInfo) -> int | None:
    return optional_token_amount(str(info.field_name), value, minimum=0)


Limit = Annotated[int | None, BeforeValidator(_limit)]
"""A limit in tokens: a whole number above 0, its digits, or None."""

Reserve = Annotated[int | None, BeforeValidator(_reserve)]
"""Tokens kept free: a whole number, its digits, or None."""

Prompt = Annotated[BasePromptTemplate[Any] | None, PlainValidator(_prompt)]
"""The prompt template that follows in the chain, or None."""

DocumentTemplate = Annotated[BasePromptTemplate[str] | None, PlainValidator(_template)]
"""A template of one document, a string that is taken as one, or None."""

ToolSchemas = Annotated[tuple[Mapping[str, Any] | str, ...], PlainValidator(_schemas)]
"""Tool schemas; tools, classes and functions are converted to the schemas that are sent."""

SectionLimits = Annotated[Mapping[str, int] | None, PlainValidator(_limits)]
"""The most tokens of each extra section, by its key in the input; None where there are no sections."""

ShareSettings = Annotated[Shares, PlainValidator(partial(as_value, Shares))]
"""`Shares`, or a mapping of its fields."""

DocumentSettings = Annotated[DocumentPolicy, PlainValidator(partial(as_value, DocumentPolicy))]
"""`DocumentPolicy`, or a mapping of its fields."""

HistorySettings = Annotated[HistoryPolicy, PlainValidator(partial(as_value, HistoryPolicy))]
"""`HistoryPolicy`, or a mapping of its fields."""

Share = Annotated[Percent | None, PlainValidator(checked_share), PlainSerializer(float, float, when_used="unless-none")]
"""A percentage above 0, or None."""


def known_settings_only(cls: type[BaseModel], given: Any) -> Any:
    """Refuse settings that do not exist, before anything else is read.

    Raises:
        ValueError: There is no such setting; the message names the nearest one.
    """
    if isinstance(given, Mapping) and (message := unknown_settings(given, cls.model_fields, cls.__name__)):
        raise ValueError(message)
    return given
