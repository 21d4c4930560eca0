"""Fitting the messages that a client of a provider takes, without a framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from ctxopt_core.budget.budget_settings import BudgetSettings
from ctxopt_core.budget.shares import Shares
from ctxopt_core.documents.document import Document
from ctxopt_core.documents.policy import DocumentPolicy
from ctxopt_core.fitting.fit_request import fit_with
from ctxopt_core.fitting.options import FitOptions, Overflow, as_value, options_of, reject_unknown_settings
from ctxopt_core.fitting.request_renderer import ChatRenderer
from ctxopt_core.formats.request_files import RequestFile, document_with_text, fitted_content, request_file
from ctxopt_core.formats.responses.groups import is_list_of_items
from ctxopt_core.history.policy import HistoryPolicy
from ctxopt_core.models.model_settings import ModelInfo
from ctxopt_core.models.resolve_window import OnUnknownModel, UserCatalog
from ctxopt_core.reports.fit_report import FitReport

_OPTIONS = ("history", "protect", "ranking_query", "overflow")


class MessageSettings(TypedDict, total=False):
    """What `fit_messages` takes beside the parts of a request; `BudgetSettings` and `fit` say what each is."""

    context_window: int | None
    max_input_tokens: int | None
    output_reserve: int | None
    safety_margin: int
    target_tokens: int | None
    trigger: float
    shares: Shares | Mapping[str, Any]
    token_counter: object
    prices: Mapping[str, Any] | None
    attachment_tokens: Mapping[str, int] | None
    on_unknown_model: OnUnknownModel
    catalog: UserCatalog | None
    document_policy: DocumentPolicy | Mapping[str, Any] | None
    history: HistoryPolicy | Mapping[str, Any] | str | None
    protect: Sequence[str]
    ranking_query: str
    overflow: Overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedMessages:
    """Messages that fit, in the shape in which they were given, and the report.

    Args:
        messages: The messages or items: the very objects that were given, copies where they were shortened, and at most
            one placeholder. The very list where nothing was cut.
        system: What is left of `system`; None where there was none or nothing of it fits.
        documents: The kept documents in reading order, as they were given or as copies with a shorter text.
        report: What was kept, cut and dropped, and why.

    Example:
        >>> from ctxopt_core import fit_messages
        >>> fit_messages([{"role": "user", "content": "Why?"}], model="gpt-5").messages
        [{'role': 'user', 'content': 'Why?'}]
    """

    messages: list[dict[str, Any]]
    system: Any = None
    documents: tuple[Any, ...] = ()
    report: FitReport

    @property
    def unchanged(self) -> bool:
        """Whether the request fitted as it was."""
        return self.report.unchanged

    def __repr__(self) -> str:
        """Return the figures, not the content."""
        return (
            f"FittedMessages({len(self.messages)} messages, {len(self.documents)} documents, "
            f"{self.report.tokens_after:,} of {self.report.input_budget:,} tokens)"
        )


def fit_messages(
    messages: Sequence[Mapping[str, Any]],
    model: str | None = None,
    *,
    system: str | Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[str | Mapping[str, Any] | Document] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    tool_choice: str | Mapping[str, Any] | None = None,
    response_format: Mapping[str, Any] | None = None,
    **settings: Unpack[MessageSettings],
) -> FittedMessages:
    """Fit the messages of a request into the window of a model; the result has the shape that was given.

    The shape is found from the messages: OpenAI's chat messages, the `input` items of OpenAI's Responses API, or
    Anthropic's messages with `system`. Names, tool calls, `cache_control`, images, reasoning items and all unknown keys
    stay. The last user message is the query. What is given is never changed.

    Args:
        messages: The messages or items, oldest first.
        model: The id of the model, whose window, answer reserve and tokenizer are used. It may be left out where a
            limit such as `max_input_tokens` is given.
        system: The system prompt that is sent beside the messages: Anthropic's `system`, or the `instructions` of the
            Responses API.
        documents: Retrieved documents: strings, objects with `text` and perhaps `id`, `score` and `source`, or
            `Document` values. They are counted as one user message with the query; put `documents` of the result there.
        tools: The tool schemas that are sent, counted and never cut.
        tool_choice: The tool choice that is sent.
        response_format: The response format that is sent.
        settings: Any of these, by name: `context_window`, `max_input_tokens`, `output_reserve`, `safety_margin` and
            `target_tokens` in tokens; `trigger`, `shares`, `token_counter`, `prices`, `attachment_tokens`,
            `on_unknown_model` and `catalog`; `document_policy`, `history`, `protect`, `ranking_query` and `overflow` as
            `fit` takes them.

    Returns:
        The messages, what is left of `system` and of `documents`, and the report.

    Raises:
        ContextBudgetError: The parts that may not be cut are larger than the input budget.
        TypeError: `messages` is no list of messages, a message is of no known shape, or there is no such setting.
        ValueError: Nothing says how much fits, or a setting is out of its range.

    Example:
        >>> from ctxopt_core import fit_messages
        >>> chat = [{"role": "user", "content": "word " * 99}, {"role": "assistant", "content": "Yes."}] * 9
        >>> fitted = fit_messages([*chat, {"role": "user", "content": "Why?"}], model="gpt-5", max_input_tokens=400)
        >>> fitted.messages[-1], fitted.report.tokens_after <= 400
        ({'role': 'user', 'content': 'Why?'}, True)
    """
    reject_unknown_settings(settings, MessageSettings.__annotations__, "fit_messages")
    _check_messages(messages)
    beside = {
        "model": model,
        "documents": [_as_mapping(document) for document in documents] or None,
        "tools": list(tools) or None,
        "tool_choice": tool_choice,
        "response_format": response_format,
    }
    stored = _stored(messages if isinstance(messages, list) else list(messages), system, beside)
    rest: dict[str, Any] = dict(settings)
    options = _options(rest)
    if "shares" in rest:
        rest["shares"] = as_value(Shares, rest["shares"], name="shares")
    known = BudgetSettings(**rest).model_budget(None if model is None else ModelInfo(name=model))
    fitted = fit_with(stored.request, known.budget, known.counter, ChatRenderer(), options)
    content = fitted_content(stored, fitted)
    texts = fitted.documents.texts
    return FittedMessages(
        messages=content[stored.messages_key],
        system=content.get(_system_key(stored)),
        documents=tuple(
            document_with_text(documents[i], texts[i]) if i in texts else documents[i] for i in fitted.documents.kept
        ),
        report=fitted.report,
    )


def _check_messages(messages: Any) -> None:
    remedy = None
    if isinstance(messages, str):
        remedy = 'put a string into a message: [{"role": "user", "content": ...}]'
    elif isinstance(messages, Mapping):
        key = next((key for key in ("messages", "input") if key in messages), None)
        remedy = f"pass the value of {key!r}, and the rest by name" if key else "put a single message into a list"
    elif not isinstance(messages, Sequence):
        remedy = "pass the list that your client takes"
    if remedy:
        message = f"`messages` must be a list of messages, got {type(messages).__name__}; {remedy}"
        raise TypeError(message)
    for index, item in enumerate(messages):
        if not isinstance(item, Mapping):
            remedy = "call its `model_dump(exclude_none=True)`" if hasattr(item, "model_dump") else "give a dict"
            message = f"`messages[{index}]` must be a mapping with a `role`, got {type(item).__name__}; {remedy}"
            raise TypeError(message)


def _stored(messages: list[Any], system: object, beside: Mapping[str, Any]) -> RequestFile:
    is_items = is_list_of_items(messages)
    keys = ("input", "instructions") if is_items else ("messages", "system")
    content = dict(zip(keys, (messages, system), strict=True)) | dict(beside)
    if is_items:
        content.setdefault("model", None)
    stored = request_file({key: value for key, value in content.items() if value is not None})
    if stored is None:
        message = "`messages` must be a list of messages or of items; got items of neither kind"
        raise TypeError(message)
    return stored


def _system_key(stored: RequestFile) -> str:
    return "instructions" if stored.shape == "responses" else "system"


def _options(settings: dict[str, Any]) -> FitOptions:
    """Take the options of a fit out of the settings."""
    found = {name: settings.pop(name) for name in _OPTIONS if name in settings}
    return options_of({**found, "documents": settings.pop("document_policy", None)})  # type: ignore[typeddict-item]


def _as_mapping(document: str | Mapping[str, Any] | Document) -> str | Mapping[str, Any]:
    if not isinstance(document, Document):
        return document
    return {"text": document.text, "id": document.id, "score": document.score, "source": document.source}
