"""The request of an engine that sends the images of nodes beside its prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.generic_utils import messages_to_prompt as default_messages_to_prompt
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_ctxopt.engines.engine_prompts import EnginePrompts, joined_as_given
from llamaindex_ctxopt.nodes.node_reading import NodeReading


class PromptInMessage(BasePromptTemplate):  # type: ignore[no-redef]
    """A prompt that is one user message, after a system message that is sent as it is.

    Args:
        prompt: The template of the user message.
        system_prompt: The text of the system message; None where there is none.
    """

    prompt: BasePromptTemplate
    system_prompt: str | None

    @classmethod
    def of(cls, prompt: BasePromptTemplate, system_prompt: str | None) -> PromptInMessage:
        """Return the request around a template."""
        return cls(
            prompt=prompt,
            system_prompt=system_prompt,
            metadata={},
            template_vars=prompt.template_vars,
            kwargs={},
            output_parser=None,
        )

    def partial_format(self, **kwargs: Any) -> PromptInMessage:
        """Return the request around a template in which some names are filled in."""
        return self.model_copy(update={"prompt": self.prompt.partial_format(**kwargs)})

    def format(
        self,
        llm: BaseLLM | None = None,
        messages_to_prompt: Callable[[Sequence[ChatMessage]], str] | None = None,
        **kwargs: Any,
    ) -> str:
        """Return the messages as one string."""
        kwargs.pop("completion_to_prompt", None)
        return (messages_to_prompt or default_messages_to_prompt)(self.format_messages(llm, **kwargs))

    def format_messages(self, llm: BaseLLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages without the images."""
        asked = ChatMessage(role=MessageRole.USER, content=self.prompt.format(**kwargs))
        if self.system_prompt is None:
            return [asked]
        return [ChatMessage(role=MessageRole.SYSTEM, content=self.system_prompt), asked]

    def get_template(self, llm: BaseLLM | None = None) -> str:
        """Return the template of the user message."""
        return self.prompt.get_template(llm)


def image_prompts(
    prompt: BasePromptTemplate,
    system_prompt: str | None,
    *,
    takes_history: bool = True,
    condense: BasePromptTemplate | None = None,
) -> EnginePrompts:
    """Return the prompts of an engine that sends the images of nodes, and the texts of all others in its prompt.

    It sends everything in one call, so that LlamaIndex splits nothing. An engine that condenses the history asks its
    memory a second time, once it has the nodes.
    """
    return EnginePrompts(
        sent=(PromptInMessage.of(prompt, system_prompt),),
        bounding=(),
        padding=0,
        takes_history=takes_history,
        condense=condense,
        join=joined_as_given,
        strips=False,
        reading=NodeReading.IMAGES,
        asks_again=takes_history,
    )
