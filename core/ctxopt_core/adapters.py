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
from ctxopt_core.conversation.conversation import (
    TOKENS_PER_MESSAGE,
    TOKENS_PER_REQUEST,
    CountedConversation,
    Peek,
    message_tokens,
)
from ctxopt_core.documents.document import is_blank
from ctxopt_core.documents.packing import DropReason, is_below_min_score
from ctxopt_core.documents.ranking import ScoreOrder, by_score, score_of
from ctxopt_core.documents.rendering import DocumentRendering
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
from ctxopt_core.formats.content_blocks import (
    MEDIA_KEYS,
    Content,
    ContentBuilder,
    extra_texts,
    put_together,
    take_apart,
    verbatim_texts,
)
from ctxopt_core.formats.openai_messages import (
    ROLE_NAMES,
    message_from_openai,
    placeholder_openai,
    plain_openai,
    role_of,
    shortened_openai,
)
from ctxopt_core.formats.tool_calls import ShortenedCalls, arguments_text, call_of, is_signed, thinks_beside_content
from ctxopt_core.history.strategies.custom import run_progress
from ctxopt_core.history.trimming import Indexed, kept_items
from ctxopt_core.messages.message import ALLOWANCES, TOOL_ROLES, AttachmentKind
from ctxopt_core.messages.message_views import SYSTEM_ROLES, LazyMessages, MessageViews
from ctxopt_core.messages.placeholder import is_placeholder_message
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
from ctxopt_core.providers.tool_schemas import RESPONSE_FORMATS, formats_in, schema_texts, schemas_in, tools_in
from ctxopt_core.runtime.event_loop import in_worker
from ctxopt_core.runtime.warn_once import warn_once
from ctxopt_core.shortening.omission_notes import StoredResult, read_lines, stored_results
from ctxopt_core.shortening.shorten_message import ATTACHMENT_OMITTED, Shortened
from ctxopt_core.validation import optional_token_amount, token_amount

__all__ = [
    "ALLOWANCES",
    "ANSWER_LIMITS",
    "ARGUMENT_MAPPINGS",
    "ATTACHMENT_OMITTED",
    "LIMITS",
    "LOADED_WINDOWS",
    "MEDIA_KEYS",
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
    "DropReason",
    "FitArguments",
    "FitOptions",
    "Indexed",
    "LazyMessages",
    "MeasuredRequest",
    "MessageViews",
    "ModelBudget",
    "ModelInfo",
    "OnUnknownModel",
    "OptimizedModel",
    "Overflow",
    "Peek",
    "Percent",
    "Prices",
    "RequestSettings",
    "ScoreOrder",
    "Shortened",
    "ShortenedCalls",
    "StoredResult",
    "UserCatalog",
    "answer_limit",
    "arguments_text",
    "as_value",
    "by_score",
    "call_of",
    "checked_share",
    "conversation_tokens",
    "copy_with",
    "count_request",
    "documents_need",
    "empty_model",
    "extra_texts",
    "first_name",
    "first_tokens",
    "fit_with",
    "fits",
    "fitted_with",
    "flat_arguments",
    "formats_in",
    "in_worker",
    "is_below_min_score",
    "is_blank",
    "is_placeholder_message",
    "is_signed",
    "kept_items",
    "log_fit",
    "measure_needs",
    "message_from_openai",
    "message_tokens",
    "optional_token_amount",
    "options_of",
    "packed_report",
    "placeholder_openai",
    "plain_fields",
    "plain_openai",
    "put_together",
    "read_lines",
    "reject_server_state",
    "reject_unknown_settings",
    "role_of",
    "run_progress",
    "schema_texts",
    "schema_tokens",
    "schemas_in",
    "score_of",
    "shortened_openai",
    "stored_results",
    "take_apart",
    "thinks_beside_content",
    "token_amount",
    "token_limit",
    "tokens_of_share",
    "tools_in",
    "verbatim_texts",
    "warn_once",
]
