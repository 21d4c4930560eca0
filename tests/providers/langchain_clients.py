"""The real clients of LangChain, pointed at an endpoint of this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from client_run import ANSWER, KEY
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from provider_server import Endpoint


@tool
def look_up(word: str, page: int = 1) -> str:
    """Look a word up in the dictionary of the harbour.

    Args:
        word: The word.
        page: The page on which to begin.
    """
    return f"{word}: a word of sailors, on page {page}. " + "It burns brightly. " * 60


def openai_chat(endpoint: Endpoint, **more: Any) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    url = f"{endpoint.url}/v1"
    return ChatOpenAI(model="gpt-4o", base_url=url, api_key=KEY, max_retries=0, max_tokens=ANSWER, **more)


def openai_responses(endpoint: Endpoint, **more: Any) -> BaseChatModel:
    return openai_chat(endpoint, use_responses_api=True, **more)


def anthropic(endpoint: Endpoint, **more: Any) -> BaseChatModel:
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(
        model="claude-sonnet-4-5", base_url=endpoint.url, api_key=KEY, max_retries=0, max_tokens=ANSWER, **more
    )


def google(endpoint: Endpoint, **more: Any) -> BaseChatModel:
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(
        model="gemini-2.5-flash",
        base_url=endpoint.url,
        google_api_key=KEY,
        max_retries=1,
        max_output_tokens=ANSWER,
        **more,
    )


def mistral(endpoint: Endpoint, **more: Any) -> BaseChatModel:
    from langchain_mistralai import ChatMistralAI

    return ChatMistralAI(
        model="mistral-large-latest",
        endpoint=f"{endpoint.url}/v1",
        api_key=KEY,
        max_retries=1,
        max_tokens=ANSWER,
        **more,
    )


def ollama(endpoint: Endpoint, **more: Any) -> BaseChatModel:
    from langchain_ollama import ChatOllama

    return ChatOllama(model="llama3.1", base_url=endpoint.url, num_predict=ANSWER, **more)


CLIENTS: dict[str, Callable[..., BaseChatModel]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "google": google,
    "mistral": mistral,
    "ollama": ollama,
}
