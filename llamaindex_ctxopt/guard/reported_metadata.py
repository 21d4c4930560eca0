"""The metadata by which LlamaIndex plans requests to a guarded model."""

from __future__ import annotations

from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.constants import DEFAULT_NUM_OUTPUTS

from llamaindex_ctxopt.settings import FitSettings

UNLIMITED_ANSWER = -1


def planned_metadata(own: LLMMetadata, settings: FitSettings) -> LLMMetadata:
    """Return the metadata of a model with the limits of `settings` in it, so that LlamaIndex packs what will fit.

    An answer as long as the window, which many integrations report for models with a long answer, leaves nothing for
    the question in LlamaIndex's own arithmetic: it is taken as half of the window.

    Args:
        own: What the model reports. Returned as it is where there is nothing to change.
        settings: Limits of one's own.
    """
    window = settings.context_window or own.context_window
    answer = own.num_output if settings.output_reserve is None else settings.output_reserve
    if answer > window // 2:
        answer = window // 2
    kept_free = DEFAULT_NUM_OUTPUTS if answer == UNLIMITED_ANSWER else answer
    limits = [settings.target_tokens, settings.max_input_tokens, window - kept_free - settings.safety_margin]
    planned = {
        "context_window": min(limit for limit in limits if limit is not None) + kept_free,
        "num_output": answer,
    }
    if planned == {"context_window": own.context_window, "num_output": own.num_output}:
        return own
    return own.model_copy(update=planned)
