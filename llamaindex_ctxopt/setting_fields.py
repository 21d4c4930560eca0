"""How the settings of a LlamaIndex component are checked."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, ValidationInfo

from ctxopt_core.document_policy import DocumentPolicy
from ctxopt_core.setting_values import as_value, plain_fields
from ctxopt_core.shares import Percent
from ctxopt_core.token_amount import optional_token_amount
from ctxopt_core.window_share import checked_share


def _limit(value: object, info: ValidationInfo) -> int | None:
    return optional_token_amount(str(info.field_name), value)


def _model_name(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    message = f"`model` must be a model name, got {type(value).__name__}; give a LlamaIndex LLM as `llm`"
    raise ValueError(message)


Limit = Annotated[int | None, BeforeValidator(_limit)]
"""A limit in tokens: a whole number above 0, its digits, or None."""

ModelName = Annotated[str | None, PlainValidator(_model_name)]
"""A model name, or None."""

Share = Annotated[Percent | None, PlainValidator(checked_share), PlainSerializer(float, float, when_used="unless-none")]
"""A percentage above 0, or None."""

DocumentSettings = Annotated[
    DocumentPolicy, PlainValidator(partial(as_value, DocumentPolicy, name="documents")), PlainSerializer(plain_fields)
]
"""`DocumentPolicy`, or a mapping of its fields."""
