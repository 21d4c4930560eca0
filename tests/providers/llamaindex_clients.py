"""The real clients of LlamaIndex, pointed at an endpoint of this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from client_run import ANSWER, KEY
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import FunctionTool
from provider_server import Endpoint

WINDOW = 200_000  # tokens; integrations that would ask the provider for it are told


def look_up(word: str, page: int = 1) -> str:
    """Look a word up in the dictionary of the harbour."""
    return f"{word}: a word of sailors, on page {page}. " + "It burns brightly. " * 60


TOOL = FunctionTool.from_defaults(look_up)


def openai_chat(endpoint: Endpoint) -> Any:
    from llama_index.llms.openai import OpenAI

    return OpenAI(model="gpt-4o", api_base=f"{endpoint.url}/v1", api_key=KEY, max_retries=0, max_tokens=ANSWER)


def openai_responses(endpoint: Endpoint) -> Any:
    from llama_index.llms.openai import OpenAIResponses

    url = f"{endpoint.url}/v1"
    return OpenAIResponses(
        model="gpt-4o", api_base=url, api_key=KEY, max_retries=0, max_output_tokens=ANSWER, store=True
    )


def anthropic(endpoint: Endpoint) -> Any:
    from llama_index.llms.anthropic import Anthropic, utils

    class Claude(Anthropic):
        """llama-index-llms-anthropic 0.12.3 was made for anthropic before 2, whose `create` took a temperature."""

        @property
        def _model_kwargs(self) -> dict[str, Any]:
            given: dict[str, Any] = super()._model_kwargs
            return {key: value for key, value in given.items() if key != "temperature"}

    utils.MessageParam = dict  # a union of typed dicts since anthropic 2, and calling it is an error
    return Claude(model="claude-sonnet-4-5", base_url=endpoint.url, api_key=KEY, max_retries=0, max_tokens=ANSWER)


def google(endpoint: Endpoint) -> Any:
    from llama_index.llms.google_genai import GoogleGenAI

    return GoogleGenAI(
        model="gemini-2.5-flash",
        api_key=KEY,
        max_tokens=ANSWER,
        context_window=WINDOW,
        max_retries=1,
        http_options={"base_url": endpoint.url},
    )


def mistral(endpoint: Endpoint) -> Any:
    from llama_index.llms.mistralai import MistralAI

    return MistralAI(model="mistral-large-latest", endpoint=endpoint.url, api_key=KEY, max_retries=1, max_tokens=ANSWER)


def ollama(endpoint: Endpoint) -> Any:
    from llama_index.llms.ollama import Ollama

    return Ollama(
        model="llama3.1",
        base_url=endpoint.url,
        context_window=WINDOW,
        additional_kwargs={"num_predict": ANSWER},
    )


CLIENTS: dict[str, Callable[[Endpoint], FunctionCallingLLM]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "google": google,
    "mistral": mistral,
    "ollama": ollama,
}
