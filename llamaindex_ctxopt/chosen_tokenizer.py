"""The tokenizer that the user set in LlamaIndex's `Settings`, read without setting one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import llama_index.core


def chosen_tokenizer() -> Callable[[str], Any] | None:
    """Return the function that was set as LlamaIndex's tokenizer; None where nobody chose one.

    LlamaIndex sets one by itself as soon as something is counted, whatever the model, and `Settings.tokenizer` does so
    when it is merely read. That one is nobody's choice.
    """
    tokenizer = llama_index.core.global_tokenizer
    return None if tokenizer is None or _was_set_by_itself(tokenizer) else tokenizer


def _was_set_by_itself(tokenizer: object) -> bool:
    return isinstance(tokenizer, partial) and tokenizer.keywords == {"allowed_special": "all"}
