"""A model whose metadata are not asked for, since the limits of the user say how much fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM

from ctxopt_core.adapters import BudgetSettings, OptimizedModel, empty_model
from llamaindex_ctxopt.models.model_settings import assumed_metadata, described, gives_window

if TYPE_CHECKING:
    _LLM = LLM
else:
    _LLM = object  # the model's own class brings the base class


class UnaskedLLM(OptimizedModel, _LLM):
    """A copy of a model by which prompts are rendered and counted. It is never called."""

    fit_settings: ClassVar[BudgetSettings]

    @property
    def metadata(self) -> LLMMetadata:
        """The limits of the user, and what the class and the fields of the model say."""
        return assumed_metadata(self, self.fit_settings)


def rendered_for(llm: LLM | None, limits: BudgetSettings) -> LLM | None:
    """Return the model for which prompts are rendered; None where nothing is known of it.

    That is the model itself where it can say its metadata. It is not asked where `limits` say how much fits: a server
    may be off, or the integration may not know the name of the model.

    Args:
        llm: The model that is called, if it is known.
        limits: The limits of the user.
    """
    if llm is None or not gives_window(limits):
        return described(llm)
    if isinstance(llm, StructuredLLM):
        return llm.model_copy(update={"llm": _unasked(llm.llm, limits)})
    return _unasked(llm, limits)


def _unasked(llm: LLM, limits: BudgetSettings) -> LLM:
    plain = llm.plain_class if isinstance(llm, OptimizedModel) else type(llm)
    copied: LLM = empty_model(UnaskedLLM, plain, limits)  # type: ignore[type-abstract]
    BaseModel.__setstate__(copied, BaseModel.__getstate__(llm.model_copy()))
    return copied
