"""The settings that all LlamaIndex parts share, as pydantic fields and as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, PlainSerializer, PlainValidator, ValidationInfo

from ctxopt_core import DocumentPolicy, FitReport, Shares
from ctxopt_core.adapters import (
    LIMITS,
    BudgetSettings,
    FitOptions,
    ModelBudget,
    Percent,
    RequestSettings,
    as_value,
    checked_share,
    optional_token_amount,
    options_of,
    plain_fields,
    reject_unknown_settings,
    unknown_settings,
)
from llamaindex_ctxopt.models.model_settings import chosen_tokenizer, optional_settings

_LIMITS = tuple(setting.name for setting in fields(BudgetSettings))
_OPTIONS = tuple(option.name for option in fields(FitOptions))
Share = Annotated[Percent | None, PlainValidator(checked_share), PlainSerializer(float, float, when_used="unless-none")]
"""A percentage above 0, or None."""


DocumentSettings = Annotated[
    DocumentPolicy, PlainValidator(partial(as_value, DocumentPolicy, name="documents")), PlainSerializer(plain_fields)
]
"""`DocumentPolicy`, or a mapping of its fields."""


class FitSettingValues(RequestSettings, total=False):
    """The settings of every adapter, and those of engines.

    `output_reserve` is by default the model's own `num_output`; `token_counter` the tokenizer that was set in
    LlamaIndex's `Settings`, else the model's own.

    Attributes:
        documents: How nodes are chosen, as `DocumentPolicy` or a mapping.
        ranking_query: What documents and history are ranked by, where that is not the query.
    """

    documents: DocumentPolicy | Mapping[str, Any]
    ranking_query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """How requests are fitted.

    Args:
        limits: How much fits.
        options: How requests are cut.
        on_report: Called with the report of each request.

    Raises:
        TypeError: `on_report` cannot be called.
    """

    limits: BudgetSettings
    options: FitOptions
    on_report: Callable[[FitReport], None] | None = None

    def __post_init__(self) -> None:
        if self.on_report is not None and not callable(self.on_report):
            message = f"`on_report` must be a function of a FitReport, got {type(self.on_report).__name__}"
            raise TypeError(message)

    @classmethod
    def of(cls, given: Mapping[str, Any], owner: str) -> FitSettings:
        """Return the settings of a mapping.

        Args:
            given: The settings by name; see `FitSettingValues`.
            owner: Whose settings they are, for error messages.

        Raises:
            TypeError: There is no such setting, or one has a type that it cannot have.
            ValueError: A setting is out of its range.
        """
        reject_unknown_settings(given, FitSettingValues.__annotations__, owner)
        limits = {name: given[name] for name in _LIMITS if name in given}
        if "shares" in limits:
            limits["shares"] = as_value(Shares, limits["shares"], name="shares")
        options: Any = {"protect": ("query",), **{name: given[name] for name in _OPTIONS if name in given}}
        return cls(
            limits=BudgetSettings(**limits),
            options=options_of(options),
            on_report=given.get("on_report"),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by their names."""
        limits = {name: getattr(self.limits, name) for name in _LIMITS}
        options = {name: getattr(self.options, name) for name in _OPTIONS}
        return {**limits, **options, "protect": tuple(sorted(self.options.protect)), "on_report": self.on_report}

    def model_budget(self, llm: object, schemas: Sequence[Mapping[str, Any] | str] = ()) -> ModelBudget:
        """Return budget and token counter for a model.

        Args:
            llm: A LlamaIndex model, a model name, or None where the settings give a limit.
            schemas: Tool schemas that go with every request.

        Raises:
            ValueError: Neither the model nor the settings give a limit.
            TypeError: `llm` is no model.
        """
        limits = self.limits
        if llm is None and not limits.gives_limit:
            message = f"give one of `llm`, {', '.join(f'`{name}`' for name in LIMITS)}: none says how much fits"
            raise ValueError(message)
        if limits.token_counter is None:
            limits = replace(limits, token_counter=chosen_tokenizer())
        return limits.model_budget(optional_settings(llm, limits), schemas)

    def report(self, report: FitReport) -> FitReport:
        """Pass the report of a fit to `on_report`, and return it."""
        if self.on_report is not None:
            self.on_report(report)
        return report


def _limit(value: object, info: ValidationInfo) -> int | None:
    return optional_token_amount(str(info.field_name), value)


Limit = Annotated[int | None, BeforeValidator(_limit)]
"""A limit in tokens: a whole number above 0, its digits, or None."""


def _model_name(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    message = f"`model` must be a model name, got {type(value).__name__}; give a LlamaIndex LLM as `llm`"
    if isinstance(value, str):
        message = f"`model` must be the name of a model, for example 'gpt-4o', got {value!r}"
    raise ValueError(message)


ModelName = Annotated[str | None, PlainValidator(_model_name)]
"""A model name, or None."""


def known_settings_only(cls: type[BaseModel], given: Any) -> Any:
    """Refuse settings that do not exist, before anything else is read.

    Raises:
        ValueError: There is no such setting; the message names the nearest one.
    """
    known = (*cls.model_fields, "class_name")  # stored components say their class
    if isinstance(given, Mapping) and (message := unknown_settings(given, known, cls.__name__)):
        raise ValueError(message)
    return given
