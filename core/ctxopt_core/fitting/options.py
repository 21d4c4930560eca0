"""The options of a fit, and how they are read from what a caller gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from ctxopt_core.budget.shares import Shares
from ctxopt_core.counting.token_counter import TokenCounter
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.fitting.request_renderer import RequestRenderer
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.models.resolve_window import OnUnknownModel, UserCatalog
from ctxopt_core.reports.fit_report import FitReport
from ctxopt_core.validation import unknown_settings

Overflow = Literal["error", "empty"]
PROTECTABLE: tuple[Literal["system", "query"], ...] = ("system", "query")
Settings: TypeAlias = Shares | DocumentPolicy | HistoryPolicy
T = TypeVar("T", bound=Settings)
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How a request is cut.

    Args:
        documents: How documents are chosen.
        history: How the conversation is trimmed.
        protect: Components that may not be cut: `query`, `system` or both. A request in which they do not fit raises.
        ranking_query: What documents and history are ranked by, where that is not the query.
        overflow: `error` raises when the parts that may not be cut are too big; `empty` empties all but the query.
    """

    documents: DocumentPolicy = field(default_factory=DocumentPolicy)
    history: HistoryPolicy = field(default_factory=HistoryPolicy)
    protect: frozenset[str] = frozenset()
    ranking_query: str = ""
    overflow: Overflow = "error"

    def __post_init__(self) -> None:
        if not isinstance(self.ranking_query, str):
            kind = type(self.ranking_query).__name__
            message = f"`ranking_query` must be a string, got {kind}; leave it out to rank by the query"
            raise TypeError(message)
        object.__setattr__(self, "ranking_query", self.ranking_query.strip())
        if unknown := sorted(self.protect.difference(PROTECTABLE)):
            message = f"`protect` may name 'system' and 'query', got {', '.join(map(repr, unknown))}"
            raise ValueError(message)
        if self.overflow not in ("error", "empty"):
            message = f"`overflow` must be 'error' or 'empty', got {self.overflow!r}"
            raise ValueError(message)


def options_of(arguments: FitArguments) -> FitOptions:
    """Return the options among the arguments of `fit`.

    Raises:
        TypeError: There is no such argument, or one has a type that it cannot have.
        ValueError: An option is out of its range.
    """
    reject_unknown_settings(arguments, FitArguments.__annotations__, "fit")
    documents, history = arguments.get("documents"), arguments.get("history")
    protect = arguments.get("protect", ())
    return FitOptions(
        documents=DocumentPolicy() if documents is None else as_value(DocumentPolicy, documents, name="documents"),
        history=HistoryPolicy() if history is None else as_value(HistoryPolicy, history, name="history"),
        protect=frozenset((protect,) if isinstance(protect, str) else protect),
        ranking_query=arguments.get("ranking_query", ""),
        overflow=arguments.get("overflow", "error"),
    )


class FitArguments(TypedDict, total=False):
    """What `fit`, `afit` and `plan` take beside the request and the budget; `fit` says what each is."""

    counter: TokenCounter | Callable[[str], int] | None
    renderer: RequestRenderer | None
    documents: DocumentPolicy | Mapping[str, Any] | None
    history: HistoryPolicy | Mapping[str, Any] | str | None
    protect: Collection[str]
    ranking_query: str
    overflow: Overflow


class RequestSettings(TypedDict, total=False):
    """How requests to a model are fitted. What is not given is asked of the model that is called.

    Attributes:
        context_window: Input and answer together, in tokens; overrides what the model says.
        max_input_tokens: The most that a request may have, in tokens.
        output_reserve: Tokens kept free for the answer; by default the answer limit that goes with a request, whatever
            its size, else 4,096 but at most an eighth of the window.
        safety_margin: Further tokens kept free.
        target_tokens: A custom limit, in tokens.
        trigger: The part of the input budget from which on requests are cut; see `ctxopt_core.ContextBudget`.
        shares: Guaranteed percentages of the components, as `Shares` or a mapping.
        history: How the conversation is trimmed, as `HistoryPolicy`, a mapping or the name of a strategy.
        protect: Components that may not be cut; by default the query. A request in which they do not fit raises.
        overflow: `error` or `empty`; see `ctxopt_core.fit`.
        token_counter: Counts tokens in place of the model's tokenizer: what `ctxopt_core.counter_for` takes.
        prices: Custom prices for the cost in the report, by model id: USD for a million input tokens.
        attachment_tokens: What an attachment of unknown size is charged, by its kind.
        on_unknown_model: Whether a model whose window is not known is an error, or has the smallest window known.
        catalog: Custom windows, which are asked before the built-in ones: a mapping or a function of an id.
        on_report: Called with the report of each request that is sent.
    """

    context_window: int | str | None
    max_input_tokens: int | str | None
    output_reserve: int | str | None
    safety_margin: int | str
    target_tokens: int | str | None
    trigger: float
    shares: Shares | Mapping[str, Any]
    history: HistoryPolicy | Mapping[str, Any] | str
    protect: Sequence[str]
    overflow: Overflow
    token_counter: object
    prices: Mapping[str, Any] | None
    attachment_tokens: Mapping[str, int] | None
    on_unknown_model: OnUnknownModel
    catalog: UserCatalog | None
    on_report: Callable[[FitReport], None] | None


def as_value(kind: type[T], given: object, *, name: str = "") -> T:
    """Return an instance of `kind` as it is, or build one from a mapping of its fields.

    A history policy may be given as the name of its strategy.

    Args:
        kind: What the setting is.
        given: What the caller gave.
        name: What the message of an error calls it, where the caller does not say it.

    Raises:
        ValueError: It is neither, or a field is unknown or out of its range.
        TypeError: A field has a type that it cannot have.
    """
    if isinstance(given, kind):
        return given
    if isinstance(given, str) and kind is HistoryPolicy:
        given = {"strategy": given}
    prefix = f"`{name}`: " if name else ""
    names = {field.name for field in fields(kind) if field.init}
    if not isinstance(given, Mapping):
        message = f"{prefix}expected {kind.__name__} or a mapping of its fields, got {type(given).__name__}"
        raise ValueError(message)  # noqa: TRY004 - frameworks gather ValueErrors of all settings
    if unknown := unknown_settings(given, names, kind.__name__):
        message = f"{prefix}{unknown}"
        raise ValueError(message)
    return kind(**given)


def reject_unknown_settings(given: Mapping[str, object], known: Iterable[str], owner: str) -> None:
    """Refuse settings that do not exist.

    Args:
        given: What the caller gave, by name.
        known: The settings that exist.
        owner: Whose settings they are, for the error message.

    Raises:
        TypeError: There is no such setting.
    """
    if message := unknown_settings(given, known, owner):
        raise TypeError(message)


def copy_with(settings: S, changes: Mapping[str, object]) -> S:
    """Return a pydantic model of settings with some of them changed; it is made, and so validated, anew."""
    kind: Any = type(settings)
    fields = {name: getattr(settings, name) for name in kind.model_fields}
    return kind(**{**fields, **changes})  # type: ignore[no-any-return]


def plain_fields(value: Settings) -> dict[str, Any]:
    """Return the fields of a value, ready to be stored as JSON."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.init}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, (Decimal, Fraction)) else value
