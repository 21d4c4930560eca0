"""LangChain's own standard suite for chat models, over an optimized model and a server of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests
from obliging_model import obliging_answer
from provider_server import ProviderServer

from langchain_ctxopt import with_optimizer

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of pydantic and langchain-openai, about the suite's schemas
]
MODEL = "gpt-4o-mini"
OPTIMIZED = type(with_optimizer(ChatOpenAI(model=MODEL, api_key="no-key")))
"""The class that an optimized model has; it is made like the model's own."""


class TestL24UnitStandard(ChatModelUnitTests):
    """Construction, binding, standard parameters, serialization."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return OPTIMIZED

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": MODEL, "api_key": "no-key"}

    @property
    def init_from_env_params(self) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
        return {"OPENAI_API_KEY": "no-key"}, {"model": MODEL}, {"openai_api_key": "no-key"}


class TestL24IntegrationStandard(ChatModelIntegrationTests):
    """Calls, streams, batches, tools, structured output, usage."""

    url: str

    @pytest.fixture(autouse=True)
    def endpoint_of_the_class(self, server: ProviderServer) -> Iterator[None]:
        endpoint = server.endpoint("openai_chat", oblige=obliging_answer)
        type(self).url = endpoint.url
        yield
        assert endpoint.broken == []

    @pytest.fixture
    def model(self, endpoint_of_the_class: None) -> BaseChatModel:
        return OPTIMIZED(**{**self.standard_chat_model_params, **self.chat_model_params})

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return OPTIMIZED

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": MODEL, "api_key": "no-key", "base_url": f"{self.url}/v1", "stream_usage": True}

    @property
    def supports_image_inputs(self) -> bool:
        return False  # the suite downloads the images

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return "gpt-4o"
