"""What an adapter for another framework is built from; `langchain_ctxopt` and `llamaindex_ctxopt` use nothing else.

An adapter reads the framework's objects, calls the core, and selects from the objects that it was given:

1. It shows messages as `Message` views and documents as `Document` views, in the same order.
2. It says how a request is rendered with a `RequestRenderer`; `ChatRenderer` is a plain chat request.
3. It makes a `ModelBudget` of what the model says about itself (`ModelInfo`) and of the user's settings.
4. It fits with `fit_with`, and applies the indices of the result with `kept_items`.

The guide "Write an adapter" has a complete one. What is listed here changes only with a note in the changelog.
"""

from __future__ import annotations

from ctxopt_core.budget.budget_settings import LIMITS, BudgetSettings
from ctxopt_core.budget.model_budget import ModelBudget, checked_share, tokens_of_share
from ctxopt_core.budget.shares import Component, Percent
from ctxopt_core.conversation.conversation import CountedConversation, Peek
from ctxopt_core.conversation.message_tokens import TOKENS_PER_MESSAGE, TOKENS_PER_REQUEST, message_tokens
from ctxopt_core.documents.document import is_blank
from ctxopt_core.documents.rendering import DocumentRendering, attachment_tokens
from ctxopt_core.fitting.fit_log import log_fit
from ctxopt_core.fitting.fit_request import fit_with, fitted_with
from ctxopt_core.fitting.measured_request import MeasuredRequest, count_request, documents_need, fits, measure_needs
from ctxopt_core.fitting.optimized_model import OptimizedModel, empty_model
from ctxopt_core.fitting.options import (
    FitArguments,
    FitOptions,
    Overflow,
    RequestSettings,
    as_value,
    copy_with,
    options_of,
    plain_fields,
    reject_unknown_settings,
)
from ctxopt_core.fitting.report_builder import packed_report
from ctxopt_core.fitting.request_renderer import Draft, conversation_tokens, schema_tokens
from ctxopt_core.formats.assembly import put_together
from ctxopt_core.formats.content_blocks import Content, ContentBuilder, extra_texts, take_apart
from ctxopt_core.formats.media import facts_of, file_facts, stream_facts
from ctxopt_core.formats.openai_messages import (
    ROLE_NAMES,
    message_from_openai,
    named_openai,
    placeholder_openai,
    plain_openai,
    role_of,
    shortened_openai,
)
from ctxopt_core.formats.part_kinds import MEDIA_KEYS, READ_RESULTS, holds_compaction
from ctxopt_core.formats.sealed import sealed_attachment, sealed_characters
from ctxopt_core.formats.tool_calls import ShortenedCalls, arguments_text, call_of, is_signed, thinks_beside_content
from ctxopt_core.formats.verbatim import verbatim_texts
from ctxopt_core.history.strategies.custom import run_progress
from ctxopt_core.history.trimming import Indexed, kept_items
from ctxopt_core.messages.message import AttachmentKind, MediaFacts
from ctxopt_core.messages.message_views import SYSTEM_ROLES, LazyMessages, MessageViews, PlainRange, plain_range
from ctxopt_core.messages.placeholder import is_placeholder_message
from ctxopt_core.messages.roles import TOOL_ROLES
from ctxopt_core.models.model_settings import (
    ANSWER_LIMITS,
    ARGUMENT_MAPPINGS,
    LOADED_WINDOWS,
    SERVER_STATE,
    ModelInfo,
    answer_limit,
    first_name,
    first_tokens,
    flat_arguments,
    reject_server_state,
    token_limit,
)
from ctxopt_core.models.prices import Prices
from ctxopt_core.models.resolve_window import OnUnknownModel, UserCatalog
from ctxopt_core.providers.rules import rules_of
from ctxopt_core.providers.tool_schemas import RESPONSE_FORMATS, formats_in, schema_texts, schemas_in, tools_in
from ctxopt_core.runtime.event_loop import in_worker
from ctxopt_core.runtime.warn_once import warn_once
from ctxopt_core.shortening.omission_notes import StoredResult, read_lines, stored_results
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened
from ctxopt_core.validation import optional_token_amount, token_amount, unknown_settings

__all__ = [
    "ANSWER_LIMITS",
    "ARGUMENT_MAPPINGS",
    "ATTACHMENT_OMITTED",
    "LIMITS",
    "LOADED_WINDOWS",
    "MEDIA_KEYS",
    "READ_RESULTS",
    "RESPONSE_FORMATS",
    "ROLE_NAMES",
    "SERVER_STATE",
    "SYSTEM_ROLES",
    "TOKENS_PER_MESSAGE",
    "TOKENS_PER_REQUEST",
    "TOOL_ROLES",
    "AttachmentKind",
    "BudgetSettings",
    "Component",
    "Content",
    "ContentBuilder",
    "CountedConversation",
    "DocumentRendering",
    "Draft",
    "FitArguments",
    "FitOptions",
    "Indexed",
    "LazyMessages",
    "MeasuredRequest",
    "MediaFacts",
    "MessageViews",
    "ModelBudget",
    "ModelInfo",
    "OnUnknownModel",
    "OptimizedModel",
    "Overflow",
    "Peek",
    "Percent",
    "PlainRange",
    "Prices",
    "RequestSettings",
    "Shortened",
    "ShortenedCalls",
    "StoredResult",
    "UserCatalog",
    "answer_limit",
    "arguments_text",
    "as_value",
    "attachment_tokens",
    "call_of",
    "checked_share",
    "conversation_tokens",
    "copy_with",
    "count_request",
    "documents_need",
    "empty_model",
    "extra_texts",
    "facts_of",
    "file_facts",
    "first_name",
    "first_tokens",
    "fit_with",
    "fits",
    "fitted_with",
    "flat_arguments",
    "formats_in",
    "holds_compaction",
    "in_worker",
    "is_blank",
    "is_placeholder_message",
    "is_signed",
    "kept_items",
    "log_fit",
    "measure_needs",
    "message_from_openai",
    "message_tokens",
    "named_openai",
    "optional_token_amount",
    "options_of",
    "packed_report",
    "placeholder_openai",
    "plain_fields",
    "plain_openai",
    "plain_range",
    "put_together",
    "read_lines",
    "reject_server_state",
    "reject_unknown_settings",
    "role_of",
    "rules_of",
    "run_progress",
    "schema_texts",
    "schema_tokens",
    "schemas_in",
    "sealed_attachment",
    "sealed_characters",
    "shortened_openai",
    "stored_results",
    "stream_facts",
    "take_apart",
    "thinks_beside_content",
    "token_amount",
    "token_limit",
    "tokens_of_share",
    "tools_in",
    "unknown_settings",
    "verbatim_texts",
    "warn_once",
]
