"""The settings that all LlamaIndex parts share, as pydantic fields and as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, ValidationInfo

from ctxopt_core import DocumentPolicy, FitReport, HistoryPolicy, Shares
from ctxopt_core.adapters import (
    FitOptions,
    ModelBudget,
    OnUnknownModel,
    Overflow,
    Percent,
    RequestSettings,
    UserCatalog,
    as_value,
    checked_share,
    model_budget_of,
    optional_token_amount,
    plain_fields,
    reject_unknown_settings,
    token_amount,
)
from llamaindex_ctxopt.models.model_settings import chosen_tokenizer, optional_settings

_LIMITS = ("context_window", "max_input_tokens", "output_reserve", "target_tokens")
_VALUES: Mapping[str, Any] = {"shares": Shares, "documents": DocumentPolicy, "history": HistoryPolicy}
_BUDGET_SETTINGS = (
    *_LIMITS,
    "safety_margin",
    "trigger",
    "shares",
    "prices",
    "attachment_tokens",
    "on_unknown_model",
    "catalog",
)
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
    """How requests are fitted; the fields are those of `FitSettingValues`.

    Raises:
        ValueError: A setting is out of its range.
        TypeError: A setting has a type that it cannot have.
    """

    context_window: int | None = None
    max_input_tokens: int | None = None
    output_reserve: int | None = None
    safety_margin: int = 0
    target_tokens: int | None = None
    trigger: float = 1.0
    shares: Shares = field(default_factory=Shares)
    documents: DocumentPolicy = field(default_factory=DocumentPolicy)
    history: HistoryPolicy = field(default_factory=HistoryPolicy)
    protect: tuple[str, ...] = ("query",)
    ranking_query: str = ""
    overflow: Overflow = "error"
    token_counter: object = None
    prices: Mapping[str, Any] | None = None
    attachment_tokens: Mapping[str, int] | None = None
    on_unknown_model: OnUnknownModel = "fallback"
    catalog: UserCatalog | None = None
    on_report: Callable[[FitReport], None] | None = None
    options: FitOptions = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("context_window", "max_input_tokens", "target_tokens"):
            object.__setattr__(self, name, optional_token_amount(name, getattr(self, name)))
        object.__setattr__(
            self, "output_reserve", optional_token_amount("output_reserve", self.output_reserve, minimum=0)
        )
        object.__setattr__(self, "safety_margin", token_amount("safety_margin", self.safety_margin, minimum=0))
        for name, kind in _VALUES.items():
            object.__setattr__(self, name, as_value(kind, getattr(self, name), name=name))
        protect = (self.protect,) if isinstance(self.protect, str) else tuple(self.protect)
        object.__setattr__(self, "protect", protect)
        if self.on_report is not None and not callable(self.on_report):
            message = f"`on_report` must be a function of a FitReport, got {type(self.on_report).__name__}"
            raise TypeError(message)
        options = FitOptions(
            documents=self.documents,
            history=self.history,
            protect=frozenset(protect),
            ranking_query=self.ranking_query,
            overflow=self.overflow,
        )
        object.__setattr__(self, "options", options)

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
        return cls(**given)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def model_budget(self, llm: object, schemas: Sequence[Mapping[str, Any] | str] = ()) -> ModelBudget:
        """Return budget and token counter for a model.

        Args:
            llm: A LlamaIndex model, a model name, or None where the settings give a limit.
            schemas: Tool schemas that go with every request.

        Raises:
            ValueError: Neither the model nor the settings give a limit.
            TypeError: `llm` is no model.
        """
        return model_budget_of(
            optional_settings(llm),
            token_counter=chosen_tokenizer() if self.token_counter is None else self.token_counter,
            tools=tuple(schemas),
            **{name: getattr(self, name) for name in _BUDGET_SETTINGS},
        )

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
    if value is None or (isinstance(value, str) and value):
        return value
    message = f"`model` must be a model name, got {type(value).__name__}; give a LlamaIndex LLM as `llm`"
    raise ValueError(message)


ModelName = Annotated[str | None, PlainValidator(_model_name)]
"""A model name, or None."""
